// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_hostile.c - random accesses in 64 MiB, beside a terabyte of nothing and as many areas as the kernel
 * allows, some of them large, while they are mapped and unmapped by another thread.  ADVISE_NO_THP is as
 * in advise_access.c.
 */
/* hotvar-libs: -pthread */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

enum { AREAS = 60000, CHANGES = 300 };
#define BYTES ((uint64_t)64 << 20)

static volatile int over;

static void *change(void *arg)
{
	(void)arg;
	for (int i = 0; i < CHANGES && !over; i++) {
		char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			continue;
		for (uint64_t k = 0; k < BYTES / 2; k += 4096)
			p[k] = 1;
		mprotect(p + BYTES / 4, 4096, PROT_NONE);
		munmap(p, BYTES);
	}
	return NULL;
}

int main(void)
{
	char *nothing = mmap(NULL, (size_t)1 << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *many = mmap(NULL, (size_t)AREAS * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t x = 88172645463325252ull, s = 0;
	pthread_t t;
	int n = 0;

	if (getenv("ADVISE_NO_THP"))
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (nothing == MAP_FAILED || many == MAP_FAILED || p == MAP_FAILED)
		return 1;
	for (int i = 0; i < AREAS; i += 2)
		n += !mprotect(many + (size_t)i * 4096, 4096, PROT_READ);
	printf("areas %d\nrange %p %p\n", 2 * n, (void *)p, (void *)(p + BYTES));
	fflush(stdout);
	if (pthread_create(&t, NULL, change, NULL))
		return 1;
	for (uint64_t i = 0; i < BYTES; i += 4096)
		p[i] = 1;
	for (int i = 0; i < 60000000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		s += p[x % BYTES];
	}
	over = 1;
	pthread_join(t, NULL);
	return s == 1;
}
