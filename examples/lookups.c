// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lookups.c - a hash table of 256 MiB, and look-ups all over it.
 *
 *   lookups [MILLIONS-OF-LOOKUPS]
 *
 * Each look-up touches another page, of more than a processor keeps translations for.  Would huge
 * pages help?
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 1 << 25 };

int main(int argc, char **argv)
{
	uint64_t n = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * 1000000, key = 1, hits = 0;
	uint64_t *table = malloc(SLOTS * sizeof(*table));

	if (!table)
		return 1;
	for (uint64_t i = 0; i < SLOTS; i++)
		table[i] = i;
	for (uint64_t i = 0; i < n; i++) {
		key = key * 6364136223846793005u + 1442695040888963407u;
		hits += table[key >> 39] % 2;
	}
	printf("%lu hits\n", (unsigned long)hits);
	return 0;
}
