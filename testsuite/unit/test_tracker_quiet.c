// SPDX-License-Identifier: GPL-2.0-or-later
/* test_tracker_quiet.c - a process without news for a while is looked at, and what happens meanwhile is told as it was. */
#include "config.h"

#include "testsuite/unit/tracker_stage.h"

#define WHILE_NS 1000000000

static void note_pid(void *ctx, pid_t pid)
{
	*(pid_t *)ctx = pid;
}

/* The child, if it is found to be quiet a while from now; else 0. */
static pid_t quiet_one(struct fixture *f)
{
	pid_t found = 0;

	tracker_each_quiet(f->t, f->now += WHILE_NS, note_pid, &found);
	return found;
}

static uint64_t map_page(void)
{
	return (uint64_t)order(0, SYS_mmap, 0, PG, R, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void tell_map(struct fixture *f, uint64_t at)
{
	struct tracker_mmap m = { .start = at, .end = at + PG, .prot = HVAR_PROT_READ,
				  .name = "//anon", .tid = f->child[0] };

	assert_int_equal(tracker_map(f->t, f->child[0], &m, ++f->now), 0);
}

static void tell_unmap(struct fixture *f, uint64_t at)
{
	struct hvar_call c = { .cause = HVAR_CAUSE_MUNMAP, .args = { at, PG } };

	assert_int_equal(tracker_call_told(f->t, f->child[0], &c, ++f->now), 0);
}

/* A page is mapped and unmapped, and told: then the child is quiet. */
static void begin(struct fixture *f)
{
	uint64_t at;

	tracker_news_are_late(f->t);
	start(f);
	assert_int_equal(quiet_one(f), 0); /* no news yet */
	at = map_page();
	tell_map(f, at);
	order(0, SYS_munmap, at, PG, 0, 0, 0, 0);
	tell_unmap(f, at);
	check(f, f->child[0]);
	assert_int_equal(quiet_one(f), f->child[0]);
	assert_int_equal(quiet_one(f), 0); /* said once */
}

/* What nobody told is found, and counted. */
static void test_untold(void **state)
{
	struct fixture *f = *state;

	begin(f);
	order(0, SYS_mmap, 0, 4 * PG, R, MAP_SHARED, (uint64_t)f->file[0], 0);
	assert_true(tracker_quiet_look(f->t, f->child[0]));
	tracker_quiet_settle(f->t, ++f->now);
	check(f, f->child[0]);
	assert_int_equal(f->lost, 1);
	assert_false(tracker_quiet_look(f->t, 1 << 29));
	tracker_quiet_settle(f->t, ++f->now);
	pull(f);
	assert_int_equal(f->nev, 0);
}

/* Mapped behind the look, and told before it is believed. */
static void test_overtaken(void **state)
{
	struct fixture *f = *state;
	uint64_t at;

	begin(f);
	assert_true(tracker_quiet_look(f->t, f->child[0]));
	at = map_page();
	tell_map(f, at);
	tracker_quiet_settle(f->t, ++f->now);
	check(f, f->child[0]);
	/* It is quiet again, and gone behind the look. */
	assert_int_equal(quiet_one(f), f->child[0]);
	assert_true(tracker_quiet_look(f->t, f->child[0]));
	order(0, SYS_munmap, at, PG, 0, 0, 0, 0);
	tell_unmap(f, at);
	tracker_quiet_settle(f->t, ++f->now);
	check(f, f->child[0]);
	assert_int_equal(f->lost, 0);
}

/* Come and gone before the look, and told after it: both are told. */
static void test_come_and_gone(void **state)
{
	struct fixture *f = *state;
	uint64_t at;

	begin(f);
	at = map_page();
	order(0, SYS_munmap, at, PG, 0, 0, 0, 0);
	assert_true(tracker_quiet_look(f->t, f->child[0]));
	tell_map(f, at);
	tell_unmap(f, at);
	assert_false(tracker_quiet_look(f->t, f->child[0])); /* it is not quiet */
	tracker_quiet_settle(f->t, ++f->now);
	check(f, f->child[0]);
	assert_int_equal(f->nev, 2);
	assert_int_equal(f->ev[1].cause, HVAR_CAUSE_MUNMAP);
	assert_int_equal(f->lost, 0);
}

/* The process or its program is another one before the look is believed. */
static void test_gone(void **state)
{
	struct fixture *f = *state;

	begin(f);
	assert_true(tracker_quiet_look(f->t, f->child[0]));
	assert_int_equal(tracker_exit(f->t, f->child[0], 0, ++f->now), 0);
	pull(f);
	tracker_quiet_settle(f->t, ++f->now);
	pull(f);
	assert_int_equal(f->nev, 0);
	assert_int_equal(f->lost, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LIVE(test_untold),
		LIVE(test_overtaken),
		LIVE(test_come_and_gone),
		LIVE(test_gone),
	};

	return perform(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
