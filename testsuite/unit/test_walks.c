// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_walks - threads that stand still, which their own counters tell, and the ways they go, which a loop of one branch tells.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/clock.h"
#include "runtime/user/proc.h"
#include "runtime/user/standstill.h"
#include "runtime/user/thread_pointer.h"
#include "runtime/user/turns.h"
#include "runtime/user/walks.h"

enum { TRIES = 400, SOME = 20, LOOKS = 20000 };

static struct shared {
	volatile uint64_t count;
	volatile uint64_t tid;
	volatile uint64_t pointer;
} *shared;

/* Three instructions a round, of which the last one is always taken. */
void walks_spin(volatile uint64_t *count);
extern const char walks_spin_end[];
__asm__(".text\n"
	".globl walks_spin\n"
	".type walks_spin, @function\n"
	"walks_spin:\n"
	"	incq (%rdi)\n"
	"	cmpq $0, (%rdi)\n"
	"	jne walks_spin\n"
	"	ret\n"
	".globl walks_spin_end\n"
	"walks_spin_end:\n");

static int begin_shared(void **state)
{
	(void)state;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED;
}

static void *spin_on(void *arg)
{
	shared->pointer = (uint64_t)(uintptr_t)__builtin_thread_pointer();
	shared->tid = (uint64_t)gettid();
	walks_spin(&shared->count);
	return arg;
}

/* A process that spins, with its first thread or another one. */
static pid_t spin(bool first)
{
	uint64_t was = shared->count;
	pthread_t t;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (first)
			spin_on(NULL);
		if (pthread_create(&t, NULL, spin_on, NULL))
			_exit(1);
		pthread_join(t, NULL);
	}
	assert_true(pid > 0);
	while (shared->count == was)
		sched_yield();
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void where(unsigned long mask[STANDSTILL_CPUS / 8 / sizeof(long)])
{
	memset(mask, 0, STANDSTILL_CPUS / 8);
	assert_int_equal(sched_getaffinity(0, STANDSTILL_CPUS / 8, (cpu_set_t *)mask), 0);
}

/* How often it stood still; skipped if it may not be asked to. */
static int stand(struct standstill *s, struct standstill_cpus *c, pid_t pid, pid_t tid)
{
	struct perf_record at;
	struct proc_stat st;
	int stood = 0, err;

	for (int i = 0; i < TRIES && stood < SOME; i++) {
		uint64_t before;
		bool same = true;

		assert_int_equal(proc_stat(tid, &st), 0);
		assert_int_equal(standstill_go(c, st.cpu), 0);
		err = standstill_begin(s, pid, tid, STANDSTILL_LEAST_NS + (uint64_t)i * 500, &at);
		if (err) {
			if (err != -ETIME && err != -EBUSY && err != -EALREADY)
				return err;
			continue;
		}
		before = shared->count;
		for (int k = 0; k < LOOKS; k++)
			same &= shared->count == before;
		if (!standstill_held(s))
			continue;
		/* It did nothing as long as it is said to have stood, and was where it is said to have been. */
		assert_true(same);
		assert_int_equal(at.tid, tid);
		assert_true(at.u.sample.ip >= (uint64_t)(uintptr_t)walks_spin && at.u.sample.ip < (uint64_t)(uintptr_t)walks_spin_end);
		assert_int_equal(at.u.sample.regs[STREAM_RIP], at.u.sample.ip);
		assert_int_equal(at.u.sample.regs[STREAM_RDI], (uint64_t)(uintptr_t)&shared->count);
		stood++;
		while (shared->count == before) /* and it goes on */
			sched_yield();
	}
	return stood;
}

/* With those that go before us left out. */
static int begin_in_time(struct standstill *s, pid_t pid, struct perf_record *at)
{
	int err = -EALREADY;

	for (int i = 0; i < TRIES && err == -EALREADY; i++)
		err = standstill_begin(s, pid, pid, STANDSTILL_LEAST_NS, at);
	return err;
}

