// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fault.c - touches known pages of known variables in a known order, and prints which faults that must be.
 *
 *	WATCH START END			all faults there are printed
 *	TOUCH TID ADDR WRITE EXEC PRESENT KIND NAME KERNEL	- where it is not for the program to say
 *
 * Pages of the zero page, copies, files, stacks, code that may not run, several threads, and a fork.
 */
#define _GNU_SOURCE
#include "mark.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#define PAGE 4096
#define THREADS 4

char zeros[16][PAGE] __attribute__((aligned(PAGE)));
char more[THREADS][8][PAGE] __attribute__((aligned(PAGE)));
char data[16][PAGE] __attribute__((aligned(PAGE))) = { { 1 } };
char ours[4][PAGE] __attribute__((aligned(PAGE))) = { { 1 } };
char closed[2][PAGE] __attribute__((aligned(PAGE)));

struct touch {
	int tid;
	uintptr_t addr;
	const char *write, *exec, *present, *kind, *name, *kernel;
};
static struct touch *touches; /* shared by all processes: each has a part of its own */
static __thread struct touch *next;
static __thread sigjmp_buf back;

static void expect(const volatile void *addr, int is_write, int is_exec, const char *present, const char *kind, const char *name)
{
	*next++ = (struct touch){ syscall(SYS_gettid), (uintptr_t)addr, is_write ? "1" : "0", is_exec ? "1" : "0", present, kind, name, "0" };
}

static void expect_kernel(const volatile void *addr, int is_write, const char *present)
{
	expect(addr, is_write, 0, present, "anon", "[anon]");
	next[-1].kernel = "1";
}

static __attribute__((noinline)) void read_at(const volatile char *p, const char *present, const char *kind, const char *name)
{
	expect(p, 0, 0, present, kind, name);
	(void)*p;
}

static __attribute__((noinline)) void write_at(volatile char *p, const char *present, const char *kind, const char *name)
{
	expect(p, 1, 0, present, kind, name);
	*p = 7;
}

static void movs(char *to, const char *from)
{
	__asm__ volatile("movsb" : "+D"(to), "+S"(from) : : "memory");
}

static void on_fault(int sig)
{
	siglongjmp(back, sig);
}

static void watch(const volatile void *p, size_t n)
{
	printf("WATCH 0x%lx 0x%lx\n", (long)p, (long)p + (long)n);
}

/* Each thread its own pages, from the last to the first. */
static void *thread(void *arg)
{
	long i = (long)arg, page;

	next = touches + 200 + i * 50;
	for (page = 7; page >= 0; page--)
		write_at(&more[i][page][100 * i + page], "0", "bss", "more");
	return NULL;
}

static __attribute__((noinline)) void stack(void)
{
	volatile char deep[100 * PAGE];
	int i;

	/* Below what is there: the first pages belong to callers and to this very frame. */
	watch(deep, sizeof(deep) - 8 * PAGE);
	fflush(stdout);
	for (i = 90; i > 0; i -= 7)
		write_at(&deep[i * PAGE + 11], "0", "stack", "-");
}

static void signals(void)
{
	struct sigaction act = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	char *gone = map(PAGE, PROT_READ, ANON);

	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGILL, &act, NULL);
	mprotect(closed, sizeof(closed), PROT_NONE);
	if (!sigsetjmp(back, 1))
		write_at(&closed[1][8], "-", "bss", "closed");
	if (!sigsetjmp(back, 1))
		read_at(&closed[0][9], "-", "bss", "closed");
	munmap(gone, PAGE);
	watch(gone, PAGE);
	if (!sigsetjmp(back, 1))
		write_at(gone + 5, "0", "unmapped", "-");
}

