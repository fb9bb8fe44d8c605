// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * app.c - the program that README's one-liners are run on: does what they are to show, each once, in known amounts.
 *
 *	map		32 KiB of its own file mapped, for reading, and unmapped
 *	lock		hot_lock waited for by two threads, cold_lock by none
 *	write		100 bytes of buffer from its 16th, 10 bytes of the heap, 4 of the stack
 *	stack		grows by 600 KiB and more
 *	faults		40 pages of pages written
 *	code		a page made writable and executable at once; a file of /tmp mapped executable
 *	read		3000 bytes into .bss, 200 into .data, 1001 into the heap, and more into the stack
 */
#include <alloca.h>
#include <pthread.h>
#include "mark.h"

char buffer[4096];
static char pages[40 * 4096] __attribute__((aligned(4096)));
static int table[64] = { 7 };
pthread_mutex_t hot_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cold_lock = PTHREAD_MUTEX_INITIALIZER;
static int tids[2];

static void *wait_for_it(void *tid)
{
	*(volatile int *)tid = syscall(SYS_gettid);
	pthread_mutex_lock(&hot_lock);
	pthread_mutex_unlock(&hot_lock);
	return NULL;
}

/* Until the kernel says that thread @tid waits for hot_lock. */
static void until_waiting(volatile int *tid)
{
	char name[64], is[128], want[64];
	ssize_t n = 0;
	int fd;

	snprintf(want, sizeof(want), "202 0x%lx ", (unsigned long)&hot_lock);
	do {
		usleep(1000);
		snprintf(name, sizeof(name), "/proc/self/task/%d/syscall", *tid);
		fd = open(name, O_RDONLY);
		if (fd >= 0) {
			n = read(fd, is, sizeof(is) - 1);
			close(fd);
		}
		is[n > 0 ? n : 0] = '\0';
	} while (strncmp(is, want, strlen(want)));
}

__attribute__((noinline)) static void grow(void)
{
	volatile char *p = alloca(600 << 10);
	int i;

	for (i = (600 << 10) - 1; i >= 0; i -= 4096)
		p[i] = 1;
}

int main(int argc, char **argv)
{
	int null = open("/dev/null", O_WRONLY), self = open(argv[0], O_RDONLY), zero = open("/dev/zero", O_RDONLY), odd, i;
	char *heap = malloc(2000), *p;
	pthread_t threads[2];
	int local = 3;

	(void)argc;
	p = mmap(NULL, 32 << 10, PROT_READ, MAP_PRIVATE, self, 0);
	munmap(p, 32 << 10);

	for (i = 0; i < 1000; i++) {
		pthread_mutex_lock(&cold_lock);
		pthread_mutex_unlock(&cold_lock);
	}
	pthread_mutex_lock(&hot_lock);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, wait_for_it, &tids[i]);
	for (i = 0; i < 2; i++)
		until_waiting(&tids[i]);
	pthread_mutex_unlock(&hot_lock);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);

	if (write(null, buffer + 16, 100) != 100 || write(null, heap, 10) != 10 || write(null, &local, 4) != 4)
		die("write");
	grow();
	for (i = 0; i < (int)sizeof(pages); i += 4096)
		*(volatile char *)&pages[i] = 1;

	p = map(4096, RW, ANON);
	mprotect(p, 4096, RW | PROT_EXEC);
	munmap(p, 4096);
	odd = open("/tmp/odd", O_CREAT | O_RDWR, 0755);
	if (odd < 0 || write(odd, "\303", 1) != 1)
		die("/tmp/odd");
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, odd, 0);
	if (p == MAP_FAILED)
		die("mmap /tmp/odd");
	((void (*)(void))p)();

	if (read(zero, buffer, 3000) != 3000 || read(zero, &table[2], 200) != 200 || read(zero, heap, 1001) != 1001)
		die("read");
	return 0;
}
