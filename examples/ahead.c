// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ahead.c - sums up a table and prefetches half a kilobyte ahead, which goes past the table's end.
 *
 *	cc -O1 -g -o ahead examples/ahead.c
 *	hotvar --exact --prefetches -- ./ahead
 */
#include <stdio.h>
#include <sys/mman.h>

enum { NUMBERS = 65536, AHEAD = 64, ROUNDS = 10 };

/* Nothing is mapped behind the table. */
static long *make_table(void)
{
	long *table = mmap(NULL, NUMBERS * sizeof(*table) + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (table == MAP_FAILED || munmap(table + NUMBERS, 4096))
		return NULL;
	return table;
}

static long sum(const long *table)
{
	long all = 0;

	for (int i = 0; i < NUMBERS; i++) {
		if (i % 8 == 0)
			__builtin_prefetch(&table[i + AHEAD]);
		all += table[i];
	}
	return all;
}

int main(void)
{
	long *table = make_table(), all = 0;

	if (!table)
		return 1;
	for (int i = 0; i < NUMBERS; i++)
		table[i] = i;
	for (int i = 0; i < ROUNDS; i++)
		all += sum(table);
	printf("%ld\n", all);
	return 0;
}
