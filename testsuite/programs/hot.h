/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hot.h - what the hot_*.c programs share.
 *
 * Each does one kind of work on static variables and prints, as its last lines,
 * how many reads and writes the work made to each, most first:
 *
 *	hot NAME COUNT
 *
 * An operand that is read and written counts twice, as a read and a write.  The
 * counts come from arithmetic, or from counters that the work keeps in
 * registers; setting up is left out.  They are of the machine's accesses: every
 * index depends on data, so that the compiler must do each access where it
 * stands, and vectorising, which merges some, is off.  "hot_X 1" is small enough
 * for an exact trace, which is how the counts were checked.
 */
#ifndef HOT_H
#define HOT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static inline uint64_t next_random(uint64_t *s)
{
	uint64_t x = *s;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *s = x;
}

/* The amount of work: the first argument, or @otherwise. */
static inline long work_asked(int argc, char **argv, long otherwise)
{
	return argc > 1 ? atol(argv[1]) : otherwise;
}

struct hot {
	const char *name;
	uint64_t count;
};

static inline int hot_order(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

static inline void hot_print(struct hot *v, unsigned n)
{
	qsort(v, n, sizeof(*v), hot_order);
	for (unsigned i = 0; i < n; i++)
		printf("hot %s %llu\n", v[i].name, (unsigned long long)v[i].count);
}

#define HOT_PRINT(...)                                                         \
	do {                                                                   \
		struct hot hot_list[] = { __VA_ARGS__ };                       \
		hot_print(hot_list, sizeof(hot_list) / sizeof(*hot_list));     \
	} while (0)

#endif /* HOT_H */
