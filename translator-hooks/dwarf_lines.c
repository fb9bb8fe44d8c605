// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_lines.c - names of source files, by their number in a unit's line table.
 *
 * Only the head of a line table is read (DWARF 5, 6.2.4):
 *
 *	DWARF 2-4	"include" "/usr/include" "" { "a.c" folder time length } ""
 *	DWARF 5		formats, folders, formats, files: folder 0 is the one it was compiled in
 */
#include "config.h"

#include "dwarf_lines.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf_die.h"

/* Of one table; and of all, by what they take here: tables may overlap in a file made to deceive. */
#define ENTRIES_MAX (1u << 18)
#define ENTRIES_ALL (1u << 22)
/* How often all are forgotten to make room for others. */
#define FORGET_MAX  16

struct entry {
	const char *name;
	uint64_t dir;
};

struct table {
	const uint8_t *at; /* where it is, its key */
	struct table *next;
	unsigned version;
	uint32_t n_dirs, n;
	struct entry *dirs, *files;
};

struct dwarf_tables {
	struct table *buckets[1024];
	uint32_t left, forgotten;
};

struct dwarf_tables *dwarf_tables_new(void)
{
	struct dwarf_tables *t = calloc(1, sizeof(*t));

	if (t)
		t->left = ENTRIES_ALL;
	return t;
}

static void forget(struct dwarf_tables *t)
{
	unsigned i;

	for (i = 0; i < 1024; i++) {
		struct table *p, *next;

		for (p = t->buckets[i]; p; p = next) {
			next = p->next;
			free(p->dirs);
			free(p->files);
			free(p);
		}
		t->buckets[i] = NULL;
	}
	t->left = ENTRIES_ALL;
}

void dwarf_tables_free(struct dwarf_tables *t)
{
	if (t)
		forget(t);
	free(t);
}

static bool add(struct dwarf_tables *all, struct entry **v, uint32_t *n, const char *name,
		uint64_t dir)
{
	if (*n == ENTRIES_MAX || !all->left)
		return false;
	if (!(*n & (*n - 1))) { /* a power of 2, or 0 */
		struct entry *more = realloc(*v, (*n ? *n * 2 : 1) * sizeof(*more));

		if (!more)
			return false;
		*v = more;
	}
	(*v)[(*n)++] = (struct entry){ name, dir };
	all->left--;
	return true;
}

static void read_old(struct dwarf_tables *all, struct dwarf_cursor *c, struct table *t)
{
	const char *s;
	uint64_t dir;

	add(all, &t->dirs, &t->n_dirs, "", 0); /* numbers count from 1: 0 is the unit's own */
	while (!c->bad && *(s = dwarf_string(c)))
		if (!add(all, &t->dirs, &t->n_dirs, s, 0))
			return;
	add(all, &t->files, &t->n, "", 0);
	while (!c->bad && *(s = dwarf_string(c))) {
		dir = dwarf_uleb(c);
		dwarf_uleb(c);
		dwarf_uleb(c);
		if (c->bad || !add(all, &t->files, &t->n, s, dir))
			return;
	}
}

static const char *string_at(const struct dwarf_bytes *b, uint64_t offset)
{
	return b->p && offset < b->n ? (const char *)b->p + offset : "";
}

/* One value of a DWARF 5 entry: a string or a number. */
static void read_value(struct dwarf_unit *u, struct dwarf_cursor *c, uint64_t form, unsigned off,
		       const char **s, uint64_t *n)
{
	const struct dwarf_bytes *sec = u->file->sec;

	switch (form) {
	case DW_FORM_string: *s = dwarf_string(c); break;
	case DW_FORM_line_strp: *s = string_at(&sec[DWARF_LINE_STR], dwarf_fixed(c, off)); break;
	case DW_FORM_strp: *s = string_at(&sec[DWARF_STR], dwarf_fixed(c, off)); break;
	case DW_FORM_strp_sup:
		*n = dwarf_fixed(c, off);
		*s = u->file->alt ? string_at(&u->file->alt->sec[DWARF_STR], *n) : "";
		break;
	case DW_FORM_udata: *n = dwarf_uleb(c); break;
	case DW_FORM_data1: *n = dwarf_fixed(c, 1); break;
	case DW_FORM_data2: *n = dwarf_fixed(c, 2); break;
	case DW_FORM_data4: *n = dwarf_fixed(c, 4); break;
	case DW_FORM_data8: *n = dwarf_fixed(c, 8); break;
	case DW_FORM_data16: dwarf_skip(c, 16); break;
	case DW_FORM_block: dwarf_skip(c, dwarf_uleb(c)); break;
	case DW_FORM_block1: dwarf_skip(c, dwarf_fixed(c, 1)); break;
	case DW_FORM_block2: dwarf_skip(c, dwarf_fixed(c, 2)); break;
	case DW_FORM_block4: dwarf_skip(c, dwarf_fixed(c, 4)); break;
	default: c->bad = true; break;
	}
}

