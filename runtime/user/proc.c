// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

enum { NS_PER_S = 1000000000 };

int proc_read(pid_t tid, const char *file, char *buf, size_t size)
{
	char path[64];
	ssize_t n;
	int fd, err;

	buf[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read(fd, buf, size - 1);
	err = n < 0 ? -errno : (int)n;
	close(fd);
	buf[n < 0 ? 0 : n] = '\0';
	return err;
}

/*
 *	1234 (a name) of) its own) S 1 ...
 *	pid  comm, any bytes, maybe parentheses and newlines too; then state = field 3
 */
int proc_stat(pid_t tid, struct proc_stat *out)
{
	char text[2048], file[32], *p;
	int n;

	memset(out, 0, sizeof(*out));
	/* The process's own file adds up all of its threads, and takes time for each. */
	snprintf(file, sizeof(file), "task/%d/stat", (int)tid);
	n = proc_read(tid, file, text, sizeof(text));
	if (n < 0)
		return n;
	p = strrchr(text, ')');
	if (!p || p[1] != ' ' || !p[2])
		return -EPROTO;
	p += 2;
	out->state = *p;
	for (int field = 3; field <= 47 && *p; field++) {
		switch (field) {
		case 4:
			out->ppid = (pid_t)strtol(p, NULL, 10);
			break;
		case 14: /* utime */
		case 15: /* stime */
			out->used_ticks += strtoull(p, NULL, 10);
			break;
		case 22:
			out->start_ticks = strtoull(p, NULL, 10);
			break;
		case 39:
			out->cpu = atoi(p);
			break;
		case 47:
			out->start_brk = strtoull(p, NULL, 10);
			break;
		}
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	return 0;
}

uint64_t proc_started_ns(uint64_t start_ticks)
{
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t since, now, real;

	if (!start_ticks || hz <= 0)
		return 0;
	since = (start_ticks + 1) * (NS_PER_S / (uint64_t)hz);
	/* In this order: what passes between the two makes it later, not earlier. */
	now = clock_ns(CLOCK_BOOTTIME);
	real = clock_ns(CLOCK_REALTIME);
	now = now > since ? now - since : 0;
	return real > now ? real - now : 0;
}

bool proc_comm(pid_t tid, char name[PROC_COMM])
{
	int n = proc_read(tid, "comm", name, PROC_COMM);

	if (n > 0 && name[n - 1] == '\n') /* of 15 characters there was no room for it */
		name[n - 1] = '\0';
	return name[0] != '\0';
}
