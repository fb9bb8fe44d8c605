// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image_build.c - ELF -> symbol image: sections, segments, and the writing of it all.
 *
 * Names are gathered and chosen by sym_table.c; here is what surrounds them.
 */
#include "config.h"

#include "image_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "big_alloc.h"
#include "debug_file.h"
#include "debug_mini.h"
#include "dwarf_image.h"
#include "elf_dynamic.h"
#include "elf_file.h"
#include "elf_symtab.h"
#include "image_layout.h"
#include "runtime/core/hvar_image_format.h"
#include "runtime/core/hvar_vmas.h"
#include "sym_table.h"
#include "text_ranges.h"
#include "tls_slots.h"

/* A PT_LOAD each: no linker makes as many. */
#define SEGS_MAX 4096

struct build {
	struct elf_file f;
	struct image_parts parts; /* owns segs, sections, secmap through it */
	struct sym_table syms;
	uint32_t *secmap;	  /* ELF section index -> ours */
	const struct elf_file *from; /* whose symbols are being taken: f, or its debug file */
	uint8_t origin;		  /* what that is, if it is not f */
	uint32_t skipped;	  /* symbols in no PT_LOAD */
	uint64_t outer;		  /* where in another file f lies */
	struct dwarf_image dwarf;
};

static uint32_t prot_of(uint32_t flags)
{
	return (flags & PF_R ? HVAR_PROT_READ : 0) | (flags & PF_W ? HVAR_PROT_WRITE : 0) |
	       (flags & PF_X ? HVAR_PROT_EXEC : 0);
}

static bool fits(uint64_t start, uint64_t size)
{
	return !size || start + (size - 1) >= start;
}

