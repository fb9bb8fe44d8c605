// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "locals_scope.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "locals_die.h"

enum {
	DEPTH_MAX = 256,
	FUNCTIONS_MAX = 1 << 21,
	VARS_MAX = 1 << 16, /* of a function */
	RANGES_MAX = 1 << 16,
	ENTRIES_MAX = 1 << 20, /* looked at for one function */
};

struct place {
	uint64_t start, end;
	uint32_t function;
};

struct locals_scopes {
	Dwarf *dw;
	struct locals_function *functions;
	size_t n, cap;
	struct place *places; /* of their code, by start */
	size_t n_places, cap_places;
};

static bool room(void *v, size_t n, size_t *cap, size_t size, size_t most)
{
	size_t more = *cap ? 2 * *cap : 16;
	void *p;

	if (n < *cap)
		return true;
	if (n >= most)
		return false;
	p = realloc(*(void **)v, more * size);
	if (!p)
		return false;
	*(void **)v = p;
	*cap = more;
	return true;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	const char *s = locals_die_text(dwarf_attr_integrate(die, DW_AT_name, &attr));

	return s && *s ? s : NULL;
}

static void add_function(struct locals_scopes *s, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	bool any = false;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		/* what the linker has left out begins at 0 */
		if (!start || start >= end || !room(&s->places, s->n_places, &s->cap_places, sizeof(*s->places), FUNCTIONS_MAX))
			continue;
		s->places[s->n_places++] = (struct place){ start, end, (uint32_t)s->n };
		any = true;
	}
	if (!any)
		return;
	if (!room(&s->functions, s->n, &s->cap, sizeof(*s->functions), FUNCTIONS_MAX)) {
		while (s->n_places && s->places[s->n_places - 1].function == s->n)
			s->n_places--;
		return;
	}
	s->functions[s->n] = (struct locals_function){ .die = *die };
	s->functions[s->n++].name = name_of(die);
}

/* At most *@left entries: of some there are two ways to one. */
static void scan(struct locals_scopes *s, Dwarf_Die *parent, unsigned depth, size_t *left)
{
	Dwarf_Die die;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die))
		return;
	do {
		if (!*left)
			return;
		--*left;
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			add_function(s, &die);
			scan(s, &die, depth + 1, left);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
			scan(s, &die, depth + 1, left);
			break;
		default:
			break;
		}
	} while (locals_die_next(&die));
}

static int by_start(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

struct locals_scopes *locals_scopes_new(Dwarf *dw)
{
	struct locals_scopes *s = calloc(1, sizeof(*s));
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	size_t left;

	if (!s)
		return NULL;
	s->dw = dw;
	while (!dwarf_get_units(dw, cu, &cu, NULL, &type, &die, &split)) {
		Dwarf_Die *unit = type == DW_UT_compile ? &die :
				  type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit ? &split : NULL;

		if (!unit)
			continue;
		left = locals_die_unit_size(unit);
		scan(s, unit, 0, &left);
	}
	if (s->n_places)
		qsort(s->places, s->n_places, sizeof(*s->places), by_start);
	return s;
}

void locals_scopes_free(struct locals_scopes *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n; i++) {
		free(s->functions[i].v);
		free(s->functions[i].ranges);
	}
	free(s->functions);
	free(s->places);
	free(s);
}

/* ---- variables of a function ---- */

struct scope {
	const char *function;
	uint32_t first, n, depth;
};

static void read_scope(struct locals_function *f, Dwarf_Die *parent, const struct scope *in, size_t *left);

static void add_var(struct locals_function *f, Dwarf_Die *die, const struct scope *in, bool parameter)
{
	Dwarf_Attribute attr;

	if (!dwarf_attr_integrate(die, DW_AT_location, &attr) ||
	    !room(&f->v, f->n, &f->cap, sizeof(*f->v), VARS_MAX))
		return;
	f->v[f->n++] = (struct locals_var){ .die = *die, .name = name_of(die), .function = in->function, .first = in->first,
					    .n = in->n, .depth = in->depth, .parameter = parameter };
}

/* A block, or an inlined function, that may have code of its own. */
static void inner(struct locals_function *f, Dwarf_Die *die, const struct scope *in, size_t *left)
{
	struct scope scope = *in;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (in->depth + 1 >= DEPTH_MAX)
		return;
	scope.depth++;
	scope.first = (uint32_t)f->n_ranges;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start < end && room(&f->ranges, f->n_ranges, &f->cap_ranges, sizeof(*f->ranges), RANGES_MAX))
			f->ranges[f->n_ranges++] = (struct locals_range){ start, end };
	scope.n = (uint32_t)(f->n_ranges - scope.first);
	if (!scope.n) {
		scope.first = in->first;
		scope.n = in->n;
	}
	if (dwarf_tag(die) == DW_TAG_inlined_subroutine)
		scope.function = name_of(die);
	read_scope(f, die, &scope, left);
}

static void read_scope(struct locals_function *f, Dwarf_Die *parent, const struct scope *in, size_t *left)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return;
	do {
		if (!*left)
			return;
		--*left;
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			add_var(f, &die, in, false);
			break;
		case DW_TAG_formal_parameter:
			add_var(f, &die, in, true);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			inner(f, &die, in, left);
			break;
		default:
			break;
		}
	} while (locals_die_next(&die));
}

struct locals_function *locals_scopes_find(struct locals_scopes *s, uint64_t pc)
{
	size_t lo = 0, hi = s->n_places, left = ENTRIES_MAX;
	struct locals_function *f;
	struct scope all = { 0 };

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->places[mid].start <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || pc >= s->places[lo - 1].end)
		return NULL;
	f = &s->functions[s->places[lo - 1].function];
	if (!f->read) {
		f->read = true;
		all.function = f->name;
		if (left > locals_die_unit_size(&f->die))
			left = locals_die_unit_size(&f->die);
		read_scope(f, &f->die, &all, &left);
	}
	return f;
}

bool locals_scopes_valid(const struct locals_function *f, const struct locals_var *v, uint64_t pc)
{
	uint32_t i;

	for (i = 0; i < v->n; i++)
		if (pc >= f->ranges[v->first + i].start && pc < f->ranges[v->first + i].end)
			return true;
	return !v->n;
}
