/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * big_alloc.h - memory for tables that are filled at once, of which some are as large as the file.
 *
 * A page fault for each 4 KiB of them, and the kernel's clearing of every page, would cost more than the filling:
 * huge pages are asked for, where there are some, and what is large is used again before it is given back.
 */
#ifndef BIG_ALLOC_H
#define BIG_ALLOC_H

#include <stddef.h>

/* @n bytes, not cleared; NULL: no memory.  To be freed with big_free() or free(3). */
void *big_alloc(size_t n);
/* @p, from malloc(3) or big_alloc() or NULL, with @n bytes; NULL: no memory, and @p is as it was. */
void *big_realloc(void *p, size_t n);
/* Give back @p, from malloc(3) or big_alloc() or NULL: what is large is kept for this thread's next big_alloc(). */
void big_free(void *p);
/* Free what this thread keeps. */
void big_release(void);

#endif /* BIG_ALLOC_H */
