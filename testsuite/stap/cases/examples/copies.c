// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O1 -g -fno-tree-vectorize -fno-tree-loop-distribute-patterns */
/*
 * copies.c - page faults on named variables, of which it is known how many, who has them, and why.
 *
 *	copies /RAMFS/slow
 *
 * Each variable has pages of its own.  Prints
 *	FAULT NAME READS WRITES FIRST COPY MAJOR	of the process and its child
 *	COPY PID NAME PAGES FROM	copied by PID
 *	PAGES SECTION-OR-KIND PRESENT COPIED SHARED	when the process ends
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/wait.h>
#include "mark.h"

enum { PAGE = 4096 };

#define PAGES(n) [(n) * PAGE] __attribute__((aligned(PAGE)))
char written PAGES(12);   /* written, then shared by the fork */
static char read_only PAGES(6);  /* read, then two pages written */
char in_file PAGES(16) __attribute__((section("file_pages"))) = { 1 };
static volatile char sum;

static __attribute__((noinline)) void write_pages(char *p, int from, int to)
{
	int i;

	for (i = from; i < to; i++)
		((volatile char *)p)[i * PAGE + 7] = 1;
}

static __attribute__((noinline)) void read_pages(char *p, int from, int to)
{
	int i;

	for (i = from; i < to; i++)
		sum += ((volatile char *)p)[i * PAGE + 9];
}

/* A file on a ramfs that has been made longer, not written: each page is read when it is touched. */
static long slow_pages(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	struct rusage before, after;
	char *p;

	if (fd < 0 || ftruncate(fd, 6 * PAGE))
		die(path);
	p = mmap(NULL, 6 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		die(path);
	getrusage(RUSAGE_SELF, &before);
	read_pages(p, 0, 1);
	read_pages(p, 2, 3);
	read_pages(p, 4, 5);
	getrusage(RUSAGE_SELF, &after);
	return after.ru_majflt - before.ru_majflt;
}

int main(int argc, char **argv)
{
	int go[2], done[2];
	char *shared, x;
	long major = 0;
	pid_t child;

	write_pages(written, 0, 12); /* 12 first writes */
	read_pages(read_only, 0, 6); /* 6 first reads: the page of zeros */
	write_pages(read_only, 1, 3); /* 2 copies of it */
	if (argc == 2)
		major = slow_pages(argv[1]); /* 3 first reads */
	write_pages(in_file, 0, 5); /* of pages that fault-around may have brought, or not */
	read_pages(in_file, 5, 16);
	shared = map(8 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS);
	write_pages(shared, 0, 8);
	if (pipe(go) || pipe(done))
		die("pipe");
	child = fork();
	if (!child) {
		close(go[1]);
		write_pages(written, 0, 4); /* 4 copies */
		write_pages(shared, 0, 3);
		if (write(done[1], "x", 1) != 1 || read(go[0], &x, 1) != 0)
			_exit(1);
		_exit(0); /* the parent has ended */
	}
	if (read(done[0], &x, 1) != 1)
		die("child");
	write_pages(written, 2, 9); /* 2 that are alone by now, 5 copies */
	printf("FAULT written 0 23 12 11 0\nFAULT read_only 6 2 6 2 0\nFAULT slow 3 0 3 0 %ld\n", major);
	printf("COPY %d written 4 fork\nCOPY %d written 5 fork\nCOPY %d read_only 2 zeros\nCOPY %d in_file 5 file\n",
	       child, getpid(), getpid(), getpid());
	printf("PAGES file_pages 16 5 -\nPAGES shm 8 0 3\nEXIT %d %d\n", getpid(), child);
	fflush(stdout);
	return 0;
}
