// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "clock.h"

enum { NS_PER_S = 1000000000, TRIES = 8 };

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

/* The first number is the size of its address space in pages. */
bool proc_has_memory(pid_t tid)
{
	char text[64];

	return proc_read(tid, "statm", text, sizeof(text)) > 0 && text[0] != '0';
}

pid_t proc_living(pid_t pid)
{
	pid_t living = proc_has_memory(pid) ? pid : 0;
	const struct dirent *d;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = living ? NULL : opendir(path);
	while (dir && !living && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		if (tid > 0 && proc_has_memory(tid))
			living = tid;
	}
	if (dir)
		closedir(dir);
	return living ? living : pid;
}

int proc_open(pid_t pid, const char *file, int flags)
{
	char path[128];
	int fd = -1, err = ESRCH;

	/* It may end while it is asked, and another be there still. */
	for (int i = 0; i < TRIES; i++) {
		pid_t tid = proc_living(pid);

		snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, file);
		fd = open(path, flags | O_CLOEXEC);
		err = errno;
		if (proc_has_memory(tid) || proc_living(pid) == tid)
			break;
		if (fd >= 0)
			close(fd);
		fd = -1;
		err = ESRCH;
	}
	return fd >= 0 ? fd : err == ENOENT ? -ESRCH : -err;
}

static bool peek(pid_t tid, uint64_t addr, void *buf, size_t n)
{
	struct iovec to = { buf, n }, from = { (void *)(uintptr_t)addr, n };
	ssize_t got = process_vm_readv(tid, &to, 1, &from, 1, 0);

	if (got >= 0 && got != (ssize_t)n)
		errno = EFAULT;
	return got == (ssize_t)n;
}

bool proc_peek(pid_t pid, uint64_t addr, void *buf, size_t n)
{
	bool got = peek(pid, addr, buf, n);

	for (int i = 0; i < TRIES && !got && errno == ESRCH; i++) {
		pid_t tid = proc_living(pid);

		errno = ESRCH;
		if (tid == pid)
			break;
		got = peek(tid, addr, buf, n);
	}
	return got;
}
