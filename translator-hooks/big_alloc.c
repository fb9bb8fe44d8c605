// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "big_alloc.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE  ((uintptr_t)2 << 20)
#define LARGE ((size_t)2 * HUGE)
#define KEPT  4

static __thread void *kept[KEPT];

/* Best effort: without huge pages it is slower. */
static void *hint(void *p, size_t n)
{
	uintptr_t from = ((uintptr_t)p + HUGE - 1) & ~(HUGE - 1), to = ((uintptr_t)p + n) & ~(HUGE - 1);

	if (p && n >= LARGE && to > from)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
	return p;
}

/* The smallest of those kept that has @n bytes, or NULL. */
static void **fitting(size_t n)
{
	void **best = NULL;
	unsigned i;

	for (i = 0; i < KEPT; i++)
		if (kept[i] && malloc_usable_size(kept[i]) >= n &&
		    (!best || malloc_usable_size(kept[i]) < malloc_usable_size(*best)))
			best = &kept[i];
	return best;
}

void *big_alloc(size_t n)
{
	void **found = n < LARGE ? NULL : fitting(n), *p;

	if (!found)
		return n < LARGE ? malloc(n ? n : 1) : hint(memalign(HUGE, n), n);
	p = *found;
	*found = NULL;
	return p;
}

void *big_realloc(void *p, size_t n)
{
	return p ? hint(realloc(p, n ? n : 1), n) : big_alloc(n);
}

void big_free(void *p)
{
	unsigned i;

	if (p && malloc_usable_size(p) >= LARGE) {
		for (i = 0; i < KEPT; i++) {
			if (!kept[i]) {
				kept[i] = p;
				return;
			}
		}
	}
	free(p);
}

void big_release(void)
{
	unsigned i;

	for (i = 0; i < KEPT; i++) {
		free(kept[i]);
		kept[i] = NULL;
	}
}
