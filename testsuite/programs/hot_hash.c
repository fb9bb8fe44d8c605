// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize */
/* hot_hash.c - look-ups in an open-addressing hash table behind a filter. */
#include "hot.h"

enum { SLOTS = 1 << 15, KEYS = 20000, FILTER = 1 << 14, SALTS = 64 };

uint32_t slot_key[SLOTS];
uint32_t slot_value[SLOTS];
uint8_t filter[FILTER];
uint32_t salt[SALTS];
uint32_t by_class[256];
uint32_t misses[16];

static uint32_t place(uint32_t k)
{
	return k * 2654435761u >> 17;
}

NOINLINE static void init(void)
{
	uint64_t s = 4711;

	for (int i = 0; i < SALTS; i++)
		salt[i] = (uint32_t)next_random(&s);
	for (int i = 0; i < KEYS; i++) {
		uint32_t k = (uint32_t)(next_random(&s) % 60000) + 1, h = place(k);

		filter[k & (FILTER - 1)] = 1;
		while (slot_key[h] && slot_key[h] != k)
			h = (h + 1) & (SLOTS - 1);
		slot_key[h] = k;
	}
}

struct counts {
	uint64_t ops, passed, probes, hits, changed;
};

NOINLINE static struct counts work(long n)
{
	struct counts c = { 0, 0, 0, 0, 0 };
	uint64_t s = 99;

	for (long i = 0; i < n; i++) {
		uint64_t r = next_random(&s);
		uint32_t mixed = salt[r & 63] ^ salt[(r >> 6) & 63] ^
				 salt[(r >> 12) & 63] ^ salt[(r >> 18) & 63];
		uint32_t k = (uint32_t)((r >> 24) % 60000) + 1, h;

		by_class[mixed & 255]++;
		if (!filter[k & (FILTER - 1)])
			continue;
		c.passed++;
		h = place(k);
		for (;;) {
			uint32_t found = slot_key[h];

			c.probes++;
			if (found == k) {
				if (mixed & 1) {
					slot_value[h] += mixed;
					c.changed++;
				}
				c.hits++;
				break;
			}
			if (!found) {
				misses[mixed & 15]++;
				break;
			}
			h = (h + 1) & (SLOTS - 1);
		}
	}
	c.ops = (uint64_t)n;
	return c;
}

int main(int argc, char **argv)
{
	struct counts c;

	init();
	c = work(10000 * work_asked(argc, argv, 12000));
	HOT_PRINT({ "salt", 4 * c.ops }, { "by_class", 2 * c.ops }, { "filter", c.ops },
		  { "slot_key", c.probes }, { "slot_value", 2 * c.changed },
		  { "misses", 2 * (c.passed - c.hits) });
	return 0;
}
