// SPDX-License-Identifier: GPL-2.0-or-later
/* test_strs.c - the string pool: known answers, then at random against a plain list. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_strs.h"

static void test_table(void **state)
{
	char bytes[16];
	uint32_t slots[8], id, other;
	struct hvar_strs p;

	(void)state;
	hvar_strs_init(&p, bytes, sizeof(bytes), slots, 8);
	assert_string_equal(hvar_strs_get(&p, 0), "");
	assert_int_equal(hvar_strs_add(&p, "", 0, &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(hvar_strs_add(&p, "ab", 2, &id), 0);
	assert_int_not_equal(id, 0);
	assert_int_equal(hvar_strs_add(&p, "abc", 2, &other), 0); /* its first two */
	assert_int_equal(other, id);
	assert_int_equal(hvar_strs_add(&p, "a", 1, &other), 0); /* a prefix is another */
	assert_int_not_equal(other, id);
	assert_string_equal(hvar_strs_get(&p, id), "ab");
	assert_string_equal(hvar_strs_get(&p, other), "a");
	/* never given out: inside a string, past the end */
	assert_string_equal(hvar_strs_get(&p, id + 1), "");
	assert_string_equal(hvar_strs_get(&p, 6), "");
	assert_string_equal(hvar_strs_get(&p, UINT32_MAX), "");
	assert_int_equal(hvar_strs_add(&p, "x\0y", 3, &other), -EINVAL);
	assert_int_equal(p.lost, 0);
	assert_int_equal(p.n, 2);
}

static void test_bytes_full(void **state)
{
	char bytes[8], larger[32];
	uint32_t slots[8], id;
	struct hvar_strs p, before;

	(void)state;
	hvar_strs_init(&p, bytes, sizeof(bytes), slots, 8);
	assert_int_equal(hvar_strs_add(&p, "1234567", 7, &id), -ENOSPC);
	assert_int_equal(p.lost, 1);
	assert_int_equal(hvar_strs_add(&p, "123456", 6, &id), 0); /* 1 + 6 + 1 */
	before = p;
	assert_int_equal(hvar_strs_add(&p, "x", 1, &id), -ENOSPC);
	before.lost++;
	assert_memory_equal(&before, &p, sizeof(p));
	memcpy(larger, bytes, p.used);
	hvar_strs_moved(&p, larger, sizeof(larger), slots, 8);
	memset(bytes, 'Z', sizeof(bytes));
	assert_int_equal(hvar_strs_add(&p, "x", 1, &id), 0);
	assert_int_equal(hvar_strs_add(&p, "123456", 6, &id), 0);
	assert_string_equal(hvar_strs_get(&p, id), "123456");
	assert_int_equal(p.n, 2);
}

static void test_slots_full(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 4, 8 };
	static const uint32_t room[] = { 0, 1, 3, 6 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char bytes[64], s[2] = "a";
		uint32_t slots[8], id, n = 0;
		struct hvar_strs p;

		hvar_strs_init(&p, bytes, sizeof(bytes), slots, sizes[i]);
		while (!hvar_strs_add(&p, s, 1, &id)) {
			n++;
			s[0]++;
		}
		assert_int_equal(n, room[i]);
		/* what is held is still found, what is not is refused, not searched forever */
		for (char c = 'a'; c < s[0]; c++) {
			assert_int_equal(hvar_strs_add(&p, &c, 1, &id), 0);
			assert_int_equal(*hvar_strs_get(&p, id), c);
		}
		assert_int_equal(hvar_strs_add(&p, "zz", 2, &id), -ENOSPC);
		assert_int_equal(p.lost, 2);
	}
}

static void test_random(void **state)
{
	enum { MAX = 1200 };
	char (*model)[16] = calloc(MAX, 16);
	uint32_t ids[MAX], n = 0, nslots = 16, cap = 64, refused = 0;
	char *bytes = malloc(cap);
	uint32_t *slots = malloc(nslots * sizeof(*slots));
	struct hvar_strs p;

	(void)state;
	srand(1);
	hvar_strs_init(&p, bytes, cap, slots, nslots);
	for (int step = 0; step < 100000; step++) {
		char s[16] = { 0 };
		uint32_t len = rand() % 4, id, i;
		int r;

		for (i = 0; i < len; i++)
			s[i] = (char)(rand() % 5 + (rand() % 2 ? 'a' : -3)); /* no NUL among them by luck */
		for (i = 0; i < len && s[i]; i++)
			;
		r = hvar_strs_add(&p, s, len, &id);
		if (i < len) {
			assert_int_equal(r, -EINVAL);
			continue;
		}
		for (i = 0; i < n && strcmp(model[i], s); i++)
			;
		if (r == -ENOSPC) {
			assert_int_equal(i, n); /* what is held is never refused */
			assert_int_equal(p.lost, ++refused);
			/* go on in larger storage */
			char *more = malloc(cap *= 2);
			uint32_t *more_slots = malloc((nslots *= 2) * sizeof(*slots));

			memcpy(more, bytes, p.used);
			free(bytes);
			free(slots);
			bytes = more;
			slots = more_slots;
			hvar_strs_moved(&p, bytes, cap, slots, nslots);
			continue;
		}
		assert_int_equal(r, 0);
		if (!len) {
			assert_int_equal(id, 0);
			continue;
		}
		if (i == n) {
			assert_true(n < MAX);
			strcpy(model[n], s);
			ids[n++] = id;
		}
		assert_int_equal(ids[i], id);
		i = rand() % n;
		assert_string_equal(hvar_strs_get(&p, ids[i]), model[i]);
		assert_int_equal(p.n, n);
	}
	assert_true(refused > 3);
	free(model);
	free(bytes);
	free(slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_bytes_full),
		cmocka_unit_test(test_slots_full),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
