// SPDX-License-Identifier: GPL-2.0-or-later
/* chase.c - a walk over a large graph with misses, and counts of what it met. */
#include "work.h"

enum { NODES = 1 << 20, COLOURS = 64 };

struct node {
	uint32_t to[4];
	uint32_t colour, weight;
	uint64_t pad;
};
struct node graph[NODES];
uint64_t met[COLOURS];
uint32_t allowed[COLOURS];
uint16_t recent[256];
uint32_t costs[1024];
uint64_t steps_done, refused;

NOINLINE static uint32_t walk(uint32_t at, long steps)
{
	uint64_t s = 71;

	for (long i = 0; i < steps; i++) {
		const struct node *n = &graph[at];
		uint32_t c = n->colour;

		met[c]++;
		if (!allowed[c]) {
			refused++;
			at = n->to[0];
			continue;
		}
		for (unsigned k = 0; k < 4; k++)
			costs[(n->to[k] ^ c) & 1023] += n->weight;
		recent[i & 255] = (uint16_t)at;
		at = n->to[random_next(&s) & 3];
	}
	steps_done += (uint64_t)steps;
	return at;
}

/* Near in memory: no misses. */
NOINLINE static uint64_t tally(void)
{
	uint64_t sum = 0;

	for (unsigned r = 0; r < 100; r++)
		for (unsigned i = 0; i < 256; i++)
			sum += costs[recent[i] & 1023];
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t s = 43, sum = 0;
	long n = work_amount(argc, argv, 130);
	uint32_t at = 0;

	for (uint32_t i = 0; i < NODES; i++) {
		for (int k = 0; k < 4; k++)
			graph[i].to[k] = (uint32_t)random_next(&s) % NODES;
		graph[i].colour = (uint32_t)(random_next(&s) % COLOURS);
		graph[i].weight = i & 7;
	}
	for (int c = 0; c < COLOURS; c++)
		allowed[c] = c % 5 != 0;
	for (long r = 0; r < n; r++) {
		at = walk(at, 100000);
		sum += tally();
	}
	printf("%u %llu\n", at, (unsigned long long)sum);
	return 0;
}
