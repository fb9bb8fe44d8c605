// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * signalled.c - ends while only that thread of stapio's which reads what is printed can take the signal of it.
 *
 * A child holds the others: those that are not bound to one processor.  The reader blocks the signal while it waits, and takes it
 * when there is something to be read; stap 5.1 and later wait for a fifth of a second only.
 */
#define _GNU_SOURCE
#include "mark.h"
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

static int held[64], n_held;

static void hold(pid_t stapio)
{
	char name[64];
	struct dirent *de;
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/task", stapio);
	dir = opendir(name);
	if (!dir)
		die(name);
	while ((de = readdir(dir)) != NULL) {
		int tid = atoi(de->d_name);
		cpu_set_t set;

		if (!tid || sched_getaffinity(tid, sizeof(set), &set) || CPU_COUNT(&set) == 1 || n_held == 64)
			continue;
		if (ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0) || waitpid(tid, NULL, __WALL) != tid)
			die("ptrace");
		held[n_held++] = tid;
	}
	closedir(dir);
}

/* Is a signal that a child has ended waiting for any of the process's threads? */
static int is_signalled(pid_t pid)
{
	char name[64], line[256];
	unsigned long long mask = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	f = fopen(name, "r");
	if (!f)
		die(name);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "ShdPnd: %llx", &mask);
	fclose(f);
	return mask >> (SIGCHLD - 1) & 1;
}

/* Is the process not there any more, or waiting to be asked how it has ended? */
static int is_over(pid_t pid)
{
	char name[64], line[256], *state;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	f = fopen(name, "r");
	if (!f)
		return 1;
	state = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return !state || state[2] == 'Z' || state[2] == 'X';
}

static int is_taken(pid_t pid)
{
	return !is_signalled(pid);
}

static void until(int (*is)(pid_t), pid_t pid)
{
	const struct timespec centi = { 0, 10000000 };
	int left;

	for (left = 12000; !is(pid); left--) {
		if (!left)
			die("waiting");
		nanosleep(&centi, NULL);
	}
}

int main(void)
{
	pid_t stapio = getppid(), self = getpid(), pid;
	int ready[2], i;
	char c;

	if (pipe(ready) || (pid = fork()) < 0)
		die("fork");
	if (pid) {
		close(ready[1]);
		return read(ready[0], &c, 1) != 1;
	}
	hold(stapio);
	if (write(ready[1], "", 1) != 1)
		die("write");
	until(is_over, self);
	/* The kernel tells the parent under a lock that this waits for. */
	waitpid(-1, NULL, WNOHANG | __WALL);
	mark(MARK_NAME, n_held, 0);
	until(is_taken, stapio);
	for (i = 0; i < n_held; i++)
		if (ptrace(PTRACE_DETACH, held[i], 0, 0))
			die("ptrace");
	printf("the reader took the signal, not one of %d others\n", n_held);
	return 0;
}
