// SPDX-License-Identifier: GPL-2.0-or-later
/* test_proc.c - proc.h against what a child knows of itself, and what other calls tell. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/proc.h"

static double seconds(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A child called @name that sleeps in a read; what wakes it is @end. */
static pid_t sleeper(const char *name, int *end)
{
	int go[2], ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		prctl(PR_SET_NAME, name);
		close(ready[1]);
		_exit(read(go[0], &byte, 1) < 0);
	}
	close(go[0]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 0); /* it has its name */
	close(ready[0]);
	*end = go[1];
	return pid;
}

/* Whatever a process calls itself, the fields behind its name are found. */
static void test_names(void **state)
{
	static const char *const names[] = { "plain", "a b", ") S 1 2 3", "(((", "x\ny) R 7", "fifteen letters", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct proc_stat st;
		char name[PROC_COMM];
		siginfo_t info;
		pid_t pid;
		int end;

		pid = sleeper(names[i], &end);
		do
			assert_int_equal(proc_stat(pid, &st), 0);
		while (st.state == 'R'); /* on its way to sleep */
		assert_int_equal(st.state, 'S');
		assert_true(st.start_ticks > 0);
		assert_int_equal(proc_comm(pid, name), names[i][0] != '\0');
		assert_string_equal(name, names[i]);
		close(end);
		assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
		assert_int_equal(proc_stat(pid, &st), 0);
		assert_int_equal(st.state, 'Z');
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_int_equal(proc_stat(pid, &st), -ESRCH);
		assert_int_equal(st.state, '\0');
		assert_int_equal(st.start_ticks, 0);
		assert_false(proc_comm(pid, name));
		assert_string_equal(name, "");
	}
}

static void test_start(void **state)
{
	double tick = 1.0 / (double)sysconf(_SC_CLK_TCK), boot, real, then;
	struct proc_stat st;
	pid_t pid;
	int end;

	(void)state;
	boot = seconds(CLOCK_BOOTTIME);
	real = seconds(CLOCK_REALTIME);
	pid = sleeper("start", &end);
	assert_int_equal(proc_stat(pid, &st), 0);
	assert_true((double)(st.start_ticks + 1) * tick >= boot);
	assert_true((double)st.start_ticks * tick <= seconds(CLOCK_BOOTTIME));
	then = (double)proc_started_ns(st.start_ticks) / 1e9;
	assert_true(then >= real - 0.001);
	assert_true(then <= seconds(CLOCK_REALTIME) + tick + 0.001);
	assert_int_equal(proc_started_ns(0), 0);
	close(end);
	waitpid(pid, NULL, 0);
}

/* Ours: the CPU we are bound to, the time we have used, where the heap begins. */
static void test_ours(void **state)
{
	char maps[1 << 16], *heap, *line;
	struct proc_stat st;
	struct rusage u;
	double used, tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	cpu_set_t was, one;
	FILE *f;
	size_t n;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(was), &was), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &was))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		assert_int_equal(proc_stat(getpid(), &st), 0);
		assert_int_equal(st.cpu, cpu);
	}
	sched_setaffinity(0, sizeof(was), &was);
	do {
		getrusage(RUSAGE_SELF, &u);
		used = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	} while (used < 0.1);
	assert_int_equal(proc_stat(getpid(), &st), 0);
	assert_int_equal(st.state, 'R');
	/* each of the two numbers in it is cut down to a tick */
	assert_true((double)st.used_ticks * tick >= used - 2 * tick);
	assert_true((double)st.used_ticks * tick <= used + 0.1);
	free(malloc(100)); /* there is a heap */
	f = fopen("/proc/self/maps", "re");
	assert_non_null(f);
	n = fread(maps, 1, sizeof(maps) - 1, f);
	fclose(f);
	maps[n] = '\0';
	heap = strstr(maps, "[heap]");
	if (!heap)
		return; /* malloc() of another making */
	for (line = heap; line > maps && line[-1] != '\n'; line--)
		;
	assert_int_equal(st.start_brk & ~4095ull, strtoull(line, NULL, 16));
}

/* No more is read than there is room for, and it is a string. */
static void test_read(void **state)
{
	char small[4], buf[4096];

	(void)state;
	memset(small, 'x', sizeof(small));
	assert_int_equal(proc_read(getpid(), "status", small, sizeof(small)), 3);
	assert_string_equal(small, "Nam");
	assert_int_equal(proc_read(getpid(), "no-such-file", buf, sizeof(buf)), -ESRCH);
	assert_string_equal(buf, "");
	assert_int_equal(proc_read(1 << 22, "status", buf, sizeof(buf)), -ESRCH);
}

/* ---- a process whose first thread has ended ---- */

static uint64_t word = 0x1122334455667788;

static void *stay(void *arg)
{
	char byte;

	_exit(read(*(int *)arg, &byte, 1) < 0);
}

