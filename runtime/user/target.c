// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * target.c - what /proc says of a process before anything is done to it.
 */
#include "config.h"

#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"

long target_status(pid_t tid, const char *key)
{
	char buf[4096], *line;
	size_t n = strlen(key);

	if (proc_read(tid, "status", buf, sizeof(buf)) < 0)
		return -1;
	for (line = buf; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, n))
			return strtol(line + n, NULL, 10);
	}
	return -1;
}

char target_state(pid_t tid)
{
	struct proc_stat st;

	proc_stat(tid, &st);
	return st.state;
}

pid_t target_tracer(pid_t tid, char name[64])
{
	long tracer = target_status(tid, "TracerPid:");

	name[0] = '\0';
	if (tracer <= 0)
		return tracer < 0 ? -ESRCH : 0;
	proc_comm((pid_t)tracer, name);
	return (pid_t)tracer;
}

/* A thread of @pid that has not ended, 0 if there is none: its first thread may be a zombie long before. */
static pid_t living_thread(pid_t pid)
{
	char path[64];
	const struct dirent *d;
	pid_t living = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !living && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);
		char state = tid > 0 ? target_state(tid) : '\0';

		if (state && state != 'Z' && state != 'X')
			living = tid;
	}
	if (dir)
		closedir(dir);
	return living;
}

/* Kernel threads have no memory: their "statm" is all zero. */
static bool is_kernel_thread(pid_t pid)
{
	char buf[64];

	return target_status(pid, "Kthread:") == 1 ||
	       (proc_read(pid, "statm", buf, sizeof(buf)) > 0 && buf[0] == '0');
}

int target_check(pid_t pid, struct err *e)
{
	char path[64];
	pid_t living;
	long tgid;
	int fd;

	if (access("/proc/self/stat", R_OK))
		return err_set(e, ENOENT,
			       "cannot follow process %d: /proc is not mounted; mount -t proc proc /proc",
			       (int)pid);
	if (pid == getpid())
		return err_set(e, EINVAL,
			       "cannot follow process %d: it is hotvar itself; name another one",
			       (int)pid);
	if (pid <= 0 || !target_state(pid))
		return err_set(e, ESRCH,
			       "cannot follow process %d: no such process; see which there are: ps -e",
			       (int)pid);
	tgid = target_status(pid, "Tgid:");
	if (tgid > 0 && tgid != pid)
		return err_set(e, ESRCH,
			       "cannot follow process %d: it is a thread of process %ld; use -p %ld",
			       (int)pid, tgid, tgid);
	living = living_thread(pid);
	if (!living)
		return err_set(e, ESRCH,
			       "cannot follow process %d: it has ended and is a zombie until its parent %ld waits for it; name a living one",
			       (int)pid, target_status(pid, "PPid:"));
	if (is_kernel_thread(living))
		return err_set(e, EINVAL,
			       "cannot follow process %d: it is a kernel thread, which has no memory map; name a user process",
			       (int)pid);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)living);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno == ENOENT || errno == ESRCH)
		return err_set(e, ESRCH, "cannot follow process %d: it has just ended; start it again",
			       (int)pid);
	return err_set(e, errno,
		       "cannot follow process %d: it is not ours (user %ld) or guards its memory: %s; run hotvar as its user or as root",
		       (int)pid, target_status(pid, "Uid:"), strerror(errno));
}
