// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -pthread */
/*
 * locks.c - four locks, of which three are waited for: how often, by whom and how long is known.
 *
 * The holder does not let go before the kernel says of each other thread that it waits for the
 * lock; nobody takes it twice.  So each thread waits once a round.
 */
#include <pthread.h>
#include <time.h>
#include "mark.h"

enum { THREADS = 4, ROUNDS = 3, HELD_MS = 20 };

pthread_mutex_t hot_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t cold_lock = PTHREAD_MUTEX_INITIALIZER; /* taken often, never waited for */
static pthread_mutex_t warm_locks[3] = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};
static pthread_mutex_t pi_lock;

static pthread_mutex_t *wanted;
static pthread_barrier_t round_begins, round_ends;
static int tids[THREADS];
static long longest_us[THREADS]; /* of the round: in pthread_mutex_lock() */

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void *waiter(void *arg)
{
	long i = (long)arg, t;

	tids[i] = syscall(SYS_gettid);
	for (;;) {
		pthread_barrier_wait(&round_begins);
		if (!wanted)
			return NULL;
		t = now_us();
		pthread_mutex_lock(wanted);
		longest_us[i] = now_us() - t;
		pthread_mutex_unlock(wanted);
		pthread_barrier_wait(&round_ends);
	}
}

/* Does thread @tid wait in a futex call for @lock? */
static int waits(int tid, pthread_mutex_t *lock)
{
	char name[64], is[128] = "", want[64];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/task/%d/syscall", tid);
	snprintf(want, sizeof(want), "202 0x%lx ", (unsigned long)lock);
	fd = open(name, O_RDONLY);
	if (fd < 0 || read(fd, is, sizeof(is) - 1) < 0)
		die(name);
	close(fd);
	return !strncmp(is, want, strlen(want));
}

/* @lock is held until all wait, and HELD_MS more. */
static void contend(const char *name, const char *kind, pthread_mutex_t *lock, int offset, int rounds)
{
	long least = 0, most = 0, t;
	int r, i;

	for (r = 0; r < rounds; r++) {
		pthread_mutex_lock(lock);
		wanted = lock;
		pthread_barrier_wait(&round_begins);
		for (i = 0; i < THREADS; i++)
			while (!waits(tids[i], lock))
				usleep(100);
		for (t = now_us(); now_us() < t + HELD_MS * 1000;)
			;
		least += THREADS * HELD_MS * 1000;
		pthread_mutex_unlock(lock);
		pthread_barrier_wait(&round_ends);
		for (i = 0; i < THREADS; i++)
			most += longest_us[i];
	}
	printf("LOCK %s+0x%x/0x%zx %s %d %d %ld %ld %d\n", name, offset,
	       offset ? sizeof(warm_locks) : sizeof(*lock), kind, rounds * THREADS, THREADS,
	       least, most, getpid());
}

int main(void)
{
	pthread_t threads[THREADS];
	pthread_mutexattr_t pi;
	long i;

	pthread_mutexattr_init(&pi);
	pthread_mutexattr_setprotocol(&pi, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&pi_lock, &pi);
	pthread_barrier_init(&round_begins, NULL, THREADS + 1);
	pthread_barrier_init(&round_ends, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, waiter, (void *)i);
	for (i = 0; i < THREADS; i++)
		while (!*(volatile int *)&tids[i])
			usleep(100);
	contend("hot_lock", "mutex", &hot_lock, 0, ROUNDS);
	contend("warm_locks", "mutex", &warm_locks[2], 2 * sizeof(warm_locks[0]), 1);
	contend("pi_lock", "pi", &pi_lock, 0, 1);
	for (i = 0; i < 1000; i++) {
		pthread_mutex_lock(&cold_lock);
		pthread_mutex_unlock(&cold_lock);
	}
	wanted = NULL;
	pthread_barrier_wait(&round_begins);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	fflush(stdout);
	return 0;
}
