// SPDX-License-Identifier: GPL-2.0-or-later
/* test_event.c - words for events, and which records of a damaged file are refused. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_vmas.h"

static void test_names(void **state)
{
	static const char *const types[] = { "", "initial", "map", "unmap", "protect", "move", "grow",
					     "shrink", "exec", "fork", "exit", "access", "sample", "" };

	(void)state;
	assert_int_equal(HVAR_EVENT_TYPES, 13);
	for (uint32_t i = 0; i < 14; i++)
		assert_string_equal(hvar_event_name(i), types[i]);
	for (uint32_t i = 0; i < 14; i++) {
		const char *word = types[i];

		assert_int_equal(hvar_event_is_map(i), *word && strstr("initial map unmap protect move grow shrink", word));
		assert_int_equal(hvar_event_is_task(i), *word && strstr("exec fork exit", word));
	}
	assert_false(hvar_event_is_map(UINT32_MAX));
	assert_false(hvar_event_is_task(UINT32_MAX));
	assert_string_equal(hvar_event_name(UINT32_MAX), "");
	assert_string_equal(hvar_cause_name(HVAR_CAUSE_NONE), "");
	assert_string_equal(hvar_cause_name(HVAR_CAUSE_MMAP), "mmap");
	assert_string_equal(hvar_cause_name(HVAR_CAUSE_PKEY_MPROTECT), "pkey_mprotect");
	assert_string_equal(hvar_cause_name(HVAR_CAUSE_REMAP_FILE_PAGES), "remap_file_pages");
	assert_string_equal(hvar_cause_name(HVAR_CAUSE_CLONE3), "clone3");
	assert_string_equal(hvar_cause_name(HVAR_CAUSE_FAULT), "fault");
	assert_string_equal(hvar_cause_name(HVAR_CAUSES), "");
	for (uint32_t i = 1; i < HVAR_CAUSES; i++)
		assert_true(*hvar_cause_name(i));
}

/* No padding: a record is the same bytes wherever it was made. */
static void test_layout(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct hvar_event), 80);
	assert_int_equal(offsetof(struct hvar_event, u), 32);
	assert_int_equal(sizeof(((struct hvar_event *)0)->u.map), 48);
	assert_int_equal(sizeof(((struct hvar_event *)0)->u.task), 48);
	assert_int_equal(sizeof(((struct hvar_event *)0)->u.access), 48);
	assert_int_equal(sizeof(((struct hvar_event *)0)->u.sample), 48);
}

static struct hvar_event map(uint32_t type, uint64_t s, uint64_t e, uint64_t was, uint64_t was_end)
{
	struct hvar_event ev = { .type = type, .mm = 1, .pid = 2, .tid = 3 };

	ev.u.map.start = s;
	ev.u.map.end = e;
	ev.u.map.old_start = was;
	ev.u.map.old_end = was_end;
	ev.u.map.region = HVAR_REGION_ANON;
	return ev;
}

static void test_maps(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t r[4];
		bool ok;
	} row[] = {
		{ HVAR_EVENT_MAP, { 1, 2, 0, 0 }, true },
		{ HVAR_EVENT_MAP, { 2, 2, 0, 0 }, false },
		{ HVAR_EVENT_MAP, { 3, 2, 0, 0 }, false },
		{ HVAR_EVENT_MAP, { 1, 2, 1, 2 }, false },
		{ HVAR_EVENT_INITIAL, { 0, UINT64_MAX, 0, 0 }, true },
		{ HVAR_EVENT_UNMAP, { 1, 2, 0, 0 }, true },
		{ HVAR_EVENT_PROTECT, { 1, 2, 0, 1 }, false },
		{ HVAR_EVENT_MOVE, { 5, 9, 1, 3 }, true },
		{ HVAR_EVENT_MOVE, { 5, 9, 0, 0 }, false },
		{ HVAR_EVENT_GROW, { 1, 5, 1, 3 }, true },
		{ HVAR_EVENT_GROW, { 1, 5, 2, 5 }, true },
		{ HVAR_EVENT_GROW, { 1, 5, 2, 4 }, false }, /* both ends */
		{ HVAR_EVENT_GROW, { 1, 5, 1, 5 }, false }, /* none */
		{ HVAR_EVENT_GROW, { 1, 5, 1, 6 }, false }, /* that is SHRINK */
		{ HVAR_EVENT_GROW, { 1, 5, 5, 1 }, false },
		{ HVAR_EVENT_GROW, { 3, 5, 1, 5 }, false },
		{ HVAR_EVENT_SHRINK, { 1, 3, 1, 5 }, true },
		{ HVAR_EVENT_SHRINK, { 2, 5, 1, 5 }, true },
		{ HVAR_EVENT_SHRINK, { 1, 5, 1, 3 }, false },
		{ HVAR_EVENT_SHRINK, { 1, 3, 1, 3 }, false },
		{ HVAR_EVENT_SHRINK, { 2, 4, 1, 5 }, false },
	};
	struct hvar_event e;

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const uint64_t *r = row[i].r;

		e = map(row[i].type, r[0], r[1], r[2], r[3]);
		if (hvar_event_valid(&e) != row[i].ok)
			fail_msg("row %zu", i);
	}