static void test_stands(void **state)
{
	unsigned long before[STANDSTILL_CPUS / 8 / sizeof(long)], after[STANDSTILL_CPUS / 8 / sizeof(long)];
	struct standstill s = { 0 };
	struct standstill_cpus c;
	pid_t pid = spin(true);
	const void *ring;
	int stood;

	(void)state;
	where(before);
	assert_int_equal(standstill_cpus_init(&c), 0);
	stood = stand(&s, &c, pid, pid);
	ring = s.base;
	if (stood >= 0) { /* the same timer again */
		assert_int_equal(stood, SOME);
		assert_int_equal(stand(&s, &c, pid, pid), SOME);
		assert_ptr_equal(s.base, ring);
	}
	end(pid);
	if (stood >= 0) { /* one that is gone is no more waited for */
		struct perf_record at;

		assert_int_equal(begin_in_time(&s, pid, &at), -ESRCH);
		/* another thread, beside one that sleeps */
		pid = spin(false);
		assert_int_equal(stand(&s, &c, pid, (pid_t)shared->tid), SOME);
		assert_int_equal(begin_in_time(&s, pid, &at), -ETIME);
		end(pid);
	}
	standstill_close(&s);
	standstill_leave(&c);
	where(after);
	assert_memory_equal(before, after, sizeof(before));
	if (stood < 0)
		skip(); /* perf is refused */
}

