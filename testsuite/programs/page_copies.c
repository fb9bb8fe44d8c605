/* hotvar-cflags: -O1 -g -fno-inline */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_copies.c - a parent and two children, each of which writes to pages that they share since the fork.
 *
 * What must be found: the first child 3 pages of first_table by write_first() and one of from_pipe by a system
 * call; the second 2 of second_table by write_second(); the parent one of first_table by write_third().
 * The parent forks on the last CPU and writes on the first, so that the two are told by two of perf's rings.
 * With an argument it waits for a line on stdin before it forks.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 8 };

char first_table[PAGES * PAGE] __attribute__((aligned(PAGE)));
char second_table[PAGES * PAGE] __attribute__((aligned(PAGE)));
char from_pipe[PAGES * PAGE] __attribute__((aligned(PAGE)));
char only_read[PAGES * PAGE] __attribute__((aligned(PAGE)));
static int go[2], done[2], data[2];
static char *shared;

static void __attribute__((noinline)) write_first(int from, int to)
{
	for (int i = from; i < to; i++)
		first_table[i * PAGE + 100] = 2;
}

static void __attribute__((noinline)) write_second(int from, int to)
{
	for (int i = from; i < to; i++)
		second_table[i * PAGE + 100] = 3;
}

static void __attribute__((noinline)) write_third(int from, int to)
{
	for (int i = from; i < to; i++)
		first_table[i * PAGE + 200] = 4;
}

static void say(int fd)
{
	if (write(fd, "", 1) != 1)
		_exit(2);
}

static void hear(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		_exit(2);
}

static void go_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void child(int number)
{
	if (number == 1) {
		write_first(0, 3);
		write_first(0, 3); /* they are its own now */
		hear(data[0]);
		if (read(data[0], from_pipe + PAGE + 50, 1) != 1)
			_exit(2);
	} else {
		write_second(4, 6);
	}
	shared[number * PAGE] = 1;
	say(done[1]);
	hear(go[0]);
	_exit(only_read[PAGE] != 1);
}

int main(int argc, char **argv)
{
	(void)argv;
	memset(first_table, 1, sizeof(first_table));
	memset(second_table, 1, sizeof(second_table));
	memset(from_pipe, 1, sizeof(from_pipe));
	memset(only_read, 1, sizeof(only_read));
	shared = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shared[0] = 1;
	if (pipe(go) || pipe(done) || pipe(data))
		return 2;
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	if (argc > 1)
		hear(0);
	go_to((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	for (int number = 1; number <= 2; number++)
		if (!fork())
			child(number);
	say(data[1]);
	say(data[1]);
	hear(done[0]);
	hear(done[0]);
	go_to(0);
	write_third(6, 7);
	say(go[1]);
	say(go[1]);
	while (wait(NULL) > 0)
		;
	puts("done");
	fflush(stdout);
	if (argc > 1)
		hear(0);
	return 0;
}
