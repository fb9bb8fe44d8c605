/* hotvar-libs: -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map_cases - processes and threads that tools mix up.
 *
 *	map_cases pid LOG	two processes, one after the other, that have the same number and execute this program, at
 *				other addresses: each prints where its variable is, and works on it; 77: none may choose a number
 *	map_cases stacks	three threads whose stacks are in one area, beside pages of nobody; they work there
 *	map_cases killed	works on a variable and is killed
 *	map_cases foreign	at a line on stdin another process that shares its memory maps four pages at HERE and unmaps
 *				the second, and four that were there; then a line is waited for
 *	map_cases left-out FILE	a child does not get the second of three pages at HERE, and maps and unmaps memory until FILE is there;
 *				there are so many areas that to read them all takes some milliseconds
 *
 * The processes of "pid" leave a checkpoint each: see checkpoint.h.
 */
#define _GNU_SOURCE
#include "checkpoint.h"

#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { THREADS = 3, BLOCK = 1 << 20, SLICE = 1 << 18, AREAS = 16000 };

static volatile long worked_on[256];

static void work(volatile long *v, long rounds)
{
	long i;

	for (i = 0; i < rounds; i++)
		v[i & 255]++;
}

static pid_t fork_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1 };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static int same_pid(const char *log)
{
	pid_t pid = fork(), got;
	char n[16];
	int i, status;

	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	for (i = 0; i < 2; i++) {
		got = fork_as(pid);
		if (got < 0)
			return errno == EPERM || errno == ENOSYS || errno == EINVAL ? 77 : 1;
		if (!got) {
			snprintf(n, sizeof(n), "%d", i * 100);
			execl("/proc/self/exe", "map_cases", "--one", log, n, (char *)NULL);
			_exit(98);
		}
		if (waitpid(got, &status, 0) != got || status)
			return 1;
	}
	return 0;
}

static void *on_stack(void *arg)
{
	volatile long local[4] = { 0 };
	long i;

	for (i = 0; i < 100000000; i++)
		local[1]++; /* by the stack pointer */
	return arg;
}

static int stacks(void)
{
	char *block = mmap(NULL, BLOCK + 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t t[THREADS];
	int i;

	if (block == MAP_FAILED)
		return 1;
	for (i = 0; i < THREADS; i++) {
		pthread_attr_init(&attr);
		if (pthread_attr_setstack(&attr, block + i * SLICE, SLICE) || pthread_create(&t[i], &attr, on_stack, NULL))
			return 1;
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static int to_other[2];

static int change_it(void *arg)
{
	char byte;

	if (read(to_other[0], &byte, 1) != 1 ||
	    mmap((void *)HERE, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    munmap((void *)(HERE + PAGE), PAGE) || munmap((void *)(HERE + 64 * PAGE), 4 * PAGE))
		return 1;
	(void)arg;
	return 0;
}

static int foreign(void)
{
	static char stack[64 * 1024];
	char line[64];
	pid_t pid;
	int status;

	mmap((void *)(HERE + 64 * PAGE), 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (pipe(to_other))
		return 1;
	pid = clone(change_it, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	printf("ready\n");
	fflush(stdout);
	if (pid < 0 || read(0, line, sizeof(line)) < 0 || write(to_other[1], "", 1) != 1 ||
	    waitpid(pid, &status, 0) != pid || status)
		return 1;
	printf("changed\n");
	fflush(stdout);
	return read(0, line, sizeof(line)) < 0;
}

static int left_out(const char *file)
{
	char *many = mmap(NULL, AREAS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int status = 1;
	pid_t pid;

	for (size_t i = 0; i < AREAS; i += 2)
		if (many == MAP_FAILED || mprotect(many + i * PAGE, PAGE, PROT_READ))
			return 1;
	if (mmap((void *)HERE, 3 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    madvise((void *)(HERE + PAGE), PAGE, MADV_DONTFORK))
		return 1;
	pid = fork();
	if (!pid) {
		alarm(120);
		for (long i = 0; i % 1000 || access(file, F_OK); i++)
			if (munmap(mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 2 * PAGE))
				_exit(1);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--one")) {
		number = atoi(argv[3]);
		log_fd = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
		checkpoint("one of two processes of one number");
		printf("%d %p\n", (int)getpid(), (void *)worked_on);
		fflush(stdout);
		work(worked_on, 100000000);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "pid"))
		return same_pid(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "stacks"))
		return stacks();
	if (argc == 2 && !strcmp(argv[1], "foreign"))
		return foreign();
	if (argc == 3 && !strcmp(argv[1], "left-out"))
		return left_out(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "killed")) {
		work(worked_on, 200000000);
		kill(getpid(), SIGKILL);
	}
	return 2;
}
