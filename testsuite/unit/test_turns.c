// SPDX-License-Identifier: GPL-2.0-or-later
/* test_turns.c - threads of a process counted, and who of it is alone; hits of branches in bursts. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/user/estimate_sites.h"
#include "runtime/user/target.h"
#include "runtime/user/turns.h"

static pthread_barrier_t both;

static void *wait_twice(void *arg)
{
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	return arg;
}

static void test_alone(void **state)
{
	pthread_t t;

	(void)state;
	assert_true(turns_alone(getpid()));
	assert_int_equal(pthread_barrier_init(&both, NULL, 2), 0);
	assert_int_equal(pthread_create(&t, NULL, wait_twice, NULL), 0);
	pthread_barrier_wait(&both);
	assert_false(turns_alone(getpid()));
	pthread_barrier_wait(&both);
	pthread_join(t, NULL);
	assert_false(turns_alone(-1));
	assert_int_equal(turns_slice_ns(-1), 0);
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* A process whose first thread has ended and is a zombie, and @n others are there. */
static pid_t without_first(int n)
{
	pid_t pid = fork();

	if (!pid) {
		pthread_t t;

		while (n--)
			if (pthread_create(&t, NULL, wait_for_ever, NULL))
				_exit(1);
		pthread_exit(NULL);
	}
	assert_true(pid > 0);
	while (target_is_alive(pid) && target_state(pid) != 'Z')
		sched_yield();
	assert_true(target_is_alive(pid));
	return pid;
}

static void test_alone_without_first(void **state)
{
	(void)state;
	for (int n = 1; n <= 2; n++) {
		pid_t pid = without_first(n);
		bool alone = turns_alone(pid);

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_int_equal(alone, n == 1);
	}
}

/* One that sleeps and is woken begins to run again; of one that has ended its descriptor tells nothing, whoever has its number. */
static void test_begun(void **state)
{
	uint64_t before, after, by_path;
	pid_t pid = without_first(1);
	int own = turns_open(getpid(), getpid()), its = turns_open(pid, pid);

	(void)state;
	assert_true(own >= 0 && its >= 0);
	assert_true(turns_begun_by(own, &before) && turns_begun_by(its, &by_path));
	usleep(1000);
	assert_true(turns_begun_by(own, &after) && turns_begun(getpid(), getpid(), &by_path));
	assert_true(after > before && by_path >= after);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(turns_begun_by(its, &after));
	assert_false(turns_begun(pid, pid, &after));
	assert_false(turns_begun_by(-1, &after));
	assert_int_equal(turns_open(-1, -1), -1);
	assert_true(turns_are_counted());
	close(own);
	close(its);
}

/* Bursts of one kind each differ as much as they can; bursts that are alike differ by chance alone. */
static void test_bursts(void **state)
{
	struct site_function f = { .n = 4 };
	const struct site_counted *c;

	(void)state;
	for (uint64_t burst = 0; burst < 40; burst++) {
		for (unsigned hit = 0; hit < 20; hit++) {
			uint64_t now = 1000000000 * (burst + 1) + hit * 10000;

			site_branch_hit(&f, 1, burst & 1, now);
			site_branch_hit(&f, 2, hit & 1, now);
		}
	}
	assert_null(site_counted_at(&f, 3));
	c = site_counted_at(&f, 1);
	assert_non_null(c);
	assert_int_equal(c->n, 800);
	assert_int_equal(c->taken, 400);
	assert_int_equal(c->bursts, 40);
	assert_true(site_counted_excess(c) > 15); /* of 20 that are one */
	c = site_counted_at(&f, 2);
	assert_non_null(c);
	assert_int_equal(c->taken, 400);
	assert_true(site_counted_excess(c) < 1.5);
	free(f.counted);
	free(f.counted_at);
}

/* The same of walks, past a branch and a jump that goes two ways: a walk is a burst, whenever it was. */
static void test_walks(void **state)
{
	struct site_function f = { .n = 5 };
	const struct site_counted *c;

	(void)state;
	for (uint64_t walk = 1; walk <= 40; walk++) {
		const struct site_walk w = { walk, walk <= 10 };

		for (unsigned hit = 0; hit < 20; hit++) {
			site_branch_walked(&f, 1, walk & 1, &w);
			site_jump_walked(&f, 2, walk & 1 ? 3 : 4, &w);
			site_jump_walked(&f, 3, hit & 1 ? 3 : 4, &w);
		}
	}
	c = site_counted_at(&f, 1);
	assert_non_null(c);
	assert_int_equal(c->bursts, 40);
	assert_int_equal(c->taken, 400);
	assert_int_equal(c->cut, 200);
	assert_true(site_counted_excess(c) > 15);
	assert_int_equal(f.n_jumps, 4);
	for (uint32_t k = 0; k < 4; k++) {
		assert_int_equal(f.jumps[k].hits, 400);
		c = site_counted_at(&f, f.jumps[k].from);
		assert_non_null(c);
		assert_int_equal(c->n, 800);
		if (c->insn == 2)
			assert_true(site_jump_excess(c, &f.jumps[k]) > 15);
		else
			assert_true(site_jump_excess(c, &f.jumps[k]) < 1.5);
	}
	/* A hit of a breakpoint between walks is a burst of its own. */
	site_branch_hit(&f, 1, true, 1000000000);
	site_branch_walked(&f, 1, true, &(struct site_walk){ 41, false });
	assert_int_equal(site_counted_at(&f, 1)->bursts, 42);
	free(f.counted);
	free(f.counted_at);
	free(f.jumps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_alone_without_first), cmocka_unit_test(test_begun),
		cmocka_unit_test(test_bursts), cmocka_unit_test(test_walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
