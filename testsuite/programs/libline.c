/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libline - a library with a variable that each process that has it writes to, in a copy of its own. */
volatile long library_hits[8] __attribute__((aligned(64))) = { 1 };

void library_count(long times)
{
	long i;

	for (i = 0; i < times; i++)
		library_hits[i % 2]++;
}
