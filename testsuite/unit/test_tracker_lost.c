// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_tracker_lost.c - what is followed after news were lost, where numbers of tasks have been given again.
 *
 * The kernel does not give a number twice at will: so the tracker is told that a thread is another process's, or a process.
 */
#include "config.h"

#include "testsuite/unit/tracker_stage.h"

#include "runtime/user/proc.h"

struct processes {
	pid_t v[8];
	size_t n;
};

static void note(void *ctx, pid_t pid)
{
	struct processes *p = ctx;

	assert_true(p->n < sizeof(p->v) / sizeof(p->v[0]));
	p->v[p->n++] = pid;
}

/* Recover; the processes that are followed then are @n, from @first on. */
static void recover(struct fixture *f, uint64_t since_ticks, const pid_t *want, size_t n)
{
	struct processes p = { .n = 0 };

	tracker_recover(f->t, since_ticks, ++f->now, note, &p);
	assert_int_equal(p.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(p.v[i], want[i]);
	pull(f);
}

/* A task that child 0 makes as its @k-th, untold. */
static pid_t made(struct fixture *f, int k, long how)
{
	pid_t pid = (pid_t)order(0, how, (uint64_t)k, 0, 0, 0, 0, 0);

	assert_true(pid > 0);
	answer(k);
	if (how != DO_THREAD)
		f->child[k] = pid;
	return pid;
}

static uint64_t start_ticks(pid_t tid)
{
	struct proc_stat st;

	assert_int_equal(proc_stat(tid, &st), 0);
	return st.start_ticks;
}

static void assert_followed(struct fixture *f, pid_t tid, pid_t pid)
{
	uint32_t mm;
	pid_t got;

	assert_true(tracker_knows(f->t, tid, &got, &mm));
	assert_int_equal(got, pid);
}

/* A thread that was of the second process is by now one of the first; and the other way round. */
static void test_thread_of_another(void **state)
{
	struct fixture *f = *state;
	pid_t first = f->child[0], second, thread, both[2];

	start(f);
	second = made(f, 1, DO_FORK);
	assert_int_equal(tracker_fork(f->t, first, second, second, false, cause_of(SYS_fork), ++f->now), 0);
	thread = made(f, 2, DO_THREAD);
	assert_int_equal(tracker_fork(f->t, second, thread, second, true, cause_of(SYS_clone), ++f->now), 0);
	both[first > second] = first;
	both[first < second] = second;
	recover(f, UINT64_MAX, both, 2);
	assert_followed(f, thread, first);
	assert_followed(f, second, second);
	assert_int_equal(f->lost, 0);
}

static void test_thread_of_a_later_one(void **state)
{
	struct fixture *f = *state;
	pid_t first = f->child[0], second, thread, both[2];
	int64_t got;

	start(f);
	second = made(f, 1, DO_FORK);
	assert_int_equal(tracker_fork(f->t, first, second, second, false, cause_of(SYS_fork), ++f->now), 0);
	got = order(1, DO_THREAD, 2, 0, 0, 0, 0, 0);
	answer(2);
	thread = (pid_t)got;
	assert_int_equal(tracker_fork(f->t, first, thread, first, true, cause_of(SYS_clone), ++f->now), 0);
	both[first > second] = first;
	both[first < second] = second;
	recover(f, UINT64_MAX, both, 2);
	assert_followed(f, thread, second);
	assert_int_equal(f->lost, 0);
}

/* The number of a process that has ended is by now that of a thread: of one that is followed, or of a stranger. */
static void test_number_of_a_thread(void **state)
{
	struct fixture *f = *state;
	pid_t first = f->child[0], thread;

	start(f);
	thread = made(f, 1, DO_THREAD);
	assert_int_equal(tracker_fork(f->t, first, thread, thread, true, cause_of(SYS_clone), ++f->now), 0);
	recover(f, UINT64_MAX, &first, 1);
	assert_followed(f, thread, first);
	assert_int_equal(tracker_exit(f->t, first, 0, ++f->now), 0);
	assert_int_equal(tracker_exit(f->t, thread, 0, ++f->now), 0);
	assert_int_equal(tracker_add(f->t, thread, thread, ++f->now, NULL), 0);
	recover(f, UINT64_MAX, NULL, 0);
	assert_false(tracker_has_process(f->t, thread));
	assert_false(tracker_has_process(f->t, first));
	assert_int_equal(f->lost, 0);
}

/* Nothing was told of a thread and two processes: followed is what has begun in the very tick, and not before it. */
static void test_unheard(void **state)
{
	struct fixture *f = *state;
	pid_t first = f->child[0], thread, second, both[2];

	start(f);
	thread = made(f, 1, DO_THREAD);
	second = made(f, 2, DO_FORK);
	recover(f, start_ticks(second) + 1, &first, 1);
	assert_followed(f, thread, first);
	both[first > second] = first;
	both[first < second] = second;
	recover(f, start_ticks(second), both, 2);
	check(f, second);
	assert_int_equal(f->lost, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LIVE(test_thread_of_another),
		LIVE(test_thread_of_a_later_one),
		LIVE(test_number_of_a_thread),
		LIVE(test_unheard),
	};

	return perform(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
