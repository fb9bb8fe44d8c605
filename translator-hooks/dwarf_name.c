// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_name.c - a type's name with what it stands in.
 */
#include "config.h"

#include "dwarf_name.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf_text.h"

enum {
	DEPTH_MAX = 256,      /* of entries in each other; what is deeper stands in the last that was noted */
	SCOPES_MAX = 1 << 18, /* of a unit */
	LEVELS_MAX = 32,      /* of a name */
	ARGS_MAX = 64,	      /* of a template */
	NESTED_MAX = 8,	      /* templates in each other's arguments, whose names are made here */
};

/* A namespace, a class or a function, and its bytes in the unit. */
struct dwarf_scope {
	uint32_t start, end, parent; /* parent: number + 1, 0: none */
	bool function;		     /* what is local to one is not named after it */
	bool args;		     /* of a template, and not in its name */
	const char *name;	     /* NULL: it has none */
};

/* ---- what stands in what ---- */

static bool is_scope(unsigned tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_module || tag == DW_TAG_subprogram;
}

static bool is_named_by_scope(unsigned tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type || tag == DW_TAG_interface_type || tag == DW_TAG_typedef;
}

static const char *name_of(const struct dwarf_die *d)
{
	const char *name = dwarf_die_str(d, DWARF_A_NAME);

	return name || d->tag != DW_TAG_namespace ? name : "(anonymous namespace)";
}

static struct dwarf_scope *add(struct dwarf_unit *u, const uint8_t *at, uint32_t parent)
{
	struct dwarf_scope *s;

	if (!(u->n_scopes & (u->n_scopes - 1))) { /* a power of 2, or 0 */
		s = realloc(u->scopes, (u->n_scopes ? u->n_scopes * 2 : 1) * sizeof(*s));
		if (!s)
			return NULL;
		u->scopes = s;
	}
	s = &u->scopes[u->n_scopes++];
	s->start = (uint32_t)(at - u->start);
	s->end = UINT32_MAX;
	s->parent = parent;
	return s;
}

/* One walk over all entries; what cannot be read ends it. */
static void note(struct dwarf_unit *u)
{
	const struct dwarf_abbrevs *t = dwarf_unit_abbrevs(u);
	const uint8_t *at = u->die, *attrs;
	uint32_t inside[DEPTH_MAX + 1] = { 0 }; /* number + 1 of the scope around each level */
	uint64_t depth = 0;
	struct dwarf_scope *s;
	struct dwarf_die d;

	u->scopes_known = true;
	while (t && at < u->end && (uint64_t)(u->end - u->start) < UINT32_MAX && u->n_scopes < SCOPES_MAX) {
		const struct dwarf_abbrev *a = dwarf_die_head(u, t, at, &attrs);
		uint32_t around = inside[depth < DEPTH_MAX ? depth : DEPTH_MAX];

		if (!a)
			return;
		if (!a->tag) {
			if (depth && depth <= DEPTH_MAX && inside[depth] && inside[depth] != inside[depth - 1])
				u->scopes[inside[depth] - 1].end = (uint32_t)(attrs - u->start);
			depth -= !!depth;
			at = attrs;
			continue;
		}
		if (a->children && is_scope(a->tag) && depth < DEPTH_MAX) {
			if (!dwarf_die_read(u, at, &d))
				return;
			s = add(u, at, around);
			if (!s)
				return;
			s->function = a->tag == DW_TAG_subprogram;
			s->name = name_of(&d);
			s->args = false;
			around = u->n_scopes;
			at = d.next;
		} else {
			at = dwarf_die_pass(u, t, a, attrs);
			if (!at)
				return;
			if (around && (a->tag == DW_TAG_template_type_parameter || a->tag == DW_TAG_template_value_parameter)) {
				s = &u->scopes[around - 1];
				s->args = s->name && !strchr(s->name, '<');
			}
		}
		if (a->children && ++depth <= DEPTH_MAX)
			inside[depth] = around;
	}
}

/* The number + 1 of the innermost scope around @at, which is not @at's own; 0: none. */
static uint32_t around(struct dwarf_unit *u, const uint8_t *at)
{
	uint32_t here = (uint32_t)(at - u->start), lo = 0, hi = u->n_scopes;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (u->scopes[mid].start < here)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo && u->scopes[lo - 1].end <= here)
		lo = u->scopes[lo - 1].parent;
	return lo;
}

void dwarf_name_forget(struct dwarf_unit *u)
{
	free(u->scopes);
	u->scopes = NULL;
	u->n_scopes = 0;
}

/* ---- the name ---- */

