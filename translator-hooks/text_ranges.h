/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text_ranges.h - an image's table of functions that have no symbol.
 */
#ifndef TEXT_RANGES_H
#define TEXT_RANGES_H

#include "elf_file.h"
#include "image_layout.h"
#include "sym_table.h"

/*
 * Fill @p->ranges (malloc'd) and @p->n_ranges from the unwind information of @f, for what no sized
 * symbol of a function in @t covers.  @p has its segments and sections, @t is settled.
 * Returns 0, -ENOMEM, or -errno if the file cannot be read.
 */
int text_ranges(const struct elf_file *f, struct image_parts *p, const struct sym_table *t,
		struct err *e);

#endif /* TEXT_RANGES_H */
