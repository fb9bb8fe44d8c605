// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * touch_pages.c - touches known pages of mappings of every kind, and says which of them the kernel has in memory.
 *
 * Each mapping has a number of pages that no other has.  "NAME pages touched present": what it did, and
 * what its own pagemap says at the end.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, FILE_PAGES = 256, BSS_PAGES = 32 };

static char bss_area[BSS_PAGES * PAGE] __attribute__((aligned(4096)));
static int pagemap, file;
static volatile int seen; /* a load of what nobody uses is none under valgrind */

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Room for @n pages between two that nobody may use, so that no neighbour becomes one area with it. */
static char *room(size_t n)
{
	char *p = mmap(NULL, (n + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p + PAGE;
}

static char *map(size_t n, int flags, int fd)
{
	char *p = mmap(room(n), n * PAGE, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void write_pages(char *p, size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		*(volatile char *)(p + i * PAGE + 8 * (i % 100)) = 1;
}

static void read_pages(const char *p, size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		seen += *(const volatile char *)(p + i * PAGE);
}

static void say(const char *name, const char *p, size_t n, size_t touched)
{
	uint64_t v[512];
	size_t present = 0;

	if (pread(pagemap, v, n * sizeof(*v), (off_t)((uintptr_t)p / PAGE * sizeof(*v))) != (ssize_t)(n * sizeof(*v)))
		die("pagemap");
	for (size_t i = 0; i < n; i++)
		present += v[i] >> 63;
	printf("%s %zu %zu %zu\n", name, n, touched, present);
}

int main(void)
{
	char name[] = "/tmp/touch_pages.XXXXXX", *anon, *shared, *private_file, *shared_file, *zero, *zero_shared, *full, *back,
	     *moved, *to, *call, *locked, *gone;
	int zero_fd = open("/dev/zero", O_RDWR);

	pagemap = open("/proc/self/pagemap", O_RDONLY);
	file = mkstemp(name);
	if (pagemap < 0 || zero_fd < 0 || file < 0 || unlink(name))
		die("open");
	for (size_t i = 0; i < FILE_PAGES; i++)
		if (write(file, bss_area + 16 * PAGE, PAGE) != PAGE) /* in the page cache, so that neighbours can be mapped */
			die("write");
	gone = map(151, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	write_pages(gone, 0, 100);
	munmap(gone, 151 * PAGE);

	anon = map(101, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	write_pages(anon, 3, 17);
	read_pages(anon, 50, 5);
	shared = map(103, MAP_SHARED | MAP_ANONYMOUS, -1);
	write_pages(shared, 10, 9);
	private_file = map(107, MAP_PRIVATE, file);
	read_pages(private_file, 5, 1);
	write_pages(private_file, 70, 2);
	shared_file = map(109, MAP_SHARED, file);
	write_pages(shared_file, 40, 3);
	zero = map(113, MAP_PRIVATE, zero_fd);
	zero_shared = map(157, MAP_SHARED, zero_fd);
	say("zero-untouched", zero, 113, 0);
	say("zero-shared-untouched", zero_shared, 157, 0);
	write_pages(zero, 7, 4);
	write_pages(zero_shared, 20, 3);
	full = map(127, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1);
	write_pages(full, 30, 2);
	back = map(131, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	write_pages(back, 0, 40);
	if (madvise(back + 10 * PAGE, 15 * PAGE, MADV_DONTNEED))
		die("madvise");
	moved = map(137, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	write_pages(moved, 100, 20);
	to = room(139);
	if (mremap(moved, 137 * PAGE, 139 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		die("mremap");
	call = map(149, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (pread(file, call + 60 * PAGE, 6 * PAGE, 0) != 6 * PAGE)
		die("pread");
	locked = map(6, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (mlock(locked, 6 * PAGE))
		die("mlock");
	write_pages(bss_area, 3, 11);

	say("anon", anon, 101, 22);
	say("shared", shared, 103, 9);
	say("private-file", private_file, 107, 3);
	say("shared-file", shared_file, 109, 3);
	say("zero", zero, 113, 4);
	say("zero-shared", zero_shared, 157, 3);
	say("populated", full, 127, 2);
	say("given-back", back, 131, 25);
	say("moved", to, 139, 20);
	say("by-call", call, 149, 6);
	say("locked", locked, 6, 0);
	say("bss", bss_area, BSS_PAGES, 12); /* and the one that was written to the file */
	return 0;
}
