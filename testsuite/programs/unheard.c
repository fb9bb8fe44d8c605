/* hotvar-libs: -lpthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unheard - maps, threads and processes come and go while whoever follows them does not listen.
 *
 *	unheard PAIRS
 *
 * Prints "ready" and obeys a line each of stdin, with an answer each: "early" makes a thread and a child ("thread TID",
 * "child PID"); "unheard" maps and unmaps a page PAIRS times on one CPU, ends those two, then makes a thread that has come and
 * gone, a thread, a child, a child that executes this program, a CLONE_VM child; executes this program in a child that was there
 * from the beginning ("thread", "child", "other" for that one); maps, cuts and moves memory, and moves the break.  Then "done".  At the end of stdin all end.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static int begin_early[2], to_other[2];
static pthread_t early;
static pid_t early_child, other;
static char stack[65536] __attribute__((aligned(16)));

static void *live(void *arg)
{
	char byte;

	printf("thread %d\n", (int)syscall(SYS_gettid));
	fflush(stdout);
	if (arg && read(*(int *)arg, &byte, 1) >= 0)
		return NULL;
	for (;;)
		pause();
}

static void *come_and_go(void *arg)
{
	munmap(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
	return arg;
}

/* A child ends with its maker. */
static void stay(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (;;)
		pause();
}

static int stay_in_same_memory(void *arg)
{
	(void)arg;
	stay();
	return 0;
}

static void execute(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	execl("/proc/self/exe", "unheard", "stay", NULL);
	_exit(6);
}

static pid_t child(void (*fn)(void))
{
	pid_t pid = fork();

	if (!pid)
		fn();
	printf("child %d\n", (int)pid);
	fflush(stdout);
	return pid;
}

static void wait_to_execute(void)
{
	char byte;

	if (read(to_other[0], &byte, 1) == 1)
		execute();
	_exit(6);
}

static void make_early(void)
{
	pthread_create(&early, NULL, live, &begin_early[0]);
	early_child = child(stay);
}

/* Until its program is another: the maps of the two differ in their stacks, which the kernel places. */
static void wait_for_exec(pid_t pid)
{
	char path[64], line[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	while (strcmp(line, "unheard") != 0) {
		f = fopen(path, "re");
		line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
		fclose(f);
		sched_yield();
	}
}

static void change(void)
{
	char *a = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *b = mmap(NULL, 16 * PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	mprotect(a + 4 * PAGE, PAGE, PROT_NONE);
	munmap(a + 8 * PAGE, 2 * PAGE);
	if (mremap(b, 16 * PAGE, 64 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED || sbrk(8 * PAGE) == (void *)-1)
		exit(7);
}

static void unheard(long pairs)
{
	cpu_set_t one;
	pthread_t t;
	pid_t pid;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	while (pairs--)
		munmap(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
	if (write(begin_early[1], "x", 1) != 1 || pthread_join(early, NULL))
		exit(8);
	kill(early_child, SIGKILL);
	waitpid(early_child, NULL, 0);
	pthread_create(&t, NULL, come_and_go, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, live, NULL);
	child(stay);
	wait_for_exec(child(execute));
	pid = clone(stay_in_same_memory, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	printf("child %d\n", (int)pid);
	if (write(to_other[1], "x", 1) != 1)
		exit(8);
	printf("other %d\n", (int)other);
	wait_for_exec(other);
	change();
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc > 1 && !strcmp(argv[1], "stay"))
		stay();
	if (argc < 2 || pipe(begin_early) || pipe(to_other))
		return 2;
	other = fork();
	if (!other)
		wait_to_execute();
	puts("ready");
	printf("other %d\n", (int)other);
	for (;;) {
		puts("done");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			break;
		if (!strcmp(line, "early\n"))
			make_early();
		else
			unheard(atol(argv[1]));
	}
	return 0;
}
