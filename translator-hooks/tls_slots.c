// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tls_slots.c - where a loaded file says itself which thread-local block is its own.
 *
 * A variable that another file defines too may be the other's: a relocation without a symbol is always
 * the file's own, so it goes before one with a symbol that is defined here.
 */
#include "config.h"

#include "tls_slots.h"

#include <stdlib.h>
#include <string.h>

#include "elf_dynamic.h"

/* More relocations than any file has. */
#define BYTES_MAX ((uint64_t)256 << 20)
/* More than any thread's static block has. */
#define DISTANCE_MAX ((uint64_t)1 << 30)

struct symbols {
	Elf64_Sym *v;
	uint64_t n;
};

static void read_symbols(const struct elf_file *f, uint32_t section, struct symbols *out)
{
	const Elf64_Shdr *s = section < f->n_sh ? &f->sh[section] : NULL;

	if (!s || (s->sh_type != SHT_DYNSYM && s->sh_type != SHT_SYMTAB) || s->sh_size > BYTES_MAX ||
	    elf_file_get(f, s->sh_offset, s->sh_size, &out->v, NULL))
		return;
	out->n = s->sh_size / sizeof(*out->v);
}

/* How good a slot is relocation @r: 2 surely the file's own, 1 most likely, 0 another's. */
static int judge(const Elf64_Rela *r, const struct symbols *syms, struct hvar_image_tls_slot *out)
{
	uint64_t i = ELF64_R_SYM(r->r_info);

	memset(out, 0, sizeof(*out));
	out->vaddr = r->r_offset;
	out->value = (uint64_t)r->r_addend;
	if (!i)
		return 2;
	if (i >= syms->n || syms->v[i].st_shndx == SHN_UNDEF ||
	    ELF64_ST_TYPE(syms->v[i].st_info) != STT_TLS)
		return 0;
	out->value += syms->v[i].st_value;
	return 1;
}

uint32_t tls_slots(const struct elf_file *f, struct hvar_image_tls_slot out[2])
{
	struct hvar_image_tls_slot best[3];
	int good[3] = { 0, 0, 0 }, g;
	uint32_t i, n = 0;
	uint64_t k;

	if (f->is32)
		return 0;
	for (i = 1; i < f->n_sh && (good[0] < 2 || good[1] < 2); i++) {
		const Elf64_Shdr *s = &f->sh[i];
		struct symbols syms = { NULL, 0 };
		Elf64_Rela *r;

		if (s->sh_type != SHT_RELA || !(s->sh_flags & SHF_ALLOC) || s->sh_size > BYTES_MAX ||
		    elf_file_get(f, s->sh_offset, s->sh_size, &r, NULL))
			continue;
		read_symbols(f, s->sh_link, &syms);
		for (k = 0; k < s->sh_size / sizeof(*r); k++) {
			uint32_t type = ELF64_R_TYPE(r[k].r_info), kind;
			struct hvar_image_tls_slot slot;

			if (type != R_X86_64_TPOFF64 && type != R_X86_64_DTPMOD64 && type != R_X86_64_TLSDESC)
				continue;
			kind = type == R_X86_64_TPOFF64 ? HVAR_TLS_SLOT_OFFSET : type == R_X86_64_DTPMOD64 ? HVAR_TLS_SLOT_MODULE :
			       HVAR_TLS_SLOT_DESC;
			g = judge(&r[k], &syms, &slot);
			if (g <= good[kind])
				continue;
			slot.kind = kind;
			best[kind] = slot;
			good[kind] = g;
		}
		free(syms.v);
		free(r);
	}
	for (i = 0; i < 3 && n < 2; i++)
		if (good[i])
			out[n++] = best[i];
	return n;
}

uint64_t tls_layout_distance(uint64_t memsz, uint64_t vaddr, uint64_t align)
{
	if (!align || align & (align - 1))
		align = 1;
	/* a segment that does not begin as it is aligned: linkers differ */
	return memsz && memsz <= DISTANCE_MAX && !(vaddr & (align - 1)) ? (memsz + align - 1) & ~(align - 1) : 0;
}

bool tls_layout_look(int fd, struct tls_layout *out)
{
	struct elf_file f;
	uint32_t i, n_code = 0;

	memset(out, 0, sizeof(*out));
	if (elf_file_open(&f, fd, NULL, 0, "", true, NULL))
		return false;
	out->program = elf_dynamic_program(&f);
	for (i = 0; i < f.n_ph; i++) {
		const Elf64_Phdr *p = &f.ph[i];

		if (p->p_type == PT_TLS) {
			out->memsz = p->p_memsz;
			if (out->program)
				out->distance = tls_layout_distance(p->p_memsz, p->p_vaddr, p->p_align);
		}
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		out->code_offset = p->p_offset;
		out->code_size = p->p_filesz;
		out->code_vaddr = p->p_vaddr;
		n_code++;
	}
	if (out->memsz && n_code == 1)
		out->n_slots = tls_slots(&f, out->slots);
	elf_file_close(&f);
	return out->n_slots || out->distance;
}
