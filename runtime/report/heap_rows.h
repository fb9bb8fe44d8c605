/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_rows.h - accesses of objects of the heap, counted to their rows.
 */
#ifndef HEAP_ROWS_H
#define HEAP_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "variables.h"

/*
 * Count @h to the rows of @v: with @by_member one for each offset in the objects; what has no offset is left for the
 * place as a whole.  Returns the accesses; *@lost: those of them that found no room.  Both in 1/65536.
 */
uint64_t heap_rows_count(struct variables *v, const struct stream_heap *h, bool per_process, bool by_member, uint64_t *lost);

#endif /* HEAP_ROWS_H */
