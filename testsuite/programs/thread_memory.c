// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-libs: -lpthread */
/*
 * thread_memory - two threads that use thread-local memory, their stacks and a global, one as much as the other.
 */
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 100000000 };

static __thread long own[64];
static long global[64];

static void *run(void *arg)
{
	volatile long local[64] = { 0 };
	long at = (long)arg;

	for (long i = 0; i < ROUNDS; i++) {
		own[i & 63] += i;
		global[i & 63] += i;
		local[at & 63] += i; /* by the stack pointer */
		__asm__ volatile("" : : : "memory");
	}
	return (void *)(own[3] + local[at & 63]);
}

int main(void)
{
	pthread_t t[2];

	for (long i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, run, (void *)i))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", global[3]);
	return 0;
}
