// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_dimension.c - the dimensions of an array: how many elements, and which number the first has.
 */
#include "config.h"

#include "dwarf_dimension.h"

#include <dwarf.h>

enum { HOPS_MAX = 8 }; /* from an index's type to what it is made of */

/* Languages whose arrays begin at 1 where nothing else is said (DWARF 5, table 7.17). */
static int64_t lowest_index(const struct dwarf_unit *u)
{
	switch (u->language) {
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
	case DW_LANG_Ada83:
	case DW_LANG_Ada95:
	case DW_LANG_Cobol74:
	case DW_LANG_Cobol85:
	case DW_LANG_Pascal83:
	case DW_LANG_Modula2:
	case DW_LANG_PLI:
	case 0x1f: /* DW_LANG_Julia */
		return 1;
	default:
		return 0;
	}
}

bool dwarf_by_columns(const struct dwarf_die *d)
{
	uint64_t order;

	if (dwarf_die_num(d, DWARF_A_ORDERING, &order))
		return order == DW_ORD_col_major;
	switch (d->unit->language) {
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
		return true;
	default:
		return false;
	}
}

/* Ada numbers elements by an enumeration's names. */
static bool by_names(const struct dwarf_die *d)
{
	struct dwarf_die t = *d;
	struct dwarf_unit *u;
	const uint8_t *at;
	int hops;

	for (hops = 0; hops < HOPS_MAX && t.tag != DW_TAG_enumeration_type; hops++)
		if (!dwarf_die_ref(&t, DWARF_A_TYPE, &u, &at) || !dwarf_unit_attrs(u) || !dwarf_die_read(u, at, &t))
			return false;
	return true;
}

static bool dimension(const struct dwarf_die *d, struct dwarf_dimension *out)
{
	uint64_t n;

	if (!dwarf_language_is_c(d->unit) && by_names(d))
		return false;

	out->count = 0;
	out->low = lowest_index(d->unit);
	if (dwarf_die_has(d, DWARF_A_LOWER_BOUND)) {
		if (!dwarf_die_num(d, DWARF_A_LOWER_BOUND, &n))
			return false;
		out->low = (int64_t)n;
	}
	/* elements that do not stand side by side */
	if (dwarf_die_has(d, DWARF_A_BYTE_STRIDE) || dwarf_die_has(d, DWARF_A_BIT_STRIDE))
		return false;
	if (dwarf_die_num(d, DWARF_A_COUNT, &n)) {
		out->count = d->v[DWARF_A_COUNT].ones ? 0 : n;
		return true;
	}
	if (!dwarf_die_num(d, DWARF_A_UPPER_BOUND, &n) || d->v[DWARF_A_UPPER_BOUND].ones)
		return true;
	/* both may be negative: as signed numbers the upper is one less than the lower at least */
	out->count = (int64_t)n < out->low ? 0 : n - (uint64_t)out->low + 1;
	return true;
}

int dwarf_dimensions(const struct dwarf_die *d, struct dwarf_dimension out[DWARF_DIMENSIONS_MAX])
{
	const uint8_t *at = d->next;
	struct dwarf_die c;
	int n = 0;

	/* what is here only says where the array is */
	if (dwarf_die_has(d, DWARF_A_DATA_LOCATION))
		return 0;
	while (d->children && at && dwarf_die_read(d->unit, at, &c) && c.tag) {
		if (c.tag == DW_TAG_enumeration_type || c.tag == DW_TAG_generic_subrange)
			return 0;
		if (c.tag == DW_TAG_subrange_type) {
			if (n == DWARF_DIMENSIONS_MAX || !dimension(&c, &out[n]))
				return 0;
			n++;
		}
		at = dwarf_die_after(&c);
	}
	return n;
}
