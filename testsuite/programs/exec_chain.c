// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-libs: -lpthread */
/*
 * exec_chain N MS - uses MS ms of CPU time, then executes itself with N - 1, by a thread if N is odd.
 *
 * The last one exits with status 7.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

unsigned long chained[512]; /* what it touches */

static char **args;

static void *go_on(void *arg)
{
	execv("/proc/self/exe", args);
	_exit(3);
	return arg;
}

static void spin(long ms)
{
	volatile unsigned long *p = chained;
	clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);

	do {
		for (int i = 0; i < 100000; i++)
			p[i % 512] += i;
	} while (clock() < end);
}

int main(int argc, char **argv)
{
	static char left[16];
	pthread_t t;
	int n;

	if (argc != 3)
		return 2;
	n = atoi(argv[1]);
	spin(atol(argv[2]));
	if (n <= 0)
		return 7;
	snprintf(left, sizeof(left), "%d", n - 1);
	argv[1] = left;
	args = argv;
	if (n % 2 && !pthread_create(&t, NULL, go_on, NULL))
		pthread_join(t, NULL);
	go_on(NULL);
	return 3;
}
