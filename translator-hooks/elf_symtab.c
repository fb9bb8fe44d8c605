// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elf_symtab.c - walk .symtab, .dynsym or what PT_DYNAMIC leads to.
 */
#include "config.h"

#include "elf_symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "big_alloc.h"
#include "elf_dynamic.h"
#include "elf_versions.h"

#define COUNT_MAX 0x7fffffffu
#define PIECE	  8192u
#define AHEAD	  16

/* One walk of one table. */
struct walk {
	const struct elf_file *f;
	struct elf_table t;
	char *strs;
	uint16_t *versym;    /* by symbol; NULL: none */
	uint32_t *xindex;    /* SHT_SYMTAB_SHNDX; NULL: none */
	struct elf_versions versions;
	const char *file;    /* the last STT_FILE */
	bool told;	     /* one symbol was */
	bool taken;	     /* @strs was */
	uint64_t n_syms;
	elf_sym_fn fn;
	void *ctx;
};

/* "$x", "$d.12": where code and data change within a section, for disassemblers. */
static bool is_mapping(const struct elf_sym *s)
{
	return s->type == STT_NOTYPE && s->binding == STB_LOCAL && !s->size &&
	       s->name[0] == '$' && s->name[1] && strchr("adtx", s->name[1]) &&
	       (!s->name[2] || s->name[2] == '.');
}

/*
 * The GNU linker writes versions into the names of .symtab:
 *
 *	stdout@GLIBC_2.2.5	tab@@V_2
 *
 * They are taken off where the file knows such a version; any other '@' is the
 * name's own.
 */
static void split_version(const struct walk *w, struct elf_sym *s)
{
	const char *at = memchr(s->name, '@', s->len), *v;

	if (!at || at == s->name || s->binding == STB_LOCAL)
		return;
	v = at + 1 + (at[1] == '@');
	if (!elf_versions_has(&w->versions, v, strlen(v)))
		return;
	s->version = v;
	s->version_len = strlen(v);
	s->is_default = at[1] == '@';
	s->len = (size_t)(at - s->name);
}

static void look_version(const struct walk *w, uint32_t i, struct elf_sym *s)
{
	uint32_t index = w->versym[i] & 0x7fff;

	if (index < 2 || index >= w->versions.n || !w->versions.names[index])
		return;
	s->version = w->versions.names[index];
	s->version_len = strlen(s->version);
	s->is_default = !(w->versym[i] & 0x8000) && !w->versions.needed[index];
}

static int one(struct walk *w, uint32_t i, const Elf64_Sym *y)
{
	struct elf_sym s = {
		.value = y->st_value,
		.size = y->st_size,
		.shndx = y->st_shndx,
		.binding = ELF64_ST_BIND(y->st_info),
		.type = ELF64_ST_TYPE(y->st_info),
		.dynamic = w->t.dynamic,
		.first = !w->told,
		.strs = w->strs,
		.strs_size = w->t.strs.size,
		.taken = &w->taken,
		.n_syms = w->n_syms,
	};

	if (y->st_name >= w->t.strs.size)
		return 0;
	s.name = w->strs + y->st_name;
	if (s.type == STT_FILE) {
		w->file = *s.name ? s.name : NULL;
		return 0;
	}
	if (s.shndx == SHN_XINDEX)
		s.shndx = w->xindex ? w->xindex[i] : SHN_UNDEF;
	else if (s.shndx >= SHN_LORESERVE)
		return 0; /* absolute, common */
	if (s.shndx == SHN_UNDEF || !*s.name)
		return 0;
	if (s.type != STT_NOTYPE && s.type != STT_OBJECT && s.type != STT_FUNC &&
	    s.type != STT_COMMON && s.type != STT_TLS && s.type != STT_GNU_IFUNC)
		return 0;
	if (s.binding != STB_LOCAL && s.binding != STB_GLOBAL &&
	    s.binding != STB_WEAK && s.binding != STB_GNU_UNIQUE)
		return 0;
	s.len = strlen(s.name);
	if (is_mapping(&s))
		return 0;
	if (s.binding == STB_LOCAL)
		s.file = w->file;
	if (w->versym)
		look_version(w, i, &s);
	else
		split_version(w, &s);
	w->told = true;
	return w->fn(w->ctx, &s);
}

static Elf64_Sym widened(const Elf32_Sym *y)
{
	return (Elf64_Sym){ .st_name = y->st_name, .st_info = y->st_info, .st_other = y->st_other,
			    .st_shndx = y->st_shndx, .st_value = y->st_value, .st_size = y->st_size };
}

/* The processor fetches the names of symbols some way ahead: they may be in no order. */
static void fetch_name(const struct walk *w, uint32_t name)
{
	if (name < w->t.strs.size)
		__builtin_prefetch(w->strs + name);
}

/* The table is read in pieces: none of it is looked at twice. */
static int walk_syms(struct walk *w, struct err *e)
{
	uint64_t entry = w->f->is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	uint32_t i = 1, k, n;
	void *piece;
	int r;

	if (w->t.count < 2)
		return 0;
	r = elf_file_check(w->f, w->t.syms, w->t.count * entry, e);
	if (r)
		return r;
	piece = malloc(PIECE * entry);
	if (!piece)
		return -ENOMEM;
	for (; i < w->t.count && !r; i += n) {
		n = w->t.count - i < PIECE ? w->t.count - i : PIECE;
		r = elf_file_read(w->f, w->t.syms + i * entry, piece, n * entry, e);
		for (k = 0; k < n && !r; k++) {
			if (w->f->is32) {
				Elf64_Sym y = widened((Elf32_Sym *)piece + k);

				r = one(w, i + k, &y);
				continue;
			}
			if (k + AHEAD < n)
				fetch_name(w, ((Elf64_Sym *)piece + k + AHEAD)->st_name);
			r = one(w, i + k, (Elf64_Sym *)piece + k);
		}
	}
	free(piece);
	return r;
}

