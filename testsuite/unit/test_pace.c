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

/* Three of them near at first, four a second later on, ten again for two seconds after what is new. */
static void test_apart(void **state)
{
	uint64_t now = 5000 * MS;
	struct pace p;

	(void)state;
	pace_begin(&p, now, false);
	assert_int_equal(run(&p, &now, 3, 0), 300 * MS);
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
	for (uint64_t news = 1; news < 3; news++)
		assert_int_equal(run(&p, &now, 1, news), 100 * MS);
	assert_int_equal(run(&p, &now, 1, 2), 100 * MS);
	assert_int_equal(run(&p, &now, 4, 2), 1000 * MS);
	/* and what is new from its end on does */
	pace_begin(&p, now, false);
	run(&p, &now, 2, 1);
	assert_int_equal(run(&p, &now, 1, 2), 100 * MS);
	assert_int_equal(run(&p, &now, 20, 2), 2000 * MS);
	assert_int_equal(run(&p, &now, 4, 2), 1000 * MS);
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
	run(&p, &now, 3, 0);
	assert_int_equal(p.next_ns - now, 250 * MS);
	assert_false(pace_is_due(&p, now + 187 * MS, 0));
	assert_true(pace_is_due(&p, now + 188 * MS, 0));
	assert_false(pace_is_due(&p, now + 79 * MS, 1));
	assert_true(pace_is_due(&p, now + 80 * MS, 1));
}

/* Who reads is woken by what is new, and otherwise once a second. */
static void test_tell(void **state)
{
	uint64_t now = 9000 * MS;
	struct pace p;

	(void)state;
	pace_begin(&p, now, false);
	assert_true(pace_is_to_tell(&p, now + 100 * MS, 5));
	assert_false(pace_is_to_tell(&p, now + 200 * MS, 5));
	assert_true(pace_is_to_tell(&p, now + 300 * MS, 6));
	assert_false(pace_is_to_tell(&p, now + 1299 * MS, 6));
	assert_true(pace_is_to_tell(&p, now + 1300 * MS, 6));
	assert_false(pace_is_to_tell(&p, now + 1400 * MS, 6));
	pace_begin(&p, now, true);
	for (int i = 1; i < 9; i++)
		assert_true(pace_is_to_tell(&p, now + (uint64_t)i * MS, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apart), cmocka_unit_test(test_steady),
		cmocka_unit_test(test_early), cmocka_unit_test(test_start),
		cmocka_unit_test(test_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
