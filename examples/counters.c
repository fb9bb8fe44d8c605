// SPDX-License-Identifier: GPL-2.0-or-later
/* Two threads count, each for itself: but what they count with lies on one cache line. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct counters {
	long hits;
	long misses;
};

static _Alignas(64) volatile struct counters c;
static long times = 100000000;

static void *count_hits(void *arg)
{
	for (long i = 0; i < times; i++)
		c.hits++;
	return arg;
}

static void *count_misses(void *arg)
{
	for (long i = 0; i < times; i++)
		c.misses++;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	if (argc > 1)
		times = atol(argv[1]);
	pthread_create(&a, NULL, count_hits, NULL);
	pthread_create(&b, NULL, count_misses, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld hits, %ld misses\n", c.hits, c.misses);
	return 0;
}
