// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * line_processes - processes with a cache line in common, or with copies of one page: line_processes WHAT [TIMES [LIBRARY]]
 *
 *	cow	four processes write to .data of one library, at one address, each in its own copy
 *	shm	two write to 8 bytes each of one line of a file that both have mapped, at different addresses
 *	shm-true	two write to the same 8 bytes of it
 *	anon	two write to 8 bytes each of one line of memory without a file, that fork() shares
 *	lone	likewise, by a thread whose process's first one has ended
 *	grown	likewise, of a file's memory that was moved and grew
 *	sysv	likewise, of a segment of System V
 *	sysv-two	to that of one segment, and to that of another
 *
 * Says "process TID" for each, of the thread that writes, and "done".
 */
#define _GNU_SOURCE
#ifndef NO_LIBRARY
#include <dlfcn.h>
#endif
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 4, SIZE = 1 << 16 };

static void *map(int fd, void *not_here)
{
	void *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED || at == not_here ? NULL : at;
}

static __attribute__((noinline)) void count(volatile long *n, long times)
{
	long i;

	for (i = 0; i < times; i++)
		++*n;
}

static int copies(const char *library, long times)
{
	void (*library_count)(long) = NULL;
	int i;
#ifndef NO_LIBRARY
	void *lib = dlopen(library, RTLD_NOW);

	if (lib)
		library_count = (void (*)(long))(uintptr_t)dlsym(lib, "library_count");
#endif
	if (!library_count)
		return 1;
	for (i = 0; i < PROCESSES; i++) {
		if (fork())
			continue;
		printf("process %d\n", (int)getpid());
		fflush(stdout);
		library_count(times);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static int shared(int same, long times)
{
	int fd = memfd_create("line", 0), status = 1;
	long *line = fd < 0 || ftruncate(fd, SIZE) ? NULL : map(fd, NULL);

	if (!line)
		return 1;
	if (!fork()) {
		long *again = map(fd, line); /* where the parent has it is still taken */

		if (!again || munmap(line, SIZE))
			_exit(1);
		printf("process %d\n", (int)getpid());
		fflush(stdout);
		count(again + (same ? 0 : 1), times);
		_exit(0);
	}
	printf("process %d\n", (int)getpid());
	fflush(stdout);
	count(line, times);
	wait(&status);
	return status;
}

static long *segment(void)
{
	int id = shmget(IPC_PRIVATE, SIZE, 0600);
	long *at = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	return at == (void *)-1 ? NULL : at;
}

/* What one process gives another one as it makes it; NULL: @what is none of them, or there is none here. */
static long *given(const char *what)
{
	int fd;
	void *at;

	if (!strcmp(what, "anon") || !strcmp(what, "lone"))
		return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!strncmp(what, "sysv", 4))
		return segment();
	fd = memfd_create("line", 0);
	if (strcmp(what, "grown") || fd < 0 || ftruncate(fd, 16 * SIZE))
		return NULL;
	at = map(fd, NULL);
	at = at ? mremap(at, SIZE, 16 * SIZE, MREMAP_MAYMOVE) : NULL;
	return at ? (long *)at + 15 * (SIZE / sizeof(long)) : NULL;
}

static int inherited(const char *what, long times)
{
	long *line = given(what), *other = line;
	int status = 1;

	if (!line || line == MAP_FAILED)
		return 2;
	if (!strcmp(what, "sysv-two"))
		other = segment();
	if (!other)
		return 2;
	if (!fork()) {
		printf("process %d\n", (int)getpid());
		fflush(stdout);
		count(other + 1, times);
		_exit(0);
	}
	printf("process %d\n", (int)gettid());
	fflush(stdout);
	count(line, times);
	wait(&status);
	return status;
}

/* Has the first thread ended, so that the process has no map by its own number? */
static int is_lone(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char c;
	ssize_t n = fd < 0 ? -1 : read(fd, &c, 1);

	close(fd);
	return !n;
}

static void *lone(void *times)
{
	while (!is_lone())
		usleep(1000);
	if (inherited("lone", *(long *)times))
		exit(1);
	puts("done");
	exit(0);
}

int main(int argc, char **argv)
{
	static long times;
	pthread_t thread;
	int ret = 2;

	times = argc > 2 ? atol(argv[2]) : 200000;
	if (argc > 3 && !strcmp(argv[1], "cow"))
		ret = copies(argv[3], times);
	else if (argc > 1 && !strcmp(argv[1], "lone") && !pthread_create(&thread, NULL, lone, &times))
		pthread_exit(NULL);
	else if (argc > 1 && !strncmp(argv[1], "shm", 3))
		ret = shared(!strcmp(argv[1], "shm-true"), times);
	else if (argc > 1)
		ret = inherited(argv[1], times);
	if (!ret)
		puts("done");
	return ret;
}
