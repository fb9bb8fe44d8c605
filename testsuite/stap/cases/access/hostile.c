// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hostile.c - code that is hard to look at: written while the program runs, unmapped under the thread that runs it, at the end of
 * its page; faults, signals, forks and execs all the time. For some seconds of processor time.
 *
 *	JIT START END TARGET TARGETS-END	instructions there read and write there only; or the stack, to return
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

static char targets[64 * PAGE] __attribute__((aligned(PAGE)));
static volatile int over;
static char *vanishing;
static __thread sigjmp_buf back;

static void on_fault(int sig)
{
	siglongjmp(back, sig);
}
static void on_alarm(int sig)
{
	(void)sig;
}

static char *code(int prot)
{
	char *p = mmap(NULL, 2 * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

/* Code at @p that loops over the bytes of a page: mov $at, rdx; 1: add $8, (rdx) or mov (rdx), rax; add $8, rdx; dec ecx; jnz 1b; ret */
static size_t write_code(char *p, char *at, int is_write)
{
	static const unsigned char head[] = { 0xb9, 0x00, 0x02, 0x00, 0x00, 0x48, 0xba };
	static const unsigned char tail[] = { 0x48, 0x83, 0xc2, 0x08, 0xff, 0xc9, 0x75, 0xf5, 0xc3 };
	char *q = p;

	memcpy(q, head, sizeof(head));
	q += sizeof(head);
	memcpy(q, &at, 8);
	q += 8;
	memcpy(q, is_write ? "\x48\x01\x0a" : "\x48\x8b\x02", 3);
	q += 3;
	memcpy(q, tail, sizeof(tail));
	q[sizeof(tail) - 2] = -(3 + 4 + 2 + 2);
	return q + sizeof(tail) - p;
}
#define CODE_SIZE 27

static void *jit(void *arg)
{
	char *rwx = arg;
	unsigned i;

	for (i = 0; !over; i++) {
		char *at = rwx + (i % 3 ? i % 2000 : PAGE - CODE_SIZE);

		write_code(at, targets + i % 60 * PAGE, i & 1);
		((void (*)(void))at)();
	}
	return NULL;
}

/* Runs what another thread takes away. */
static void *victim(void *arg)
{
	(void)arg;
	while (!over)
		if (!sigsetjmp(back, 1))
			for (;;) {
				((void (*)(void))vanishing)();
				if (over)
					break;
			}
	return NULL;
}

static void *remover(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; !over; i++) {
		if (i & 1)
			mprotect(vanishing, PAGE, PROT_NONE);
		else
			madvise(vanishing, PAGE, MADV_DONTNEED);
		/* It begins anew with zeros, which are instructions too: add %al, (%rax). */
		mmap(vanishing, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		write_code(vanishing, targets + 61 * PAGE, 1);
		madvise(targets + 61 * PAGE, PAGE, MADV_DONTNEED);
		usleep(500);
	}
	return NULL;
}

static void *forks(void *arg)
{
	unsigned i;

	for (i = 0; !over; i++) {
		pid_t child = fork();

		if (!child) {
			if (i % 3 == 0) {
				freopen("/dev/null", "w", stdout);
				execl(arg, arg, (char *)NULL);
			}
			if (i % 3 == 1)
				raise(SIGKILL);
			memset(targets, i, sizeof(targets));
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } };
	pthread_t t[6];
	char *rwx = code(PROT_READ | PROT_WRITE | PROT_EXEC), *rwx2 = code(PROT_READ | PROT_WRITE | PROT_EXEC);
	int i;

	if (argc < 2)
		return 1;
	munmap(rwx + PAGE, PAGE);
	munmap(rwx2 + PAGE, PAGE);
	vanishing = code(PROT_READ | PROT_WRITE | PROT_EXEC);
	write_code(vanishing, targets + 61 * PAGE, 1);
	printf("JIT 0x%lx 0x%lx 0x%lx 0x%lx\n", (long)rwx, (long)rwx + PAGE, (long)targets, (long)targets + (long)sizeof(targets));
	printf("JIT 0x%lx 0x%lx 0x%lx 0x%lx\n", (long)rwx2, (long)rwx2 + PAGE, (long)targets, (long)targets + (long)sizeof(targets));
	fflush(stdout);
	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
	sigaction(SIGILL, &act, NULL);
	act.sa_handler = on_alarm;
	act.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	pthread_create(&t[0], NULL, jit, rwx);
	pthread_create(&t[1], NULL, jit, rwx2);
	pthread_create(&t[2], NULL, victim, NULL);
	pthread_create(&t[3], NULL, victim, NULL);
	pthread_create(&t[4], NULL, remover, NULL);
	pthread_create(&t[5], NULL, forks, argv[1]);
	while (clock() < 6 * CLOCKS_PER_SEC)
		usleep(20000);
	over = 1;
	for (i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	return 0;
}