/* Without a file descriptor to ask for its turns by it has no timer, nor is one kept; as soon as there are some it has. */
static void test_no_descriptors(void **state)
{
	struct rlimit was, few;
	struct standstill s = { 0 };
	struct perf_record at;
	pid_t pid = spin(true);
	int first = dup(0), again, err;

	(void)state;
	assert_true(first >= 0);
	close(first);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	for (int n = 0; n < 2; n++) {
		few = (struct rlimit){ (rlim_t)(first + n), was.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		err = standstill_begin(&s, pid, pid, STANDSTILL_LEAST_NS, &at);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
		assert_true(err == -EMFILE || (n && (err == -EACCES || err == -EPERM)));
		assert_null(s.base);
	}
	again = dup(0);
	assert_int_equal(again, first);
	close(again);
	err = standstill_begin(&s, pid, pid, STANDSTILL_LEAST_NS, &at);
	assert_true(err != -EMFILE && err != -ENOTSUP);
	if (!err)
		standstill_held(&s);
	standstill_close(&s);
	end(pid);
}

static void test_stays_where_it_may(void **state)
{
	unsigned long before[STANDSTILL_CPUS / 8 / sizeof(long)], after[STANDSTILL_CPUS / 8 / sizeof(long)];
	struct standstill_cpus c;
	int mine = sched_getcpu();
	cpu_set_t one;

	(void)state;
	where(before);
	CPU_ZERO(&one);
	CPU_SET(mine, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(standstill_cpus_init(&c), 0);
	assert_int_equal(standstill_go(&c, mine), 0);
	/* somebody has said that we are to stay on that one; and there is no such CPU */
	assert_int_equal(standstill_go(&c, mine + 1), -EPERM);
	assert_int_equal(standstill_go(&c, -1), -EPERM);
	assert_int_equal(standstill_go(&c, STANDSTILL_CPUS), -EPERM);
	standstill_leave(&c);
	where(after);
	assert_int_equal(after[(size_t)mine / 8 / sizeof(long)], 1ul << (size_t)mine % (8 * sizeof(long)));
	assert_int_equal(sched_setaffinity(0, sizeof(before), (cpu_set_t *)before), 0);
}

static void test_pointer(void **state)
{
	(void)state;
	for (int first = 1; first >= 0; first--) {
		uint64_t got;
		pid_t pid;

		shared->tid = 0;
		pid = spin(first);
		got = thread_pointer(pid, (pid_t)shared->tid);
		end(pid);
#ifdef __GLIBC__
		assert_int_equal(got, shared->pointer);
#else
		assert_true(!got || got == shared->pointer);
#endif
		assert_int_equal(thread_pointer(pid, (pid_t)shared->tid), 0);
	}
}

/* ---- bursts ---- */

struct met {
	uint32_t n, elsewhere, other_way, mm;
	uint64_t insns;
};

static void meet(void *ctx, const struct perf_record *at, uint32_t mm, uint64_t fs_base, const struct walk_path *path)
{
	uint64_t from = (uint64_t)(uintptr_t)walks_spin, ip = at->u.sample.ip;
	struct met *m = ctx;
	uint32_t taken = 0;

	m->n++;
	m->mm = mm;
	m->insns += path->insns;
	m->elsewhere += ip < from || ip >= (uint64_t)(uintptr_t)walks_spin_end || (fs_base && fs_base != shared->pointer);
	for (uint32_t i = 0; i < path->n_bits; i++)
		taken += path->bits[i / 8] >> i % 8 & 1;
	/* One of three instructions is a branch, wherever it began. */
	m->other_way += taken != path->n_bits || path->n_targets || path->n_bits < path->insns / 3 || path->n_bits > (path->insns + 2) / 3;
}

static int step(struct walks *w, struct met *m)
{
	int n = walks_step(w, clock_now_ns());

	walks_take(w, meet, m);
	return n;
}

static void test_bursts(void **state)
{
	unsigned long before[STANDSTILL_CPUS / 8 / sizeof(long)], after[STANDSTILL_CPUS / 8 / sizeof(long)];
	struct walks *w = walks_new(0.01, NULL);
	const struct walks_counts *c;
	struct met m = { 0 };
	pid_t pid;

	(void)state;
	if (!w)
		skip(); /* no memory that may be executed */
	c = walks_counts(w);
	pid = spin(true);
	where(before);
	/* nobody was seen, and then hardly for so long that a walk costs */
	assert_int_equal(step(w, &m), 0);
	walks_saw(w, pid, pid, 5, 0, clock_now_ns(), 1000000);
	assert_int_equal(step(w, &m), 0);
	assert_int_equal(c->spent_ns, 0);
	/* enough; but what is as long ago tells nothing */
	walks_saw(w, pid, pid, 5, 0, clock_now_ns() - 10000000000ull, 1000000000);
	for (int i = 0; i < TRIES && !m.n && !c->refused; i++) {
		walks_saw(w, pid, pid, 5, 0, clock_now_ns(), 100000000);
		step(w, &m);
	}
	if (!m.n && c->refused) {
		end(pid);
		walks_free(w);
		skip(); /* perf is refused */
	}
	assert_true(m.n > 0);
	assert_int_equal(m.mm, 5);
	assert_int_equal(m.elsewhere, 0);
	assert_int_equal(m.other_way, 0);
	assert_int_equal(c->walks, m.n);
	assert_int_equal(c->insns, m.insns);
	assert_true(c->spent_ns > 0);
	where(after);
	assert_memory_equal(before, after, sizeof(before));
	/* when it is gone there is nobody to walk with */
	end(pid);
	m.n = 0;
	for (int i = 0; i < SOME; i++) {
		walks_saw(w, pid, pid, 5, 0, clock_now_ns(), 1000000000);
		step(w, &m);
	}
	assert_int_equal(m.n, 0);
	assert_true(c->asleep > 0);
	walks_stop(w);
	walks_free(w);
}

/* What is spent is no more than the part, and the one burst that the last of it pays. */
static void test_share(void **state)
{
	struct walks *w = walks_new(0.01, NULL);
	struct met m = { 0 };
	const struct walks_counts *c;
	uint64_t ran_ns = 0, most_ns = 0;
	pid_t pid;

	(void)state;
	if (!w)
		skip();
	c = walks_counts(w);
	pid = spin(true);
	for (int i = 0; i < SOME; i++) {
		uint64_t was = c->spent_ns;

		walks_saw(w, pid, pid, 5, 0, clock_now_ns(), 50000000);
		ran_ns += 50000000;
		step(w, &m);
		most_ns = c->spent_ns - was > most_ns ? c->spent_ns - was : most_ns;
	}
	end(pid);
	assert_true((double)c->spent_ns <= 0.01 * (double)ran_ns + (double)most_ns);
	walks_free(w);
	/* nothing to spend: nothing is done */
	w = walks_new(0, NULL);
	c = walks_counts(w);
	pid = spin(true);
	for (int i = 0; i < SOME; i++) {
		walks_saw(w, pid, pid, 5, 0, clock_now_ns(), 1000000000);
		assert_int_equal(step(w, &m), 0);
	}
	end(pid);
	assert_int_equal(c->spent_ns, 0);
	walks_free(w);
}

/* One process of one thread; several, if they run for long at a time; and the answer is kept for some rounds. */
static void test_cost_of_turns(void **state)
{
	struct turns_cost t = { 0 };
	pid_t pid = spin(true);

	(void)state;
	turns_cost_saw(&t, pid);
	assert_true(turns_cost_is_low(&t, pid, 0));
	end(pid);
	assert_true(turns_cost_is_low(&t, pid, 7));
	assert_false(turns_cost_is_low(&t, pid, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stands),
		cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_stays_where_it_may),
		cmocka_unit_test(test_pointer),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_cost_of_turns),
	};

	return cmocka_run_group_tests(tests, begin_shared, NULL);
}
