/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_set.h - a set of pages, in memory that does not grow with what lies between them.
 *
 * One entry for each 2 MiB in which there is any.  Beyond PAGE_SET_BLOCKS of those nothing
 * is taken, and counted.  All zero is an empty set.
 */
#ifndef PAGE_SET_H
#define PAGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_SET_BLOCKS ((size_t)1 << 18) /* 36 MiB of memory with its table; 512 GiB of pages if dense */

struct page_set_block {
	uint64_t block; /* address >> 21, plus 1 */
	uint64_t bits[8];
};

struct page_set {
	struct page_set_block *v; /* owned */
	size_t n, cap;
	uint32_t *slots; /* owned: hash table of 1 + index, @nslots, a power of 2 */
	size_t nslots;
	uint64_t lost; /* pages refused for want of room */
};

void page_set_fini(struct page_set *s);
void page_set_empty(struct page_set *s);

/* Returns 0, or -ENOMEM with only @s->lost changed. */
int page_set_add(struct page_set *s, uint64_t addr);
void page_set_remove(struct page_set *s, uint64_t addr);
bool page_set_has(const struct page_set *s, uint64_t addr);

/* Is any page of the same aligned 2 MiB in it? */
bool page_set_near(const struct page_set *s, uint64_t addr);

#endif /* PAGE_SET_H */
