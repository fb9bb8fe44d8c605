// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize */
/* hot_list.c - a linked list too large for the caches, with small tables looked up at each node. */
#include "hot.h"

enum { NODES = 1 << 18, WEIGHTS = 1024, BINS = 4096, ROUNDS = 5 };

struct node {
	struct node *next;
	uint32_t key, group;
	uint64_t pad[14];
};

struct node nodes[NODES];
uint32_t weight[WEIGHTS];
uint32_t bins[BINS];
uint64_t by_group[64];
uint8_t rare[256];

NOINLINE static void init(void)
{
	static uint32_t order[NODES];
	uint64_t s = 31337;

	/* One cycle through all nodes in random order (Sattolo). */
	for (uint32_t i = 0; i < NODES; i++)
		order[i] = i;
	for (uint32_t i = NODES - 1; i > 0; i--) {
		uint32_t j = (uint32_t)(next_random(&s) % i), t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	for (uint32_t i = 0; i < NODES; i++) {
		nodes[i].next = &nodes[order[i]];
		nodes[i].key = (uint32_t)next_random(&s);
		nodes[i].group = (uint32_t)(next_random(&s) & 63);
	}
	for (uint32_t i = 0; i < WEIGHTS; i++)
		weight[i] = i * 3;
}

/* Returns how many nodes had the rare mark. */
NOINLINE static uint64_t work(long n)
{
	struct node *p = nodes;
	uint64_t marked = 0;

	for (long i = 0; i < n; i++) {
		uint32_t key = p->key;

		by_group[p->group]++;
		for (uint32_t r = 0; r < ROUNDS; r++)
			bins[(key >> r) & (BINS - 1)] += weight[(key >> (r + 5)) & (WEIGHTS - 1)];
		if ((key & 3) == 0) {
			rare[key >> 24]++;
			marked++;
		}
		p = p->next;
	}
	return marked;
}

int main(int argc, char **argv)
{
	uint64_t n = 10000 * (uint64_t)work_asked(argc, argv, 900), marked;

	init();
	marked = work((long)n);
	HOT_PRINT({ "bins", 2 * ROUNDS * n }, { "weight", ROUNDS * n }, { "nodes", 3 * n },
		  { "by_group", 2 * n }, { "rare", 2 * marked });
	return 0;
}
