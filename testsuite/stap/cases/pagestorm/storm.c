// SPDX-License-Identifier: GPL-2.0-or-later
/* lab: no image */
/*
 * storm.c - processes of many threads that do to one region, for some seconds, all that changes page tables.
 *
 *	storm SECONDS PROCESSES THREADS
 *
 * The region is at the same place in each.  What goes wrong (no memory, no mapping there) is of no concern.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REGION ((char *)0x200000000000)
#define BYTES  (32ul << 20)
#define PAGE   4096ul
#define HUGE   (2ul << 20)
#define RW     (PROT_READ | PROT_WRITE)

static int words, sink, file;
static time_t until;

static unsigned long next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

/* Through the kernel: an access that is not allowed is an error, no signal. */
static void touch(char *p, unsigned long n, int writes)
{
	unsigned long i;

	for (i = 0; i < n; i += PAGE) {
		if (writes)
			(void)!pread(words, p + i, 16, 0);
		else
			(void)!pwrite(sink, p + i, 16, 0);
	}
}

static void one(uint64_t *seed)
{
	char *p = REGION + next(seed) % (BYTES / PAGE) * PAGE, *q = REGION + next(seed) % (BYTES / PAGE) * PAGE;
	char *big = REGION + next(seed) % (BYTES / HUGE) * HUGE;
	unsigned long n = (1 + next(seed) % 64) * PAGE, left = REGION + BYTES - p;
	const int anon = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	if (n > left)
		n = left;
	switch (next(seed) % 20) {
	case 0:
		mmap(p, n, RW, anon, -1, 0);
		break;
	case 1:
		mmap(big, HUGE, RW, anon, -1, 0);
		madvise(big, HUGE, MADV_HUGEPAGE);
		touch(big + (p - REGION) % HUGE, 1, p > q);
		break;
	case 2:
		munmap(p, n);
		break;
	case 3:
		munmap(big, HUGE);
		break;
	case 4:
	case 5:
	case 6:
		touch(p, n, 1);
		break;
	case 7:
	case 8:
		touch(p, n, 0);
		break;
	case 9:
		madvise(p, n, MADV_DONTNEED);
		break;
	case 10:
		madvise(big, HUGE, 25 /* MADV_COLLAPSE */);
		break;
	case 11:
		mprotect(p, n, PROT_NONE);
		break;
	case 12:
		mprotect(p, n, RW);
		break;
	case 13:
		if (q + n <= REGION + BYTES && (q >= p + n || p >= q + n))
			(void)!mremap(p, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, q);
		break;
	case 14:
		madvise(p, n, 21 /* MADV_PAGEOUT */);
		break;
	case 15:
		mmap(p, n, RW, MAP_FIXED | (p > q ? MAP_SHARED : MAP_PRIVATE), file, p - REGION);
		break;
	case 16:
		mmap(big, HUGE, RW, anon | MAP_HUGETLB, -1, 0);
		break;
	case 17:
		madvise(p, n, MADV_MERGEABLE);
		break;
	case 18:
		madvise(p, n, 8 /* MADV_FREE */);
		break;
	case 19:
		madvise(p, n, 18 /* MADV_WIPEONFORK */);
		madvise(p, n, 19);
		break;
	}
}

static void some(uint64_t seed, int n)
{
	while (n-- && time(NULL) < until)
		one(&seed);
}

static void *work(void *seed)
{
	while (time(NULL) < until)
		some((uintptr_t)seed ^ random(), 1000);
	return NULL;
}

static void process(int seed, int threads)
{
	pthread_t t[64];
	int i, n = 0;

	for (i = 0; i < threads; i++)
		n += !pthread_create(&t[i], NULL, work, (void *)(uintptr_t)(seed * 100 + i));
	/* Meanwhile address spaces come, with all of this, and go: by exit, and by exec. */
	while (time(NULL) < until) {
		pid_t pid = fork();

		if (!pid) {
			some(random(), 30);
			if (seed & 1)
				execl("/proc/self/exe", "storm", "once", (char *)NULL);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		/* And for a time nothing is shared: only then pages go out. */
		some(seed++, 300);
	}
	while (n--)
		pthread_join(t[n], NULL);
}

int main(int argc, char **argv)
{
	int i, processes, threads;

	/* Not zeros: a page of zeros need not be written to swap. */
	words = memfd_create("words", 0);
	sink = memfd_create("sink", 0);
	file = memfd_create("file", 0);
	if (words < 0 || sink < 0 || file < 0 || ftruncate(file, BYTES) || pwrite(words, "not sixteen zeros", 16, 0) != 16)
		return 1;
	if (mmap(REGION, BYTES, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != REGION)
		return 1;
	if (argc == 2) { /* after an exec */
		until = time(NULL) + 1;
		some(getpid(), 30);
		return 0;
	}
	if (argc != 4)
		return 2;
	until = time(NULL) + atoi(argv[1]);
	processes = atoi(argv[2]);
	threads = atoi(argv[3]);
	for (i = 0; i < processes; i++)
		if (!fork()) {
			srandom(i);
			process(i, threads > 64 ? 64 : threads);
			_exit(0);
		}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 0;
}