#define BREAKS(change)                                  \
	do {                                            \
		e = map(HVAR_EVENT_MAP, 1, 2, 0, 0);    \
		assert_true(hvar_event_valid(&e));      \
		change;                                 \
		assert_false(hvar_event_valid(&e));     \
	} while (0)
	BREAKS(e.mm = 0);
	BREAKS(e.type = HVAR_EVENT_NONE);
	BREAKS(e.type = HVAR_EVENT_TYPES);
	BREAKS(e.cause = HVAR_CAUSES);
	BREAKS(e.u.map.prot = 16);
	BREAKS(e.u.map.region = HVAR_REGIONS);
	BREAKS(e.u.map.region = HVAR_REGION_NONE);
	BREAKS(e.u.map.flags = 4);
	BREAKS(e.u.map.zero = 1);
#undef BREAKS
	e = map(HVAR_EVENT_UNMAP, 1, 2, 0, 0);
	e.u.map.region = HVAR_REGION_NONE;
	assert_true(hvar_event_valid(&e));
}

static void test_tasks(void **state)
{
	struct hvar_event fork = { .type = HVAR_EVENT_FORK, .mm = 1, .pid = 2, .tid = 3 };
	struct hvar_event exit = { .type = HVAR_EVENT_EXIT, .mm = 1, .pid = 2, .tid = 3 };
	struct hvar_event exec = { .type = HVAR_EVENT_EXEC, .mm = 1, .pid = 2, .tid = 2 };
	struct hvar_event e;

	(void)state;
	fork.u.task.child = 5;
	fork.u.task.child_pid = 2;
	fork.u.task.child_mm = 1;
	exit.u.task.status = 9;
	assert_true(hvar_event_valid(&fork));
	assert_true(hvar_event_valid(&exit));
	assert_true(hvar_event_valid(&exec));
#define BREAKS(of, change)                          \
	do {                                        \
		e = of;                             \
		change;                             \
		assert_false(hvar_event_valid(&e)); \
	} while (0)
	BREAKS(fork, e.u.task.child = 0);
	BREAKS(fork, e.u.task.child_pid = 0);
	BREAKS(fork, e.u.task.child_mm = 0);
	BREAKS(fork, e.u.task.status = 1);
	BREAKS(fork, e.tid = 0);
	BREAKS(exit, e.u.task.child = 1);
	BREAKS(exit, e.u.task.child_mm = 1);
	BREAKS(exit, e.pid = 0);
	BREAKS(exec, e.mm = 0);
	BREAKS(exec, e.module = 1);
	BREAKS(exec, e.u.task.status = 1);
	BREAKS(exec, e.u.task.zero[2] = 1);
#undef BREAKS
}

static void test_accesses(void **state)
{
	struct hvar_event e = { .type = HVAR_EVENT_ACCESS };

	(void)state;
	e.u.access.flags = 7;
	assert_true(hvar_event_valid(&e));
	e.u.access.flags = 8;
	assert_false(hvar_event_valid(&e));
	e.u.access.flags = 0;
	e.u.access.zero[1] = 1;
	assert_false(hvar_event_valid(&e));
	memset(&e, 0, sizeof(e));
	e.type = HVAR_EVENT_SAMPLE;
	e.u.sample.flags = 3;
	assert_true(hvar_event_valid(&e));
	e.u.sample.flags = 4;
	assert_false(hvar_event_valid(&e));
	e.u.sample.flags = 0;
	e.u.sample.zero[2] = 1;
	assert_false(hvar_event_valid(&e));
}

/* Any single bit of a type or cause beyond what is known, and noise as a whole. */
static void test_random(void **state)
{
	unsigned accepted = 0;

	(void)state;
	srand(4);
	for (int i = 0; i < 200000; i++) {
		struct hvar_event e;

		for (size_t j = 0; j < sizeof(e); j++)
			((unsigned char *)&e)[j] = (unsigned char)(rand() % 4 ? 0 : rand());
		if (!hvar_event_valid(&e))
			continue;
		accepted++;
		assert_true(e.type > HVAR_EVENT_NONE && e.type < HVAR_EVENT_TYPES);
		assert_true(e.cause < HVAR_CAUSES);
		if (e.type <= HVAR_EVENT_SHRINK)
			assert_true(e.mm && e.u.map.start < e.u.map.end &&
				    e.u.map.prot < 16 && e.u.map.region < HVAR_REGIONS);
		assert_true(*hvar_event_name(e.type));
	}
	assert_true(accepted < 200000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	 cmocka_unit_test(test_layout),
		cmocka_unit_test(test_maps),	 cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_accesses), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
