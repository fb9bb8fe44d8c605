// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pace - when an engine wakes, at times made up.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/user/pace.h"

#define MS 1000000ull

/* Wake when it says, @n times, with @news that stays: how long that took. */
static uint64_t run(struct pace *p, uint64_t *now, int n, uint64_t news)
{
	uint64_t begin = *now;

	while (n--) {
		assert_true(p->next_ns > *now);
		*now = p->next_ns;
		assert_true(pace_is_due(p, *now, news));
		pace_ticked(p, *now, news);
	}
	return *now - begin;
}

/* Ten a second at first, four later on, ten again for two seconds after what is new. */
static void test_apart(void **state)
{
	uint64_t now = 5000 * MS;
	struct pace p;

	(void)state;
	pace_begin(&p, now, false);
	assert_int_equal(run(&p, &now, 10, 0), 1000 * MS);
	assert_int_equal(run(&p, &now, 4, 0), 1000 * MS);
	assert_int_equal(run(&p, &now, 1, 1), 250 * MS);
	assert_int_equal(run(&p, &now, 20, 1), 2000 * MS);
	assert_int_equal(run(&p, &now, 4, 1), 1000 * MS);
	for (uint64_t news = 2; news < 12; news++)
		run(&p, &now, 1, news);
	assert_int_equal(p.next_ns - now, 100 * MS);
	/* what changes every second is always met by a tick that is near */
	for (uint64_t news = 12; news < 40; news++)
		assert_int_equal(run(&p, &now, 10, news), 1000 * MS);
}

/* What is new at the beginning, as all is, keeps it no longer. */
static void test_start(void **state)
{
	uint64_t now = 3000 * MS;
	struct pace p;

	(void)state;
	pace_begin(&p, now, false);
	for (uint64_t news = 1; news < 9; news++)
		assert_int_equal(run(&p, &now, 1, news), 100 * MS);
	assert_int_equal(run(&p, &now, 2, 8), 200 * MS);
	assert_int_equal(run(&p, &now, 4, 8), 1000 * MS);
}

static void test_steady(void **state)
{
	uint64_t now = 7 * MS;
	struct pace p;

	(void)state;
	pace_begin(&p, now, true);
	assert_int_equal(run(&p, &now, 50, 0), 5000 * MS);
}

/* Awake for another reason: a tick that is near is taken along, and one that has news to see to from 100 ms on. */
static void test_early(void **state)
{
	uint64_t now = 1000 * MS;
	struct pace p;

	(void)state;
	pace_begin(&p, now, false);
	assert_false(pace_is_due(&p, now + 79 * MS, 0));
	assert_false(pace_is_due(&p, now + 79 * MS, 1));
	assert_true(pace_is_due(&p, now + 80 * MS, 0));
	run(&p, &now, 10, 0);
	assert_int_equal(p.next_ns - now, 250 * MS);
	assert_false(pace_is_due(&p, now + 187 * MS, 0));
	assert_true(pace_is_due(&p, now + 188 * MS, 0));
	assert_false(pace_is_due(&p, now + 79 * MS, 1));
	assert_true(pace_is_due(&p, now + 80 * MS, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apart), cmocka_unit_test(test_steady),
		cmocka_unit_test(test_early), cmocka_unit_test(test_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
