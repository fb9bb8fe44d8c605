// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-libs: -lpthread */
/*
 * spin_threads [churn] N MS - N threads that each use MS ms of CPU time.
 *
 * With churn, each does so in short-lived threads of 5 ms, one after the other.
 * Prints "ready" once it has begun, and at the end the CPU time it used, in ms, by getrusage(2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MAX_THREADS = 4096, SHORT_MS = 5, TABLE = 1024 };

static long ms_each;
static int churn;
unsigned long spun[TABLE]; /* what they touch */

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void spin(long ms)
{
	long end = cpu_ms() + ms;
	volatile unsigned long *p = spun;

	do {
		for (int i = 0; i < TABLE * 16; i++)
			p[i % TABLE] += i;
	} while (cpu_ms() < end);
}

static void *spin_short(void *arg)
{
	spin(SHORT_MS);
	return arg;
}

static void *spin_all(void *arg)
{
	pthread_t t;

	if (!churn)
		spin(ms_each);
	for (long done = 0; churn && done < ms_each; done += SHORT_MS) {
		if (pthread_create(&t, NULL, spin_short, NULL))
			exit(2);
		pthread_join(t, NULL);
	}
	return arg;
}

int main(int argc, char **argv)
{
	static pthread_t t[MAX_THREADS];
	struct rusage u;
	int n;

	churn = argc > 1 && !strcmp(argv[1], "churn");
	if (argc != 3 + churn)
		return 2;
	n = atoi(argv[1 + churn]);
	ms_each = atol(argv[2 + churn]);
	if (n < 1 || n > MAX_THREADS)
		return 2;
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, spin_all, NULL))
			return 2;
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	getrusage(RUSAGE_SELF, &u);
	printf("cpu_ms %ld\n", (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
			       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000);
	return 0;
}
