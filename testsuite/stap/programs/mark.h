/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mark.h - how a program in the booted kernel says what is right.
 *
 * A mark is a getppid() with arguments that it has no use for: a script sees them when the call
 * returns.  A checkpoint writes /proc/self/maps to $OUT/maps.PID, then marks that it has.
 */
#ifndef MARK_H
#define MARK_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MARK_CHECKPOINT	0x5353 /* a: its number */
#define MARK_ADDRESS	0x4141 /* a: an address, b: its tag */
#define MARK_NAME	0x4e4e /* a: an address, to be named only */

#define die(what) do { perror(what); _exit(99); } while (0)

static char mark_text[8 << 20];
static int mark_checkpoints;

static inline void mark(long what, long a, long b)
{
	syscall(SYS_getppid, what, a, b);
}

static inline const char *mark_out(void)
{
	const char *out = getenv("OUT");

	return out ? out : "/out";
}

/* Uses no memory but its own: what it reports is not changed by reporting it. */
static inline void checkpoint(void)
{
	char name[128], head[64];
	size_t n = 0;
	ssize_t r;
	int fd = open("/proc/self/maps", O_RDONLY), len;

	if (fd < 0)
		die("/proc/self/maps");
	while ((r = read(fd, mark_text + n, sizeof(mark_text) - n)) > 0)
		n += r;
	close(fd);
	snprintf(name, sizeof(name), "%s/maps.%d", mark_out(), getpid());
	fd = open(name, O_CREAT | O_WRONLY | O_APPEND, 0644);
	len = snprintf(head, sizeof(head), "CK %d %d\n", getpid(), ++mark_checkpoints);
	if (fd < 0 || write(fd, head, len) != len || write(fd, mark_text, n) != (ssize_t)n)
		die(name);
	close(fd);
	mark(MARK_CHECKPOINT, mark_checkpoints, 0);
}

static inline char *map(size_t n, int prot, int flags)
{
	char *p = mmap(NULL, n, prot, flags, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

#endif
