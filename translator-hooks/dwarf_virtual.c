// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_virtual.c - where the virtual base classes of a C++ class are, in a whole object of it.
 */
#include "config.h"

#include "dwarf_virtual.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf_name.h"
#include "runtime/core/hvar_image_format.h"

enum {
	WORD = 8,
	WORDS_MAX = 1 << 16,		/* of a class's tables */
	RELOCATIONS_MAX = 1 << 24,
};

struct symbol {
	uint64_t vaddr, size;
	uint32_t hash, name, len; /* the name: of the table, without a version */
};

/* The word at @vaddr becomes @value, where the file is loaded at its own addresses. */
struct relocation {
	uint64_t vaddr, value;
};

struct dwarf_virtual {
	const struct elf_file *f;
	const struct sym_table *syms;
	bool ready;
	struct symbol *symbols; /* those that may be tables and types, by hash */
	size_t n_symbols;
	struct relocation *rel; /* by vaddr */
	size_t n_rel;
	/* the last class that was asked for */
	const uint8_t *at;
	uint64_t *words;
	size_t n_words;
	uint64_t type; /* where what its tables have as the type of T is */
};

struct dwarf_virtual *dwarf_virtual_new(const struct elf_file *f, const struct sym_table *syms)
{
	struct dwarf_virtual *v = calloc(1, sizeof(*v));

	if (v) {
		v->f = f;
		v->syms = syms;
	}
	return v;
}

void dwarf_virtual_free(struct dwarf_virtual *v)
{
	if (!v)
		return;
	free(v->symbols);
	free(v->rel);
	free(v->words);
	free(v);
}

/* ---- what the file has ---- */

static int by_hash(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;

	return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static void take_symbols(struct dwarf_virtual *v)
{
	const struct sym_rows *rows = &v->syms->syms;
	struct symbol *more, s;
	const char *name;
	size_t cap = 0, len;
	uint32_t i;

	for (i = 0; i < rows->n; i++) {
		len = sym_table_plain(v->syms, &rows->v[i], &name);
		if (len < 5 || len > DWARF_NAME_MAX || memcmp(name, "_ZT", 3) || (name[3] != 'V' && name[3] != 'I'))
			continue;
		if (v->n_symbols == cap) {
			cap = cap ? 2 * cap : 64;
			more = realloc(v->symbols, cap * sizeof(*more));
			if (!more)
				return;
			v->symbols = more;
		}
		s = (struct symbol){ rows->v[i].vaddr, rows->v[i].size, (uint32_t)hvar_image_hash(0, name, len),
				     rows->v[i].name, (uint32_t)len };
		v->symbols[v->n_symbols++] = s;
	}
	if (v->n_symbols)
		qsort(v->symbols, v->n_symbols, sizeof(*v->symbols), by_hash);
}

static int by_vaddr(const void *pa, const void *pb)
{
	const struct relocation *a = pa, *b = pb;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* Those of one table; what is another file's is 0. */
static void take_relocations(struct dwarf_virtual *v, const Elf64_Shdr *s)
{
	const Elf64_Shdr *t = s->sh_link < v->f->n_sh ? &v->f->sh[s->sh_link] : NULL;
	uint64_t n = s->sh_size / sizeof(Elf64_Rela), n_syms = 0, i;
	struct relocation *more;
	Elf64_Sym *syms = NULL;
	Elf64_Rela *r;

	if (n > RELOCATIONS_MAX - v->n_rel || elf_file_get(v->f, s->sh_offset, n * sizeof(*r), &r, NULL))
		return;
	if (t && (t->sh_type == SHT_DYNSYM || t->sh_type == SHT_SYMTAB) &&
	    !elf_file_get(v->f, t->sh_offset, t->sh_size / sizeof(*syms) * sizeof(*syms), &syms, NULL))
		n_syms = t->sh_size / sizeof(*syms);
	more = realloc(v->rel, (v->n_rel + n + 1) * sizeof(*more));
	if (more)
		v->rel = more;
	for (i = 0; more && i < n; i++) {
		uint64_t k = ELF64_R_SYM(r[i].r_info), value = (uint64_t)r[i].r_addend;
		uint32_t type = ELF64_R_TYPE(r[i].r_info);

		if (type == R_X86_64_64)
			value = k < n_syms && syms[k].st_shndx != SHN_UNDEF ? value + syms[k].st_value : 0;
		else if (type != R_X86_64_RELATIVE)
			continue;
		more[v->n_rel++] = (struct relocation){ r[i].r_offset, value };
	}
	free(syms);
	free(r);
}

static void get_ready(struct dwarf_virtual *v)
{
	uint32_t i;

	v->ready = true;
	take_symbols(v);
	for (i = 1; i < v->f->n_sh && v->n_symbols; i++)
		if (v->f->sh[i].sh_type == SHT_RELA && v->f->sh[i].sh_flags & SHF_ALLOC)
			take_relocations(v, &v->f->sh[i]);
	if (v->n_rel)
		qsort(v->rel, v->n_rel, sizeof(*v->rel), by_vaddr);
}

/* The one symbol "@prefix@name"; NULL: none, or several at different places. */
static const struct symbol *symbol(const struct dwarf_virtual *v, const char *prefix, const char *name)
{
	char whole[DWARF_NAME_MAX + 8];
	size_t len = (size_t)snprintf(whole, sizeof(whole), "%s%s", prefix, name), lo = 0, hi = v->n_symbols;
	uint32_t hash = (uint32_t)hvar_image_hash(0, whole, len);
	const struct symbol *found = NULL, *s;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v->symbols[mid].hash < hash)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < v->n_symbols && v->symbols[lo].hash == hash; lo++) {
		s = &v->symbols[lo];
		if (s->len != len || memcmp(sym_table_text(v->syms, s->name), whole, len))
			continue;
		if (found && (found->vaddr != s->vaddr || found->size != s->size))
			return NULL;
		found = s;
	}
	return found;
}

