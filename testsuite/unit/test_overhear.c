// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_overhear - threads that stand still at samples of the timer they have anyway, which their own counters tell; no sample is lost by
 * it, however long the kernel takes to change a ring, and whatever it refuses.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/clock.h"
#include "runtime/user/overhear.h"
#include "runtime/user/perf_ears.h"
#include "runtime/user/perf_ring.h"
#include "runtime/user/proc.h"
#include "runtime/user/standstill.h"
#include "runtime/user/walks.h"

enum { TRIES = 2000, SOME = 20, LOOKS = 20000 };

/* ---- what the kernel and the C library do, or are said to ---- */

static int refuse_ring;	     /* 0, or why no event gets another ring */
static int changes;	     /* rings asked for */
static int others;	     /* threads that changed them with a signal to come to them, */
static bool no_thread;	     /* none can be had */
static bool held;	     /* atomic: changes of rings wait */
static pid_t untold;	     /* nothing tells of its turns; -1: of nobody's */
static int not_told;	     /* how often it was asked for */
static pid_t real_time;	     /* is said to be of such a policy */

int ioctl(int fd, unsigned long what, ...)
{
	unsigned long arg;
	va_list ap;

	va_start(ap, what);
	arg = va_arg(ap, unsigned long);
	va_end(ap);
	if (what == PERF_EVENT_IOC_SET_OUTPUT) {
		sigset_t blocked;

		pthread_sigmask(SIG_SETMASK, NULL, &blocked);
		__atomic_add_fetch(&changes, 1, __ATOMIC_SEQ_CST);
		if (gettid() != getpid() && (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGCHLD)))
			__atomic_add_fetch(&others, 1, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&held, __ATOMIC_SEQ_CST))
			sched_yield();
		if (refuse_ring) {
			errno = refuse_ring;
			return -1;
		}
	}
	return (int)syscall(SYS_ioctl, fd, what, arg);
}

int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return no_thread ? EAGAIN : real(t, attr, fn, arg);
}

int open(const char *path, int flags, ...)
{
	char its[64];
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	snprintf(its, sizeof(its), "/proc/%d/", (int)untold);
	if (untold && strstr(path, "/schedstat") && (untold < 0 || !strncmp(path, its, strlen(its)))) {
		not_told++;
		errno = ENOENT;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int sched_getscheduler(pid_t pid)
{
	return real_time && pid == real_time ? SCHED_FIFO : (int)syscall(SYS_sched_getscheduler, pid);
}

/* ---- standing still ---- */

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

/* It runs for far less than a millisecond at a time. */
static pid_t nap(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			nanosleep(&(struct timespec){ 0, 100000 }, NULL);
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

/* However long it takes. */
static void open_ears(struct perf_ears *e, int cpu)
{
	int err;

	do {
		assert_int_equal(perf_ears_stop(e), 0);
		err = perf_ears_open(e, cpu);
	} while (err == -EINPROGRESS);
	assert_int_equal(err, 0);
}

static void more_come(struct perf_rings *r)
{
	unsigned was = n_samples;

	for (int i = 0; n_samples == was && i < 1000000; i++) {
		sched_yield();
		drain(r);
	}
	assert_true(n_samples > was);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
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
			open_ears(e, st.cpu);
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
	assert_int_equal(perf_ears_stop(e), 0);
}

static void test_stands(void **state)
{
	struct perf_rings_options o = { .hz = 1000 };
	struct perf_rings *r = perf_rings_new(&o, NULL);
	struct standstill_cpus c;
	struct perf_record at;
	struct perf_ears *e;
	pid_t pid;

	(void)state;
	if (!r)
		skip(); /* perf is refused */
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
	more_come(r); /* where they came before */
	assert_true(changes > 0);
	assert_int_equal(others, 0);
	assert_true(perf_ears_own_ns(e) > 0);
	end(pid);
	perf_ears_free(e);
	perf_rings_free(r);
}

/* ---- what goes wrong ---- */

/* One process that is followed, and ears; skipped if perf is refused. */
static struct perf_ears *begin(struct perf_rings **r, pid_t *pid)
{
	struct perf_rings_options o = { .hz = 1000 };
	struct perf_ears *e;

	*r = perf_rings_new(&o, NULL);
	if (!*r)
		skip();
	e = perf_ears_new(*r);
	assert_non_null(e);
	*pid = spin();
	assert_int_equal(perf_rings_add(*r, *pid, NULL), 0);
	return e;
}

static void finish(struct perf_ears *e, struct perf_rings *r, pid_t pid)
{
	end(pid);
	perf_ears_free(e);
	perf_rings_free(r);
}

/* Rings of perf's that are mapped here, and whether they are all as large. */
static int rings(bool *same)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, end, first = 0;
	char line[512];
	int n = 0;

	assert_non_null(f);
	*same = true;
	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, "[perf_event]") || sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		first = n++ ? first : end - start;
		*same &= end - start == first;
	}
	fclose(f);
	return n;
}

