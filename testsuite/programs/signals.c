/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hotvar-libs: -lpthread */
/*
 * signals - say which signals come: "signals ready PID", then for each a line "N mapped", where mapping memory works still
 * in its handler's thread and in another; SIGTERM ends it with status 7.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int map(void)
{
	void *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 0;
	*(volatile char *)p = 1;
	return !munmap(p, 1 << 20);
}

static void *map_in_thread(void *arg)
{
	*(int *)arg = map();
	return NULL;
}

int main(void)
{
	sigset_t all;
	int sig;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	printf("signals ready %d\n", (int)getpid());
	fflush(stdout);
	while (!sigwait(&all, &sig)) {
		pthread_t thread;
		int there = 0;

		if (sig == SIGTERM)
			return 7;
		if (sig == SIGCONT)
			continue;
		if (pthread_create(&thread, NULL, map_in_thread, &there) || pthread_join(thread, NULL))
			there = 0;
		printf("%d %s\n", sig, there && map() ? "mapped" : "failed");
		fflush(stdout);
	}
	return 1;
}
