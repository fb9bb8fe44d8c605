// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize -fno-tree-loop-distribute-patterns */
/*
 * mixes.c - static functions that read only, write only and do both; it prints "reads N writes N".  Its argument: how many rounds.
 *
 * No branch depends on data and all data fit into the first cache: neither counts nor times hang on
 * what else the machine does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define ONCE()	 __asm__ volatile("" ::: "memory")

enum { N = 1024 };

uint32_t from[N], into[N], state;

NOINLINE static uint32_t add(uint32_t x)
{
	for (unsigned i = 0; i < N; i++) {
		x += from[i] ^ x >> 3;
		ONCE();
	}
	return x;
}

NOINLINE static void fill(uint32_t x)
{
	for (unsigned i = 0; i < N; i++) {
		into[i] = x = x * 5 + 1;
		ONCE();
	}
}

/* Three accesses a step, one of them a write. */
NOINLINE static void fold(void)
{
	for (unsigned i = 0; i < N; i++) {
		state = from[(state ^ i) & 255] ^ state >> 8;
		ONCE();
	}
}

int main(int argc, char **argv)
{
	const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 160000;
	uint32_t x = 1;

	for (unsigned i = 0; i < N; i++)
		from[i] = i * 2654435761u;
	for (unsigned k = 0; k < rounds; k++) {
		x = add(x);
		fill(x);
		fold();
	}
	printf("reads %llu writes %llu\n", 3ull * N * rounds, 2ull * N * rounds);
	return 0;
}
