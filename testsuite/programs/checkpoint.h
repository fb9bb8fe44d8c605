/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checkpoint.h - a program that changes its map writes down what the kernel shows of it, for check_maps.
 *
 * Each checkpoint first maps one page at MARK + N * STEP, so that whoever follows the map knows where in the
 * stream it is; then it appends to the log
 *
 *	checkpoint N PID TEXT
 *	(the lines of the map)
 *	end
 *
 * by system calls alone.
 */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul
#define MARK 0x6f0000000000ul
#define STEP 0x10000ul
#define HERE 0x6e0000000000ul /* where nothing else is */

static int log_fd;
static volatile int number; /* of the next checkpoint */

static _Noreturn void die(const char *what)
{
	perror(what);
	_exit(99);
}

/* This kernel cannot do it: say so. */
static __attribute__((unused)) void skip(const char *what, const char *why)
{
	printf("skip %s: %s\n", what, why);
	fflush(stdout);
}

static void checkpoint(const char *text)
{
	static char buf[1 << 20];
	size_t n;
	ssize_t got;
	int fd;

	if (mmap((void *)(MARK + (unsigned long)number * STEP), PAGE, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
		die("mark");
	fd = open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC); /* self is of a leader, which may have ended */
	n = (size_t)snprintf(buf, 256, "checkpoint %d %d %s\n", number, (int)getpid(), text);
	while ((got = read(fd, buf + n, sizeof(buf) - n - 16)) > 0)
		n += (size_t)got;
	close(fd);
	memcpy(buf + n, "end\n", 4);
	if (write(log_fd, buf, n + 4) != (ssize_t)(n + 4))
		die("log");
	number++;
}

#endif /* CHECKPOINT_H */
