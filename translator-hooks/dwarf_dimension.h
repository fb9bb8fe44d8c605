/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_dimension.h - the dimensions of an array: how many elements, and which number the first has.
 */
#ifndef DWARF_DIMENSION_H
#define DWARF_DIMENSION_H

#include "dwarf_die.h"

struct dwarf_dimension {
	uint64_t count; /* 0: none, or as many as there is room for */
	int64_t low;	/* number of the first */
};

enum { DWARF_DIMENSIONS_MAX = 16 };

/*
 * Those of array @d, in the order of the source, into @out.  Returns how many; 0: they are not the same for
 * every array of that type, or numbered by something else than numbers.
 */
int dwarf_dimensions(const struct dwarf_die *d, struct dwarf_dimension out[DWARF_DIMENSIONS_MAX]);

/* Is it the first dimension's index that changes fastest in memory? */
bool dwarf_by_columns(const struct dwarf_die *d);

#endif /* DWARF_DIMENSION_H */
