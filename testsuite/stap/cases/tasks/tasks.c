// SPDX-License-Identifier: GPL-2.0-or-later
/* tasks.c - changes its map from threads, children, signal handlers, and while it is being killed; says at checkpoints what it is. */
#define _GNU_SOURCE
#include "mark.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

static const char *self;
static int count = 10;

static void await(pid_t c)
{
	while (waitpid(c, NULL, 0) != c)
		;
}

/* ---- exec from a thread that does not lead: all others end, it becomes the leader ---- */

static void *execs(void *arg)
{
	map(8192, RW, ANON);
	checkpoint();
	execl(self, self, arg, NULL);
	die(self);
}

static void *execs_soon(void *arg)
{
	int i;

	for (i = 0; i < 10; i++)
		munmap(map(8192, RW, ANON), 8192);
	execl(self, self, arg, NULL);
	die(self);
}

static void *maps_for_ever(void *arg)
{
	size_t n = 4096 * (1 + (long)arg);

	while (!munmap(map(n, RW, ANON), n))
		;
	return NULL;
}

static void exec_thread(void)
{
	pthread_t t;
	pid_t c;
	long i;

	for (i = 0; i < count; i++) {
		c = fork();
		if (!c) {
			pthread_create(&t, NULL, execs, "once");
			for (;;)
				pause();
		}
		await(c);
		c = fork();
		if (!c) {
			/* With others that map: no checkpoint before it, since what they have comes and goes. */
			for (i = 0; i < 4; i++)
				pthread_create(&t, NULL, maps_for_ever, (void *)i);
			pthread_create(&t, NULL, execs_soon, "once");
			for (;;)
				munmap(map(8192, RW, ANON), 8192);
		}
		await(c);
	}
	checkpoint();
}

/* ---- a vfork's child changes what is its parent's map ---- */

static void vforks(void)
{
	static char *p;
	volatile int i;
	pid_t c;

	for (i = 0; i < count; i++) {
		p = map(16384, RW, ANON);
		checkpoint();
		c = vfork();
		if (!c) {
			mprotect(p + 4096, 4096, PROT_READ);
			munmap(p + 8192, 4096);
			map(4096 * (1 + i), PROT_READ, MAP_SHARED | MAP_ANONYMOUS);
			if (i % 2)
				execl(self, self, "once", NULL);
			_exit(0);
		}
		await(c);
		checkpoint();
	}
}

/* ---- many at once: each forks, execs and maps, and has some that do the same ---- */

static void tree(int depth, unsigned seed)
{
	char *p = map(65536, RW, ANON);
	pid_t c[8];
	int i, n = depth ? 3 : 0;

	for (i = 0; i < 5; i++) {
		mprotect(p + 4096 * (rand_r(&seed) % 16), 4096, i % 2 ? PROT_READ : PROT_NONE);
		munmap(p + 4096 * (rand_r(&seed) % 16), 4096);
	}
	checkpoint();
	for (i = 0; i < n; i++) {
		c[i] = fork();
		if (!c[i]) {
			tree(depth - 1, seed + 7 * i);
			if (i % 2)
				execl(self, self, "once", NULL);
			_exit(0);
		}
	}
	map(4096, PROT_READ, ANON);
	for (i = 0; i < n; i++)
		await(c[i]);
	checkpoint();
}

/* ---- signals come at every point, and their handlers map ---- */

static volatile int handled;

static void on_signal(int sig)
{
	char *p = map(4096 * (1 + sig % 3), RW, ANON);

	if (handled++ % 2)
		munmap(p, 4096);
	else
		mprotect(p, 4096, PROT_READ);
}

static void signals(void)
{
	struct itimerval every = { { 0, 700 }, { 0, 700 } };
	static const int which[] = { SIGALRM, SIGUSR1, SIGUSR2, SIGWINCH };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK };
	char *stack = map(1 << 20, RW, ANON), *p;
	stack_t ss = { .ss_sp = stack, .ss_size = 1 << 20 };
	pid_t me = getpid(), c;
	sigset_t all, none;
	int i;

	sigaltstack(&ss, NULL);
	sigemptyset(&none);
	sigemptyset(&all);
	for (i = 0; i < 4; i++) {
		sigaction(which[i], &sa, NULL);
		sigaddset(&all, which[i]);
	}
	sigprocmask(SIG_BLOCK, &all, NULL);
	checkpoint();
	c = fork();
	if (!c) {
		for (;;) {
			kill(me, which[rand() % 4]);
			usleep(300); /* it is to get on */
		}
	}
	for (i = 0; i < count; i++) {
		int k, before = handled;

		sigprocmask(SIG_SETMASK, &none, NULL);
		setitimer(ITIMER_REAL, &every, NULL);
		for (k = 0; k < 30 || handled < before + 10; k++) {
			p = map(8192, RW, ANON);
			mprotect(p, 4096, PROT_READ);
			p = mremap(p, 8192, 16384, MREMAP_MAYMOVE);
			if (p != MAP_FAILED)
				munmap(p, 16384);
		}
		sigprocmask(SIG_BLOCK, &all, NULL);
		checkpoint();
	}
	kill(c, SIGKILL);
	await(c);
}

/* ---- killed in the middle: processes of eight threads that all map ---- */

static void killed(void)
{
	volatile int *turns = (void *)map(4096, RW, MAP_SHARED | MAP_ANONYMOUS);
	pthread_t t;
	pid_t c;
	int i, k;

	checkpoint();
	for (i = 0; i < count; i++) {
		*turns = 0;
		c = fork();
		if (!c) {
			for (k = 0; k < 7; k++)
				pthread_create(&t, NULL, maps_for_ever, (void *)(long)k);
			for (;;) {
				munmap(map(40960, RW, ANON), 40960);
				++*turns;
			}
		}
		while (*turns < 3 + i % 5)
			sched_yield();
		kill(c, SIGKILL);
		printf("KILLED %d\n", c);
		await(c);
	}
	fflush(stdout);
	checkpoint();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	self = argv[0];
	if (argc > 2)
		count = atoi(argv[2]);
	if (!strcmp(mode, "once"))
		mark_checkpoints = 1000, checkpoint(); /* other numbers than before the exec */
	else if (!strcmp(mode, "exec"))
		exec_thread();
	else if (!strcmp(mode, "vfork"))
		vforks();
	else if (!strcmp(mode, "tree"))
		tree(count, 1);
	else if (!strcmp(mode, "signals"))
		signals();
	else if (!strcmp(mode, "killed"))
		killed();
	else if (!strcmp(mode, "suicide"))
		killed(), kill(getpid(), SIGKILL);
	else
		return 2;
	return 0;
}