static void append(char *buf, const char *s)
{
	size_t n = strlen(buf), k = strlen(s);

	if (k < DWARF_NAME_MAX - n) {
		memcpy(buf + n, s, k + 1);
		return;
	}
	memcpy(buf + n, s, DWARF_NAME_MAX - n);
	strcpy(buf + DWARF_NAME_MAX - 4, "...");
}

static void value(const struct dwarf_die *arg, char *buf)
{
	struct dwarf_unit *u;
	const uint8_t *at;
	struct dwarf_die type;
	char text[32];
	const char *name = NULL;
	uint64_t n = arg->v[DWARF_A_CONST_VALUE].u;

	if (dwarf_die_ref(arg, DWARF_A_TYPE, &u, &at) && dwarf_unit_attrs(u) && dwarf_die_read(u, at, &type))
		name = dwarf_die_str(&type, DWARF_A_NAME);
	if (name && !strcmp(name, "bool"))
		snprintf(text, sizeof(text), "%s", n ? "true" : "false");
	else
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)n);
	append(buf, text);
}

/* "<int, 3>", of a name that clang leaves it off (-gsimple-template-names). */
static void template_args(const struct dwarf_die *d, char *buf)
{
	const uint8_t *at = d->next, *type;
	static __thread int nested;
	char text[DWARF_TEXT_MAX];
	struct dwarf_unit *u;
	struct dwarf_die c;
	int n = 0;

	if (nested == NESTED_MAX)
		return;
	nested++;
	while (d->children && at && n < ARGS_MAX && strlen(buf) < DWARF_NAME_MAX - 1 && dwarf_die_read(d->unit, at, &c) && c.tag) {
		bool is_value = c.tag == DW_TAG_template_value_parameter && dwarf_die_has(&c, DWARF_A_CONST_VALUE);

		if (is_value || c.tag == DW_TAG_template_type_parameter) {
			append(buf, n++ ? ", " : "<");
			if (is_value) {
				value(&c, buf);
			} else {
				if (!dwarf_die_ref(&c, DWARF_A_TYPE, &u, &type))
					type = NULL, u = c.unit;
				dwarf_text(u, type, text);
				append(buf, text);
			}
		}
		at = dwarf_die_after(&c);
	}
	nested--;
	if (n)
		append(buf, buf[strlen(buf) - 1] == '>' ? " >" : ">");
}

static void scope_names(struct dwarf_unit *u, const uint8_t *at, char *buf)
{
	const struct dwarf_scope *scopes[LEVELS_MAX], *s;
	struct dwarf_die d;
	uint32_t i;
	int n = 0;

	if (!u->scopes_known)
		note(u);
	for (i = around(u, at); i && n < LEVELS_MAX && !u->scopes[i - 1].function; i = u->scopes[i - 1].parent)
		if (u->scopes[i - 1].name)
			scopes[n++] = &u->scopes[i - 1];
	while (n--) {
		s = scopes[n];
		append(buf, s->name);
		if (s->args && dwarf_die_read(u, u->start + s->start, &d))
			template_args(&d, buf);
		append(buf, "::");
	}
}

/* ---- the linker's ---- */

struct part {
	const char *p;
	size_t n;
};

/* "N2ns3outE" of "ns" and "out", the @n parts at @v, the innermost first. */
static bool mangle(const struct part *v, int n, char *buf)
{
	bool in_std = n > 1 && v[n - 1].n == 3 && !memcmp(v[n - 1].p, "std", 3);
	size_t at, i;

	n -= in_std;
	strcpy(buf, n > 1 && in_std ? "NSt" : n > 1 ? "N" : in_std ? "St" : "");
	for (at = strlen(buf); n; n--) {
		i = (size_t)n - 1;
		if (!v[i].n || v[i].n > DWARF_NAME_MAX - 32 - at || memchr(v[i].p, '<', v[i].n))
			return false;
		at += (size_t)sprintf(buf + at, "%zu%.*s", v[i].n, (int)v[i].n, v[i].p);
	}
	if (*buf == 'N')
		strcpy(buf + at, "E");
	return true;
}

/* Is @linkage, "_ZN2ns3outC4Ev", the name of a constructor or destructor of a class that is called @class?  Its parts. */
static int of_constructor(const char *linkage, const char *class, struct part v[LEVELS_MAX])
{
	struct part back[LEVELS_MAX];
	const char *p = linkage + 3;
	int n = 0, i;
	char *end;

	if (strncmp(linkage, "_ZN", 3))
		return 0;
	if (!strncmp(p, "St", 2)) {
		back[n++] = (struct part){ "std", 3 };
		p += 2;
	}
	for (; *p >= '1' && *p <= '9' && n < LEVELS_MAX; p += back[n++].n) {
		back[n].n = strtoul(p, &end, 10);
		back[n].p = p = end;
		if (strnlen(p, back[n].n) < back[n].n)
			return 0;
	}
	if (!n || back[n - 1].n != strlen(class) || memcmp(back[n - 1].p, class, back[n - 1].n) ||
	    (*p != 'C' && *p != 'D') || p[1] < '0' || p[1] > '9')
		return 0;
	for (i = 0; i < n; i++)
		v[i] = back[n - 1 - i];
	return n;
}

