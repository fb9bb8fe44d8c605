/* hotvar-libs: -lpthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map_cost - nanoseconds that one thing takes: CPU time of this process and of its parent, which may be hotvar or strace;
 * and time that passes.
 *
 *	map_cost pairs AREAS N	a pair of mmap and munmap, in an address space of so many areas; N may be a time, as 1000ms
 *	map_cost calls N	getppid, which maps nothing
 *	map_cost serve N	a request to a server of two threads, that maps and unmaps memory every 500; then, of this process alone,
 *				nanoseconds for 500 requests, when they were served soonest (the first decile), and the parent's
 *				part: its CPU time over this one's
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WINDOW 500

static int ends[2];
static volatile uint32_t table[4096];

static uint64_t own(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* On a CPU so far: this process, and all threads of its parent, as /proc/PID/task/TID/schedstat has it. */
static uint64_t used(void)
{
	char path[300], text[64] = "";
	struct dirent *d;
	uint64_t ns;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)getppid());
	dir = opendir(path);
	ns = own();
	while (dir && (d = readdir(dir)) != NULL) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat",
			 (int)getppid(), d->d_name);
		f = d->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (f && fgets(text, sizeof(text), f))
			ns += strtoull(text, NULL, 10);
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return ns;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void make_areas(long n)
{
	char *at = mmap(NULL, (size_t)n * 4096, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		exit(3);
	for (long i = 0; i < n; i += 2)
		if (mprotect(at + i * 4096, 4096, PROT_READ))
			exit(3);
}

static void pairs(long n)
{
	while (n--) {
		void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED || munmap(p, 8192))
			exit(3);
	}
}

/* As many pairs as fit in so many milliseconds: how many that were. */
static long pairs_for(long ms)
{
	uint64_t end = now() + (uint64_t)ms * 1000000u;
	long n = 0;

	do {
		pairs(256);
		n += 256;
	} while (now() < end);
	return n;
}

static void calls(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void *server(void *arg)
{
	uint32_t key;
	long n = 0;

	while (read(ends[1], &key, sizeof(key)) == sizeof(key)) {
		for (int i = 0; i < 4000; i++)
			table[(key += 2654435761u) >> 20]++;
		if (++n % 500 == 0)
			pairs(1);
		if (write(ends[1], &key, sizeof(key)) != sizeof(key))
			exit(3);
	}
	return arg;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sets *soon to the CPU time of this process for WINDOW requests: of ten such windows, nine take longer. */
static void serve(long n, uint64_t *soon)
{
	uint64_t *took = malloc((size_t)(n / WINDOW + 1) * sizeof(*took)),
		 last = own();
	pthread_t thread;
	uint32_t key = 1;

	if (!took || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
	    pthread_create(&thread, NULL, server, NULL))
		exit(3);
	for (long i = 1; i <= n; i++) {
		if (write(ends[0], &key, sizeof(key)) != sizeof(key) ||
		    read(ends[0], &key, sizeof(key)) != sizeof(key))
			exit(3);
		if (i % WINDOW == 0) {
			uint64_t at = own();

			took[i / WINDOW - 1] = at - last;
			last = at;
		}
	}
	shutdown(ends[0], SHUT_RDWR);
	pthread_join(thread, NULL);
	qsort(took, (size_t)(n / WINDOW), sizeof(*took), by_size);
	*soon = took[n / WINDOW / 10];
	free(took);
}

int main(int argc, char **argv)
{
	char *unit = NULL;
	long n = argc > 2 ? strtol(argv[argc - 1], &unit, 10) : 0;
	uint64_t begin, since, mine, soon = 0;

	if (n <= 0)
		return 2;
	if (!strcmp(argv[1], "pairs") && argc == 4)
		make_areas(atol(argv[2]));
	mine = own();
	begin = used();
	since = now();
	if (!strcmp(argv[1], "pairs") && !strcmp(unit, "ms"))
		n = pairs_for(n);
	else if (!strcmp(argv[1], "pairs"))
		pairs(n);
	else if (!strcmp(argv[1], "calls"))
		calls(n);
	else
		serve(n, &soon);
	since = now() - since;
	mine = own() - mine;
	begin = used() - begin;
	printf("%llu %llu", (unsigned long long)(begin / (uint64_t)n),
	       (unsigned long long)(since / (uint64_t)n));
	if (soon)
		printf(" %llu %.5f", (unsigned long long)soon,
		       ((double)begin - (double)mine) / (double)mine);
	putchar('\n');
	return 0;
}