static void relocate(const struct dwarf_virtual *v, uint64_t vaddr)
{
	size_t lo = 0, hi = v->n_rel;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v->rel[mid].vaddr < vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < v->n_rel && v->rel[lo].vaddr - vaddr < v->n_words * WORD; lo++)
		if (!((v->rel[lo].vaddr - vaddr) % WORD))
			v->words[(v->rel[lo].vaddr - vaddr) / WORD] = v->rel[lo].value;
}

/* The words of the tables of the class that is called @name. */
static void read_tables(struct dwarf_virtual *v, const char *name)
{
	const struct symbol *tables, *type;
	uint64_t offset, left;

	v->n_words = 0;
	if (!v->ready)
		get_ready(v);
	tables = symbol(v, "_ZTV", name);
	type = symbol(v, "_ZTI", name);
	if (!tables || tables->size / WORD > WORDS_MAX || tables->size < 3 * WORD ||
	    tables->vaddr % WORD || !elf_file_vaddr(v->f, tables->vaddr, &offset, &left) || left < tables->size)
		return;
	free(v->words);
	v->words = malloc(tables->size);
	if (!v->words || elf_file_read(v->f, offset, v->words, tables->size / WORD * WORD, NULL))
		return;
	v->n_words = tables->size / WORD;
	/* without run-time types there is 0; as for what another file has (relocate()) */
	v->type = type ? type->vaddr : 0;
	relocate(v, tables->vaddr);
}

/* ---- what is asked ---- */

bool dwarf_virtual_offset(struct dwarf_virtual *v, const struct dwarf_die *class, uint64_t part, uint64_t back,
			  uint64_t *out)
{
	char name[DWARF_NAME_MAX];
	size_t i, at = 0;

	if (v->f->is32 || class->unit->addr_size != WORD || !back || back % WORD || back / WORD > WORDS_MAX)
		return false;
	if (v->at != class->at) {
		v->at = class->at;
		v->n_words = 0;
		if (dwarf_name_mangled(class, name))
			read_tables(v, name);
	}
	for (i = 0; i + 1 < v->n_words; i++) {
		if (v->words[i] != -part || v->words[i + 1] != v->type)
			continue;
		if (at)
			return false;
		at = i + 2;
	}
	if (!at || back / WORD > at)
		return false;
	*out = part + v->words[at - back / WORD];
	return true;
}

bool dwarf_virtual_back(const struct dwarf_die *d, uint64_t *out)
{
	const struct dwarf_value *v = &d->v[DWARF_A_MEMBER_LOCATION];
	struct dwarf_cursor c;
	uint8_t op;

	if (!dwarf_die_has(d, DWARF_A_MEMBER_LOCATION) || v->cls != DWARF_C_BLOCK)
		return false;
	c.p = v->p;
	c.end = v->p + v->u;
	c.bad = false;
	if (dwarf_fixed(&c, 1) != DW_OP_dup || dwarf_fixed(&c, 1) != DW_OP_deref)
		return false;
	op = (uint8_t)dwarf_fixed(&c, 1);
	if (op == DW_OP_constu)
		*out = dwarf_uleb(&c);
	else if (op == DW_OP_const1u || op == DW_OP_const2u || op == DW_OP_const4u)
		*out = dwarf_fixed(&c, op == DW_OP_const1u ? 1 : op == DW_OP_const2u ? 2 : 4);
	else if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		*out = op - DW_OP_lit0;
	else
		return false;
	return dwarf_fixed(&c, 1) == DW_OP_minus && dwarf_fixed(&c, 1) == DW_OP_deref && dwarf_fixed(&c, 1) == DW_OP_plus &&
	       !c.bad && c.p == c.end;
}
