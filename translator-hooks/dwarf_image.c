// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_image.c - debug information -> types, members, variables, and symbols that no table has.
 *
 * A variable belongs to the symbol that starts where it does and has its name or its size.  The linker may have
 * called it otherwise ("counter.0", "table.lto_priv.1"); one that nobody called anything becomes a symbol.
 */
#include "config.h"

#include "dwarf_image.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf_die.h"
#include "dwarf_lines.h"
#include "dwarf_types.h"
#include "dwarf_virtual.h"

enum {
	WORK_BYTE = 4,	/* attributes of types to a byte; all of them once would be less than one */
	WORK_LEAST = 1 << 18,
	ALIASES_MAX = 1024, /* at one place; those behind are not looked at */
};

/* ---- adding symbols ---- */

/* The section that holds @vaddr; with sections, what is in none is nowhere. */
static bool section_of(const struct image_parts *p, uint64_t vaddr, uint32_t *out)
{
	uint32_t lo = 0, hi = p->n_sections;

	*out = HVAR_IMAGE_NONE;
	while (lo < hi) { /* those of TLS come last */
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->sections[mid].kind == HVAR_KIND_TLS)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (!hi)
		return true;
	lo = 0;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->sections[mid].vaddr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || vaddr - p->sections[lo - 1].vaddr >= p->sections[lo - 1].size)
		return false;
	*out = lo - 1;
	return true;
}

/*
 * Is it in the program?  What the linker dropped is at 0, or at the end of memory, where no section is.
 */
static bool loaded(const struct image_parts *p, const struct dwarf_var *v, uint32_t *section)
{
	uint32_t i;

	*section = HVAR_IMAGE_NONE;
	if (v->tls)
		return v->vaddr < p->head.tls.memsz;
	if (!v->vaddr || !section_of(p, v->vaddr, section))
		return false;
	for (i = 0; i < p->n_segs; i++)
		if (v->vaddr - p->segs[i].vaddr < p->segs[i].memsz)
			return true;
	return false;
}

/* "parser.c" of the unit's name, as the symbol table's file symbols have it. */
static const char *unit_file(const struct dwarf_var *v)
{
	const char *name = v->unit->name ? v->unit->name : v->unit->skeleton && v->unit->skeleton->name ?
			   v->unit->skeleton->name : NULL;
	const char *slash = name ? strrchr(name, '/') : NULL;

	return slash ? slash + 1 : name;
}

/* Is @text one of the strings of @f? */
static bool holds(const struct dwarf_file *f, const char *text)
{
	const uint8_t *p = (const uint8_t *)text;
	int i;

	for (i = 0; i < DWARF_SECS; i++)
		if (f->sec[i].n && p >= f->sec[i].p && p < f->sec[i].p + f->sec[i].n)
			return true;
	return false;
}

static int add_symbols(struct dwarf_image *d, const struct image_parts *p, struct sym_table *syms)
{
	uint32_t i, k = 0;
	int r = 0;

	d->types = calloc((size_t)d->vars.n + 1, sizeof(*d->types));
	if (!d->types)
		return -ENOMEM;
	dwarf_work((d->set.bytes + WORK_LEAST) * WORK_BYTE);
	for (i = 0; i < d->vars.n && !r; i++) {
		struct dwarf_var *v = &d->vars.v[i];
		struct elf_sym s = { .value = v->vaddr };
		uint32_t section;

		if (!loaded(p, v, &section))
			continue;
		if (v->type)
			dwarf_unit_inherit(v->type_unit, v->unit);
		d->types[k] = dwarf_types_of(&d->table, v->type_unit, v->type);
		s.name = v->linkage ? v->linkage : v->name;
		s.len = strlen(s.name);
		s.size = v->piece ? v->piece : d->table.v[d->types[k]].size;
		s.type = v->tls ? STT_TLS : STT_OBJECT;
		s.binding = v->external ? STB_GLOBAL : STB_LOCAL;
		s.file = v->external ? NULL : unit_file(v);
		s.debug = true;
		if (d->set.alt && holds(d->set.alt, s.name))
			s.origin = HVAR_ORIGIN_DWZ;
		r = d->table.error;
		if (!r)
			r = sym_table_add(syms, &s, section);
		d->vars.v[k++] = *v;
	}
	dwarf_work(UINT64_MAX);
	d->vars.n = k;
	return r;
}

/* ---- which variable a symbol is ---- */

/*
 * Linkers put constants that are alike at one place, so several variables may be there.  Which of
 * them a symbol is, its name says: its own, one that ends in it or it in one ("environ",
 * "__GI___environ"), an alias's; with none of them, the size.  What is
 * shorter than the variable may be a part of it.
 */