/* Code that is fetched for the first time, from a file; and what is no code. */
static void code(void)
{
	int fd = memfd_create("code", 0), fd2 = memfd_create("more", 0), i;
	char *p;

	if (fd < 0 || fd2 < 0 || ftruncate(fd, PAGE) || ftruncate(fd2, PAGE) || pwrite(fd, "\xc3", 1, 0x123) != 1 ||
	    pwrite(fd, "\x48\xb8", 2, PAGE - 2) != 2 || pwrite(fd2, "12345678\xc3", 9, 0) != 9)
		die("memfd");
	for (i = 0; i < 2; i++) {
		/* Two files, since pages of one area are mapped together. */
		p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED || mmap(p + PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd2, 0) != p + PAGE)
			die("mmap");
		watch(p, 2 * PAGE);
		fflush(stdout);
		if (!i) {
			expect(p + 0x123, 0, 1, "0", "shm", "-");
			((void (*)(void))(p + 0x123))();
		} else {
			/* An instruction that lies in both pages: the second faults by its first byte. */
			expect(p + PAGE - 2, 0, 1, "0", "shm", "-");
			expect(p + PAGE, 0, 1, "0", "shm", "-");
			((void (*)(void))(p + PAGE - 2))();
		}
	}
	if (!sigsetjmp(back, 1)) {
		expect(&ours[1][40], 0, 1, "-", "data", "ours");
		((void (*)(void))&ours[1][40])();
	}
}

int main(void)
{
	pthread_t threads[THREADS];
	char *anon, *shared;
	struct touch *t;
	int i, fd, wait_for[2];
	pid_t child;

	touches = (void *)map(sizeof(*touches) * 1000, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE);
	next = touches;
	watch(zeros, sizeof(zeros));
	watch(more, sizeof(more));
	watch(data, sizeof(data));
	watch(ours, sizeof(ours));
	watch(closed, sizeof(closed));
	anon = map(20 * PAGE, RW, ANON);
	shared = map(4 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS);
	watch(anon, 20 * PAGE);
	watch(shared, 4 * PAGE);
	fflush(stdout);
	fd = open("/proc/self/exe", O_RDONLY);
	if (fd < 0 || pipe(wait_for))
		die("/proc/self/exe");

	/* Zero page first, copied by the write; or written at once. */
	for (i = 15; i >= 0; i -= 5) {
		read_at(&zeros[i][i], "0", "bss", "zeros");
		write_at(&zeros[i][i + 1], "1", "bss", "zeros");
	}
	write_at(&zeros[7][4095], "0", "bss", "zeros");
	for (i = 0; i < 20; i += 3)
		write_at(anon + i * PAGE + i, "0", "anon", "[anon]");
	write_at(shared + PAGE, "0", "shm", "-");
	read_at(shared + 2 * PAGE + 4, "0", "shm", "-");

	/* Two pages by one access: both fault. */
	expect(anon + 5 * PAGE - 3, 1, 0, "0", "anon", "[anon]");
	expect(anon + 5 * PAGE, 1, 0, "0", "anon", "[anon]");
	*(volatile uint64_t *)(anon + 5 * PAGE - 3) = 1;

	/* From one address to another close by: first read, then written. */
	expect(anon + 13 * PAGE + 100, 0, 0, "0", "anon", "[anon]");
	expect(anon + 13 * PAGE + 108, 1, 0, "1", "anon", "[anon]");
	movs(anon + 13 * PAGE + 108, anon + 13 * PAGE + 100);

	/* A private file: whether its page is there already is the kernel's business. */
	for (i = 3; i < 16; i += 4)
		write_at(&data[i][17], "-", "data", "data");

	/* The kernel touches pages for us: then there is none left for us. */
	expect_kernel(anon + 10 * PAGE, 1, "0");
	expect_kernel(anon + 11 * PAGE, 1, "0");
	if (pread(fd, anon + 10 * PAGE, 2 * PAGE, 0) != 2 * PAGE)
		die("read");
	anon[10 * PAGE + 5] = 1;
	anon[11 * PAGE + 5] = 1;
	/* And it reads: zeros are written to a pipe. */
	expect_kernel(anon + 16 * PAGE + 50, 0, "0");
	if (write(wait_for[1], anon + 16 * PAGE + 50, 100) != 100)
		die("write");

	/* After a fork each has to copy what it writes. */
	write_at(ours[2], "-", "data", "ours");
	child = fork();
	if (!child) {
		next = touches + 500;
		write_at(&ours[2][9], "1", "data", "ours");
		write_at(anon + 3, "1", "anon", "[anon]");
		_exit(0);
	}
	waitpid(child, NULL, 0);
	write_at(&ours[2][10], "1", "data", "ours");

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)(long)i))
			die("thread");
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	stack();
	signals();
	code();
	for (t = touches; t < touches + 1000; t++)
		if (t->tid)
			printf("TOUCH %d 0x%lx %s %s %s %s %s %s\n", t->tid, (long)t->addr, t->write, t->exec, t->present, t->kind, t->name, t->kernel);
	fflush(stdout);
	return 0;
}
