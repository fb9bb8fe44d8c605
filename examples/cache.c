// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cache.c - a small cache of squares, and four static variables that it spends its time on.
 *
 *   cache [MILLIONS-OF-REQUESTS]
 *
 * Which of them gets the most accesses?  Each request reads one entry of `crc_table`, looks
 * at one to four entries of `slots`, and counts in `stats`; only misses write.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 1 << 15, WAYS = 4 };

struct slot {
	uint64_t key;
	uint64_t value;
};

static struct slot slots[SLOTS];
static uint32_t crc_table[256];

static struct {
	uint64_t requests, hits, misses;
} stats;

static uint64_t seed = 1;

static void make_table(void)
{
	uint32_t i, bit, c;

	for (i = 0; i < 256; i++) {
		for (c = i, bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
		crc_table[i] = c;
	}
}

/* Requests are not even: the key has 3 to 18 bits, so small ones come far more often. */
static uint64_t next_key(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 40 & ((8u << (seed >> 60)) - 1);
}

/* Not inlined: stats would live in registers then, and not in memory at all. */
__attribute__((noinline))
static uint64_t lookup(uint64_t key)
{
	uint32_t h = (uint32_t)key;
	uint32_t at, i;

	h = crc_table[(h ^ h >> 8) & 0xff] ^ h * 2654435761u;
	at = h % (SLOTS / WAYS) * WAYS;
	stats.requests++;
	for (i = at; i < at + WAYS; i++) {
		if (slots[i].key == key + 1) {
			stats.hits++;
			return slots[i].value;
		}
	}
	stats.misses++;
	i = at + (uint32_t)(key % WAYS);
	slots[i].key = key + 1;
	slots[i].value = key * key;
	return key * key;
}

int main(int argc, char **argv)
{
	unsigned long n = (argc > 1 ? strtoul(argv[1], NULL, 10) : 100) * 1000000;
	uint64_t sum = 0;

	make_table();
	while (n--)
		sum += lookup(next_key());
	printf("%llu requests, %llu hits, %llu misses, checksum %llu\n",
	       (unsigned long long)stats.requests, (unsigned long long)stats.hits,
	       (unsigned long long)stats.misses, (unsigned long long)sum);
	return 0;
}
