/* hotvar-cflags: -O2 -g -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * line_false - two threads count in two members that lie on one cache line: false sharing.
 *
 * "counters first 0 second 8 writes 2000000": where the members lie, and how often each thread writes its own.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#define TIMES 2000000L

static struct {
	_Alignas(64) long first; /* so that both surely are on one line */
	long second;
} counters;

static void *count_first(void *arg)
{
	volatile long *n = &counters.first;
	long i;

	for (i = 0; i < TIMES; i++)
		++*n;
	return arg;
}

static void *count_second(void *arg)
{
	volatile long *n = &counters.second;
	long i;

	for (i = 0; i < TIMES; i++)
		++*n;
	return arg;
}

int main(void)
{
	pthread_t a, b;

	printf("counters first %zu second %zu writes %ld\n", offsetof(__typeof__(counters), first),
	       offsetof(__typeof__(counters), second), TIMES);
	fflush(stdout);
	if (pthread_create(&a, NULL, count_first, NULL) || pthread_create(&b, NULL, count_second, NULL))
		return 1;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return counters.first + counters.second != 2 * TIMES;
}
