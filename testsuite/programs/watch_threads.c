/* hotvar-cflags: -D_GNU_SOURCE -O1 -g -pthread -fno-inline */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_threads THREADS - that many at once increment one variable, each as often as it says: NAME TID FUNCTION ACCESSES READS WRITES.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

long shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;

static void increment(int n)
{
	while (n-- > 0)
		__asm__ volatile("lock incq %0" : "+m"(shared));
}

static void *thread(void *arg)
{
	int n = 3 + (int)(long)arg;

	pthread_barrier_wait(&all);
	increment(n);
	pthread_mutex_lock(&lock);
	printf("shared %ld increment %d %d %d\n", syscall(SYS_gettid), n, n, n);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 4, i;
	pthread_t *v = calloc((size_t)n, sizeof(*v));

	if (!v || pthread_barrier_init(&all, NULL, (unsigned)n))
		return 1;
	for (i = 0; i < n; i++)
		if (pthread_create(&v[i], NULL, thread, (void *)i))
			return 1;
	for (i = 0; i < n; i++)
		pthread_join(v[i], NULL);
	return 0;
}
