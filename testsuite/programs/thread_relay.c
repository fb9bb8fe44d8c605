/* hotvar-libs: -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * thread_relay.c - a process whose first thread has ended, and whose others live for a moment each.
 *
 *	thread_relay			until standard input ends; a byte there makes it execute itself anew
 *
 * Says "table START" of a variable.  Each thread makes the next one, and ends.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOMENT_US = 200, PAGE = 4096 };

char table[3 * PAGE] __attribute__((aligned(PAGE))) = { 1 };
static pthread_attr_t detached;
static char **args;

static void *moment(void *none)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	pthread_t next;
	char byte;

	usleep(MOMENT_US);
	if (poll(&in, 1, 0) > 0) {
		if (read(0, &byte, 1) < 1)
			exit(0);
		execv("/proc/thread-self/exe", args);
		exit(2);
	}
	if (pthread_create(&next, &detached, moment, NULL))
		exit(2);
	return none;
}

int main(int argc, char **argv)
{
	pthread_t first;

	(void)argc;
	args = argv;
	for (int i = 0; i < 3; i++)
		table[i * PAGE] = 2; /* so that all of it is there */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("table %p\n", (void *)table);
	if (pthread_attr_init(&detached) || pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) ||
	    pthread_create(&first, &detached, moment, NULL))
		return 2;
	pthread_exit(NULL);
}
