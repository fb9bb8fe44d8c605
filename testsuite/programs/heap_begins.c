/* hotvar-libs: -pthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * heap_begins - has memory of some kind, reads and writes it for a few milliseconds, and shows how it is mapped.
 *
 *	heap_begins KIND MS		prints /proc/self/maps
 *
 * KIND: malloc; steps: a break that grows page by page, and a page of it read-only; shrink: it shrinks to nothing and grows
 * again; lock: it grows beside memory that does not merge with it; child: in a child process, whose break grows there;
 * near: no heap, but memory above the program; names: none of it has anything to do with the break.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, SIZE = 20 * PAGE };

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void work(void *at, double ms)
{
	volatile long *p = at;
	double until = cpu_ms() + ms;

	while (p && cpu_ms() < until)
		for (int k = 0; k < 20; k++)
			for (size_t i = 0; i < SIZE / sizeof(*p); i++)
				p[i] += k;
}

static void show(void)
{
	static char buf[65536];
	int fd = open("/proc/self/maps", O_RDONLY);
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		if (write(1, buf, (size_t)n) != n)
			_exit(2);
	if (fd >= 0)
		close(fd);
}

static void *anon(void *at, int flags, int fd)
{
	void *p = mmap(at, SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		_exit(2);
	return p;
}

static char *steps(void)
{
	char *p = sbrk(SIZE), *first = (char *)(((size_t)p + PAGE - 1) & ~(size_t)(PAGE - 1));

	for (int i = 0; i < 10; i++)
		sbrk(PAGE);
	mprotect(first + SIZE + 4 * PAGE, PAGE, PROT_READ);
	return first;
}

static void *idle(void *arg)
{
	pthread_barrier_wait(arg);
	pause();
	return NULL;
}

/* A thread's stack, memory with and without names, a deleted file. */
static void *names(void)
{
	char name[] = "/tmp/heap-begins-XXXXXX";
	pthread_barrier_t both;
	pthread_t thread;
	int fd = memfd_create("mine", MFD_CLOEXEC), file = mkstemp(name);

	if (fd < 0 || file < 0 || ftruncate(fd, SIZE) || ftruncate(file, SIZE) || unlink(name))
		_exit(2);
	anon(NULL, MAP_SHARED, fd);
	anon(NULL, MAP_SHARED, file);
	anon(NULL, MAP_SHARED | MAP_ANONYMOUS, -1);
	fd = shmget(IPC_PRIVATE, SIZE, 0600);
	shmat(fd, NULL, 0);
	shmctl(fd, IPC_RMID, NULL);
	pthread_barrier_init(&both, NULL, 2);
	if (pthread_create(&thread, NULL, idle, &both))
		_exit(2);
	pthread_barrier_wait(&both);
	return anon(NULL, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

int main(int argc, char **argv)
{
	const char *kind = argc == 3 ? argv[1] : "";
	double ms = argc == 3 ? atof(argv[2]) : 0;
	char *p = NULL;

	if (!strcmp(kind, "malloc")) {
		p = malloc(SIZE);
	} else if (!strcmp(kind, "steps")) {
		p = steps();
	} else if (!strcmp(kind, "shrink")) {
		sbrk(SIZE);
		sbrk(-SIZE);
		p = sbrk(SIZE);
	} else if (!strcmp(kind, "lock")) {
		p = sbrk(4 * PAGE);
		mlock(p, 4 * PAGE);
		p = sbrk(SIZE);
	} else if (!strcmp(kind, "child")) {
		if (fork())
			return wait(NULL) < 0;
		p = sbrk(SIZE);
	} else if (!strcmp(kind, "near")) {
		p = (char *)(((size_t)sbrk(0) + (1 << 24)) & ~(size_t)(PAGE - 1));
		p = anon(p, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
	} else if (!strcmp(kind, "names")) {
		p = names();
	}
	if (!p || p == (void *)-1)
		return 2;
	work(p, ms);
	show();
	_exit(0);
}
