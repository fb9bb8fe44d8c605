// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmas.c - what a look-up and a change cost in a list of 60,000 areas, against one of 100.
 *
 * Addresses are uniformly random over all that is mapped.  A change is one munmap(),
 * mmap() or mprotect(): of a whole area, or of pages in the middle of one, so that areas
 * come, go, split and merge while their number stays.  Both lists are measured in
 * turns; the shortest turn of each counts, since whatever disturbs one only makes it longer.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/core/hvar_vmas.h"

enum { SMALL = 100, LARGE = 60000, TURNS = 400, LOOKUPS = 20000, CHANGES = 6000 };
#define BASE   ((uint64_t)0x7f0000000000)
#define STRIDE ((uint64_t)16 * 4096)

struct list {
	struct hvar_vmas m;
	uint32_t n;
	double lookup_ns, chase_ns, change_ns; /* of one */
};

static uint64_t rng = 88172645463325252u;

/* A number below @n; the same few instructions for any @n. */
static inline uint32_t rnd(uint32_t n)
{
	rng = rng * 6364136223846793005u + 1442695040888963407u;
	return (rng >> 32) * n >> 32;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void must(int err)
{
	if (err) {
		fprintf(stderr, "vmas: a change was refused: %s\n", strerror(-err));
		exit(1);
	}
}

/* Area @i of the list: its neighbours are other files. */
static struct hvar_vma area(uint32_t i)
{
	struct hvar_vma v;

	memset(&v, 0, sizeof(v));
	v.start = BASE + i * STRIDE;
	v.end = v.start + STRIDE;
	v.module = 1 + (i & 3);
	v.region = HVAR_REGION_FILE;
	v.prot = HVAR_PROT_READ;
	return v;
}

/* In random order, which leaves nodes as full as they are in the long run. */
static void fill(struct list *l, uint32_t n)
{
	static uint32_t order[LARGE];
	uint64_t size = hvar_vmas_bytes(n + 4);
	void *mem = aligned_alloc(64, (size + 63) / 64 * 64);
	struct hvar_vma v;
	uint32_t i, k;

	if (!mem) {
		perror("vmas");
		exit(1);
	}
	hvar_vmas_init(&l->m, mem, size);
	l->n = n;
	for (i = 0; i < n; i++) {
		k = rnd(i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (i = 0; i < n; i++) {
		v = area(order[i]);
		must(hvar_vmas_set(&l->m, v.start, v.end, &v));
	}
	l->lookup_ns = l->chase_ns = l->change_ns = 1e9;
}

static uint64_t sink;

static double lookups(const struct list *l)
{
	double t = now_ns();
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < LOOKUPS; i++) {
		uint64_t at = BASE + rnd(l->n) * STRIDE + (rng & (STRIDE - 1));
		const struct hvar_vma *v = hvar_vmas_find(&l->m, at);

		sum += v->pgoff;
	}
	sink += sum;
	return (now_ns() - t) / LOOKUPS;
}

/* Each address depends on what the last look-up found: nothing overlaps. */
static double chase(const struct list *l)
{
	double t = now_ns();
	uint64_t last = 0;
	uint32_t i;

	for (i = 0; i < LOOKUPS; i++) {
		uint64_t at = BASE + rnd(l->n) * STRIDE + (rng & (STRIDE - 1));

		last = hvar_vmas_find(&l->m, at + last)->pgoff;
	}
	sink += last;
	return (now_ns() - t) / LOOKUPS;
}

static double changes(struct list *l)
{
	double t = now_ns();
	uint32_t i;

	for (i = 0; i < CHANGES; i += 2) {
		struct hvar_vma v = area(rnd(l->n)), w;
		uint64_t from = v.start + 4096, to = from + 4096 * (1 + (rng & 7));

		switch (i / 2 % 3) {
		case 0: /* a whole area goes and comes back */
			must(hvar_vmas_set(&l->m, v.start, v.end, NULL));
			must(hvar_vmas_set(&l->m, v.start, v.end, &v));
			break;
		case 1: /* some pages of it */
			must(hvar_vmas_set(&l->m, from, to, NULL));
			hvar_vma_at(&v, from, &v);
			must(hvar_vmas_set(&l->m, from, to, &v));
			break;
		case 2: /* some pages become writable, and read-only again */
			w = v;
			hvar_vma_at(&v, from, &w);
			w.prot |= HVAR_PROT_WRITE;
			must(hvar_vmas_set(&l->m, from, to, &w));
			w.prot &= ~HVAR_PROT_WRITE;
			must(hvar_vmas_set(&l->m, from, to, &w));
			break;
		}
	}
	return (now_ns() - t) / CHANGES;
}

static void shortest(double *best, double ns)
{
	if (ns < *best)
		*best = ns;
}

int main(void)
{
	static struct list small, large;
	struct list *both[2] = { &small, &large }, *l;
	int turn, i;

	fill(&small, SMALL);
	fill(&large, LARGE);
	for (turn = 0; turn < TURNS; turn++)
		for (i = 0; i < 2; i++) {
			l = both[i];
			lookups(l); /* warm again, after the other */
			shortest(&l->lookup_ns, lookups(l));
			shortest(&l->chase_ns, chase(l));
			shortest(&l->change_ns, changes(l));
		}
	if (small.m.n != SMALL || large.m.n != LARGE || sink) {
		fprintf(stderr, "vmas: the lists are not what they were\n");
		return 1;
	}
	printf("# one look-up %.1f ns of %d areas, %.1f ns of %d; "
	       "each waiting for the last %.1f ns, %.1f ns; one change %.1f ns, %.1f ns\n",
	       small.lookup_ns, SMALL, large.lookup_ns, LARGE, small.chase_ns, large.chase_ns,
	       small.change_ns, large.change_ns);
	printf("bench vmas-lookup ratio %.2f goal <= 2\n", large.lookup_ns / small.lookup_ns);
	printf("bench vmas-lookup-in-turn ratio %.2f goal <= 2\n", large.chase_ns / small.chase_ns);
	printf("bench vmas-change ratio %.2f goal <= 2\n", large.change_ns / small.change_ns);
	free(small.m.mem);
	free(large.m.mem);
	return 0;
}
