/* hotvar-libs: -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many_threads - thousands of threads in a few processes, others being born and ending all the time.
 *
 *	many_threads PROCESSES THREADS [quiet]
 *
 * Each process has THREADS threads that wait, and, unless quiet, one that makes threads, each of which maps and
 * unmaps a page and ends.  When all are there, each process prints "ready PID".  At a line or the end of stdin all
 * threads are woken; each counts itself and ends; each process checks its count and prints
 * "process PID: N threads woke, B born", N THREADS.  The status is 0 if all went well.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK (PTHREAD_STACK_MIN + 16 * 1024)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t word = PTHREAD_COND_INITIALIZER;
static int over;
static long woken, born;

static void *wait_and_count(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!over)
		pthread_cond_wait(&word, &lock);
	woken++;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *map_and_end(void *arg)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || munmap(p, 4096))
		abort();
	return arg;
}

static void make(pthread_t *t, void *(*fn)(void *), long n)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)STACK);
	if (pthread_create(t, &attr, fn, NULL)) {
		fprintf(stderr, "many_threads: thread %ld could not be made\n", n);
		_exit(98);
	}
	pthread_attr_destroy(&attr);
}

static void *breed(void *arg)
{
	pthread_t t;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		make(&t, map_and_end, born++);
		pthread_join(t, NULL);
		usleep(10000); /* others are to have the CPU as well */
	}
	return arg;
}

static int be_process(long threads, int quiet, int end)
{
	pthread_t *t = calloc((size_t)threads + 1, sizeof(*t)), breeder;
	char byte;
	long i;

	for (i = 0; i < threads; i++)
		make(&t[i], wait_and_count, i);
	if (!quiet)
		make(&breeder, breed, i);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (read(end, &byte, 1) < 0)
		return 97;
	pthread_mutex_lock(&lock);
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&word);
	pthread_mutex_unlock(&lock);
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	if (!quiet)
		pthread_join(breeder, NULL);
	printf("process %d: %ld threads woke, %ld born\n", (int)getpid(), woken, born);
	fflush(stdout);
	return woken != threads;
}

int main(int argc, char **argv)
{
	int processes = argc > 1 ? atoi(argv[1]) : 1, bad, i, status, quiet = argc > 3;
	long threads = argc > 2 ? atol(argv[2]) : 10;
	int end[2]; /* closed: all is over */

	if (pipe(end))
		return 96;
	for (i = 1; i < processes; i++) {
		if (fork())
			continue;
		close(end[1]);
		_exit(be_process(threads, quiet, end[0]));
	}
	close(end[0]);
	/* The first process waits for stdin, and lets the others know. */
	bad = be_process(threads, quiet, STDIN_FILENO);
	close(end[1]);
	while (wait(&status) > 0)
		bad |= status;
	return bad != 0;
}
