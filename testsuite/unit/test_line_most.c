// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_line_most - how often a line can go from one thread to another, against every order of a few accesses.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/valgrind/hvt_line_most.h"

enum { THREADS = 3, MOST = 3 };

/* What each has yet to do: then everything that may come of it follows from who has the line, and who wrote to it last. */
static unsigned left[THREADS][2];
static unsigned has, writer; /* a bit each; THREADS: nobody */
static int common[THREADS][THREADS];
static signed char known[4 * 4 * 4 * 4 * 4 * 4][8][THREADS + 1];

/* The most hand-overs from here on, by trying every next access; @only_true: of those between threads with bytes in common. */
static int best_from_here(int only_true)
{
	unsigned at = 0, t, write;
	signed char *memo;
	int best = 0;

	for (t = 0; t < THREADS; t++)
		at = (at * 4 + left[t][0]) * 4 + left[t][1];
	memo = &known[at][has][writer];
	if (*memo >= 0)
		return *memo;
	for (t = 0; t < THREADS; t++) {
		for (write = 0; write < 2; write++) {
			unsigned had = has, wrote = writer;
			int n;

			if (!left[t][write])
				continue;
			n = writer != THREADS && !(has >> t & 1) && (!only_true || common[t][writer]);
			left[t][write]--;
			has = write ? 1u << t : has | 1u << t;
			writer = write ? t : writer;
			n += best_from_here(only_true);
			left[t][write]++;
			has = had;
			writer = wrote;
			best = n > best ? n : best;
		}
	}
	return *memo = (signed char)best;
}

static int best(const struct hvt_stretch *s, int only_true)
{
	unsigned t, u;

	for (t = 0; t < THREADS; t++) {
		left[t][0] = (unsigned)s[t].reads;
		left[t][1] = (unsigned)s[t].writes;
		for (u = 0; u < THREADS; u++)
			common[t][u] = (s[t].written & (s[u].read | s[u].written)) || (s[u].written & s[t].read);
	}
	memset(known, -1, sizeof(known));
	has = 0;
	writer = THREADS;
	return best_from_here(only_true);
}

static struct hvt_line_all all_of(const struct hvt_stretch *s, unsigned n)
{
	struct hvt_line_all all = { 0 };
	unsigned i;

	for (i = 0; i < n; i++)
		hvt_line_all_add(&all, &s[i]);
	for (i = 0; i < n; i++)
		hvt_line_all_take(&all, &s[i]);
	return all;
}

/* Of numbers that are too large: what is left. */
static void check(const struct hvt_stretch *s, unsigned *reached)
{
	const struct hvt_line_all all = all_of(s, THREADS);
	int possible = best(s, 0), possible_true = best(s, 1);
	uint64_t t = (uint64_t)1 << 40, f = 0;

	assert_in_range(possible, 0, hvt_line_all_most(&all));
	*reached += (uint64_t)possible == hvt_line_all_most(&all);
	hvt_line_all_bound(&all, 0, &t, &f);
	assert_true(t + f <= hvt_line_all_most(&all));
	assert_true(t >= (uint64_t)possible_true);
	t = f = (uint64_t)1 << 50;
	hvt_line_all_bound(&all, 0, &t, &f);
	assert_true(t + f <= hvt_line_all_most(&all));
	/* What was seen is possible. */
	t = 0;
	f = 1;
	hvt_line_all_bound(&all, (uint64_t)possible, &t, &f);
	assert_int_equal(t + f, possible);
}

static void every_order(void **state)
{
	struct hvt_stretch s[THREADS];
	unsigned i, t, reached = 0;

	(void)state;
	srand(7);
	for (i = 0; i < 400; i++) {
		for (t = 0; t < THREADS; t++) {
			s[t] = (struct hvt_stretch){ .reads = (unsigned)rand() % (MOST + 1), .writes = (unsigned)rand() % (MOST + 1) };
			s[t].read = s[t].reads ? 1u << rand() % 4 : 0;
			s[t].written = s[t].writes ? 1u << rand() % 4 : 0;
		}
		check(s, &reached);
	}
	/* It is no larger than need be, in most cases. */
	assert_in_range(reached, 200, 400);
}

static void by_hand(void **state)
{
	/* two that write in turns; one that writes while two read; two that add one to their own; nobody writes */
	const struct hvt_stretch turns[2] = { { 0, 50, 0, 1 }, { 0, 50, 0, 1 } };
	const struct hvt_stretch told[3] = { { 0, 10, 0, 1 }, { 1000, 0, 1, 0 }, { 5, 0, 1, 0 } };
	const struct hvt_stretch own[2] = { { 1000, 1000, 1, 1 }, { 1000, 1000, 2, 2 } };
	const struct hvt_stretch readers[2] = { { 1000, 0, 1, 0 }, { 1000, 0, 1, 0 } };
	const struct hvt_stretch huge[2] = { { UINT64_MAX, 1, 1, 1 }, { UINT64_MAX, UINT64_MAX, 1, 1 } };
	struct hvt_line_all all = all_of(turns, 2);
	uint64_t t = 198, f = 0;

	(void)state;
	hvt_line_all_bound(&all, 0, &t, &f);
	assert_int_equal(t, 99);
	all = all_of(told, 3);
	assert_int_equal(hvt_line_all_most(&all), 15);
	all = all_of(own, 2);
	assert_int_equal(hvt_line_all_most(&all), 2000);
	t = 9;
	f = 7000;
	hvt_line_all_bound(&all, 0, &t, &f); /* they have no byte in common */
	assert_int_equal(t, 0);
	assert_int_equal(f, 2000);
	all = all_of(readers, 2);
	assert_int_equal(hvt_line_all_most(&all), 0);
	f = 3;
	hvt_line_all_bound(&all, 5, &t, &f);
	assert_int_equal(t + f, 0);
	all = all_of(readers, 0);
	assert_int_equal(hvt_line_all_most(&all), 0);
	all = all_of(huge, 2);
	t = f = UINT64_MAX;
	hvt_line_all_bound(&all, UINT64_MAX, &t, &f);
	assert_true(t + f >= t && t + f <= hvt_line_all_most(&all));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order),
		cmocka_unit_test(by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