/* The parts of the name of @d, which is called @name, by the names of its functions. */
static int by_functions(const struct dwarf_die *d, const char *name, struct part v[LEVELS_MAX])
{
	const uint8_t *at = d->next;
	const char *linkage;
	struct dwarf_die c;
	int n = 0;

	for (; d->children && at && !n && dwarf_die_read(d->unit, at, &c) && c.tag; at = dwarf_die_after(&c)) {
		linkage = c.tag == DW_TAG_subprogram ? dwarf_die_str(&c, DWARF_A_LINKAGE_NAME) : NULL;
		n = linkage ? of_constructor(linkage, name, v) : 0;
	}
	return n;
}

/* The same by what the entry at @at stands in. */
static int by_scopes(struct dwarf_unit *u, const uint8_t *at, const char *name, struct part v[LEVELS_MAX])
{
	const struct dwarf_scope *s;
	uint32_t i;
	int n = 0;

	v[n++] = (struct part){ name, strlen(name) };
	if (!u->scopes_known)
		note(u);
	for (i = around(u, at); i; i = s->parent) {
		s = &u->scopes[i - 1];
		if (s->function || s->args || !s->name || n == LEVELS_MAX)
			return 0;
		v[n].p = strcmp(s->name, "(anonymous namespace)") ? s->name : "_GLOBAL__N_1";
		v[n].n = strlen(v[n].p);
		n++;
	}
	return n;
}

/* Does anything in the unit stand outside of the entry at @at that another could stand in? */
static bool others_around(const struct dwarf_unit *u, const uint8_t *at)
{
	uint32_t start = (uint32_t)(at - u->start), end = start, i;

	for (i = 0; i < u->n_scopes; i++)
		if (u->scopes[i].start == start)
			end = u->scopes[i].end;
	for (i = 0; i < u->n_scopes; i++)
		if (u->scopes[i].start < start || u->scopes[i].start >= end)
			return true;
	return false;
}

static bool is_template(const struct dwarf_die *d)
{
	const uint8_t *at = d->next;
	struct dwarf_die c;

	/* of those whose name does not say it */
	for (; d->children && at && dwarf_die_read(d->unit, at, &c) && c.tag; at = dwarf_die_after(&c))
		if (c.tag == DW_TAG_template_type_parameter || c.tag == DW_TAG_template_value_parameter)
			return true;
	return false;
}

bool dwarf_name_mangled(const struct dwarf_die *d, char buf[DWARF_NAME_MAX])
{
	const char *name = dwarf_die_str(d, DWARF_A_NAME);
	struct dwarf_unit *u = d->unit;
	const uint8_t *at = d->at;
	struct part v[LEVELS_MAX];
	struct dwarf_die c;
	int n;

	*buf = '\0';
	/* declared where it belongs, defined elsewhere */
	if (!name && dwarf_die_ref(d, DWARF_A_SPECIFICATION, &u, &at) && dwarf_unit_attrs(u) && dwarf_die_read(u, at, &c))
		name = dwarf_die_str(&c, DWARF_A_NAME);
	if (!name || dwarf_language_is_c(u) || is_template(d))
		return false;
	n = by_scopes(u, at, name, v);
	/* gcc has the class of a type unit outside of what it stands in */
	if (n == 1 && (u->type == DW_UT_type || u->type == DW_UT_split_type) && others_around(u, at))
		n = by_functions(d, name, v);
	return n && mangle(v, n, buf);
}

bool dwarf_name(const struct dwarf_die *d, char buf[DWARF_NAME_MAX])
{
	const char *name = dwarf_die_str(d, DWARF_A_NAME);
	struct dwarf_unit *u = d->unit;
	const uint8_t *at = d->at;
	struct dwarf_die s;

	*buf = '\0';
	/* declared where it belongs, defined elsewhere */
	if (!name && dwarf_die_ref(d, DWARF_A_SPECIFICATION, &u, &at) && dwarf_unit_attrs(u) && dwarf_die_read(u, at, &s))
		name = dwarf_die_str(&s, DWARF_A_NAME);
	if (!name)
		return false;
	if (dwarf_language_is_c(u) || !is_named_by_scope(d->tag)) {
		append(buf, name);
		return true;
	}
	scope_names(u, at, buf);
	append(buf, name);
	if (d->tag != DW_TAG_typedef && d->tag != DW_TAG_enumeration_type && !strchr(name, '<'))
		template_args(d, buf);
	return true;
}
