// SPDX-License-Identifier: GPL-2.0-or-later
/* test_tracker_begun.c - calls told as they begin: what they do follows from arguments and list, and is looked at where it was guessed. */
#include "config.h"

#include "testsuite/unit/tracker_stage.h"

#define LATER_NS 100000000

static uint64_t map_pages(struct fixture *f, uint64_t at, uint64_t pages, uint64_t flags)
{
	uint64_t got = (uint64_t)order(0, SYS_mmap, at, pages * PG, R | W, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	struct tracker_mmap m = { .start = got, .end = got + pages * PG, .prot = HVAR_PROT_READ | HVAR_PROT_WRITE,
				  .name = "//anon", .tid = f->child[0] };

	assert_true((int64_t)got > 0);
	assert_int_equal(tracker_map(f->t, f->child[0], &m, ++f->now), 0);
	return got;
}

/* Told before it is made, as the lock is; returns what the kernel did. */
static int64_t begun(struct fixture *f, long nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4)
{
	struct hvar_call c = { .cause = cause_of(nr), .args = { a0, a1, a2, a3, a4 }, .ret = -1 };

	assert_int_equal(tracker_call_begun(f->t, f->child[0], &c, ++f->now), 0);
	return order(0, nr, a0, a1, a2, a3, a4, 0);
}

/* It is over, and nothing of it was guessed wrong: then all is as /proc has it, and nothing is found by the look. */
static void over(struct fixture *f)
{
	tracker_begun_settle(f->t, f->now += LATER_NS);
	check(f, f->child[0]);
	if (tracker_doubts_look(f->t, true))
		tracker_doubts_settle(f->t, ++f->now);
	pull(f);
	assert_int_equal(f->nev, 0);
	assert_int_equal(f->lost, 0);
}

/* Eight pages and nothing for a while behind them, whatever lies elsewhere. */
static uint64_t alone(struct fixture *f)
{
	uint64_t hole = (uint64_t)order(0, SYS_mmap, 0, 64 * PG, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_int_equal(order(0, SYS_munmap, hole, 64 * PG, 0, 0, 0, 0), 0);
	return map_pages(f, hole + 8 * PG, 8, MAP_FIXED);
}

static void test_munmap(void **state)
{
	struct fixture *f = *state;
	uint64_t at;

	tracker_calls_begin(f->t);
	start(f);
	at = alone(f);
	assert_int_equal(begun(f, SYS_munmap, at + 2 * PG, PG + 1, 0, 0, 0), 0);
	check(f, f->child[0]); /* at once */
	over(f);
	/* Refused, and so nothing. */
	assert_int_equal(begun(f, SYS_munmap, at + 1, PG, 0, 0, 0), -EINVAL);
	over(f);
	assert_int_equal(begun(f, SYS_munmap, at, 0, 0, 0, 0), -EINVAL);
	over(f);
	/* Over a hole, and of nothing. */
	assert_int_equal(begun(f, SYS_munmap, at, 8 * PG, 0, 0, 0), 0);
	over(f);
	assert_int_equal(begun(f, SYS_munmap, at, 8 * PG, 0, 0, 0), 0);
	over(f);
}

static void test_mremap_in_place(void **state)
{
	struct fixture *f = *state;
	uint64_t at;

	tracker_calls_begin(f->t);
	start(f);
	at = alone(f);
	assert_int_equal(begun(f, SYS_mremap, at, 8 * PG, 4 * PG, 0, 0), at);
	over(f);
	assert_int_equal(begun(f, SYS_mremap, at, 4 * PG, 6 * PG, 0, 0), at);
	over(f);
	assert_int_equal(begun(f, SYS_mremap, at, 6 * PG, 7 * PG, MREMAP_MAYMOVE, 0), at);
	over(f);
	/* Something is in the way, and it may not move. */
	map_pages(f, at + 8 * PG, 1, MAP_FIXED);
	assert_int_equal(begun(f, SYS_mremap, at, 7 * PG, 9 * PG, 0, 0), -ENOMEM);
	over(f);
	assert_int_equal(begun(f, SYS_mremap, at + 1, 7 * PG, 9 * PG, 0, 0), -EINVAL);
	over(f);
}

static void test_mremap_moved(void **state)
{
	struct fixture *f = *state;
	uint64_t at, to;

	tracker_calls_begin(f->t);
	start(f);
	at = alone(f);
	map_pages(f, at + 8 * PG, 1, MAP_FIXED);
	check(f, f->child[0]);
	to = (uint64_t)begun(f, SYS_mremap, at, 8 * PG, 9 * PG, MREMAP_MAYMOVE, 0);
	assert_int_not_equal(to, at);
	tracker_place_begun(f->t, f->child[0] + 1, (int64_t)at); /* another's */
	tracker_place_begun(f->t, f->child[0], (int64_t)to);
	pull(f);
	assert_int_equal(f->nev, 0); /* it waits */
	tracker_begun_settle(f->t, f->now += LATER_NS);
	check(f, f->child[0]);
	assert_int_equal(f->nev, 1);
	assert_int_equal(f->ev[0].type, HVAR_EVENT_MOVE);
	assert_int_equal(f->ev[0].cause, HVAR_CAUSE_MREMAP);
	over(f);
	/* To a place of its own choice; and the next call tells that it is over. */
	assert_int_equal(begun(f, SYS_mremap, to, 9 * PG, 3 * PG, MREMAP_MAYMOVE | MREMAP_FIXED, at), at);
	assert_int_equal(begun(f, SYS_munmap, at + PG, PG, 0, 0, 0), 0);
	check(f, f->child[0]);
	over(f);
	/* So does a mapping. */
	to = (uint64_t)begun(f, SYS_mremap, at + 2 * PG, PG, PG, MREMAP_MAYMOVE | 4 /* DONTUNMAP */, 0);
	tracker_place_begun(f->t, f->child[0], (int64_t)to);
	/* Where it was said, since that is free: without a place of the kernel's. */
	assert_int_equal(begun(f, SYS_mremap, to, PG, PG, MREMAP_MAYMOVE | 4, at + 12 * PG), at + 12 * PG);
	tracker_begun_settle(f->t, f->now += LATER_NS);
	check(f, f->child[0]);
	map_pages(f, at + PG, 1, MAP_FIXED);
	check(f, f->child[0]);
	over(f);
}

/* What was guessed wrong is found by the look, and counted. */
static void test_wrong_guess(void **state)
{
	struct fixture *f = *state;
	uint64_t at, to;

	tracker_calls_begin(f->t);
	start(f);
	at = alone(f);
	map_pages(f, at + 8 * PG, 1, MAP_FIXED);
	to = (uint64_t)begun(f, SYS_mremap, at, 8 * PG, 9 * PG, MREMAP_MAYMOVE, 0);
	tracker_place_begun(f->t, f->child[0], -ENOMEM); /* no place is none */
	tracker_begun_settle(f->t, f->now += LATER_NS);
	pull(f);
	assert_true(tracker_doubts_look(f->t, true));
	tracker_doubts_settle(f->t, ++f->now);
	pull(f);
	assert_int_equal(f->nev, 1); /* of the nine pages one is left */
	assert_int_equal(f->ev[0].type, HVAR_EVENT_SHRINK);
	assert_int_equal(f->ev[0].u.map.start, at + 8 * PG);
	assert_int_equal(f->lost, 1);
	/* One that has sealed memory is looked at in any case. */
	f->lost = 0;
	tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_NONE, ++f->now);
	pull(f);
	f->lost = 0;
	tracker_sealed(f->t, f->child[0]);
	assert_int_equal(begun(f, SYS_munmap, to, PG, 0, 0, 0), 0);
	pull(f);
	assert_int_equal(f->nev, 0);
	assert_true(tracker_doubts_look(f->t, true));
	tracker_doubts_settle(f->t, ++f->now);
	check(f, f->child[0]);
	assert_int_equal(f->nev, 1);
	assert_int_equal(f->lost, 1);
}

/* While a call is not told yet, nothing is looked at: it would be seen, and then told. */
/* A guess that may be wrong counts where it can be looked at no more; one of a whole area does not. */
static void test_guess_of_the_gone(void **state)
{
	struct fixture *f = *state;
	uint64_t at;

	tracker_calls_begin(f->t);
	start(f);
	at = alone(f);
	begun(f, SYS_mremap, at, 8 * PG, 4 * PG, 0, 0);
	tracker_begun_settle(f->t, f->now += LATER_NS);
	tracker_exit(f->t, f->child[0], 0, ++f->now);
	pull(f);
	assert_int_equal(f->lost, 0);
	assert_int_equal(tracker_add(f->t, f->child[0], f->child[0], ++f->now, NULL), 0);
	check(f, f->child[0]);
	map_pages(f, at + 4 * PG, 1, MAP_FIXED);
	assert_int_equal(order(0, SYS_mprotect, at + PG, PG, PROT_NONE, 0, 0, 0), 0);
	tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_NONE, ++f->now);
	check(f, f->child[0]);
	f->lost = 0;
	begun(f, SYS_mremap, at, 4 * PG, PG, 0, 0);
	tracker_begun_settle(f->t, f->now += LATER_NS);
	tracker_exit(f->t, f->child[0], 0, ++f->now);
	pull(f);
	assert_int_equal(f->lost, 1);
}

