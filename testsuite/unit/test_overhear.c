// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_overhear - threads that stand still at samples of the timer they have anyway, which their own counters tell; no sample is lost by it.
 */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/overhear.h"
#include "runtime/user/perf_ears.h"
#include "runtime/user/perf_ring.h"
#include "runtime/user/proc.h"
#include "runtime/user/standstill.h"

enum { TRIES = 2000, SOME = 20, LOOKS = 20000 };

static volatile uint64_t *count;

static pid_t spin(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			++*count;
	}
	assert_true(pid > 0);
	return pid;
}

static uint64_t heard[SOME];
static unsigned n_heard, n_met, n_samples;

static void take(void *ctx, const struct perf_record *r)
{
	(void)ctx;
	if (r->what != PERF_IS_SAMPLE)
		return;
	n_samples++;
	for (unsigned i = 0; i < n_heard; i++)
		n_met += heard[i] == r->time_ns;
}

/* What came before is there, in whichever ring, once. */
static void drain(struct perf_rings *r)
{
	perf_rings_drain(r, ~0ull, take, NULL);
}

static void stand(struct perf_rings *r, struct perf_ears *e, struct standstill_cpus *c, pid_t pid)
{
	for (int i = 0; i < TRIES && n_heard < SOME; i++) {
		struct perf_record at;
		struct overheard o;
		struct proc_stat st;
		uint64_t before;
		bool same = true;
		int err;

		assert_int_equal(proc_stat(pid, &st), 0);
		if (st.cpu != c->cpu) {
			assert_int_equal(standstill_go(c, st.cpu), 0);
			assert_int_equal(perf_ears_open(e, st.cpu), 0);
		}
		err = overhear_begin(e, 5000000, &at, &o);
		if (err) {
			assert_true(err == -ETIME || err == -EBUSY || err == -EALREADY || err == -EINTR);
			continue;
		}
		before = *count;
		for (int k = 0; k < LOOKS; k++)
			same &= *count == before;
		if (!overhear_held(&o))
			continue;
		assert_true(same);
		assert_int_equal(o.tid, pid);
		assert_int_equal(at.tid, pid);
		heard[n_heard++] = at.time_ns;
		if (n_heard % 8 == 0)
			drain(r); /* meanwhile, too */
		while (*count == before) /* and it goes on */
			sched_yield();
	}
	assert_int_equal(perf_ears_close(e), 0);
}

static void test_stands(void **state)
{
	struct perf_rings_options o = { .hz = 1000 };
	struct perf_rings *r = perf_rings_new(&o, NULL);
	struct standstill_cpus c;
	struct perf_record at;
	struct perf_ears *e;
	unsigned was;
	pid_t pid;

	(void)state;
	if (!r)
		skip(); /* perf is refused */
	count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal((void *)count, MAP_FAILED);
	e = perf_ears_new(r);
	assert_non_null(e);
	assert_int_equal(perf_ears_open(e, 0), -EPERM); /* nobody is followed */
	assert_int_equal(perf_ears_wait(e, 0, &at), -EBADF);
	pid = spin();
	assert_int_equal(perf_rings_add(r, pid, NULL), 0);
	assert_int_equal(perf_ears_open(e, -1), -ENODEV);
	assert_int_equal(standstill_cpus_init(&c), 0);
	stand(r, e, &c, pid);
	standstill_leave(&c);
	assert_int_equal(n_heard, SOME);
	drain(r);
	assert_int_equal(n_met, SOME);
	assert_int_equal(perf_rings_counts(r)->lost, 0);
	assert_int_equal(perf_rings_counts(r)->damaged, 0);
	assert_int_equal(perf_ears_close(e), 0); /* there is none */
	/* samples go on where they were */
	was = n_samples;
	for (int i = 0; n_samples == was && i < 1000000; i++) {
		sched_yield();
		drain(r);
	}
	assert_true(n_samples > was);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	perf_ears_free(e);
	perf_rings_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
