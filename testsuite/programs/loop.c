// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * loop.c - one thing many times: what the benches measure the cost of following.
 *
 *   loop cpu|getppid|mmap COUNT
 *
 * cpu walks two static tables; getppid makes a call that changes no map; mmap maps
 * four pages, writes one and unmaps them.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLOTS = 4096 };

static uint32_t counts[SLOTS];
static uint32_t next_slot[SLOTS];

static uint32_t walk(unsigned long long n)
{
	uint32_t at = 0, i;

	for (i = 0; i < SLOTS; i++)
		next_slot[i] = (i * 1229 + 1) % SLOTS;
	while (n--) {
		counts[at]++;
		at = next_slot[at];
	}
	return counts[7];
}

static int map(unsigned long long n)
{
	while (n--) {
		char *p = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return -1;
		p[4096] = 1;
		if (munmap(p, 4 * 4096))
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long long n = argc == 3 ? strtoull(argv[2], NULL, 0) : 0;

	if (argc == 3 && !strcmp(argv[1], "cpu")) {
		printf("%u\n", walk(n));
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "getppid")) {
		while (n--)
			syscall(SYS_getppid);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "mmap")) {
		if (!map(n))
			return 0;
		perror("loop: mmap");
		return 1;
	}
	fprintf(stderr, "Usage: loop cpu|getppid|mmap COUNT\n");
	return 2;
}
