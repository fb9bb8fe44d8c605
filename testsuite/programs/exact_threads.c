// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O1 -g */
/* hotvar-libs: -pthread */
/*
 * exact_threads N ROUNDS AT_ONCE - N threads, AT_ONCE of them at a time (a divisor of N), that count in variables of
 * their own and in a shared one.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { OWN = 4 };
volatile long own[OWN][8];
volatile long alone;
long shared;
static long rounds;
static pthread_barrier_t all;

static void *work(void *arg)
{
	long n = (long)arg;

	for (long i = 0; i < rounds; i++) {
		own[n % OWN][0]++;
		__atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED);
	}
	pthread_barrier_wait(&all);
	return NULL;
}

int main(int argc, char **argv)
{
	long n, at_once;
	pthread_t *t;

	if (argc != 4)
		return 2;
	n = atol(argv[1]);
	rounds = atol(argv[2]);
	at_once = atol(argv[3]);
	pthread_barrier_init(&all, NULL, (unsigned)at_once);
	t = calloc((size_t)n, sizeof(*t));
	for (long i = 0; i < n; i += at_once) {
		for (long k = i; k < n && k < i + at_once; k++)
			if (pthread_create(&t[k], NULL, work, (void *)k))
				return 1;
		for (long k = i; k < n && k < i + at_once; k++)
			pthread_join(t[k], NULL);
	}
	for (long i = 0; i < 10; i++)
		alone++;
	printf("%ld %ld\n", n * rounds, shared);
	return 0;
}
