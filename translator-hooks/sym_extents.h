/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sym_extents.h - overlapping symbols -> disjoint extents, each with its right owner.
 */
#ifndef SYM_EXTENTS_H
#define SYM_EXTENTS_H

#include "sym_table.h"

/*
 * Lay out @rows (sorted by address, size and rank) as extents.  The owner of a byte is
 * the sized symbol that holds it and starts last, of those the shortest, of those
 * the first; where no sized one holds it, the label that stands there.
 * Nothing reaches over the end of the segment (of @n @segs, by vaddr) it starts in.
 */
int sym_extents(struct sym_rows *rows, const struct hvar_image_seg *segs,
		uint32_t n);

#endif /* SYM_EXTENTS_H */