static int by_seg_vaddr(const void *pa, const void *pb)
{
	const struct hvar_image_seg *a = pa, *b = pb;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static int take_phdr(struct build *b, const Elf64_Phdr *p, struct err *e)
{
	struct image_parts *parts = &b->parts;
	struct hvar_image_seg s = {
		.offset = p->p_offset, .vaddr = p->p_vaddr, .filesz = p->p_filesz,
		.memsz = p->p_memsz, .align = p->p_align, .prot = prot_of(p->p_flags),
	};

	if (p->p_type == PT_GNU_RELRO && fits(p->p_vaddr, p->p_memsz)) {
		parts->head.relro = p->p_vaddr;
		parts->head.relro_size = p->p_memsz;
	}
	if ((p->p_type != PT_LOAD && p->p_type != PT_TLS) || !p->p_memsz)
		return 0;
	if (p->p_filesz > p->p_memsz || !fits(p->p_vaddr, p->p_memsz) ||
	    !fits(p->p_offset, p->p_filesz))
		return elf_file_bad(&b->f, e, "a program header holds impossible values");
	if (p->p_type == PT_TLS) {
		parts->head.tls = s;
		return 0;
	}
	if (p->p_filesz && (p->p_offset > b->f.size ||
			    p->p_filesz > b->f.size - p->p_offset))
		return elf_file_bad(&b->f, e, "a part that is loaded lies past its end");
	if ((p->p_offset - p->p_vaddr) & HVAR_PAGE_MASK && p->p_filesz)
		return elf_file_bad(&b->f, e, "a program header asks for what cannot be mapped");
	if (parts->n_segs == SEGS_MAX)
		return elf_file_bad(&b->f, e, "it has more program headers than can be");
	parts->segs[parts->n_segs++] = s;
	return 0;
}

static int take_segs(struct build *b, struct err *e)
{
	struct image_parts *p = &b->parts;
	uint32_t i;
	int r = 0;

	p->segs = calloc(b->f.n_ph < SEGS_MAX ? b->f.n_ph + 1 : SEGS_MAX, sizeof(*p->segs));
	if (!p->segs)
		return -ENOMEM;
	for (i = 0; i < b->f.n_ph && !r; i++)
		r = take_phdr(b, &b->f.ph[i], e);
	if (r)
		return r;
	qsort(p->segs, p->n_segs, sizeof(*p->segs), by_seg_vaddr);
	for (i = 1; i < p->n_segs; i++)
		if (p->segs[i - 1].vaddr + (p->segs[i - 1].memsz - 1) >= p->segs[i].vaddr)
			return elf_file_bad(&b->f, e, "its program headers overlap");
	return 0;
}

static const struct hvar_image_seg *seg_at(const struct image_parts *p, uint64_t vaddr)
{
	uint32_t lo = 0, hi = p->n_segs;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->segs[mid].vaddr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && vaddr - p->segs[lo - 1].vaddr < p->segs[lo - 1].memsz ?
		       &p->segs[lo - 1] : NULL;
}

/* ---- sections ---- */

static uint32_t kind_of(const struct image_parts *p, const Elf64_Shdr *s)
{
	if (s->sh_flags & SHF_TLS && s->sh_type == SHT_NOBITS)
		return HVAR_KIND_TLS;
	if (s->sh_flags & SHF_EXECINSTR)
		return HVAR_KIND_TEXT;
	if (!(s->sh_flags & SHF_WRITE))
		return HVAR_KIND_RODATA;
	if (s->sh_addr - p->head.relro < p->head.relro_size &&
	    s->sh_size <= p->head.relro_size - (s->sh_addr - p->head.relro))
		return HVAR_KIND_RELRO;
	return s->sh_type == SHT_NOBITS ? HVAR_KIND_BSS : HVAR_KIND_DATA;
}

struct sec {
	struct hvar_image_section s;
	uint32_t index;
};

/* TLS ones last, then by address; of one address the empty ones first. */
static int by_sec_vaddr(const void *pa, const void *pb)
{
	const struct sec *a = pa, *b = pb;
	bool x = a->s.kind == HVAR_KIND_TLS, y = b->s.kind == HVAR_KIND_TLS;

	if (x != y)
		return x ? 1 : -1;
	if (a->s.vaddr != b->s.vaddr)
		return a->s.vaddr < b->s.vaddr ? -1 : 1;
	if (a->s.size != b->s.size)
		return a->s.size < b->s.size ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Sections' names; without them a section is still known by its kind. */
static char *section_names(const struct elf_file *f, uint64_t *size)
{
	char *p = NULL;

	*size = 0;
	if (f->shstrndx && f->shstrndx < f->n_sh &&
	    f->sh[f->shstrndx].sh_type == SHT_STRTAB) {
		*size = f->sh[f->shstrndx].sh_size;
		if (elf_file_get(f, f->sh[f->shstrndx].sh_offset, *size, &p, NULL))
			*size = 0;
	}
	return p;
}

static int collect_sections(struct build *b, struct sec *v, uint32_t *n)
{
	uint64_t size;
	char *names = section_names(&b->f, &size);
	uint32_t i;
	int r = 0;

	for (i = 1; i < b->f.n_sh && !r; i++) {
		const Elf64_Shdr *s = &b->f.sh[i];
		const char *name = s->sh_name < size ? names + s->sh_name : "";

		if (!(s->sh_flags & SHF_ALLOC) || !fits(s->sh_addr, s->sh_size))
			continue;
		v[*n].s.vaddr = s->sh_addr;
		v[*n].s.size = s->sh_size;
		v[*n].s.kind = kind_of(&b->parts, s);
		v[*n].index = i;
		r = sym_table_str(&b->syms, name, strlen(name), &v[*n].s.name);
		(*n)++;
	}
	free(names);
	return r;
}

static int take_sections(struct build *b)
{
	struct image_parts *p = &b->parts;
	struct sec *v = calloc(b->f.n_sh + 1, sizeof(*v));
	uint32_t i, n = 0;
	int r;

	p->sections = calloc(b->f.n_sh + 1, sizeof(*p->sections));
	b->secmap = malloc((b->f.n_sh + 1) * sizeof(*b->secmap));
	r = v && p->sections && b->secmap ? collect_sections(b, v, &n) : -ENOMEM;
	if (r) {
		free(v);
		return r;
	}
	memset(b->secmap, 0xff, (b->f.n_sh + 1) * sizeof(*b->secmap));
	qsort(v, n, sizeof(*v), by_sec_vaddr);
	for (i = 0; i < n; i++) {
		struct hvar_image_section *s = &p->sections[i];

		*s = v[i].s;
		b->secmap[v[i].index] = i;
		/* of two that overlap, the first ends where the second starts */
		if (i && s->kind != HVAR_KIND_TLS && s->vaddr - s[-1].vaddr < s[-1].size)
			s[-1].size = s->vaddr - s[-1].vaddr;
	}
	p->n_sections = n;
	free(v);
	return 0;
}

/* ---- symbols ---- */

static bool same_section(const Elf64_Shdr *s, const Elf64_Shdr *t)
{
	return t->sh_addr == s->sh_addr && t->sh_size == s->sh_size && t->sh_flags & SHF_ALLOC &&
	       !((t->sh_flags ^ s->sh_flags) & SHF_TLS);
}

/*
 * The section in the image of a symbol in @index of the file that is being read.  A debug file has
 * the sections of the file it was split from, mostly under the same numbers, but says of none what is
 * in it: it is the one at the same place in the file itself that counts.
 */
static uint32_t section_of(const struct build *b, uint32_t index)
{
	const Elf64_Shdr *s = &b->from->sh[index];
	uint32_t i;

	if (b->from == &b->f)
		return b->secmap[index];
	if (index < b->f.n_sh && same_section(s, &b->f.sh[index]))
		return b->secmap[index];
	for (i = 1; i < b->f.n_sh; i++)
		if (same_section(s, &b->f.sh[i]))
			return b->secmap[i];
	return HVAR_IMAGE_NONE;
}

static int take_sym(void *ctx, const struct elf_sym *s)
{
	struct build *b = ctx;
	uint32_t section = HVAR_IMAGE_NONE;
	struct elf_sym sym = *s;
	int r = s->first ? sym_table_begin(&b->syms, s) : 0;

	if (r)
		return r;
	if (b->from->n_sh && s->shndx >= b->from->n_sh) {
		b->skipped++;
		return 0;
	}
	if (b->from->n_sh && b->f.n_sh)
		section = section_of(b, s->shndx);
	if (s->type == STT_TLS ? s->value >= b->parts.head.tls.memsz :
				 !seg_at(&b->parts, s->value)) {
		b->skipped++;
		return 0;
	}
	sym.origin = b->from == &b->f ? HVAR_ORIGIN_NONE : b->origin;
	return sym_table_add(&b->syms, &sym, section);
}

/*
 * Take the symbols of @from too, a debug file.  One that is damaged gives none, rather than
 * some of them: with the inner ones missing the others would be wrong.
 */
static int take_debug(struct build *b, const struct elf_file *from, uint8_t origin, bool *stripped)
{
	uint32_t n = b->syms.syms.n, n_tls = b->syms.tls.n;
	bool none;
	int r;

	b->from = from;
	b->origin = origin;
	r = elf_symtab_walk(from, take_sym, b, &none, NULL);
	b->from = &b->f;
	if (r && r != -ENOMEM && r != -EFBIG) {
		b->syms.syms.n = n;
		b->syms.tls.n = n_tls;
		return 0;
	}
	if (!none)
		*stripped = false;
	return r;
}

static uint8_t origin_of(enum debug_origin how)
{
	return how == DEBUG_BY_BUILD_ID ? HVAR_ORIGIN_BUILD_ID :
	       how == DEBUG_BY_LINK ? HVAR_ORIGIN_DEBUGLINK : HVAR_ORIGIN_DEBUGINFOD;
}

/* The file has no .symtab: what is known of it elsewhere. */
static int take_elsewhere(struct build *b, bool *stripped)
{
	struct debug_file d;
	struct elf_file mini;
	bool still = true;
	void *mem;
	int r;

	r = debug_file_open(&b->f, &d, NULL);
	if (!r) {
		r = take_debug(b, &d.f, origin_of(d.origin), stripped);
		debug_file_close(&d);
		return r;
	}
	if (r == -ENOENT)
		r = debug_mini_open(&b->f, &mini, &mem, NULL);
	if (r)
		return r == -ENOMEM ? r : 0;
	r = take_debug(b, &mini, HVAR_ORIGIN_DEBUGDATA, &still); /* functions alone: data is stripped all the same */
	elf_file_close(&mini);
	free(mem);
	return r;
}

/* Bytes of debug information that are read, of one program. */
static uint64_t debug_limit = IMAGE_BUILD_DEBUG;

void image_build_debug(uint64_t limit)
{
	debug_limit = limit;
}

uint64_t image_build_debug_limit(void)
{
	return debug_limit;
}

/* The path of the file itself, whatever it was opened by; NULL: not known. */
static const char *own_path(const struct build *b, char *buf, size_t size)
{
	char link[32];
	ssize_t n;

	if (b->f.fd < 0)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", b->f.fd);
	n = readlink(link, buf, size - 1);
	if (n <= 0 || *buf != '/')
		return NULL;
	buf[n] = '\0';
	return buf;
}

/* The debug information, of the file itself or of its debug file. */
static int take_dwarf(struct build *b)
{
	char path[4096];
	const char *own = own_path(b, path, sizeof(path));
	struct debug_file d;
	int r;

	if (dwarf_file_bytes(&b->f) || !b->f.n_sh || debug_file_open(&b->f, &d, NULL))
		return dwarf_image_read(&b->dwarf, &b->f, &b->f, own, own, debug_limit, &b->parts,
					&b->syms);
	r = dwarf_image_read(&b->dwarf, &d.f, &b->f, own, d.path, debug_limit, &b->parts, &b->syms);
	debug_file_close(&d);
	return r;
}

/* An error without a text so far is want of memory, or of room for names. */
static int explain(const struct build *b, int r, struct err *e)
{
	if (r == -ENOMEM)
		return err_set(e, ENOMEM, "cannot make the symbol image of '%s': no memory: "
			       "free some, or raise the limit", b->f.name);
	if (r == -EFBIG)
		return err_set(e, EFBIG, "cannot make the symbol image of '%s': it has more "
			       "symbols than an image can hold: strip some", b->f.name);
	return r;
}

/* From places in the file to places in the one around it. */
static void move_segs(struct build *b)
{
	uint32_t i;

	for (i = 0; i < b->parts.n_segs; i++)
		b->parts.segs[i].offset += b->outer;
	b->parts.head.tls.offset += b->outer;
}

static int build(struct build *b, void **data, size_t *size, struct err *e)
{
	struct image_parts *p = &b->parts;
	bool stripped = true;
	int r;

	b->from = &b->f;
	r = sym_table_init(&b->syms);
	if (!r)
		r = take_segs(b, e);
	if (!r)
		r = take_sections(b);
	if (!r)
		r = elf_symtab_walk(&b->f, take_sym, b, &stripped, e);
	if (!r && stripped && b->f.n_sh)
		r = take_elsewhere(b, &stripped);
	if (!r)
		r = take_dwarf(b);
	if (!r)
		r = sym_table_settle(&b->syms, p->segs, p->n_segs, p->head.tls.memsz);
	if (!r)
		r = dwarf_image_put(&b->dwarf, &b->syms, p);
	if (!r)
		r = text_ranges(&b->f, p, &b->syms, e);
	if (!r) {
		p->head.flags = (stripped ? HVAR_IMAGE_STRIPPED : 0) |
				(b->f.is32 ? HVAR_IMAGE_ELF32 : 0) |
				(b->f.eh.e_type == ET_EXEC ? HVAR_IMAGE_EXEC : 0) |
				(elf_dynamic_program(&b->f) ? HVAR_IMAGE_PROGRAM : 0);
		p->head.build_id_len = (uint32_t)elf_file_build_id(
			&b->f, p->head.build_id, sizeof(p->head.build_id));
		if (p->head.tls.memsz)
			p->n_tls_slots = tls_slots(&b->f, p->tls_slots);
		p->syms = &b->syms;
		move_segs(b);
		r = image_layout(p, data, size);
	}
	if (r == -ENOMEM || r == -EFBIG)
		r = explain(b, r, e);
	dwarf_image_fini(&b->dwarf, p);
	free(p->segs);
	free(p->sections);
	free(p->ranges);
	free(b->secmap);
	sym_table_fini(&b->syms);
	elf_file_close(&b->f);
	big_release();
	return r;
}

int image_build_of(int fd, const char *name, const struct hvar_image_source *src, void **data,
		   size_t *size, struct err *e)
{
	struct build b;
	int r;

	memset(&b, 0, sizeof(b));
	b.parts.source = src;
	r = elf_file_open(&b.f, fd, NULL, 0, name, true, e);
	return r ? r : build(&b, data, size, e);
}

int image_build_fd(int fd, const char *name, void **data, size_t *size,
		   struct err *e)
{
	return image_build_of(fd, name, NULL, data, size, e);
}

int image_build_mem(const void *elf, size_t n, const char *name, void **data,
		    size_t *size, struct err *e)
{
	struct build b;
	int r;

	memset(&b, 0, sizeof(b));
	r = elf_file_open(&b.f, -1, elf, n, name, true, e);
	return r ? r : build(&b, data, size, e);
}

int image_build_inside(const void *elf, size_t n, const char *name, uint64_t offset,
		       void **data, size_t *size, struct err *e)
{
	struct build b;
	int r;

	if (offset > UINT64_MAX - n)
		return err_set(e, EINVAL, "cannot use '%s': no file has such an offset", name);
	memset(&b, 0, sizeof(b));
	b.outer = offset;
	r = elf_file_open(&b.f, -1, elf, n, name, true, e);
	return r ? r : build(&b, data, size, e);
}

int image_build_id(int fd, uint8_t *id, size_t max)
{
	struct elf_file f;
	int r;

	r = elf_file_open(&f, fd, NULL, 0, "", false, NULL);
	if (r)
		return r;
	r = elf_file_build_id(&f, id, max);
	elf_file_close(&f);
	return r;
}
