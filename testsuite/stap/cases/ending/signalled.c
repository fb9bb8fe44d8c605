// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * signalled.c - ends while only that thread of stapio's which reads what is printed can take the signal of it.
 *
 * A child holds the others: those that are not bound to one processor.  The reader blocks the signal while it waits, and takes it
 * when there is something to be read.
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

static void until(pid_t pid, int signalled)
{
	const struct timespec centi = { 0, 10000000 };
	int left;

	for (left = 6000; is_signalled(pid) != signalled; left--) {
		if (!left)
			die("waiting for the signal");
		nanosleep(&centi, NULL);
	}
}

int main(void)
{
	pid_t stapio = getppid(), pid;
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
	until(stapio, 1);
	mark(MARK_NAME, n_held, 0);
	until(stapio, 0);
	for (i = 0; i < n_held; i++)
		if (ptrace(PTRACE_DETACH, held[i], 0, 0))
			die("ptrace");
	printf("the reader took the signal, not one of %d others\n", n_held);
	return 0;
}
