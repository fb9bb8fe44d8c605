/* hotvar-cflags: -O2 -g -static -DPAST */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prefetch_past.c - a loop that prefetches eight lines ahead, past the end of its array into memory that is unmapped.
 *
 * prefetch_past [ROUNDS [LINES]]: so often, over the last lines alone.  prefetch_right.c is the same program with the mistake mended.  Prints how many prefetches it has done, and how many of
 * those were of unmapped memory, counted by the program itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, LINES = 1024, AHEAD = 8 };

/* An array with nothing but its own gap behind it. */
__asm__(".bss\n.balign 4096\n"
	".globl table\n.type table, @object\n.size table, 65536\ntable: .skip 65536\n"
	".globl gap\n.type gap, @object\n.size gap, 65536\ngap: .skip 65536\n"
	".text");
extern unsigned char table[LINES * LINE], gap[65536];

static unsigned long done, past;

static __attribute__((noinline)) unsigned long walk(int first)
{
	unsigned long sum = 0;
	int i, k;

	for (i = first; i < LINES; i++) {
		const unsigned char *next = table + (i + AHEAD) * LINE;

#ifdef PAST
		__builtin_prefetch(next); /* the line that is at fault */
		done++;
		past += next >= table + sizeof(table);
#else
		if (next < table + sizeof(table)) {
			__builtin_prefetch(next);
			done++;
		}
#endif
		for (k = 0; k < LINE; k += 8)
			sum += table[i * LINE + k];
	}
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10, first = argc > 2 ? LINES - atoi(argv[2]) : 0;
	unsigned long sum = 0;
	int i;

	memset(table, 1, sizeof(table));
	if (munmap(gap, sizeof(gap)))
		return 1;
	for (i = 0; i < rounds; i++)
		sum += walk(first);
	printf("prefetches %lu unmapped %lu sum %lu table %p\n", done, past, sum, (void *)table);
	return 0;
}
