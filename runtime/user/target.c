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
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */

/* What follows @key in /proc/@tid/status, a number of @base; -1 if there is none. */
static long long status_number(pid_t tid, const char *key, int base)
{
	char buf[4096], *line;
	size_t n = strlen(key);

	if (proc_read(tid, "status", buf, sizeof(buf)) < 0)
		return -1;
	for (line = buf; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, n))
			return strtoll(line + n, NULL, base);
	}
	return -1;
}

long target_status(pid_t tid, const char *key)
{
	return (long)status_number(tid, key, 10);
}

/* "Uid:	0	65534	65534	65534" in /proc/@tid/status: real and effective. */
static bool ids_of(const char *status, const char *key, unsigned long ids[2])
{
	const char *at = strstr(status, key);
	char *end;

	if (!at)
		return false;
	ids[0] = strtoul(at + strlen(key), &end, 10);
	ids[1] = strtoul(end, NULL, 10);
	return true;
}

bool target_guarded(pid_t tid)
{
	unsigned long uid[2], gid[2];
	char status[4096], path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)tid);
	if (proc_read(tid, "status", status, sizeof(status)) < 0 || stat(path, &st) ||
	    !ids_of(status, "\nUid:", uid) || !ids_of(status, "\nGid:", gid))
		return false;
	return uid[0] != uid[1] || gid[0] != gid[1] || st.st_uid != uid[1];
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

bool target_is_alive(pid_t pid)
{
	char state = target_state(pid);
	int ended;

	if (state && state != 'Z' && state != 'X')
		return true;
	/* Threads that are listed one after the other may each end meanwhile, and others go on; /proc may not show it. */
	ended = proc_has_ended(pid);
	return ended < 0 ? state && living_thread(pid) : !ended;
}

bool target_is_stopped(pid_t pid)
{
	return target_state(proc_living(pid)) == 'T';
}

/* What ends has no memory either, so that tells nothing. */
static bool is_kernel_thread(pid_t pid)
{
	struct proc_stat st;

	return !proc_stat(pid, &st) && st.flags & PF_KTHREAD;
}

/*
 * Its memory map was refused with @code.  Capabilities are the last of what the kernel compares (ptrace(2),
 * "Ptrace access mode checking"): to have all of the process's, or CAP_SYS_PTRACE where it lives.
 */
static int refused(pid_t pid, int code, struct err *e)
{
	long uid = target_status(pid, "Uid:");
	long long theirs = status_number(pid, "CapPrm:", 16);
	long long ours = status_number(getpid(), "CapPrm:", 16);

	if (geteuid() && uid != (long)geteuid())
		return err_set(e, code,
			       "cannot follow process %d: it is not ours but user %ld's (%s); run hotvar as that user or as root",
			       (int)pid, uid, strerror(code));
	if (geteuid())
		return err_set(e, code,
			       "cannot follow process %d: it is ours, but guards its memory as set-user-ID programs do, or has privileges (%s); run hotvar as root",
			       (int)pid, strerror(code));
	if (theirs > 0 && ours >= 0 && theirs & ~ours)
		return err_set(e, code,
			       "cannot follow process %d: the kernel refuses its memory map to us, though we are root (%s): it has capabilities that we lack (0x%llx); run hotvar outside of this container, or start that with --privileged",
			       (int)pid, strerror(code), theirs & ~ours);
	return err_set(e, code,
		       "cannot follow process %d: the kernel refuses its memory map to us, though we are root (%s): a user namespace or a security module guards it; run hotvar outside of this container",
		       (int)pid, strerror(code));
}

/*
 * Without a few descriptors each question to /proc goes unanswered, which would pass for a
 * process that is not there.
 */
static int try_proc(void)
{
	int a = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	int b = a < 0 ? -1 : open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	int err = b < 0 ? -errno : 0;

	if (a >= 0)
		close(a);
	if (b >= 0)
		close(b);
	return err;
}

int target_proc(const char *what, struct err *e)
{
	if (proc_is_ours())
		return 0;
	if (access("/proc/version", F_OK))
		return err_set(e, ENOENT, "cannot follow %s: /proc is not mounted; mount -t proc proc /proc", what);
	return err_set(e, ENOENT,
		       "cannot follow %s: /proc is of another PID namespace, and calls processes by other numbers; run: unshare --mount-proc hotvar ...",
		       what);
}

static int no_files(pid_t pid, int code, struct err *e)
{
	return err_set(e, -code, "cannot follow process %d: %s; raise: ulimit -n", (int)pid, strerror(-code));
}

/* proc(5), hidepid=2: what is of another user, or guards its memory, is not shown at all. */
static int no_state(pid_t pid, struct err *e)
{
	if (pid > 0 && !proc_has_ended(pid))
		return err_set(e, EACCES,
			       "cannot follow process %d: /proc hides it from us (its mount option hidepid): it is not ours, or guards its memory; run hotvar as root",
			       (int)pid);
	return err_set(e, ESRCH, "cannot follow process %d: no such process; see which there are: ps -e", (int)pid);
}

int target_check(pid_t pid, struct err *e)
{
	char what[32];
	long tgid;
	int fd, err = try_proc();

	if (err == -EMFILE || err == -ENFILE)
		return no_files(pid, err, e);
	snprintf(what, sizeof(what), "process %d", (int)pid);
	err = target_proc(what, e);
	if (err)
		return err;
	if (pid == getpid())
		return err_set(e, EINVAL,
			       "cannot follow process %d: it is hotvar itself; name another one",
			       (int)pid);
	if (pid <= 0 || !target_state(pid))
		return no_state(pid, e);
	tgid = target_status(pid, "Tgid:");
	if (tgid > 0 && tgid != pid)
		return err_set(e, ESRCH,
			       "cannot follow process %d: it is a thread of process %ld; use -p %ld",
			       (int)pid, tgid, tgid);
	if (!target_is_alive(pid))
		return err_set(e, ESRCH,
			       "cannot follow process %d: it has ended and is a zombie until its parent %ld waits for it; name a living one",
			       (int)pid, target_status(pid, "PPid:"));
	if (is_kernel_thread(pid))
		return err_set(e, EINVAL,
			       "cannot follow process %d: it is a kernel thread, which has no memory map; name a user process",
			       (int)pid);
	fd = proc_open(pid, "maps", O_RDONLY);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (fd == -ESRCH)
		return err_set(e, ESRCH, "cannot follow process %d: it has just ended; start it again",
			       (int)pid);
	if (fd == -EMFILE || fd == -ENFILE)
		return no_files(pid, fd, e);
	return refused(pid, -fd, e);
}
