// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_budget - who gets how much of the program's time; and that finding out what a sample costs leaves nothing behind.
 */
#include "config.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/user/budget.h"
#include "runtime/user/sample_cost.h"

static void assert_near(double a, double b)
{
	assert_true(a - b < 1e-9 && b - a < 1e-9);
}

/* By hand: 1.5 % of a second are 15 ms, of which a thousand samples take so many ms as one takes us, and walks 2. */
static void test_usual(void **state)
{
	static const struct {
		unsigned hz;
		uint64_t ns;
		double breakpoints;
	} t[] = {
		{ 1000, 6000, 0.007 },
		{ 1000, 0, 0.003 }, /* not known: 16 us */
		{ 1000, 10001, 0.003 }, /* no less */
		{ 1000, 27000, 0.003 },
		{ 1000, 1500, 0.0115 },
		{ 100, 20000, 0.011 },
		{ 500, 14000, 0.006 },
		{ 5000, 6000, 0.007 }, /* who wants more samples shall not get fewer hits */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct budget b = budget_make(t[i].hz, false, 0, t[i].ns);

		assert_int_equal(b.hz, t[i].hz);
		assert_int_equal(b.sample_ns, t[i].ns ? t[i].ns : 16000);
		assert_near(b.breakpoints, t[i].breakpoints);
		assert_near(b.walks, 0.002);
	}
}

/* Samples of the usual rate may take 22.5 ms without 2 and 3, which are 17.5. */
static void test_dear(void **state)
{
	static const struct {
		unsigned hz;
		uint64_t ns;
		unsigned want;
	} t[] = {
		{ 1000, 0, 1000 },
		{ 1000, 10000, 1000 },
		{ 1000, 17499, 1000 },
		{ 1000, 20000, 875 },
		{ 1000, 40000, 437 },
		{ 1000, 1000000, 250 }, /* or they would tell nothing */
		{ 200, 1000000, 200 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct budget b = budget_make(t[i].hz, true, 0, t[i].ns);

		assert_in_range(b.hz, t[i].want - 1, t[i].want);
		assert_near(b.walks, 0.002);
		if (t[i].ns > 17500 && t[i].want > 250)
			assert_in_range(b.breakpoints * 1e6, 2999, 3030);
	}
	assert_int_equal(budget_make(1000, true, 0.05, 20000).hz, 1000); /* as that says */
}

static void test_asked(void **state)
{
	struct budget b;

	(void)state;
	b = budget_make(1000, false, 0.01, 5000); /* samples take half of it */
	assert_int_equal(b.hz, 1000);
	assert_near(b.walks, 0.005 / 3);
	assert_near(b.breakpoints, 0.005 * 2 / 3);
	b = budget_make(1000, false, 0.003, 10000); /* two thirds are 200 of them */
	assert_int_equal(b.hz, 200);
	assert_near(b.walks, 0.001 / 3);
	assert_near(b.breakpoints, 0.001 * 2 / 3);
	b = budget_make(1000, false, 0.006, 0);
	assert_int_equal(b.hz, 250);
	assert_near(b.walks, 0.002 / 3);
	assert_near(b.breakpoints, 0.002 * 2 / 3);
	b = budget_make(20000, false, 0.0005, 1000000); /* one a second in any case, though it costs more */
	assert_int_equal(b.hz, 1);
	assert_near(b.breakpoints, 0);
	assert_near(b.walks, 0);
	b = budget_make(1000, false, 0.0005, 10000); /* what is left is too little for a walk now and then */
	assert_near(b.walks, 0);
	assert_near(b.breakpoints, 0.00017);
	b = budget_make(1000, false, 1, 5000);
	assert_int_equal(b.hz, 1000);
	assert_near(b.walks, 0.002); /* no more than usual */
	assert_near(b.breakpoints, 0.993);
}

/* Descriptors, and areas of perf's. */
static unsigned left_behind(void)
{
	DIR *dir = opendir("/proc/self/fd");
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned n = 0;

	assert_non_null(dir);
	assert_non_null(maps);
	while (readdir(dir))
		n++;
	while (fgets(line, sizeof(line), maps))
		n += strstr(line, "[perf_event]") != NULL;
	fclose(maps);
	closedir(dir);
	return n;
}

static void test_nothing_stays(void **state)
{
	unsigned was = left_behind();

	(void)state;
	for (int i = 0; i < 20; i++)
		sample_cost_ns();
	assert_int_equal(left_behind(), was);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_dear),
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_nothing_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
