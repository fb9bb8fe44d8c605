// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize */
/* hot_lru.c - a cache that forgets what was used least recently. */
#include "hot.h"

enum { SLOTS = 4096, BUCKETS = 32768, NONE = 65535 };

uint32_t key_of[SLOTS];
uint16_t chain[SLOTS];	 /* next slot of the same bucket */
uint16_t bucket[BUCKETS];
uint16_t newer[SLOTS], older[SLOTS]; /* in order of use */
uint32_t value_of[SLOTS][4];

NOINLINE static void init(void)
{
	for (int i = 0; i < BUCKETS; i++)
		bucket[i] = NONE;
	for (int i = 0; i < SLOTS; i++) {
		uint32_t b;

		key_of[i] = (uint32_t)i * 7 + 1;
		b = key_of[i] * 2654435761u >> 17;
		chain[i] = bucket[b];
		bucket[b] = (uint16_t)i;
		newer[i] = (uint16_t)(i - 1);
		older[i] = (uint16_t)(i + 1);
	}
	newer[0] = older[SLOTS - 1] = NONE;
}

struct counts {
	uint64_t keys, chains, buckets, newer, older, values;
};

struct ends {
	uint16_t newest, oldest;
};

/* Take @slot, which is not the newest, out of the order of use and put it first. */
static inline void touch(uint16_t slot, struct ends *e, struct counts *c)
{
	uint16_t n = newer[slot], o = older[slot];

	older[n] = o;
	if (o == NONE) {
		e->oldest = n;
	} else {
		newer[o] = n;
		c->newer++;
	}
	newer[e->newest] = slot;
	older[slot] = e->newest;
	newer[slot] = NONE;
	e->newest = slot;
	c->newer += 3;
	c->older += 3;
}

static inline uint16_t find(uint32_t key, uint32_t b, struct counts *c)
{
	uint16_t slot = bucket[b];

	c->buckets++;
	while (slot != NONE) {
		c->keys++;
		if (key_of[slot] == key)
			break;
		slot = chain[slot];
		c->chains++;
	}
	return slot;
}

/* Make room for @key in @slot, which was used least recently. */
NOINLINE static uint16_t replace(uint16_t slot, uint32_t key, uint32_t b, struct counts *c)
{
	uint16_t at;
	uint32_t was = key_of[slot] * 2654435761u >> 17;

	at = bucket[was];
	c->buckets++;
	if (at == slot) {
		bucket[was] = chain[slot];
		c->buckets++;
		c->chains++;
	} else {
		for (;;) {
			uint16_t next = chain[at];

			c->chains++;
			if (next == slot)
				break;
			at = next;
		}
		chain[at] = chain[slot];
		c->chains += 2;
	}
	key_of[slot] = key;
	chain[slot] = bucket[b];
	bucket[b] = slot;
	c->keys += 2;
	c->chains++;
	c->buckets += 2;
	return slot;
}

NOINLINE static struct counts work(long n)
{
	struct counts c = { 0, 0, 0, 0, 0, 0 };
	struct ends e = { 0, SLOTS - 1 };
	uint64_t s = 77;

	for (long i = 0; i < n; i++) {
		uint64_t r = next_random(&s);
		/* Most keys come from a small range. */
		uint32_t key = ((uint32_t)(r & 63) * 0x9e3779b1u + (uint32_t)((r >> 8) & 63)) *
				       ((r >> 40) & 7 ? 1 : (uint32_t)(r >> 44) | 1) >> 4;
		uint32_t b = key * 2654435761u >> 17;
		uint16_t slot = find(key, b, &c);

		if (slot == NONE)
			slot = replace(e.oldest, key, b, &c);
		if (slot != e.newest)
			touch(slot, &e, &c);
		for (unsigned k = 0; k < 2 + (key & 2); k++)
			value_of[slot][k] += key;
		c.values += 2 + (key & 2);
	}
	return c;
}

int main(int argc, char **argv)
{
	struct counts c;

	init();
	c = work(10000 * work_asked(argc, argv, 16000));
	HOT_PRINT({ "value_of", 2 * c.values }, { "key_of", c.keys }, { "newer", c.newer },
		  { "older", c.older }, { "bucket", c.buckets }, { "chain", c.chains });
	return 0;
}
