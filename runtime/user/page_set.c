// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_set.c - a set of pages: a hash table of 2 MiB blocks, each with a bit for each page.
 */
#include "config.h"

#include "page_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

enum { BLOCK_BITS = 21, PAGE_SHIFT = 12, FIRST_SLOTS = 64 };

void page_set_fini(struct page_set *s)
{
	free(s->v);
	free(s->slots);
	memset(s, 0, sizeof(*s));
}

void page_set_empty(struct page_set *s)
{
	s->n = 0;
	s->lost = 0;
	if (s->nslots)
		memset(s->slots, 0, s->nslots * sizeof(*s->slots));
}

/* The slot of @block (plus 1), or the free one where it belongs; there always is one. */
static size_t slot_of(const struct page_set *s, uint64_t block)
{
	size_t i = (size_t)(block * 0x9e3779b97f4a7c15ull >> 32) & (s->nslots - 1);

	while (s->slots[i] && s->v[s->slots[i] - 1].block != block)
		i = (i + 1) & (s->nslots - 1);
	return i;
}

/* At most half of the slots are taken. */
static int more_slots(struct page_set *s)
{
	size_t n = s->nslots ? 2 * s->nslots : FIRST_SLOTS;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(s->slots);
	s->slots = slots;
	s->nslots = n;
	for (size_t i = 0; i < s->n; i++)
		s->slots[slot_of(s, s->v[i].block)] = (uint32_t)i + 1;
	return 0;
}

static struct page_set_block *block_of(struct page_set *s, uint64_t block)
{
	size_t slot;

	if (2 * (s->n + 1) > s->nslots && (s->n >= PAGE_SET_BLOCKS || more_slots(s))) {
		if (!s->nslots)
			return NULL;
		slot = slot_of(s, block);
		return s->slots[slot] ? &s->v[s->slots[slot] - 1] : NULL;
	}
	slot = slot_of(s, block);
	if (s->slots[slot])
		return &s->v[s->slots[slot] - 1];
	if (s->n >= PAGE_SET_BLOCKS || grow_array((void **)&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
		return NULL;
	memset(&s->v[s->n], 0, sizeof(s->v[0]));
	s->v[s->n].block = block;
	s->slots[slot] = (uint32_t)++s->n;
	return &s->v[s->n - 1];
}

int page_set_add(struct page_set *s, uint64_t addr)
{
	unsigned page = addr >> PAGE_SHIFT & 511;
	struct page_set_block *b = block_of(s, (addr >> BLOCK_BITS) + 1);

	if (!b) {
		s->lost++;
		return -ENOMEM;
	}
	b->bits[page >> 6] |= 1ull << (page & 63);
	return 0;
}

void page_set_remove(struct page_set *s, uint64_t addr)
{
	unsigned page = addr >> PAGE_SHIFT & 511;

	if (page_set_has(s, addr))
		block_of(s, (addr >> BLOCK_BITS) + 1)->bits[page >> 6] &= ~(1ull << (page & 63));
}

bool page_set_has(const struct page_set *s, uint64_t addr)
{
	unsigned page = addr >> PAGE_SHIFT & 511;
	uint32_t i;

	if (!s->nslots)
		return false;
	i = s->slots[slot_of(s, (addr >> BLOCK_BITS) + 1)];
	return i && s->v[i - 1].bits[page >> 6] >> (page & 63) & 1;
}

bool page_set_near(const struct page_set *s, uint64_t addr)
{
	return s->nslots && s->slots[slot_of(s, (addr >> BLOCK_BITS) + 1)];
}
