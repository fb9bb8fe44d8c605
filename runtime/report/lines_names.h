/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines_names.h - which variables and members have the bytes of a cache line.
 */
#ifndef LINES_NAMES_H
#define LINES_NAMES_H

#include "lines.h"

/* Name what is mapped of @line, which is at @addr in the address space of @ev with the areas @vmas: to @line->names, as far as there is memory. */
void lines_names_make(struct line *line, uint64_t addr, struct images *images, struct variables *variables, const struct hvar_vmas *vmas,
		      const struct hvar_event *ev);
/* What @r says of objects of the heap: names in place of those of unnamed memory. */
void lines_names_objects(struct line *line, const struct stream_line *r);
void lines_names_free(struct line *line);

#endif /* LINES_NAMES_H */
