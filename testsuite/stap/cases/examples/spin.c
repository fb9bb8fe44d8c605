// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spin.c - spends its time on one variable, seldom touches another, and never a third.
 *
 *	spin [SECONDS]	of processor time
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned hot_table[1 << 14];
unsigned seldom_table[1 << 10];
unsigned never_table[1 << 10]; /* not even read at the end: a sample may sit there */

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1.5;
	unsigned i, n = 0;

	while (clock() < CLOCKS_PER_SEC * seconds) {
		for (i = 0; i < 20 * (sizeof(hot_table) / sizeof(*hot_table)); i++)
			hot_table[i % (sizeof(hot_table) / sizeof(*hot_table))] += i;
		for (i = 0; i < sizeof(seldom_table) / sizeof(*seldom_table); i++)
			seldom_table[i] += i;
		n++;
	}
	printf("%u rounds, %u %u\n", n, hot_table[7], seldom_table[7]);
	return 0;
}
