// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prefetch_unused.c - prefetches whose lines are used, are not before many others are, or never; to be run with
 * --prefetches=LINES of its argument (256).
 *
 * Each kind has a function of its own.  Prints what is to be found of each: function, executed, unused, used, at end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, MANY = 100, FAR = 4096 };

struct line {
	volatile char bytes[LINE];
} __attribute__((aligned(LINE)));

static struct line never[MANY], soon[MANY], late[MANY], busy, many[FAR], buffer[4], tail[10];
static struct line *object;
static int lines = 256;

/* GCC may leave out a call of a function that does nothing but __builtin_prefetch(). */
#define prefetch(l) __asm__ volatile("prefetcht0 %0" : : "m"(*(l)))

/* Touch @n lines. */
static void others(int n)
{
	int i;

	for (i = 0; i < n; i++)
		many[i].bytes[0]++;
}

static __attribute__((noinline)) void ask_never(void)
{
	int i;

	for (i = 0; i < MANY; i++)
		prefetch(&never[i]);
}

static __attribute__((noinline)) void ask_soon(void)
{
	int i;

	for (i = 0; i < MANY; i++)
		prefetch(&soon[i]);
}

static __attribute__((noinline)) void ask_late(void)
{
	int i;

	for (i = 0; i < MANY; i++)
		prefetch(&late[i]);
}

static __attribute__((noinline)) void ask_busy(void)
{
	int i;

	for (i = 0; i < 1000; i++) {
		busy.bytes[i % LINE]++;
		prefetch(&busy);
	}
}

/* Four lines past the end of its object, by a walk over it. */
static __attribute__((noinline)) void ask_past(void)
{
	int i;

	for (i = 0; i < 16; i++) {
		prefetch(object + i + 4);
		object[i].bytes[0]++;
	}
}

static __attribute__((noinline)) void ask_unmapped(void)
{
	struct line *gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	for (i = 0; i < 10; i++)
		prefetch(gone + i);
	munmap(gone, 4096);
}

/* The kernel uses what is asked for. */
static __attribute__((noinline)) void ask_read(void)
{
	int fd = open("/dev/zero", O_RDONLY), i;

	for (i = 0; i < 4; i++)
		prefetch(&buffer[i]);
	if (read(fd, buffer, sizeof(buffer)) != (ssize_t)sizeof(buffer))
		_exit(1);
	close(fd);
}

static __attribute__((noinline)) void ask_tail(void)
{
	int i;

	for (i = 0; i < 10; i++)
		prefetch(&tail[i]);
}

int main(int argc, char **argv)
{
	int i;

	lines = argc > 1 ? atoi(argv[1]) : lines;
	object = aligned_alloc(LINE, 16 * LINE);
	if (!object || lines * 3 > FAR || !malloc(65536)) /* what lies behind the object is nobody's */
		return 1;
	printf("ask_never %d %d 0 0\nask_soon %d 0 %d 0\nask_late %d %d 0 0\nask_past 16 4 12 0\n", MANY, MANY, MANY, MANY, MANY, MANY);
	printf("ask_unmapped 10 10 0 0\nask_read 4 0 4 0\nask_tail 10 0 0 10\nask_busy 1000\n");
	fflush(stdout);
	ask_never();
	ask_late();
	ask_soon();
	for (i = 0; i < MANY; i++)
		soon[i].bytes[0]++;
	ask_past();
	ask_busy();
	ask_unmapped();
	ask_read();
	others(3 * lines); /* two eras are over, whenever this one began */
	for (i = 0; i < MANY; i++)
		late[i].bytes[0]++;
	ask_tail();
	_exit(0);
}
