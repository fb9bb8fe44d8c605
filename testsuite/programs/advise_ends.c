/* hotvar-libs: -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_ends.c - random accesses to memory, then one thread maps a page of it over and over while the other ends or executes
 * it again, for the accesses alone.
 *
 *	advise_ends exit|exec MIB [again]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ACCESSES = 20000000, MAPPINGS = 200 };

volatile uint64_t sum;
static volatile unsigned mapped;
static char **args;

static void *end(void *none)
{
	(void)none;
	while (mapped < MAPPINGS)
		;
	if (!strcmp(args[1], "exec"))
		execl("/proc/self/exe", args[0], args[1], args[2], "again", (char *)NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	size_t size = argc > 2 ? (size_t)atoi(argv[2]) << 20 : PAGE;
	uint64_t x = 88172645463325252ull;
	pthread_t thread;
	char *p;

	args = argv;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc < 3 || p == MAP_FAILED)
		return 2;
	memset(p, 1, size);
	for (long i = 0; i < ACCESSES; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		sum += (uint64_t)p[x % size];
	}
	if (argc > 3) /* executed */
		return 0;
	if (pthread_create(&thread, NULL, end, NULL))
		return 2;
	for (;;) {
		mmap(p, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		mapped++;
	}
}