static void test_pending(void **state)
{
	struct fixture *f = *state;
	struct hvar_call c = { .cause = HVAR_CAUSE_MREMAP };
	uint64_t at, to;

	tracker_calls_begin(f->t);
	start(f);
	at = alone(f);
	check(f, f->child[0]);
	/* The second waits when the first one's range is to be looked at. */
	assert_int_equal(begun(f, SYS_mremap, at, 8 * PG, 4 * PG, 0, 0), at);
	to = (uint64_t)begun(f, SYS_mremap, at, 4 * PG, 4 * PG, MREMAP_MAYMOVE | MREMAP_FIXED, at + 20 * PG);
	assert_int_equal(to, at + 20 * PG);
	assert_false(tracker_doubts_look(f->t, true));
	tracker_doubts_settle(f->t, ++f->now);
	over(f);
	/* It comes between the look and what is made of it. */
	assert_int_equal(begun(f, SYS_mremap, to, 4 * PG, 3 * PG, 0, 0), to);
	tracker_begun_settle(f->t, f->now += LATER_NS);
	assert_int_equal(begun(f, SYS_mremap, to, 3 * PG, 3 * PG, MREMAP_MAYMOVE | MREMAP_FIXED, at), at);
	tracker_begun_settle(f->t, f->now);
	assert_false(tracker_doubts_look(f->t, true));
	over(f);
	assert_int_equal(begun(f, SYS_mremap, at, 3 * PG, 2 * PG, 0, 0), at);
	tracker_begun_settle(f->t, f->now += LATER_NS);
	assert_true(tracker_doubts_look(f->t, true));
	assert_int_equal(begun(f, SYS_mremap, at, 2 * PG, 2 * PG, MREMAP_MAYMOVE | MREMAP_FIXED, to), to);
	tracker_doubts_settle(f->t, ++f->now);
	over(f);
	/* It was there to be seen, but its news came behind the look. */
	assert_int_equal(begun(f, SYS_mremap, to, 2 * PG, PG, 0, 0), to);
	tracker_begun_settle(f->t, f->now += LATER_NS);
	assert_int_equal(order(0, SYS_mremap, to, PG, PG, MREMAP_MAYMOVE | MREMAP_FIXED, at, 0), at);
	assert_true(tracker_doubts_look(f->t, true));
	c.args[0] = to;
	c.args[1] = c.args[2] = PG;
	c.args[3] = MREMAP_MAYMOVE | MREMAP_FIXED;
	c.args[4] = at;
	assert_int_equal(tracker_call_begun(f->t, f->child[0], &c, ++f->now), 0);
	tracker_doubts_settle(f->t, ++f->now);
	over(f);
}

