// SPDX-License-Identifier: GPL-2.0-or-later
/* test_recent.c - ranges that were looked up last, against a map that knows each byte. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/report/recent.h"

enum { MEMORY = 600, SPACES = 2, VARIABLES = 40 };

static void empty_knows_nothing(void **state)
{
	struct recent r = { 0 };
	uint32_t entry;

	(void)state;
	assert_false(recent_find(&r, 0, 0, &entry));
	recent_add(&r, 1, 100, 110, 7);
	assert_true(recent_find(&r, 1, 100, &entry));
	assert_int_equal(entry, 7);
	assert_true(recent_find(&r, 1, 109, &entry));
	assert_false(recent_find(&r, 1, 110, &entry));
	assert_false(recent_find(&r, 1, 99, &entry));
	assert_false(recent_find(&r, 2, 100, &entry));
	recent_forget(&r);
	assert_false(recent_find(&r, 1, 100, &entry));
}

static void what_goes_on_is_one(void **state)
{
	struct recent r = { 0 };
	uint32_t entry;

	(void)state;
	/* one variable that is looked up from further and further to its front takes one place */
	for (uint64_t at = 1000; at > 900; at--)
		recent_add(&r, 1, at, 1001, 3);
	recent_add(&r, 1, 2000, 2001, 4);
	assert_true(recent_find(&r, 1, 950, &entry));
	assert_int_equal(entry, 3);
	assert_true(recent_find(&r, 1, 2000, &entry));
	assert_int_equal(entry, 4);
	assert_int_equal(r.turn, 2);
}

/* Variables lie where a table says; it changes now and then, and the ranges are forgotten. */
static void random_against_a_table(void **state)
{
	struct recent r = { 0 };
	uint32_t table[SPACES][MEMORY], entry, found = 0;

	(void)state;
	srand(7);
	memset(table, 0, sizeof(table));
	for (int n = 0; n < 200000; n++) {
		uint32_t mm = (uint32_t)rand() % SPACES, at = (uint32_t)rand() % MEMORY, end;

		if (rand() % 500 == 0) {
			uint32_t v = (uint32_t)rand() % VARIABLES, len = (uint32_t)rand() % 90;

			for (end = at; end < MEMORY && end < at + len; end++)
				table[mm][end] = v;
			recent_forget(&r);
			continue;
		}
		if (recent_find(&r, mm, at, &entry)) {
			assert_int_equal(entry, table[mm][at]);
			found++;
			continue;
		}
		for (end = at + 1; end < MEMORY && table[mm][end] == table[mm][at];)
			end++;
		recent_add(&r, mm, at, end, table[mm][at]);
	}
	assert_true(found > 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_knows_nothing),
		cmocka_unit_test(what_goes_on_is_one),
		cmocka_unit_test(random_against_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
