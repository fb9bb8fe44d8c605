// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_breakpoint.c - a breakpoint that is moved from function to function of a child, which counts its calls itself; and
 * where rounds of them are set, for a branch that a label tells.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/user/breakpoint.h"
#include "runtime/user/breakpoints.h"
#include "runtime/user/target.h"

enum { SELDOM = 1 << 20, OFTEN_CALLS = 100000 };

static struct shared {
	volatile uint64_t often, other, seldom; /* calls so far */
	volatile uint64_t tid;
} *calls;

__attribute__((noinline, noipa)) static void often(void)
{
	calls->often++;
}

__attribute__((noinline, noipa)) static void other(void)
{
	calls->other++;
}

__attribute__((noinline, noipa)) static void seldom(void)
{
	calls->seldom++;
}

static pid_t begin(void)
{
	pid_t pid = fork();

	if (!pid) {
		for (;;) {
			often();
			other();
			if (!(calls->often % SELDOM))
				seldom();
		}
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void wait_for(volatile uint64_t *count, uint64_t more)
{
	uint64_t until = *count + more;

	while (*count < until)
		sched_yield();
}

struct got {
	uint64_t addr, last_ns;
	uint32_t n, elsewhere, backwards;
};

static bool take(void *ctx, const struct perf_record *r, uint64_t ran_ns)
{
	struct got *g = ctx;

	g->n++;
	g->elsewhere += r->u.sample.ip != g->addr;
	g->backwards += ran_ns < g->last_ns;
	g->last_ns = ran_ns;
	return true;
}

static uint32_t hits_of(struct breakpoint *b, void (*fn)(void))
{
	struct got g = { .addr = (uint64_t)(uintptr_t)fn };

	bool ended = breakpoint_has_ended(b);

	breakpoint_off(b);
	assert_int_equal(breakpoint_read(b, take, &g), 0);
	/* what has ended has had all its hits, and one that has not may have had its last since */
	assert_true(!ended || g.n == b->hits);
	assert_true(ended || fn == seldom || g.n < b->hits);
	assert_int_equal(g.elsewhere, 0);
	assert_int_equal(g.backwards, 0);
	assert_false(breakpoint_was_hit(b));
	return g.n;
}

static void is_moved(void **state)
{
	struct breakpoint b = { 0 };
	uint64_t before, came;
	const void *ring;
	pid_t pid, second;
	uint32_t n;

	(void)state;
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(calls, MAP_FAILED);
	pid = begin();
	if (!breakpoint_set(&b, pid, (uint64_t)(uintptr_t)often, 20)) {
		end(pid);
		skip(); /* no breakpoints here, or perf is refused */
	}
	/* as often as was asked for, however often control comes by; many times over one ring, that outlives what hits have ended */
	ring = b.base;
	for (int k = 0; k < 30; k++) {
		void (*fn)(void) = k % 2 ? other : often;

		assert_true(k == 0 || breakpoint_set(&b, pid, (uint64_t)(uintptr_t)fn, 20));
		assert_ptr_equal(b.base, ring);
		wait_for(&calls->often, OFTEN_CALLS);
		assert_int_equal(hits_of(&b, fn), 20);
	}
	/* what did not come is left for the next place */
	before = calls->seldom;
	assert_true(breakpoint_set(&b, pid, (uint64_t)(uintptr_t)seldom, 50));
	wait_for(&calls->seldom, 5);
	n = hits_of(&b, seldom);
	came = calls->seldom - before;
	assert_in_range(n, 4, came + 1);
	assert_true(breakpoint_set(&b, pid, (uint64_t)(uintptr_t)other, 12));
	wait_for(&calls->often, OFTEN_CALLS);
	assert_int_equal(hits_of(&b, other), n < 38 ? 50 - n : 12);
	/* another thread: another breakpoint */
	second = begin();
	end(pid);
	assert_true(breakpoint_set(&b, second, (uint64_t)(uintptr_t)other, 12));
	assert_int_equal(b.tid, second);
	wait_for(&calls->other, OFTEN_CALLS);
	assert_int_equal(hits_of(&b, other), 12);
	breakpoint_close(&b);
	end(second);
	munmap(calls, 4096);
}

/* ---- rounds of them ---- */

void spin(volatile uint64_t *count);
extern const char spin_branch[];
__asm__(".text\n"
	".globl spin\n"
	".type spin, @function\n"
	"spin:\n"
	"	incq (%rdi)\n"
	"	cmpq $0, (%rdi)\n"
	".globl spin_branch\n"
	"spin_branch:\n"
	"	jne spin\n"
	"	ret\n");

static void *spin_on(void *arg)
{
	calls->tid = (uint64_t)gettid();
	for (;;)
		spin(&calls->often);
	return arg;
}

/* A process that spins: by its first thread, or by another, and the first has ended. */
static pid_t begin_spin(bool first)
{
	pthread_t t;
	pid_t pid;

	calls->tid = 0;
	pid = fork();
	if (!pid) {
		if (first)
			spin_on(NULL);
		if (pthread_create(&t, NULL, spin_on, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	while (target_is_alive(pid) && (!calls->tid || (!first && target_state(pid) != 'Z')))
		sched_yield();
	assert_true(target_is_alive(pid));
	return pid;
}

struct met {
	uint32_t branch, elsewhere;
};

static void meet(void *ctx, const struct perf_record *r)
{
	struct met *m = ctx;

	if (r->u.sample.ip == (uint64_t)(uintptr_t)spin_branch)
		m->branch++;
	else
		m->elsewhere++;
}

/* Samples fell on spin()'s first instruction, none on its branch. */
static struct met rounds(pid_t pid, bool *refused)
{
	struct breakpoints *b = breakpoints_new(1);
	struct met m = { 0, 0 };
	uint64_t now = 1000000000;

	assert_non_null(b);
	for (int i = 0; i < 200 && !m.branch && !m.elsewhere; i++) {
		for (int k = 0; k < 4; k++)
			breakpoints_saw(b, pid, (pid_t)calls->tid, 1, (uint64_t)(uintptr_t)spin, false, 50000000);
		breakpoints_step(b, now, meet, &m);
		wait_for(&calls->often, OFTEN_CALLS);
		now += 500000000;
	}
	breakpoints_stop(b, meet, &m);
	*refused = breakpoints_counts(b)->refused && !breakpoints_counts(b)->hits;
	breakpoints_free(b);
	return m;
}

static void are_at_branches(void **state)
{
	bool refused;

	(void)state;
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(calls, MAP_FAILED);
	for (int first = 1; first >= 0; first--) {
		pid_t pid = begin_spin(first);
		struct met m = rounds(pid, &refused);

		end(pid);
		if (first && refused)
			skip(); /* no breakpoints here, or perf is refused */
		assert_int_equal(m.elsewhere, 0);
		assert_true(m.branch > 0);
	}
	munmap(calls, 4096);
}

/* When its thread ends in the middle of a round, its hits are there, and once only. */
static void are_told_at_its_end(void **state)
{
	bool refused = false;
	struct met m = { 0, 0 };
	uint32_t at_end;

	(void)state;
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(calls, MAP_FAILED);
	for (int i = 0; i < 20 && !m.branch && !refused; i++) {
		pid_t pid = begin_spin(true);
		struct breakpoints *b = breakpoints_new(1);

		assert_non_null(b);
		for (int k = 0; k < 4; k++)
			breakpoints_saw(b, pid, (pid_t)calls->tid, 1, (uint64_t)(uintptr_t)spin, false, 50000000);
		breakpoints_step(b, 1000000000, meet, &m);
		refused = breakpoints_counts(b)->refused;
		wait_for(&calls->often, OFTEN_CALLS);
		assert_int_equal(m.branch, 0);
		end(pid);
		breakpoints_gone(b, (pid_t)calls->tid + 1, meet, &m);
		assert_int_equal(m.branch, 0);
		breakpoints_gone(b, (pid_t)calls->tid, meet, &m);
		at_end = m.branch;
		breakpoints_gone(b, (pid_t)calls->tid, meet, &m);
		breakpoints_stop(b, meet, &m);
		assert_int_equal(m.branch, at_end);
		breakpoints_free(b);
	}
	munmap(calls, 4096);
	if (refused)
		skip();
	assert_true(m.branch > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_moved),
		cmocka_unit_test(are_at_branches),
		cmocka_unit_test(are_told_at_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
