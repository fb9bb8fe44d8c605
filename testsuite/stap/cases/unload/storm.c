// SPDX-License-Identifier: GPL-2.0-or-later
/* storm.c - 64 threads that map at once, processes that fork, exec and are killed, signals: until killed, or for some rounds. */
#define _GNU_SOURCE
#include "mark.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#define THREADS 64

static int rounds;	/* 0: for ever */
static volatile int turn;

static void on_signal(int sig)
{
	(void)sig;
	munmap(map(4096, RW, ANON), 4096);
}

static void *mapper(void *arg)
{
	unsigned seed = (unsigned long)arg + 1;
	int i;

	for (i = 0; !rounds || i < rounds * 20; i++) {
		size_t n = 4096 * (1 + rand_r(&seed) % 16);
		char *p = map(n, RW, ANON);

		*p = 1;
		mprotect(p, 4096, PROT_READ);
		munmap(p, n);
		if (!rounds && i % 8 == 7)
			usleep(20000 + rand_r(&seed) % 60000); /* those that end have the processor, too */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int processes = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[THREADS];
	int i;

	if (argc > 2)
		rounds = atoi(argv[2]);
	if (argc > 3)
		return 0; /* what the processes of a storm exec */
	/* For ever, but not at the cost of those that end. */
	if (!rounds && sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 }))
		return 98;
	signal(SIGUSR1, on_signal);
	signal(SIGALRM, on_signal);
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, mapper, (void *)(long)i);
	for (turn = 0; !rounds || turn < rounds * 2; turn++) {
		pid_t child[64];
		volatile int k;

		for (k = 0; k < processes && k < 64; k++) {
			child[k] = k % 4 == 3 ? vfork() : fork();
			if (!child[k]) {
				if (k % 2)
					execl("/proc/self/exe", "storm", "0", "0", "x", NULL);
				if (k % 4 == 0)
					for (;;)
						munmap(map(8192, RW, ANON), 8192);
				_exit(0);
			}
		}
		kill(getpid(), SIGUSR1);
		pthread_kill(t[turn % THREADS], SIGALRM);
		for (k = 0; k < processes && k < 64; k++) {
			if (child[k] <= 0)
				continue;
			if (k % 4 == 0)
				kill(child[k], k % 8 ? SIGKILL : SIGSEGV);
			waitpid(child[k], NULL, 0);
		}
	}
	/* Ends with its threads still mapping. */
	return 0;
}
