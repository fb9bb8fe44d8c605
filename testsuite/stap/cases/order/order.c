// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * order.c - makes marks on one processor, then on the other, while the thread of stapio that reads the former is held.
 *
 * The thread is known by the processor that it is bound to.  There may be one for both, on the first.
 */
#define _GNU_SOURCE
#include "mark.h"
#include <dirent.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

static void on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* The thread of stapio's, our parent, that is bound to @cpu, or 0. */
static int reader(int cpu)
{
	char name[64];
	struct dirent *de;
	int found = 0;
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/task", getppid());
	dir = opendir(name);
	if (!dir)
		die(name);
	while ((de = readdir(dir)) != NULL) {
		cpu_set_t set;
		int tid = atoi(de->d_name);

		if (tid && !sched_getaffinity(tid, sizeof(set), &set) && CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set))
			found = tid;
	}
	closedir(dir);
	return found;
}

/* How many lines are out. */
static int lines(void)
{
	char name[128];
	int n = 0, c;
	FILE *f;

	snprintf(name, sizeof(name), "%s/events", mark_out());
	f = fopen(name, "r");
	if (!f)
		die(name);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

/* Until there are @n lines, for at most @tenths of a second. */
static int lines_until(int n, int tenths)
{
	const struct timespec tenth = { 0, 100000000 };

	for (; lines() < n && tenths; tenths--)
		nanosleep(&tenth, NULL);
	return lines();
}

/* Two marks of which more is printed than there is room for: one while the reader is held, one when it is let go. */
static int full(void)
{
	int tid = reader(0);

	if (!tid || ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0) || waitpid(tid, NULL, __WALL) != tid)
		die("ptrace");
	on(1);
	mark(MARK_NAME, 0, 0);
	if (ptrace(PTRACE_DETACH, tid, 0, 0))
		die("ptrace");
	mark(MARK_NAME, 30000, 0);
	return 0;
}

int main(int argc, char **argv)
{
	int i, n = 0, tid, cpu = 1, before;

	if (argc > 1 && !strcmp(argv[1], "full"))
		return full();
	on(0);
	for (i = 0; i < 8; i++)
		mark(MARK_NAME, ++n, 0);
	before = lines_until(n, 600);
	tid = reader(cpu);
	if (!tid)
		tid = reader(cpu = 0);
	if (!tid || ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0) || waitpid(tid, NULL, __WALL) != tid)
		die("ptrace");
	on(1);
	for (i = 0; i < 8; i++)
		mark(MARK_NAME, ++n, 0);
	on(0);
	for (i = 0; i < 8; i++)
		mark(MARK_NAME, ++n, 0);
	i = lines_until(before + 1, 40); /* stapio waits for two seconds */
	if (ptrace(PTRACE_DETACH, tid, 0, 0))
		die("ptrace");
	printf("held the reader of processor %d: %d lines before, %d meanwhile\n", cpu, before, i - before);
	return 0;
}