static void test_slow(void **state)
{
	struct perf_record at;
	struct perf_rings *r;
	pid_t pid;
	struct perf_ears *e = begin(&r, &pid);
	int was;

	(void)state;
	__atomic_store_n(&held, true, __ATOMIC_SEQ_CST);
	was = changes;
	assert_int_equal(perf_ears_open(e, perf_rings_cpu(r, 0)), -EINPROGRESS);
	assert_true(perf_ears_harm(e));
	assert_int_equal(perf_ears_wait(e, 0, &at), -EBADF);
	assert_int_equal(perf_ears_open(e, perf_rings_cpu(r, 0)), -EINPROGRESS);
	assert_int_equal(perf_ears_close(e), -EINPROGRESS);
	more_come(r); /* and are read */
	__atomic_store_n(&held, false, __ATOMIC_SEQ_CST);
	assert_int_equal(perf_ears_stop(e), 0);
	assert_int_equal(changes, was + 2); /* there and back, by one thread */
	assert_int_equal(perf_ears_wait(e, 0, &at), -EBADF);
	more_come(r);
	/* and one that is under way at the end is waited for */
	open_ears(e, perf_rings_cpu(r, 0));
	perf_ears_close(e);
	finish(e, r, pid);
}

static void test_no_thread(void **state)
{
	struct perf_rings *r;
	pid_t pid;
	struct perf_ears *e = begin(&r, &pid);

	(void)state;
	no_thread = true;
	assert_int_equal(perf_ears_open(e, perf_rings_cpu(r, 0)), 0);
	assert_int_equal(perf_ears_close(e), 0);
	assert_int_equal(perf_ears_own_ns(e), 0);
	no_thread = false;
	more_come(r);
	finish(e, r, pid);
}

static void test_refused(void **state)
{
	struct perf_rings *r;
	pid_t pid;
	struct perf_ears *e = begin(&r, &pid);
	bool same;
	int n = rings(&same);

	(void)state;
	refuse_ring = EINVAL;
	assert_int_equal(perf_ears_open(e, perf_rings_cpu(r, 0)), -EINVAL);
	refuse_ring = 0;
	open_ears(e, perf_rings_cpu(r, 0));
	assert_int_equal(rings(&same), n + 1);
	assert_true(same || geteuid());
	/* one that does not come home is tried again, though another task is followed meanwhile */
	refuse_ring = EINVAL;
	assert_int_equal(perf_ears_stop(e), -EINVAL);
	refuse_ring = 0;
	assert_int_equal(perf_rings_add(r, getpid(), NULL), 0);
	assert_int_equal(perf_ears_stop(e), 0);
	assert_int_equal(perf_ears_open(e, perf_rings_cpu(r, 0)), -EPERM);
	more_come(r);
	finish(e, r, pid);
}

static void test_harm(void **state)
{
	struct perf_ring_counts *counts;
	struct perf_rings *r;
	pid_t pid;
	struct perf_ears *e = begin(&r, &pid);

	(void)state;
	counts = (struct perf_ring_counts *)(uintptr_t)perf_rings_counts(r);
	counts->lost = 5; /* before there were ears */
	open_ears(e, perf_rings_cpu(r, 0));
	assert_int_equal(perf_ears_stop(e), 0);
	if (!perf_ears_harm(e)) { /* here it did not take long */
		counts->lost++;
		assert_true(perf_ears_harm(e));
	}
	finish(e, r, pid);
}

/* A thread that ends at its sample is no reason to say that the kernel does not tell of turns. */
static void test_untold(void **state)
{
	struct standstill_cpus c;
	struct proc_stat st;
	struct perf_rings *r;
	pid_t pid;
	struct perf_ears *e = begin(&r, &pid);

	(void)state;
	assert_int_equal(standstill_cpus_init(&c), 0);
	for (int whose = 0; whose < 2; whose++) {
		int err = 0;

		untold = whose ? -1 : pid;
		not_told = 0;
		for (int i = 0; i < TRIES && !not_told; i++) {
			struct perf_record at;
			struct overheard o;

			assert_int_equal(proc_stat(pid, &st), 0);
			assert_int_equal(standstill_go(&c, st.cpu), 0);
			open_ears(e, st.cpu);
			for (int k = 0; k < SOME && !not_told; k++)
				err = overhear_begin(e, 5000000, &at, &o);
		}
		assert_true(not_told > 0);
		assert_int_equal(err, whose ? -ENOTSUP : -EBUSY);
	}
	untold = 0;
	standstill_leave(&c);
	finish(e, r, pid);
}

/* Behind a thread of a real-time policy nobody waits to hear another one. */
static void test_real_time(void **state)
{
	struct perf_rings *r;
	pid_t pid, other;
	struct perf_ears *e = begin(&r, &pid);
	struct walks *w = walks_new(0.01, r);
	uint32_t cpu = (uint32_t)perf_rings_cpu(r, 0);
	int was;

	(void)state;
	if (!w) {
		finish(e, r, pid);
		skip(); /* no memory that may be executed */
	}
	other = nap();
	for (int is = 1; is >= 0; is--) {
		real_time = is ? pid : 0;
		was = changes;
		for (int i = 0; i < SOME; i++) {
			for (int k = 0; k < SOME; k++)
				walks_saw(w, other, other, 6, cpu, clock_now_ns(), 10000000);
			walks_saw(w, pid, pid, 5, cpu, clock_now_ns(), 10000000);
			walks_step(w, clock_now_ns());
		}
		assert_int_equal(__atomic_load_n(&changes, __ATOMIC_SEQ_CST) > was, !is);
	}
	real_time = 0;
	end(other);
	walks_free(w);
	finish(e, r, pid);
}

static int begin_all(void **state)
{
	(void)state;
	count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return count == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stands),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_no_thread),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_harm),
		cmocka_unit_test(test_untold),
		cmocka_unit_test(test_real_time),
	};

	return cmocka_run_group_tests(tests, begin_all, NULL);
}
