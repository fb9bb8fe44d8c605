/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work.h - what the programs of the accuracy suite share.
 *
 * Each works on static variables of known names and prints a number that depends
 * on all it did.  The first argument is the amount of work.  Where the environment
 * names a file in ACCURACY_CPU, the CPU time that it all took is written there.
 */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define NOINLINE __attribute__((noinline))

static inline uint64_t random_next(uint64_t *s)
{
	uint64_t x = *s;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *s = x;
}

static inline long work_amount(int argc, char **argv, long usual)
{
	return argc > 1 ? atol(argv[1]) : usual;
}

__attribute__((destructor)) static void write_cpu_time(void)
{
	const char *path = getenv("ACCURACY_CPU");
	FILE *f = path ? fopen(path, "w") : NULL;
	struct rusage r;

	if (!f)
		return;
	getrusage(RUSAGE_SELF, &r);
	fprintf(f, "%.6f\n", (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
				     1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec));
	fclose(f);
}

#endif /* WORK_H */
