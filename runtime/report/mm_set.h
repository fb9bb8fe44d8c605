/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mm_set.h - which address spaces came up, by number.
 */
#ifndef MM_SET_H
#define MM_SET_H

#include <stddef.h>
#include <stdint.h>

struct mm_set {
	uint32_t *v; /* open addressing; 0: free */
	size_t n, cap;
};

/* Without memory for it @mm is left out; so is 0. */
void mm_set_add(struct mm_set *s, uint32_t mm);
void mm_set_fini(struct mm_set *s);

#endif /* MM_SET_H */