enum how_good { NO_MATCH, BY_PART, BY_SIZE, BY_ALIAS, BY_ENDING, BY_NAME };

struct match {
	uint32_t symbol, var;
	unsigned good; /* enum how_good */
};

static bool is_called(const struct sym_table *t, const struct sym_row *y, const char *name)
{
	const char *s;
	size_t m = sym_table_plain(t, y, &s), n = strlen(name);

	return n <= m && !memcmp(s, name, n) && (n == m || s[n] == '.');
}

static bool ends_alike(const struct sym_table *t, const struct sym_row *y, const char *name)
{
	const char *s;
	size_t m = sym_table_plain(t, y, &s), n = strlen(name);

	return m && n && (m < n ? !memcmp(name + n - m, s, m) : !memcmp(s + m - n, name, n));
}

struct matches {
	struct match *v;
	uint32_t n, cap;
};

static int add_match(struct matches *all, uint32_t symbol, uint32_t var, unsigned good)
{
	if (all->n == all->cap) {
		uint32_t cap = all->cap ? all->cap * 2 : 256;
		struct match *v = realloc(all->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		all->v = v;
		all->cap = cap;
	}
	all->v[all->n++] = (struct match){ symbol, var, good };
	return 0;
}

static unsigned how_good(const struct sym_table *t, const struct sym_row *first,
			 const struct sym_row *y, const struct dwarf_var *v, uint64_t size)
{
	const char *name = v->linkage ? v->linkage : v->name;

	/* clang gives all members of an anonymous union one name for the linker, which is made of the first's */
	if (is_called(t, y, name) && v->linkage && v->name && !strstr(v->linkage, v->name))
		return BY_SIZE;
	if (is_called(t, y, name))
		return y == first ? BY_NAME : ends_alike(t, first, name) ? BY_ENDING : BY_ALIAS;
	if (!size || y->size != size)
		return NO_MATCH;
	return ends_alike(t, first, name) ? BY_ENDING : BY_SIZE;
}

/*
 * Of the groups of aliases at the variable's place the best; of shorter ones its first part is
 * all there is: older versions of it.  Of each group the first counts.
 */
static int match(const struct sym_table *t, const struct sym_rows *rows, const struct dwarf_image *d,
		 uint32_t var, struct matches *all)
{
	const struct dwarf_var *v = &d->vars.v[var];
	uint64_t size = v->piece ? v->piece : d->table.v[d->types[var]].size;
	uint32_t lo = 0, hi = rows->n, i, first, best = HVAR_IMAGE_NONE;
	unsigned good = NO_MATCH;
	int r = 0;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (rows->v[mid].vaddr < v->vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (i = first = lo; i < rows->n && i - lo < ALIASES_MAX && rows->v[i].vaddr == v->vaddr; i++) {
		const struct sym_row *y = &rows->v[i];
		unsigned this;

		if (y->size != rows->v[first].size)
			first = i;
		this = how_good(t, &rows->v[first], y, v, size);
		/* the name is also that of a label, or of a part: the size tells */
		if (this > good || (this && this == good && y->size == size)) {
			good = this;
			best = first;
		}
	}
	for (i = lo; i < rows->n && i - lo < ALIASES_MAX && rows->v[i].vaddr == v->vaddr && !r &&
		     best != HVAR_IMAGE_NONE; i++)
		if (i == best)
			r = add_match(all, best, var, good);
		else if (rows->v[i].size && rows->v[i].size < size &&
			 (i == lo || rows->v[i].size != rows->v[i - 1].size))
			r = add_match(all, i, var, BY_PART);
	return r;
}

static int by_symbol(const void *pa, const void *pb)
{
	const struct match *a = pa, *b = pb;

	if (a->symbol != b->symbol)
		return a->symbol < b->symbol ? -1 : 1;
	if (a->good != b->good)
		return a->good > b->good ? -1 : 1;
	return a->var < b->var ? -1 : a->var > b->var;
}

static int declared(struct sym_table *syms, struct dwarf_tables *tables, const struct dwarf_var *v,
		    struct hvar_image_var *out)
{
	char file[PATH_MAX];
	int r = 0;

	if (v->decl_unit && dwarf_tables_file(tables, v->decl_unit, v->decl_file, file, sizeof(file)))
		r = sym_table_str(syms, file, strlen(file), &out->file);
	out->line = v->decl_line;
	if (!r && v->function)
		r = sym_table_str(syms, v->function, strlen(v->function), &out->function);
	return r;
}

static int put_vars(struct dwarf_image *d, struct sym_table *syms, struct dwarf_tables *tables, bool tls,
		    struct hvar_image_var **out, uint32_t *n)
{
	const struct sym_rows *rows = tls ? &syms->tls : &syms->syms;
	struct matches all = { NULL, 0, 0 };
	const struct match *m;
	uint32_t i, count;
	int r = 0;

	*n = 0;
	for (i = 0; i < d->vars.n && !r; i++)
		if (d->vars.v[i].tls == tls)
			r = match(syms, rows, d, i, &all);
	count = all.n;
	m = all.v;
	if (count)
		qsort(all.v, count, sizeof(*m), by_symbol);
	*out = r ? NULL : calloc((size_t)count + 1, sizeof(**out));
	if (!*out)
		r = -ENOMEM;
	for (i = 0; i < count && !r; i++) {
		struct hvar_image_var *v = &(*out)[*n];

		if (i && m[i].symbol == m[i - 1].symbol)
			continue;
		/* two that are as good: rather no members than another's */
		if (i + 1 < count && m[i + 1].symbol == m[i].symbol && m[i + 1].good == m[i].good &&
		    d->types[m[i + 1].var] != d->types[m[i].var])
			continue;
		v->symbol = m[i].symbol;
		v->type = d->types[m[i].var];
		v->at = d->vars.v[m[i].var].at;
		r = declared(syms, tables, &d->vars.v[m[i].var], v);
		(*n)++;
	}
	free(all.v);
	return r;
}

/* ---- all of it ---- */

int dwarf_image_read(struct dwarf_image *d, const struct elf_file *f, const struct elf_file *loaded, const char *path,
		     const char *debug_path, uint64_t limit, const struct image_parts *p,
		     struct sym_table *syms)
{
	int r;

	memset(d, 0, sizeof(*d));
	d->debug.limit = limit;
	d->debug.bytes = dwarf_file_bytes(f);
	r = type_table_init(&d->table, syms);
	if (r)
		return r;
	r = dwarf_set_open(&d->set, f, path, debug_path, limit);
	if (r) {
		d->debug.state = r == -ENODATA ? HVAR_DEBUG_NONE : r == -EFBIG ? HVAR_DEBUG_TOO_BIG :
				 HVAR_DEBUG_BAD;
		return r == -ENOMEM ? r : 0;
	}
	d->open = true;
	d->debug.state = d->set.too_big ? HVAR_DEBUG_TOO_BIG : HVAR_DEBUG_READ;
	d->debug.bytes = d->set.bytes;
	d->debug.missing = d->set.missing;
	d->table.virtuals = d->virtuals = dwarf_virtual_new(loaded, syms);
	r = d->virtuals ? dwarf_vars_scan(&d->set, &d->vars) : -ENOMEM;
	return r ? r : add_symbols(d, p, syms);
}

static uint32_t added(const struct sym_rows *rows)
{
	uint32_t i, n = 0;

	for (i = 0; i < rows->n; i++)
		n += !!(rows->v[i].flags & HVAR_SYM_DEBUG);
	return n;
}

int dwarf_image_put(struct dwarf_image *d, struct sym_table *syms, struct image_parts *p)
{
	struct dwarf_tables *tables;
	uint32_t i;
	int r;

	p->debug = &d->debug;
	if (!d->open)
		return 0;
	tables = dwarf_tables_new();
	if (!tables)
		return -ENOMEM;
	r = put_vars(d, syms, tables, false, &p->vars, &p->n_vars);
	if (!r)
		r = put_vars(d, syms, tables, true, &p->tls_vars, &p->n_tls_vars);
	dwarf_tables_free(tables);
	p->types = d->table.v;
	p->n_types = d->table.n;
	p->members = d->table.members;
	p->n_members = d->table.n_members;
	d->debug.unplaced = d->vars.unplaced;
	d->debug.broken = d->vars.broken;
	for (i = 0; i < d->set.n; i++)
		d->debug.broken += d->set.v[i]->broken;
	d->debug.opaque = d->table.opaque;
	d->debug.added = added(&syms->syms) + added(&syms->tls);
	return r;
}

void dwarf_image_fini(struct dwarf_image *d, struct image_parts *p)
{
	free(p->vars);
	free(p->tls_vars);
	p->vars = p->tls_vars = NULL;
	p->debug = NULL;
	type_table_fini(&d->table);
	dwarf_virtual_free(d->virtuals);
	dwarf_vars_fini(&d->vars);
	if (d->open)
		dwarf_set_close(&d->set);
	free(d->types);
	memset(d, 0, sizeof(*d));
}
