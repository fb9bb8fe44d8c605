// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * buffers.c - buffers that are in use, and what is done to them, by whom.
 *
 *	buffers mapped		a mapping of 3 MiB: a thread unmaps a page in the middle of it
 *	buffers variable	the variable ring: a page of it is dropped, then one mapped over
 *
 * Prints what a script that watches the buffer is to say: WATCH START END, then HIT TEXT, and FROM FUNCTION.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include "mark.h"

static char ring[16 * 4096] __attribute__((aligned(4096)));
static char *buffer;

/* Returns: a call that ends a function would leave no trace of it. */
static __attribute__((noinline)) int release_middle(void)
{
	return munmap(buffer + 4096, 4096) + 1;
}

static __attribute__((noinline)) int drop_page(void)
{
	return madvise(ring + 2 * 4096, 4096, MADV_DONTNEED) + 1;
}

static __attribute__((noinline)) int map_over(void)
{
	return mmap(ring + 4096, 4096, RW, ANON | MAP_FIXED, -1, 0) != ring + 4096;
}

static void say(const char *call, const void *p, const char *from)
{
	printf("HIT %s %lx-%lx by buffers, pid %d tid %ld\nFROM %s\n", call, (unsigned long)p,
	       (unsigned long)p + 4096, getpid(), syscall(SYS_gettid), from);
	fflush(stdout);
}

static void *thread(void *arg)
{
	(void)arg;
	say("munmap of", buffer + 4096, "release_middle");
	if (release_middle() != 1)
		die("munmap");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	pid_t child;

	(void)argc;
	if (!strcmp(argv[1], "mapped")) {
		map(4096, RW, ANON);
		map(4 << 20, PROT_READ, ANON);
		buffer = map(3 << 20, RW, ANON);
		/* Not next to its like, with which it would be one area. */
		printf("WATCH %lx %lx\n", (unsigned long)buffer, (unsigned long)buffer + (3 << 20));
		fflush(stdout);
		munmap(map(8192, RW, MAP_SHARED | MAP_ANONYMOUS), 8192);
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
		return 0;
	}
	printf("WATCH %lx %lx\n", (unsigned long)ring, (unsigned long)ring + sizeof(ring));
	fflush(stdout);
	memset(ring, 1, sizeof(ring));
	child = fork();
	if (!child) {
		drop_page(); /* of its own copy: not the one that is watched */
		_exit(0);
	}
	printf("FORK by pid %d: child %d has it too\n", getpid(), child);
	waitpid(child, NULL, 0);
	say("madvise(MADV_DONTNEED) of", ring + 2 * 4096, "drop_page");
	if (drop_page() != 1)
		die("madvise");
	say("mmap over", ring + 4096, "map_over");
	if (map_over())
		die("mmap");
	return 0;
}
