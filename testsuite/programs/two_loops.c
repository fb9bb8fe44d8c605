// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * two_loops - two loops of as many rounds, of which it never comes to the second.
 *
 * After 400 ms of CPU time it ends, in the middle of the first.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static const long rounds = 2000000000000;
static long first[64], second[64];

static void stop(int sig)
{
	(void)sig;
	_exit(0);
}

int main(void)
{
	const struct itimerval t = { .it_value.tv_usec = 400000 };

	signal(SIGPROF, stop);
	if (setitimer(ITIMER_PROF, &t, NULL))
		return 1;
	for (long i = 0; i < rounds; i++) {
		first[i & 63] += i;
		__asm__ volatile("" : : : "memory");
	}
	for (long i = 0; i < rounds; i++) {
		second[i & 63] += i;
		__asm__ volatile("" : : : "memory");
	}
	printf("%ld %ld\n", first[5], second[5]);
	return 0;
}
