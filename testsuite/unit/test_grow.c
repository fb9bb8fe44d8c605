// SPDX-License-Identifier: GPL-2.0-or-later
/* test_grow.c - tables that grow keep what they held, and lose nothing. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_event.h"
#include "runtime/user/grow.h"

enum { MANY = 20000 };

static void test_strs(void **state)
{
	static uint32_t id[MANY];
	char s[32], *long_one = calloc(1, 100000);
	struct hvar_strs p;
	uint32_t again;

	(void)state;
	assert_int_equal(grow_strs_init(&p), 0);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(grow_strs_add(&p, s, (size_t)sprintf(s, "string %d", i), &id[i]), 0);
	memset(long_one, 'x', 99999); /* more than twice what there is room for at first */
	assert_int_equal(grow_strs_add(&p, long_one, 99999, &again), 0);
	assert_string_equal(hvar_strs_get(&p, again), long_one);
	assert_int_equal(grow_strs_add(&p, "a\0b", 3, &again), -EINVAL);
	for (int i = 0; i < MANY; i++) {
		size_t len = (size_t)sprintf(s, "string %d", i);

		assert_string_equal(hvar_strs_get(&p, id[i]), s);
		assert_int_equal(grow_strs_add(&p, s, len, &again), 0);
		assert_int_equal(again, id[i]);
	}
	assert_int_equal(p.n, MANY + 1);
	assert_int_equal(p.lost, 0);
	grow_strs_fini(&p);
	free(long_one);
}

static void test_modules(void **state)
{
	struct hvar_modules t;
	uint32_t id;

	(void)state;
	assert_int_equal(grow_modules_init(&t), 0);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 1; i <= MANY; i++) {
			struct hvar_module m = { .ino = i, .path = i };

			assert_int_equal(grow_modules_add(&t, &m, &id), 0);
			assert_int_equal(id, i);
		}
	assert_int_equal(t.n, MANY);
	assert_int_equal(t.lost, 0);
	assert_int_equal(hvar_modules_get(&t, 77)->ino, 77);
	grow_modules_fini(&t);
}

static void test_tasks(void **state)
{
	struct hvar_mm *mm, gone;
	struct hvar_tasks t;
	bool born;

	(void)state;
	assert_int_equal(grow_tasks_init(&t), 0);
	/* every second one a thread of the one before */
	for (uint32_t i = 1; i <= 2000; i++) {
		assert_int_equal(grow_tasks_room(&t), 0);
		assert_int_equal(hvar_tasks_add(&t, i, i - !(i & 1), i, i & 1 ? 0 : (i + 1) / 2, &mm, &born, &gone), 0);
		assert_int_equal(born, i & 1);
		assert_int_equal(mm->id, (i + 1) / 2);
	}
	for (uint32_t i = 1; i <= 2000; i++)
		assert_int_equal(hvar_tasks_mm(&t, hvar_tasks_find(&t, i))->id, (i + 1) / 2);
	assert_int_equal(t.lost, 0);
	/* full or not, there is room for an exec when asked for */
	assert_int_equal(grow_tasks_room(&t), 0);
	assert_int_equal(hvar_tasks_exec(&t, 2, 0, &mm, &gone), 0);
	grow_tasks_fini(&t);
}

static void test_hot(void **state)
{
	struct hvar_hot_table t;
	uint32_t i;

	(void)state;
	assert_int_equal(grow_hot_init(&t), 0);
	for (uint32_t k = 0; k < MANY; k++) {
		struct hvar_hot_key key = { .module = 1, .symbol = k };

		assert_int_equal(grow_hot_room(&t), 0);
		assert_int_equal(hvar_hot_slot(&t, &key, 1, &i), 0);
		assert_int_equal(i, k);
		hvar_hot_count(&t, i, k % 7, 65536, 8, HVAR_ACCESS_READ);
		assert_int_equal(grow_hot_room(&t), 0);
		hvar_hot_count(&t, i, 1000, 65536, 8, HVAR_ACCESS_WRITE);
	}
	assert_int_equal(t.n, MANY);
	assert_int_equal(t.lost, 0);
	assert_int_equal(t.lost_tids, 0);
	for (uint32_t k = 0; k < MANY; k++) {
		assert_int_equal(t.v[k].threads, 2);
		assert_int_equal(t.v[k].reads, 65536);
	}
	grow_hot_fini(&t);
}

static void test_vmas(void **state)
{
	struct hvar_vma v = { .prot = 1, .region = HVAR_REGION_ANON };
	const struct hvar_vma *at;
	struct hvar_vmas m, copy;

	(void)state;
	assert_int_equal(grow_vmas_init(&m, 1), 0);
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(grow_vmas_set(&m, (2 * i + 1) << 12, (2 * i + 2) << 12, &v), 0);
	assert_int_equal(grow_vmas_set(&m, 5, 5, &v), -EINVAL);
	assert_int_equal(m.lost, 0);
	assert_int_equal(grow_vmas_copy(&copy, &m), 0);
	assert_int_equal(grow_vmas_set(&m, 0, 1ull << 40, NULL), 0);
	grow_vmas_fini(&m);
	for (uint64_t i = 0; i < MANY; i++) {
		at = hvar_vmas_find(&copy, (2 * i + 1) << 12);
		assert_non_null(at);
		assert_int_equal(at->end, (2 * i + 2) << 12);
	}
	grow_vmas_fini(&copy);
}

static void test_array(void **state)
{
	uint64_t *v = NULL;
	size_t cap = 0;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(grow_array((void **)&v, &cap, i + 1, sizeof(*v)), 0);
		v[i] = i;
	}
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(v[i], i);
	assert_int_equal(grow_array((void **)&v, &cap, SIZE_MAX / 4, sizeof(*v)), -ENOMEM);
	assert_int_equal(v[MANY - 1], MANY - 1);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strs),  cmocka_unit_test(test_modules),
		cmocka_unit_test(test_tasks), cmocka_unit_test(test_hot),
		cmocka_unit_test(test_vmas),  cmocka_unit_test(test_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