static void test_brk(void **state)
{
	struct fixture *f = *state;
	struct tracker_mmap m = { .prot = HVAR_PROT_READ | HVAR_PROT_WRITE, .name = "[heap]" };
	uint64_t was, now;

	tracker_calls_begin(f->t);
	start(f);
	was = (uint64_t)begun(f, SYS_brk, 0, 0, 0, 0, 0);
	over(f);
	now = ((was + PG - 1) & ~(uint64_t)(PG - 1)) + 5 * PG;
	assert_int_equal(begun(f, SYS_brk, now - 1, 0, 0, 0, 0), now - 1);
	m.start = (was + PG - 1) & ~(uint64_t)(PG - 1);
	m.end = now;
	m.tid = f->child[0];
	m.name = "//anon"; /* it has no name yet */
	assert_int_equal(tracker_map(f->t, f->child[0], &m, ++f->now), 0);
	check(f, f->child[0]);
	assert_int_equal(f->nev, 1);
	assert_int_equal(f->ev[0].cause, HVAR_CAUSE_BRK);
	over(f);
	/* Within its page; too far, which fails without a word; and down. */
	assert_int_equal(begun(f, SYS_brk, now, 0, 0, 0, 0), now);
	over(f);
	assert_int_equal(begun(f, SYS_brk, (uint64_t)1 << 46, 0, 0, 0, 0), now);
	over(f);
	assert_int_equal(begun(f, SYS_brk, now - 2 * PG, 0, 0, 0, 0), now - 2 * PG);
	check(f, f->child[0]);
	assert_int_equal(f->nev, 1);
	assert_int_equal(f->ev[0].cause, HVAR_CAUSE_BRK);
	over(f);
	/* And up again; the new memory has no name yet, and takes in a part of the old. */
	assert_int_equal(begun(f, SYS_brk, now + PG, 0, 0, 0, 0), now + PG);
	m.start += PG;
	m.end = now + PG;
	m.name = "//anon";
	assert_int_equal(tracker_map(f->t, f->child[0], &m, ++f->now), 0);
	check(f, f->child[0]);
	over(f);
}