/* Its other thread waits until @end is closed, or dies by SIGKILL. */
static pid_t leaderless(int *end)
{
	struct proc_stat st;
	static int go[2];
	pthread_t thread;
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (pthread_create(&thread, NULL, stay, &go[0]))
			_exit(2);
		syscall(SYS_exit, 0); /* pthread_exit() would need libgcc_s */
	}
	close(go[0]);
	*end = go[1];
	do
		assert_int_equal(proc_stat(pid, &st), 0);
	while (st.state != 'Z');
	return pid;
}

/* The areas that "maps" shows through @fd. */
static size_t lines(int fd)
{
	char buf[4096];
	size_t n = 0;
	ssize_t got;

	while ((got = read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < got; i++)
			n += buf[i] == '\n';
	return n;
}

static void test_leaderless(void **state)
{
	uint64_t got = 0;
	siginfo_t info;
	pid_t pid, tid;
	int end, fd;

	(void)state;
	pid = leaderless(&end);
	tid = proc_living(pid);
	assert_int_not_equal(tid, pid);
	assert_int_equal(syscall(SYS_tgkill, pid, tid, 0), 0); /* a thread of it */
	assert_int_equal(proc_has_ended(pid), 0);
	assert_true(proc_has_ended(tid) < 0);
	fd = proc_open(pid, "maps", O_RDONLY);
	assert_true(fd >= 0);
	assert_true(lines(fd) > 3);
	close(fd);
	for (int i = 0; i < 3; i++, got = 0) {
		assert_true(proc_peek(pid, (uint64_t)(uintptr_t)&word, &got, sizeof(got)));
		assert_true(got == word);
	}
	assert_false(proc_peek(pid, 16, &got, sizeof(got)));
	assert_int_equal(errno, EFAULT);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	for (int i = 0; i < 2; i++) { /* a zombie, then nothing */
		assert_int_equal(proc_has_ended(pid), 1);
		assert_int_equal(proc_living(pid), pid);
		assert_int_equal(proc_open(pid, "maps", O_RDONLY), -ESRCH);
		assert_false(proc_peek(pid, (uint64_t)(uintptr_t)&word, &got, sizeof(got)));
		assert_int_equal(errno, ESRCH);
		waitpid(pid, NULL, 0);
	}
	close(end);
}

static int wait_in_memory(void *end)
{
	char byte;

	return (int)read(*(int *)end, &byte, 1);
}

/* Those that have ended and were not waited for have none, which is not the same. */
static void test_same_memory(void **state)
{
	static char stack[65536] __attribute__((aligned(16)));
	siginfo_t ended;
	pid_t gone[2], copy, sharer;
	int end[2];

	(void)state;
	assert_int_equal(pipe(end), 0);
	copy = fork();
	if (!copy)
		_exit(wait_in_memory(end));
	sharer = clone(wait_in_memory, stack + sizeof(stack), CLONE_VM | SIGCHLD, end);
	assert_true(copy > 0 && sharer > 0);
	if (proc_same_memory(getpid(), getpid()) == -ENOSYS)
		skip(); /* no kcmp(2) */
	assert_int_equal(proc_same_memory(getpid(), sharer), 1);
	assert_int_equal(proc_same_memory(getpid(), copy), 0);
	for (int i = 0; i < 2; i++) {
		gone[i] = fork();
		if (!gone[i])
			_exit(0);
		assert_int_equal(waitid(P_PID, (id_t)gone[i], &ended, WEXITED | WNOWAIT), 0);
	}
	assert_int_equal(proc_same_memory(gone[0], gone[1]), -ESRCH);
	assert_int_equal(write(end[1], "xx", 2), 2);
	while (wait(NULL) > 0)
		;
	close(end[0]);
	close(end[1]);
}

/* Open files have run out: that is said, and not that there is no memory. */
static void test_no_files(void **state)
{
	struct rlimit was, few;
	int end, fd = -1, lowest, more;
	pid_t pid;

	(void)state;
	pid = leaderless(&end);
	lowest = dup(end);
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = was;
	for (more = 0; more < 8 && fd < 0; more++) {
		few.rlim_cur = (rlim_t)(lowest + more);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		fd = proc_open(pid, "maps", O_RDONLY);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
		if (fd < 0)
			assert_int_equal(fd, -EMFILE);
	}
	assert_true(more > 2);
	assert_true(fd >= 0);
	assert_true(lines(fd) > 3);
	close(fd);
	fd = dup(end); /* none was left open */
	assert_int_equal(fd, lowest);
	close(fd);
	close(end);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A process without memory that has not ended. */
static void test_kernel_thread(void **state)
{
	struct proc_stat st;

	(void)state;
	if (proc_stat(2, &st) || !(st.flags & 0x00200000)) /* kthreadd, but in a container */
		skip();
	assert_int_equal(proc_has_ended(2), 0);
	assert_false(proc_has_memory(2));
	assert_int_equal(proc_living(2), 2);
	assert_true(proc_open(2, "statm", O_RDONLY) == -ESRCH);
	assert_int_equal(proc_stat(getpid(), &st), 0);
	assert_false(st.flags & 0x00200000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_ours),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_leaderless),
		cmocka_unit_test(test_same_memory),
		cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_kernel_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
