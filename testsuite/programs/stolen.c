// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stolen.c - what a program itself sees missing of its time: a loop that always looks at the clock.
 *
 *	stolen SECONDS		for so long; prints "STOLEN GAPS STEPS CPU"
 *
 * Its steps of some 200 ns work on tables: chains of a hash table, words that are counted, numbers that are moved, sums, each in a
 * function with branches that depend on data, so that samples and breakpoints come as to any program.  A step of more than GAP_NS was
 * interrupted.  STOLEN is the part of the time that went so: what such steps took too long, and what the steps just behind took
 * longer than others, since what interrupts uses caches and predictions, too.  A step of more than MOST_NS is not one that was
 * interrupted, but another program's turn or another virtual machine's: it is left out, and its time.
 *
 * All of it is of one moment: how fast the CPU is just then, which changes by half where it shares a core with strangers, is in what
 * is missing and in what is not.  The kernel's own interrupts are in it with hotvar and without.
 *
 * GAPS is steps that were interrupted, STEPS is all, CPU is seconds by the kernel's account.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

enum {
	GAP_NS = 1000,
	MOST_NS = 150000,
	BEHIND = 16, /* steps */
	BUCKETS = 4096,
	ENTRIES = 8192,
	WORDS = 1024,
	SUMS = 16384,
	WARM_UP = 200000, /* steps */
};

struct entry {
	uint32_t key, next, uses, pad;
};

static uint32_t buckets[BUCKETS], words[WORDS], moved[2][WORDS];
static struct entry entries[ENTRIES];
static uint64_t sums[SUMS];
static uint64_t seldom;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static void fill(uint64_t *s)
{
	for (uint32_t i = 1; i < ENTRIES; i++) {
		uint32_t b = (uint32_t)(next_random(s) % BUCKETS);

		entries[i] = (struct entry){ .key = (uint32_t)(*s >> 40) & 255, .next = buckets[b] };
		buckets[b] = i;
	}
}

NOINLINE static uint32_t look_up(uint64_t r)
{
	uint32_t i = buckets[r % BUCKETS], key = (uint32_t)(r >> 20) & 255;

	while (i && entries[i].key != key)
		i = entries[i].next;
	if (i)
		entries[i].uses++;
	return i;
}

NOINLINE static void count(uint64_t r)
{
	if ((r & 7) < 3)
		words[r >> 8 & (WORDS - 1)]++;
	else
		words[r >> 30 & 63] += 2;
}

NOINLINE static void move_one(uint64_t r)
{
	uint32_t from = (uint32_t)(r >> 13) & (WORDS - 1);

	if (moved[0][from] > moved[1][from]) {
		moved[1][from] += 2 + (r & 1);
		seldom += r & 1;
	} else {
		moved[0][from] += 2;
	}
}

NOINLINE static void add(uint64_t r)
{
	uint32_t at = (uint32_t)(r >> 17) & (SUMS - 1);

	for (unsigned i = 0; i < 4; i++)
		sums[(at + i * 5) & (SUMS - 1)] += r >> i;
}

static void step(uint64_t *s)
{
	uint64_t r = next_random(s);

	if (!look_up(r))
		count(r);
	move_one(r);
	count(r >> 11);
	add(r);
	look_up(r >> 9);
	move_one(r >> 7);
}

struct seen {
	uint64_t usual_ns, usual, gap_ns, gaps, behind_ns, behind, turns;
};

/* The steps of @ns: *@s is where random numbers are. */
static void watch(struct seen *w, uint64_t *s, uint64_t ns)
{
	uint64_t at = now(), until = at + ns;
	unsigned behind = 0;

	while (at < until) {
		uint64_t was = at, took;

		step(s);
		step(s);
		at = now();
		took = at - was;
		if (took > MOST_NS) {
			w->turns++;
			behind = 0;
		} else if (took > GAP_NS) {
			w->gap_ns += took;
			w->gaps++;
			behind = BEHIND;
		} else if (behind) {
			behind--;
			w->behind_ns += took;
			w->behind++;
		} else {
			w->usual_ns += took;
			w->usual++;
		}
	}
}

static double seconds_of(const struct rusage *r)
{
	return (double)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) + 1e-6 * (double)(r->ru_utime.tv_usec + r->ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, begin, each, all;
	uint64_t steps;
	struct seen w = { 0 };
	struct rusage r;
	uint64_t s = 88172645463325252u;

	fill(&s);
	for (long i = 0; i < WARM_UP; i++)
		step(&s);
	getrusage(RUSAGE_SELF, &r);
	begin = seconds_of(&r);
	watch(&w, &s, (uint64_t)(seconds * 1e9));
	if (!w.usual)
		return 1;
	getrusage(RUSAGE_SELF, &r);
	each = (double)w.usual_ns / (double)w.usual;
	all = (double)(w.usual_ns + w.gap_ns + w.behind_ns);
	steps = w.usual + w.gaps + w.behind;
	printf("%.5f %llu %llu %.6f\n", 1 - each * (double)steps / all, (unsigned long long)w.gaps, (unsigned long long)(steps + w.turns),
	       seconds_of(&r) - begin);
	return !seldom; /* so that it is not left out */
}