static void read_list(struct dwarf_tables *all, struct dwarf_unit *u, struct dwarf_cursor *c,
		      unsigned off, struct entry **v, uint32_t *n)
{
	struct { uint64_t what, form; } formats[255];
	unsigned k = (unsigned)dwarf_fixed(c, 1), i;
	uint64_t count;

	for (i = 0; i < k; i++) {
		formats[i].what = dwarf_uleb(c);
		formats[i].form = dwarf_uleb(c);
	}
	/* entries of no bytes would be as many as one likes */
	for (count = dwarf_uleb(c); count && k && !c->bad; count--) {
		const char *name = "";
		uint64_t dir = 0;

		for (i = 0; i < k; i++) {
			const char *s = "";
			uint64_t number = 0;

			read_value(u, c, formats[i].form, off, &s, &number);
			if (formats[i].what == DW_LNCT_path)
				name = s;
			else if (formats[i].what == DW_LNCT_directory_index)
				dir = number;
		}
		if (c->bad || !add(all, v, n, name, dir))
			return;
	}
}

static void read_table(struct dwarf_tables *all, struct dwarf_unit *u, struct dwarf_cursor *c,
		       struct table *t)
{
	unsigned off = 4;
	uint64_t n = dwarf_fixed(c, 4);

	if (n == 0xffffffff) {
		off = 8;
		n = dwarf_fixed(c, 8);
	}
	if (c->bad || n > (uint64_t)(c->end - c->p))
		return;
	c->end = c->p + n;
	t->version = (unsigned)dwarf_fixed(c, 2);
	if (t->version < 2 || t->version > 5)
		return;
	if (t->version >= 5)
		dwarf_skip(c, 2); /* sizes of addresses and of segment selectors */
	dwarf_fixed(c, off);
	dwarf_skip(c, t->version >= 4 ? 5 : 4);
	n = dwarf_fixed(c, 1);
	dwarf_skip(c, n ? n - 1 : 0); /* lengths of the standard opcodes */
	if (t->version < 5) {
		read_old(all, c, t);
		return;
	}
	read_list(all, u, c, off, &t->dirs, &t->n_dirs);
	read_list(all, u, c, off, &t->files, &t->n);
}

static const struct table *table_of(struct dwarf_tables *all, struct dwarf_unit *u)
{
	struct dwarf_cursor c = dwarf_cursor_at(&u->file->sec[DWARF_LINE], u->line);
	struct table **bucket = &all->buckets[(uintptr_t)c.p * 0x9e3779b1u >> 8 & 1023], *t;

	if (c.bad || c.p == c.end)
		return NULL;
	for (t = *bucket; t; t = t->next)
		if (t->at == c.p)
			return t;
	if (!all->left && all->forgotten++ < FORGET_MAX)
		forget(all);
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->at = c.p;
	t->next = *bucket;
	*bucket = t;
	read_table(all, u, &c, t);
	return t;
}

bool dwarf_tables_file(struct dwarf_tables *all, struct dwarf_unit *u, uint64_t number, char *buf,
		       size_t size)
{
	const struct table *t;
	const char *dir = "", *name, *home;
	int n;

	if (!dwarf_unit_attrs(u))
		return false;
	/* a split unit's numbers are its skeleton's */
	if (!u->has_line && u->skeleton)
		u = u->skeleton;
	if (!dwarf_unit_attrs(u) || !u->has_line)
		return false;
	t = table_of(all, u);
	if (!t || number >= t->n || (t->version < 5 && !number) || !*t->files[number].name)
		return false;
	name = t->files[number].name;
	home = u->comp_dir ? u->comp_dir : "";
	if (*name != '/' && t->files[number].dir < t->n_dirs && t->files[number].dir)
		dir = t->dirs[t->files[number].dir].name;
	if (!strcmp(dir, home) || !strcmp(dir, "."))
		dir = "";
	n = snprintf(buf, size, "%s%s%s", dir, *dir ? "/" : "", name);
	return n > 0 && (size_t)n < size;
}
