// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize */
/* hot_phases.c - three kinds of work one after the other, alike in accesses but not in time. */
#include "hot.h"

enum { BIG = 1 << 23, SMALL = 512, STEP = 65536 };

uint32_t big[BIG];
uint32_t small[SMALL];
uint32_t other[SMALL];
uint16_t stream[BIG];
uint32_t marks[64];
static uint64_t result;

NOINLINE static void init(void)
{
	for (uint64_t i = 0; i < BIG; i++) {
		big[i] = (uint32_t)(i * 2654435761u);
		stream[i] = (uint16_t)(i * 40503u);
	}
}

/* Waits for memory at each step. */
NOINLINE static uint64_t gather(long n)
{
	uint64_t x = 12345, s = 0, marked = 0;

	for (long i = 0; i < n; i++) {
		uint32_t v;

		x = x * 6364136223846793005u + 1442695040888963407u;
		v = big[(x >> 40) & (BIG - 1)];
		s += v;
		if (!(v & 3)) {
			marks[v >> 26]++;
			marked++;
		}
		x ^= v;
	}
	result += s;
	return marked;
}

/* Never waits. */
NOINLINE static void tight(long n)
{
	for (long k = 0; k < n; k += SMALL)
		for (unsigned i = 0; i < SMALL; i++)
			small[i] = small[i] * 3 + other[(i * 7) & (SMALL - 1)];
}

/* Reads ahead. */
NOINLINE static void sweep(long n)
{
	uint64_t s = 0;

	for (long i = 0; i < n; i++)
		s ^= (s << 1) + stream[i & (BIG - 1)];
	result += s;
}

int main(int argc, char **argv)
{
	long n = work_asked(argc, argv, 70) * STEP;
	const uint64_t rounds = 3;
	uint64_t u = (uint64_t)n, marked = 0;

	init();
	for (uint64_t r = 0; r < rounds; r++) {
		marked += gather(n);
		tight(6 * n);
		sweep(2 * n);
	}
	HOT_PRINT({ "small", rounds * 2 * 6 * u }, { "other", rounds * 6 * u },
		  { "stream", rounds * 2 * u }, { "big", rounds * u }, { "marks", 2 * marked });
	return 0;
}
