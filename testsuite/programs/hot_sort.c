// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize */
/* hot_sort.c - heap sort by a rank that is looked up. */
#include "hot.h"

enum { ITEMS = 1 << 14 };

uint32_t heap[ITEMS + 1];
uint16_t rank_of[4096];
uint32_t source[ITEMS];
uint32_t sorted[ITEMS];
uint32_t top_digit[64];

NOINLINE static void init(void)
{
	uint64_t s = 161803;

	for (int i = 0; i < ITEMS; i++)
		source[i] = (uint32_t)(next_random(&s) >> 20);
	for (int i = 0; i < 4096; i++)
		rank_of[i] = (uint16_t)(i * 2731);
}

struct counts {
	uint64_t heap, rank, sorted;
};

static inline unsigned rank_at(uint32_t x)
{
	return rank_of[x & 4095];
}

/* Sink the item at @i of a heap of @n. */
NOINLINE static struct counts sink(uint32_t i, uint32_t n)
{
	struct counts c = { 2, 1, 0 }; /* taken out, put in at the end; its rank */
	uint32_t item = heap[i];
	unsigned rank = rank_at(item);

	for (;;) {
		uint32_t child = 2 * i, x;
		unsigned r;

		if (child > n)
			break;
		x = heap[child];
		r = rank_at(x);
		c.heap++;
		c.rank++;
		if (child < n) {
			uint32_t y = heap[child + 1];
			unsigned q = rank_at(y);

			c.heap++;
			c.rank++;
			if (q > r) {
				r = q;
				x = y;
				child++;
			}
		}
		if (r <= rank)
			break;
		heap[i] = x;
		c.heap++;
		i = child;
	}
	heap[i] = item;
	return c;
}

NOINLINE static void fill(void)
{
	for (uint32_t i = 0; i < ITEMS; i++)
		heap[i + 1] = source[(i * 5) & (ITEMS - 1)];
}

NOINLINE static struct counts take_all(void)
{
	struct counts c = { 0, 0, 0 }, one;

	for (uint32_t n = ITEMS; n > 0; n--) {
		uint32_t x = heap[1];

		if (x & 3) {
			sorted[n - 1] = x;
			c.sorted++;
		}
		top_digit[x >> 26]++;
		heap[1] = heap[n];
		c.heap += 3;
		one = sink(1, n - 1);
		c.heap += one.heap;
		c.rank += one.rank;
	}
	return c;
}

int main(int argc, char **argv)
{
	long n = work_asked(argc, argv, 1300);
	struct counts c = { 0, 0, 0 }, one;
	uint64_t items = (uint64_t)n * ITEMS;

	init();
	for (long k = 0; k < n; k++) {
		fill();
		for (uint32_t i = ITEMS / 2; i > 0; i--) {
			one = sink(i, ITEMS);
			c.heap += one.heap;
			c.rank += one.rank;
		}
		one = take_all();
		c.heap += one.heap;
		c.rank += one.rank;
		c.sorted += one.sorted;
	}
	HOT_PRINT({ "heap", c.heap + items }, { "rank_of", c.rank },
		  { "top_digit", 2 * items }, { "source", items }, { "sorted", c.sorted });
	return 0;
}
