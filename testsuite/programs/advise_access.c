// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_access.c - memory accessed in one of several ways, for hotvar advise.
 *
 *	advise_access HOW MIB [MILLIONS]
 *
 * Says where the memory is, how many whole aligned 2 MiB lie in it, and how many page faults the
 * kernel counted for filling it: "range START END", "spans N", "ends N", "faults N".
 *
 *	random		anonymous memory, each access to an address that nothing foretells
 *	static		the same in a variable, of 64 MiB
 *	malloc		the same, by malloc()
 *	unaligned	the same, mapped where no 2 MiB begin or end
 *	shared, memfd	the same, shared
 *	file		the same, of a private mapping of an (empty) file
 *	asked		the same, in huge pages already
 *	refused		the same, after MADV_NOHUGEPAGE
 *	read		random, in memory that is read page by page before it is written
 *	few		random, but only in the first and the fourth of its MiB, for 0.8 s of CPU time
 *	sequential	one address after the other, again and again
 *	once		likewise, but once, each address several times
 *	gone		random, then unmapped; and a while goes by without it
 *	killed		random, then SIGKILL
 *	wait		random until standard input ends; says "ready"
 *
 * With ADVISE_NO_THP in the environment the kernel gives it no huge pages, whatever the machine's setting.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SPAN ((uint64_t)2 << 20)
#define PARTS 64
#define SECONDS 0.4 /* of CPU time: 4000 samples */

char table[64 << 20];
volatile uint64_t sum;

static uint64_t next(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

__attribute__((noinline)) static void jump(unsigned char *p, uint64_t size, uint64_t n)
{
	uint64_t x = 88172645463325252ull, s = 0;

	for (uint64_t i = 0; i < n; i++) {
		x = next(x);
		s += p[x % size];
	}
	sum += s;
}

/* Half of them go from one MiB to the other: far more than one of five, which filling before it makes fewer. */
__attribute__((noinline)) static void jump_little(unsigned char *p, uint64_t n)
{
	uint64_t x = 88172645463325252ull, s = 0;

	for (uint64_t i = 0; i < n; i++) {
		x = next(x);
		s += p[x % (1 << 20) + (x >> 40 & 1) * (3 << 20)];
	}
	sum += s;
}

__attribute__((noinline)) static void walk(unsigned char *p, uint64_t size, uint64_t n)
{
	uint64_t s = 0, k = 0;

	for (uint64_t i = 0; i < n; i++) {
		s += p[k];
		k = k + 8 >= size ? 0 : k + 8;
	}
	sum += s;
}

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* From one end to the other, each address as often as it takes to use SECONDS or somewhat more, however fast this machine is. */
__attribute__((noinline)) static void walk_once(volatile unsigned char *p, uint64_t size)
{
	uint64_t times = 1, s = 0, k = 0, part;
	double begin = cpu();

	for (part = 1; part <= PARTS; part++) {
		double before = cpu();

		for (; k < size / PARTS * part; k += 8)
			for (uint64_t i = 0; i < times; i++)
				s += p[k];
		if (cpu() - before < (SECONDS - (before - begin)) / (double)(PARTS + 1 - part))
			times *= 2;
	}
	sum += s;
}

static long faults(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_minflt;
}

static unsigned char *map(const char *how, uint64_t size)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, fd = -1;
	unsigned char *p;

	if (!strcmp(how, "static"))
		return (unsigned char *)table;
	if (!strcmp(how, "malloc"))
		return malloc(size);
	if (!strcmp(how, "unaligned")) {
		p = mmap(NULL, size + 2 * SPAN, PROT_NONE, flags, -1, 0);
		p = (unsigned char *)((((uintptr_t)p + SPAN - 1) & ~(SPAN - 1)) + 4096);
		return mmap(p, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0);
	}
	if (!strcmp(how, "shared"))
		flags = MAP_SHARED | MAP_ANONYMOUS;
	if (!strcmp(how, "memfd") || !strcmp(how, "file")) {
		char path[] = "advise_access.XXXXXX";

		fd = *how == 'm' ? memfd_create("advise", 0) : mkstemp(path);
		if (*how == 'f')
			unlink(path);
		if (ftruncate(fd, (off_t)size))
			return MAP_FAILED;
		flags = *how == 'm' ? MAP_SHARED : MAP_PRIVATE;
	}
	return mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "random";
	uint64_t size = (argc > 2 ? strtoull(argv[2], NULL, 10) : 64) << 20;
	uint64_t n = (argc > 3 ? strtoull(argv[3], NULL, 10) : 20) * 1000000;
	uint64_t first, last;
	long before;
	unsigned char *p;

	if (getenv("ADVISE_NO_THP"))
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (!strcmp(how, "static"))
		size = sizeof(table);
	p = map(how, size);
	if (p == MAP_FAILED || !p) {
		perror("advise_access: map");
		return 1;
	}
	if (!strcmp(how, "asked"))
		madvise(p, size, MADV_HUGEPAGE);
	if (!strcmp(how, "refused"))
		madvise(p, size, MADV_NOHUGEPAGE);
	before = faults();
	for (uint64_t i = 0; i < size && !strcmp(how, "read"); i += 4096)
		sum += p[i];
	for (uint64_t i = 0; i < size; i += 4096)
		p[i] = 1;
	before = faults() - before;
	first = ((uint64_t)(uintptr_t)p + SPAN - 1) & ~(SPAN - 1);
	last = ((uint64_t)(uintptr_t)p + size) & ~(SPAN - 1);
	printf("range %p %p\nspans %" PRIu64 "\nends %" PRIu64 "\nfaults %ld\n", (void *)p, (void *)(p + size), (last - first) / SPAN,
	       (size - (last - first)) / 4096, before);
	fflush(stdout);
	if (!strcmp(how, "sequential"))
		walk(p, size, n);
	else if (!strcmp(how, "once"))
		walk_once(p, size);
	else if (!strcmp(how, "few"))
		for (double begin = cpu(); cpu() - begin < 2 * SECONDS;)
			jump_little(p, 100000);
	else
		jump(p, size, n);
	if (!strcmp(how, "gone")) {
		munmap(p, size);
		walk((unsigned char *)table, 4 << 20, n * 4);
	}
	if (!strcmp(how, "killed"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "wait")) {
		struct pollfd in = { .fd = 0, .events = POLLIN };

		puts("ready");
		fflush(stdout);
		while (!poll(&in, 1, 0))
			jump(p, size, 100000);
	}
	return 0;
}