static int walk_table(const struct elf_file *f, const struct elf_table *t, uint64_t n_syms,
		      elf_sym_fn fn, void *ctx, struct err *e)
{
	struct walk w = { .f = f, .t = *t, .n_syms = n_syms, .fn = fn, .ctx = ctx };
	const char *vstrs;
	char *own = NULL;
	int r;

	r = elf_file_get(f, t->strs.offset, t->strs.size, &w.strs, e);
	if (r)
		return r;
	/* the versions' names stand in .dynstr, whichever table this is */
	vstrs = w.strs;
	if (t->version_strs.offset != t->strs.offset &&
	    !elf_file_get(f, t->version_strs.offset, t->version_strs.size, &own, NULL))
		vstrs = own;
	else
		w.t.version_strs = t->strs;
	r = elf_versions_init(&w.versions, f, t->verdef, t->verneed, vstrs,
			      w.t.version_strs.size);
	if (!r && t->versym.size >= (uint64_t)t->count * 2)
		elf_file_get(f, t->versym.offset, (uint64_t)t->count * 2, &w.versym, NULL);
	if (!r && t->xindex.size >= (uint64_t)t->count * 4)
		r = elf_file_get(f, t->xindex.offset, (uint64_t)t->count * 4, &w.xindex, e);
	if (!r)
		r = walk_syms(&w, e);
	elf_versions_fini(&w.versions);
	free(w.versym);
	free(w.xindex);
	free(own);
	if (!w.taken)
		big_free(w.strs);
	return r;
}

/* The string table that section @link is; size 0 if it is none. */
static struct elf_span strings(const struct elf_file *f, uint32_t link)
{
	struct elf_span none = { 0, 0 };

	if (!link || link >= f->n_sh || f->sh[link].sh_type != SHT_STRTAB)
		return none;
	return (struct elf_span){ f->sh[link].sh_offset, f->sh[link].sh_size };
}

/* The versions, which belong to .dynsym but serve both tables. */
static void find_versions(const struct elf_file *f, uint32_t dynsym,
			  struct elf_table *t)
{
	uint32_t i;

	for (i = 1; i < f->n_sh; i++) {
		const Elf64_Shdr *s = &f->sh[i];
		struct elf_span at = { s->sh_offset, s->sh_size };

		if (s->sh_type == SHT_GNU_verdef)
			t->verdef = at;
		else if (s->sh_type == SHT_GNU_verneed)
			t->verneed = at;
		else if (s->sh_type == SHT_GNU_versym && t->dynamic &&
			 s->sh_link == dynsym)
			t->versym = at;
		else
			continue;
		if (s->sh_type != SHT_GNU_versym)
			t->version_strs = strings(f, s->sh_link);
	}
}

static int walk_section(const struct elf_file *f, uint32_t index, uint64_t n_syms, elf_sym_fn fn,
			void *ctx, struct err *e)
{
	const Elf64_Shdr *s = &f->sh[index];
	uint64_t entry = f->is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	struct elf_table t = { .dynamic = s->sh_type == SHT_DYNSYM };
	uint32_t i;

	if (s->sh_entsize != entry || s->sh_size % entry)
		return elf_file_bad(f, e, "a symbol table has an impossible size");
	if (!elf_file_has(f, s->sh_offset, s->sh_size) || s->sh_size / entry > COUNT_MAX)
		return elf_file_bad(f, e, "a symbol table lies past its end");
	t.syms = s->sh_offset;
	t.count = (uint32_t)(s->sh_size / entry);
	t.strs = strings(f, s->sh_link);
	if (t.count > 1 && !t.strs.size)
		return elf_file_bad(f, e, "a symbol table has no strings");
	find_versions(f, index, &t);
	for (i = 1; i < f->n_sh; i++)
		if (f->sh[i].sh_type == SHT_SYMTAB_SHNDX && f->sh[i].sh_link == index)
			t.xindex = (struct elf_span){ f->sh[i].sh_offset, f->sh[i].sh_size };
	return walk_table(f, &t, n_syms, fn, ctx, e);
}

/* Symbols of section @index (0: none), if it is what it says; no more than there can be. */
static uint64_t how_many(const struct elf_file *f, uint32_t index)
{
	uint64_t entry = f->is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	uint64_t n = index ? f->sh[index].sh_size / entry : 0;

	return n < f->backed / entry ? n : f->backed / entry;
}

int elf_symtab_walk(const struct elf_file *f, elf_sym_fn fn, void *ctx,
		    bool *stripped, struct err *e)
{
	uint32_t i, symtab = 0, dynsym = 0;
	struct elf_table t;
	uint64_t n;
	int r = 0;

	for (i = f->n_sh; i-- > 1;) {
		if (f->sh[i].sh_type == SHT_SYMTAB)
			symtab = i;
		if (f->sh[i].sh_type == SHT_DYNSYM)
			dynsym = i;
	}
	*stripped = !symtab;
	n = how_many(f, symtab) + how_many(f, dynsym);
	if (symtab)
		r = walk_section(f, symtab, n, fn, ctx, e);
	if (!r && dynsym)
		r = walk_section(f, dynsym, n, fn, ctx, e);
	if (!symtab && !dynsym && elf_dynamic_table(f, &t))
		r = walk_table(f, &t, t.count, fn, ctx, e);
	return r;
}
