// SPDX-License-Identifier: GPL-2.0-or-later
/* test_module.c - module numbers and identity: known answers, then at random against a list. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_module.h"

static struct hvar_module file(uint32_t major, uint32_t minor, uint64_t ino,
			       uint64_t mtime_ns, uint64_t size)
{
	struct hvar_module m = { .dev_major = major, .dev_minor = minor,
				 .ino = ino, .mtime_ns = mtime_ns,
				 .size = size, .path = 9 };
	return m;
}

static void set_id(struct hvar_module *m, uint8_t len, uint8_t fill)
{
	m->build_id_len = len;
	memset(m->build_id, fill, len);
}

static void test_same(void **state)
{
	struct hvar_module a = file(8, 1, 100, 5, 6), b = a;

	(void)state;
	assert_true(hvar_module_same(&a, &b));
	b.path = 77; /* one file, two names */
	assert_true(hvar_module_same(&a, &b));
	b.dev_minor = 2; /* the same inode number on another disk */
	assert_false(hvar_module_same(&a, &b));
	b = a;
	b.ino = 101; /* replaced: mv lib.new lib.so */
	assert_false(hvar_module_same(&a, &b));
	b = a;
	b.mtime_ns = 6; /* written to in place */
	assert_false(hvar_module_same(&a, &b));
	b.mtime_ns = 0;
	b.size = 0;
	b.flags = HVAR_MODULE_UNREAD; /* nobody could look: device and inode are all */
	assert_true(hvar_module_same(&a, &b));
	/* a build-id on both sides decides, also across devices (overlays) */
	b = file(0, 40, 3, 1, 1);
	set_id(&a, 20, 7);
	assert_false(hvar_module_same(&a, &b));
	set_id(&b, 20, 7);
	assert_true(hvar_module_same(&a, &b));
	b.build_id[19] ^= 1;
	assert_false(hvar_module_same(&a, &b));
	b = a;
	set_id(&b, 19, 7);
	assert_false(hvar_module_same(&a, &b));
	/* no file: the name */
	memset(&a, 0, sizeof(a));
	a.path = 3;
	a.flags = HVAR_MODULE_PSEUDO;
	b = a;
	assert_true(hvar_module_same(&a, &b));
	b.path = 4;
	assert_false(hvar_module_same(&a, &b));
}

static void test_numbers(void **state)
{
	struct hvar_module v[4], m = file(8, 1, 5, 1, 1);
	uint32_t slots[8], id;
	struct hvar_modules t, before;

	(void)state;
	hvar_modules_init(&t, v, 4, slots, 8);
	assert_null(hvar_modules_get(&t, 0));
	assert_null(hvar_modules_get(&t, 1));
	assert_int_equal(hvar_modules_add(&t, &m, &id), 0);
	assert_int_equal(id, 1);
	m.flags = HVAR_MODULE_DELETED; /* no part of what it is */
	m.build_id[3] = 1;	       /* past its length of 0: no part either */
	m.zero[2] = 1;
	assert_int_equal(hvar_modules_add(&t, &m, &id), 0);
	assert_int_equal(id, 1);
	m.mtime_ns++;
	assert_int_equal(hvar_modules_add(&t, &m, &id), 0);
	assert_int_equal(id, 2);
	m.path++;
	assert_int_equal(hvar_modules_add(&t, &m, &id), 0);
	assert_int_equal(id, 3);
	m.ino++;
	before = t;
	assert_int_equal(hvar_modules_add(&t, &m, &id), -ENOSPC); /* v[0] is not used */
	before.lost++;
	assert_memory_equal(&before, &t, sizeof(t));
	assert_int_equal(hvar_modules_get(&t, 3)->path, 10);
	assert_null(hvar_modules_get(&t, 4));
	assert_null(hvar_modules_get(&t, UINT32_MAX));
	m.build_id_len = 255; /* damaged: cut to what there is */
	m.ino--;
	assert_int_equal(hvar_modules_add(&t, &m, &id), -ENOSPC);
}

static void test_no_room(void **state)
{
	struct hvar_module v[1], m = file(8, 1, 5, 1, 1);
	uint32_t slots[1], id;
	struct hvar_modules t;

	(void)state;
	hvar_modules_init(&t, v, 0, slots, 1);
	assert_int_equal(hvar_modules_add(&t, &m, &id), -ENOSPC);
	hvar_modules_init(&t, v, 1, slots, 1);
	assert_int_equal(hvar_modules_add(&t, &m, &id), -ENOSPC);
	assert_int_equal(t.lost, 1);
}

static void test_random(void **state)
{
	enum { MAX = 600 };
	struct hvar_module *model = calloc(MAX, sizeof(*model));
	uint32_t n = 0, cap = 4, nslots = 4, refused = 0;
	struct hvar_module *v = malloc(cap * sizeof(*v));
	uint32_t *slots = malloc(nslots * sizeof(*slots));
	struct hvar_modules t;

	(void)state;
	srand(2);
	hvar_modules_init(&t, v, cap, slots, nslots);
	for (int step = 0; step < 100000; step++) {
		struct hvar_module m = file(rand() % 2, rand() % 2, rand() % 4,
					    rand() % 2, rand() % 2);
		uint32_t id, i;
		int r;

		m.path = rand() % 2;
		if (rand() % 2)
			set_id(&m, 20, (uint8_t)(rand() % 3));
		for (i = 0; i < n && memcmp(&model[i], &m, sizeof(m)); i++)
			;
		r = hvar_modules_add(&t, &m, &id);
		if (r == -ENOSPC) {
			assert_int_equal(i, n);
			assert_int_equal(t.lost, ++refused);
			struct hvar_module *more = malloc((cap *= 2) * sizeof(*v));
			uint32_t *more_slots = malloc((nslots *= 2) * sizeof(*slots));

			memcpy(more, v, (t.n + 1) * sizeof(*v));
			free(v);
			free(slots);
			v = more;
			slots = more_slots;
			hvar_modules_moved(&t, v, cap, slots, nslots);
			continue;
		}
		assert_int_equal(r, 0);
		if (i == n) {
			assert_true(n < MAX);
			model[n++] = m;
		}
		assert_int_equal(id, i + 1); /* in the order they came */
		assert_int_equal(t.n, n);
		assert_memory_equal(hvar_modules_get(&t, id), &m, sizeof(m));
	}
	assert_true(refused > 3);
	free(model);
	free(v);
	free(slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
