/* hotvar-libs: -lpthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map_cost - nanoseconds that one thing takes: CPU time of this process and of its parent, which may be hotvar or strace;
 * and time that passes.
 *
 *	map_cost pairs AREAS N	a pair of mmap and munmap, in an address space of so many areas
 *	map_cost calls N	getppid, which maps nothing
 *	map_cost serve N	a request to a server of two threads, that maps and unmaps memory every 500
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

static int ends[2];
static volatile uint32_t table[4096];

/* On a CPU so far: this process, and all threads of its parent, as /proc/PID/task/TID/schedstat has it. */
static uint64_t used(void)
{
	char path[300], text[64] = "";
	struct timespec t;
	struct dirent *d;
	uint64_t ns;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)getppid());
	dir = opendir(path);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	while (dir && (d = readdir(dir)) != NULL) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)getppid(), d->d_name);
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
	char *at = mmap(NULL, (size_t)n * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		exit(3);
	for (long i = 0; i < n; i += 2)
		if (mprotect(at + i * 4096, 4096, PROT_READ))
			exit(3);
}

static void pairs(long n)
{
	while (n--) {
		void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED || munmap(p, 8192))
			exit(3);
	}
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

static void serve(long n)
{
	pthread_t thread;
	uint32_t key = 1;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || pthread_create(&thread, NULL, server, NULL))
		exit(3);
	while (n--)
		if (write(ends[0], &key, sizeof(key)) != sizeof(key) || read(ends[0], &key, sizeof(key)) != sizeof(key))
			exit(3);
	shutdown(ends[0], SHUT_RDWR);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[argc - 1]) : 0;
	uint64_t begin, since;

	if (n <= 0)
		return 2;
	if (!strcmp(argv[1], "pairs") && argc == 4)
		make_areas(atol(argv[2]));
	begin = used();
	since = now();
	if (!strcmp(argv[1], "pairs"))
		pairs(n);
	else if (!strcmp(argv[1], "calls"))
		calls(n);
	else
		serve(n);
	since = now() - since;
	printf("%llu %llu\n", (unsigned long long)((used() - begin) / (uint64_t)n),
	       (unsigned long long)(since / (uint64_t)n));
	return 0;
}
