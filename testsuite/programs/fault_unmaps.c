/* hotvar-cflags: -D_GNU_SOURCE -O1 -g -pthread */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault_unmaps part [wait] | moves | again | storm - touches pages of areas that grow, shrink, are given back and move.
 *
 * part: 256 pages, which join 3 others; they are unmapped. With "wait" it ends when there is a byte on stdin.
 * moves: 300 pages; 100 are given back, 50 are cut off by mremap(2), the other 150 move and grow to 400, which are all touched: the
 * most. Of these, 350 are unmapped, by pieces.
 * again: areas of which something is told to the kernel, each of a length of its own, and what is touched of it after: 211 pages,
 * mapped again, 5; 223, mapped again inaccessible, and accessible, 7; 229, of which 90 move to another area and leave their place
 * mapped, 139, and those 90; 101 and 131 with a hole between, given back, 3 and 0; 239 that calls fail on, 239; 241 that a thread makes
 * 180 of, 180; 257 which the kernel may take when it wants, 257. In the end 1000, so that these are the most.
 * storm: says its number, stops its maker, touches 1000 pages 60 times over, and leaves its maker stopped.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ROOM = 2048, DONTUNMAP = 4 /* MREMAP_DONTUNMAP */ };

static char *map(char *at, int pages)
{
	return mmap(at, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}

/* Nothing is beside it: what lies around stays inaccessible. */
static char *room(void)
{
	return (char *)mmap(NULL, (size_t)ROOM * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 16 * PAGE;
}

static void touch(char *at, int pages)
{
	memset(at, 1, (size_t)pages * PAGE);
}

static int part(int wait)
{
	char *at = room(), c;

	map(at + 256 * PAGE, 3);
	map(at, 256);
	touch(at, 256);
	munmap(at, 256 * PAGE);
	return wait && read(0, &c, 1) != 1;
}

static int moves(void)
{
	char *at = room(), *to = room();

	map(at, 300);
	touch(at, 300);
	madvise(at, 100 * PAGE, MADV_DONTNEED);
	mremap(at + 100 * PAGE, 200 * PAGE, 150 * PAGE, 0);
	mremap(at + 100 * PAGE, 150 * PAGE, 400 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	touch(to, 400);
	munmap(to + 50 * PAGE, 300 * PAGE);
	munmap(to, 50 * PAGE);
	return 0;
}

static char *touched(int pages)
{
	char *at = map(room(), pages);

	touch(at, pages);
	return at;
}

static void *unmap_rest(void *at)
{
	munmap((char *)at + 180 * PAGE, 61 * PAGE);
	return NULL;
}

static int fail(char *at)
{
	return !madvise(at + 1, PAGE, MADV_DONTNEED) + !madvise(at, 9 * PAGE, 1000) + !munmap(at + 1, 9 * PAGE) +
	       (mremap(at, 9 * PAGE, 9 * PAGE, MREMAP_FIXED, at) != MAP_FAILED) + (mmap(at, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
}

static int again(void)
{
	pthread_t thread;
	char *at = touched(211);

	touch(map(at, 211), 5);
	at = touched(223);
	mmap(at, 223 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mprotect(at, 223 * PAGE, PROT_READ | PROT_WRITE);
	touch(at, 7);
	at = touched(229);
	mremap(at, 90 * PAGE, 90 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED | DONTUNMAP, room());
	at = touched(233);
	munmap(at + 101 * PAGE, PAGE);
	madvise(at, 233 * PAGE, MADV_DONTNEED);
	touch(at, 3);
	if (fail(touched(239)))
		return 1;
	at = touched(241);
	if (pthread_create(&thread, NULL, unmap_rest, at) || pthread_join(thread, NULL))
		return 2;
	madvise(touched(257), 257 * PAGE, MADV_FREE);
	touched(1000);
	return 0;
}

static int storm(void)
{
	char *at = map(room(), 1000);

	madvise(at, 1000 * PAGE, MADV_NOHUGEPAGE);
	dprintf(1, "%d\n", getpid());
	kill(getppid(), SIGSTOP);
	for (int i = 0; i < 60; i++) {
		madvise(at, 1000 * PAGE, MADV_DONTNEED);
		touch(at, 1000);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "moves"))
		return moves();
	if (argc > 1 && !strcmp(argv[1], "storm"))
		return storm();
	return argc > 1 && !strcmp(argv[1], "again") ? again() : part(argc > 2);
}
