// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "clock.h"

enum { NS_PER_S = 1000000000, TRIES = 16 };

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
static int take_stat(const char *text, struct proc_stat *out)
{
	const char *p = strrchr(text, ')');

	memset(out, 0, sizeof(*out));
	if (!p || p[1] != ' ' || !p[2])
		return -EPROTO;
	p += 2;
	out->state = *p;
	for (int field = 3; field <= 47 && *p; field++) {
		switch (field) {
		case 4:
			out->ppid = (pid_t)strtol(p, NULL, 10);
			break;
		case 9:
			out->flags = strtoul(p, NULL, 10);
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

/* The process's own file adds up all of its threads, and takes time for each. */
int proc_stat(pid_t tid, struct proc_stat *out)
{
	char text[2048], file[32];
	int n;

	memset(out, 0, sizeof(*out));
	snprintf(file, sizeof(file), "task/%d/stat", (int)tid);
	n = proc_read(tid, file, text, sizeof(text));
	return n < 0 ? n : take_stat(text, out);
}

int proc_stat_open(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)tid, (int)tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int proc_stat_by(int fd, struct proc_stat *out)
{
	char text[2048];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	memset(out, 0, sizeof(*out));
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return take_stat(text, out);
}

uint64_t proc_ticks_now(void)
{
	long hz = sysconf(_SC_CLK_TCK);

	return hz > 0 ? clock_ns(CLOCK_BOOTTIME) / (NS_PER_S / (uint64_t)hz) : 0;
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

/* pid_namespaces(7), "/proc and PID namespaces" */
bool proc_is_ours(void)
{
	char name[32];
	ssize_t n = readlink("/proc/self", name, sizeof(name) - 1);

	name[n > 0 ? n : 0] = '\0';
	return n > 0 && strtol(name, NULL, 10) == (long)getpid();
}

/* ---- the thread that shows what a process has ---- */

/*
 * Does thread @tid of @pid have an address space?  The first number is its size in pages.  By this path no
 * thread of another process is taken for it that has got its number since.
 */
static bool has_memory(pid_t pid, pid_t tid)
{
	char file[32], text[64];

	snprintf(file, sizeof(file), "task/%d/statm", (int)tid);
	return proc_read(pid, file, text, sizeof(text)) > 0 && text[0] != '0';
}

bool proc_has_memory(pid_t tid)
{
	return has_memory(tid, tid);
}

int proc_same_memory(pid_t a, pid_t b)
{
	long got = syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);

	if (got)
		return got < 0 ? -errno : 0;
	return proc_has_memory(b) ? 1 : -ESRCH;
}

/* pidfd_open(2): readable once the whole process has ended, whatever its first thread did. */
int proc_has_ended(pid_t pid)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	int got;

	if (p.fd < 0)
		return errno == ESRCH ? 1 : -errno;
	got = poll(&p, 1, 0);
	close(p.fd);
	return got > 0;
}

/* A thread of @pid that has memory as one after the other is asked, into @out, 0 if there is none; 0 or -errno. */
static int find_living(pid_t pid, pid_t *out)
{
	const struct dirent *d;
	char path[64];
	DIR *dir;
	int fd;

	*out = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	/* Without a descriptor none would have any: it is known before they are asked. */
	fd = dir ? open("/proc/self/statm", O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0) {
		int err = errno;

		if (dir)
			closedir(dir);
		return err == ENOENT ? -ESRCH : -err;
	}
	close(fd);
	while (!*out && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		if (tid > 0 && has_memory(pid, tid))
			*out = tid;
	}
	closedir(dir);
	return 0;
}

/* As find_living(), of a process whose first thread has none.  Those that go on may each end as they are asked, and others be there. */
static int living(pid_t pid, pid_t *out)
{
	int r = 0;

	*out = 0;
	for (int i = 0; i < TRIES && !r && !*out; i++) {
		r = find_living(pid, out);
		if (!r && !*out && proc_has_ended(pid))
			break;
	}
	return r;
}

pid_t proc_living(pid_t pid)
{
	pid_t tid = pid;

	if (!has_memory(pid, pid))
		living(pid, &tid);
	return tid ? tid : pid;
}

bool proc_goes_on(pid_t pid)
{
	pid_t tid;

	return has_memory(pid, pid) || (!living(pid, &tid) && tid);
}

/* A descriptor, or -errno. */
static int open_of(pid_t pid, pid_t tid, const char *file, int flags)
{
	char path[128];
	int fd;

	if (tid == pid)
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	else
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
	fd = open(path, flags | O_CLOEXEC);
	return fd >= 0 ? fd : errno == ENOENT ? -ESRCH : -errno;
}

/* What has memory after the file was opened had it then. */
int proc_open(pid_t pid, const char *file, int flags)
{
	int first = open_of(pid, pid, file, flags), fd = -ESRCH;
	pid_t tid;

	if ((first < 0 && first != -ESRCH && first != -EACCES && first != -EPERM) || has_memory(pid, pid))
		return first;
	for (int i = 0; i < TRIES; i++) {
		int r = living(pid, &tid);

		if (r == -EMFILE || r == -ENFILE || r == -ENOMEM) {
			fd = r;
			break;
		}
		if (!tid && r && r != -ESRCH)
			return first;
		if (r == -ESRCH && !proc_has_ended(pid)) { /* /proc hides it: proc(5), hidepid */
			fd = -EACCES;
			break;
		}
		if (!tid)
			break;
		fd = open_of(pid, tid, file, flags);
		if (fd >= 0 ? has_memory(pid, tid) : fd != -ESRCH)
			break;
		if (fd >= 0)
			close(fd);
		fd = -ESRCH;
	}
	if (first >= 0)
		close(first);
	return fd;
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
	static _Thread_local struct {
		pid_t pid, tid;
	} last; /* to list thousands of threads takes longer than to read */
	bool got = peek(pid, addr, buf, n);

	for (int i = 0; i < TRIES && !got && errno == ESRCH; i++) {
		int err;

		if ((i || last.pid != pid) && (living(pid, &last.tid) || !last.tid)) {
			last.pid = 0;
			errno = ESRCH;
			break;
		}
		last.pid = pid;
		got = peek(last.tid, addr, buf, n);
		err = errno;
		/* Was it that process's, and has it not ended before it was read? */
		if (!has_memory(pid, last.tid)) {
			got = false;
			err = ESRCH;
		}
		errno = err;
	}
	return got;
}
