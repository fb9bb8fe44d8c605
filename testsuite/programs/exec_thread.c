/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hotvar-libs: -lpthread */
/*
 * exec_thread HOW CMD... - a thread that is not the first one executes CMD: HOW is "main", the first waits meanwhile, or
 * "other": the first has ended and a third waits, until it is traced, which it is then in the first one's place.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char **cmd;
static atomic_int waiter;

static void *wait_for_ever(void *arg)
{
	atomic_store(&waiter, (int)syscall(SYS_gettid));
	for (;;)
		pause();
	return arg;
}

static int traced(int tid)
{
	char path[64], line[256];
	int tracer = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "TracerPid:", 10))
			tracer = atoi(line + 10);
	if (f)
		fclose(f);
	return tracer != 0;
}

static void *execute(void *other)
{
	if (other) {
		while (!atomic_load(&waiter))
			usleep(1000);
		for (int i = 0; i < 20000 && !traced(atomic_load(&waiter)); i++)
			usleep(1000);
	}
	execvp(cmd[0], cmd);
	_exit(3);
}

int main(int argc, char **argv)
{
	int other = argc > 1 && !strcmp(argv[1], "other");
	pthread_t t;

	if (argc < 3)
		return 2;
	cmd = argv + 2;
	if (other) {
		if (pthread_create(&t, NULL, wait_for_ever, NULL))
			return 2;
		while (!atomic_load(&waiter))
			usleep(1000);
	}
	if (pthread_create(&t, NULL, execute, other ? argv : NULL))
		return 2;
	if (other)
		pthread_exit(NULL);
	wait_for_ever(NULL);
	return 3;
}
