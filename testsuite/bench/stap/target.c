// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * target.c - what stap.sh measures in the booted kernel: calls that map nothing, calls that map, and memory touched.
 *
 *	target NAME AREAS	prints `NAME WHAT-AREAS NANOSECONDS` (of one) for each of what there is to measure
 *	target hold FILE	makes FILE, and waits for a signal: the target of a script that is not to see the others
 *
 * NANOSECONDS are the guest's clock; under -icount that counts instructions.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

#define PAGE 4096ul

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static char *map(size_t n, int prot)
{
	char *p = mmap(NULL, n, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void getppids(int n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void pairs(int n)
{
	while (n--)
		if (munmap(map(4 * PAGE, PROT_READ), 4 * PAGE))
			die("munmap");
}

/* @n areas more: every other page of one is used otherwise. */
static char *areas(int n)
{
	char *p = map((size_t)n * PAGE, PROT_NONE);
	int i;

	for (i = 1; i < n; i += 2)
		if (mprotect(p + i * PAGE, PAGE, PROT_READ | PROT_WRITE))
			die("mprotect");
	return p;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0, k;
	cpu_set_t one;
	double t;
	char *p;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "hold")) {
		close(open(argv[2], O_CREAT | O_WRONLY, 0644));
		for (;;)
			pause();
	}
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");

	/* The first few fill caches, and what the kernel and the module allocate once. */
	getppids(100);
	t = now();
	getppids(10000);
	printf("%s getppid-%d %.1f\n", argv[1], n, (now() - t) / 10000);
	t = now();
	p = areas(n);
	t = now() - t;
	if (n > 1000)
		printf("%s split-%d %.1f\n", argv[1], n, t / (n / 2));
	pairs(20);
	t = now();
	pairs(1000);
	printf("%s pair-%d %.1f\n", argv[1], n, (now() - t) / 1000);
	if (n > 10000) {
		t = now();
		for (k = 1; k < n; k += 2)
			p[k * PAGE] = 1;
		printf("%s touch-%d %.1f\n", argv[1], n, (now() - t) / (n / 2));
	}
	return 0;
}
