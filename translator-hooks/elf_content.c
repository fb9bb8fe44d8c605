// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elf_content.c - hashes that tell whether an ELF file would give the same image.
 */
#include "config.h"

#include "elf_content.h"

#include <errno.h>
#include <stdlib.h>

#include "elf_dynamic.h"
#include "elf_frames.h"
#include "runtime/core/hvar_image_format.h"

#define PIECE ((uint64_t)256 << 10)

uint64_t elf_content_headers(const struct elf_file *f)
{
	uint64_t h = hvar_image_hash(f->size, &f->eh, sizeof(f->eh));

	h = hvar_image_hash(h, f->ph, f->n_ph * sizeof(*f->ph));
	return hvar_image_hash(h, f->sh, f->n_sh * sizeof(*f->sh));
}

static int add(const struct elf_file *f, uint64_t offset, uint64_t n, uint64_t *h,
	       struct err *e)
{
	uint8_t *piece;
	uint64_t at;
	int r = 0;

	/* what is not there is of no use to an image either */
	if (!n || !elf_file_has(f, offset, n))
		return 0;
	piece = malloc(n < PIECE ? n : PIECE);
	if (!piece)
		return err_set(e, ENOMEM, "cannot read '%s': no memory: free some", f->name);
	for (at = 0; at < n && !r; at += PIECE) {
		uint64_t len = n - at < PIECE ? n - at : PIECE;

		r = elf_file_read(f, offset + at, piece, len, e);
		if (!r)
			*h = hvar_image_hash(*h, piece, len);
	}
	free(piece);
	return r;
}

static bool matters(const Elf64_Shdr *s)
{
	return s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM ||
	       s->sh_type == SHT_SYMTAB_SHNDX || s->sh_type == SHT_STRTAB ||
	       s->sh_type == SHT_GNU_versym || s->sh_type == SHT_GNU_verdef ||
	       s->sh_type == SHT_GNU_verneed;
}

/*
 * Debug information too, but only of a file without a build-id: the linker makes that of all that is in
 * the file.  Its sections are those that are not loaded and none of the above.
 */
static bool may_be_debug(const Elf64_Shdr *s)
{
	return s->sh_type == SHT_PROGBITS && !(s->sh_flags & SHF_ALLOC);
}

int elf_content_hash(const struct elf_file *f, uint64_t *out, struct err *e)
{
	struct elf_frames frames;
	struct elf_table t;
	bool tables = false, no_id;
	uint8_t id[64];
	uint32_t i;
	int r = 0;

	*out = elf_content_headers(f);
	no_id = !elf_file_build_id(f, id, sizeof(id));
	for (i = 1; i < f->n_sh && !r; i++) {
		const Elf64_Shdr *s = &f->sh[i];

		if (!matters(s) && !(no_id && may_be_debug(s)))
			continue;
		tables |= s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM;
		r = add(f, s->sh_offset, s->sh_size, out, e);
	}
	i = r ? 0 : elf_file_section(f, ".gnu_debugdata");
	if (i && f->sh[i].sh_type != SHT_NOBITS)
		r = add(f, f->sh[i].sh_offset, f->sh[i].sh_size, out, e);
	if (!r && elf_frames_find(f, &frames))
		r = add(f, frames.offset, frames.size, out, e);
	if (r || tables || !elf_dynamic_table(f, &t))
		return r;
	r = add(f, t.syms, (uint64_t)t.count * (f->is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym)),
		out, e);
	if (!r)
		r = add(f, t.strs.offset, t.strs.size, out, e);
	if (!r && t.versym.size >= (uint64_t)t.count * 2)
		r = add(f, t.versym.offset, (uint64_t)t.count * 2, out, e);
	return r;
}