/* All of its memory is in doubt, as after an exec: an munmap of more than there can be, which the kernel refuses. */
static void doubt_all(struct fixture *f)
{
	assert_int_equal(begun(f, SYS_munmap, 0, (uint64_t)1 << 60, 0, 0, 0), -EINVAL);
}

/* What was seen is believed although there is newer news, but where it came: those tell how it is. */
static void test_newer_news(void **state)
{
	struct fixture *f = *state;
	uint64_t at, old, told, untold;

	tracker_calls_begin(f->t);
	start(f);
	at = alone(f);
	old = map_pages(f, at + 20 * PG, 4, MAP_FIXED);
	doubt_all(f);
	untold = (uint64_t)order(0, SYS_mmap, at + 30 * PG, PG, R, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_int_equal(untold, at + 30 * PG);
	assert_int_equal(order(0, SYS_munmap, old + 3 * PG, PG, 0, 0, 0, 0), 0);
	assert_true(tracker_doubts_look(f->t, true));
	/* Gone, there, and there in place of what was seen: all after the look. */
	assert_int_equal(begun(f, SYS_munmap, at + 2 * PG, 2 * PG, 0, 0, 0), 0);
	told = map_pages(f, at + 10 * PG, 2, MAP_FIXED);
	assert_int_equal(begun(f, SYS_munmap, old, PG, 0, 0, 0), 0);
	assert_int_equal(begun(f, SYS_munmap, untold, PG, 0, 0, 0), 0);
	map_pages(f, untold, 2, MAP_FIXED);
	assert_int_equal(begun(f, SYS_munmap, told, PG, 0, 0, 0), 0);
	tracker_doubts_settle(f->t, ++f->now);
	check(f, f->child[0]);
	/* All of it is known now. */
	assert_false(tracker_doubts_look(f->t, true));
	over(f);
}

/* What has come into doubt after the look waits for the next one; a break that moves leaves the rest as it was seen. */
static void test_newer_doubt(void **state)
{
	struct fixture *f = *state;
	uint64_t at, was;

	tracker_calls_begin(f->t);
	start(f);
	at = alone(f);
	was = (uint64_t)begun(f, SYS_brk, 0, 0, 0, 0, 0);
	doubt_all(f);
	check(f, f->child[0]);
	order(0, SYS_mmap, at + 30 * PG, PG, R, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_true(tracker_doubts_look(f->t, true));
	tracker_sealed(f->t, f->child[0]); /* what it unmaps may stay */
	assert_int_equal(begun(f, SYS_munmap, at, PG, 0, 0, 0), 0);
	assert_int_equal(begun(f, SYS_brk, was + PG, 0, 0, 0, 0), was + PG); /* its memory is not told yet */
	tracker_doubts_settle(f->t, ++f->now);
	pull(f);
	assert_int_equal(f->nev, 1);
	assert_int_equal(f->ev[0].u.map.start, at + 30 * PG);
	tracker_begun_settle(f->t, f->now += LATER_NS); /* it has not moved, as far as is known */
	assert_true(tracker_doubts_look(f->t, true));
	tracker_doubts_settle(f->t, ++f->now);
	pull(f);
	assert_int_equal(f->nev, 1);
	assert_int_equal(f->ev[0].type, HVAR_EVENT_SHRINK);
	assert_int_equal(f->lost, 1);
	assert_false(tracker_doubts_look(f->t, true));
	tracker_look(f->t, f->child[0], 0, UINT64_MAX, HVAR_CAUSE_NONE, ++f->now);
	check(f, f->child[0]);
}

/* One look right after another has to wait, but not for long, and not if all are asked for. */
static void test_share_of_looks(void **state)
{
	struct fixture *f = *state;
	bool waited = false;

	tracker_calls_begin(f->t);
	start(f);
	for (int i = 0; i < 100 && !waited; i++) {
		doubt_all(f);
		assert_true(tracker_doubts_look(f->t, true));
		tracker_doubts_settle(f->t, ++f->now);
		doubt_all(f);
		waited = !tracker_doubts_look(f->t, false); /* unless it took so long to come here */
		tracker_doubts_settle(f->t, ++f->now);
	}
	assert_true(waited);
	while (!tracker_doubts_look(f->t, false))
		;
	tracker_doubts_settle(f->t, ++f->now);
	doubt_all(f);
	assert_true(tracker_doubts_look(f->t, true));
	tracker_doubts_settle(f->t, ++f->now);
	over(f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LIVE(test_munmap),
		LIVE(test_mremap_in_place),
		LIVE(test_mremap_moved),
		LIVE(test_wrong_guess),
		LIVE(test_guess_of_the_gone),
		LIVE(test_pending),
		LIVE(test_brk),
		LIVE(test_newer_news),
		LIVE(test_newer_doubt),
		LIVE(test_share_of_looks),
	};

	return perform(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
