// SPDX-License-Identifier: GPL-2.0-or-later
/* test_breakpoint.c - a breakpoint that is moved from function to function of a child, which counts its calls itself. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/user/breakpoint.h"

enum { SELDOM = 1 << 20, OFTEN_CALLS = 100000 };

static struct shared {
	volatile uint64_t often, other, seldom; /* calls so far */
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

	breakpoint_off(b);
	assert_int_equal(breakpoint_read(b, take, &g), 0);
	assert_int_equal(g.elsewhere, 0);
	assert_int_equal(g.backwards, 0);
	assert_false(breakpoint_was_hit(b));
	return g.n;
}

static void is_moved(void **state)
{
	struct breakpoint b = { 0 };
	uint64_t before, came;
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
	/* as often as was asked for, however often control comes by; many times over one ring */
	for (int k = 0; k < 30; k++) {
		void (*fn)(void) = k % 2 ? other : often;

		assert_true(k == 0 || breakpoint_set(&b, pid, (uint64_t)(uintptr_t)fn, 20));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
