// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ptracer_attach.c - how tracing of a running process begins and ends.
 */
#include "config.h"

#include "ptracer.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target.h"
#include "ticker.h"

#define ATTACH_PASSES 100 /* a process that outruns that many is a thread bomb */
#define DETACH_TICKS  20  /* waits in a row that a timer has interrupted before the rest is left to the kernel */

/* kernel.yama.ptrace_scope, 0 where there is no Yama. */
static int yama_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%d", &scope) != 1)
		scope = 0;
	fclose(f);
	return scope;
}

int ptracer_refused(pid_t tid, int code, struct err *e)
{
	int scope = yama_scope();
	char tracer[64], what[64] = "trace anything";
	pid_t by;

	if (tid)
		snprintf(what, sizeof(what), "trace process %d", (int)tid);
	if (code == ESRCH)
		return err_set(e, code, "cannot %s: it has just ended; start it again", what);
	by = target_tracer(tid ? tid : getpid(), tracer);
	if (by > 0 && !tid) /* another source may do */
		return err_set(e, code,
			       "cannot %s: process %d (%s) traces hotvar, and what it starts with it; run hotvar without that",
			       what, (int)by, tracer);
	if (by > 0)
		return err_set(e, EBUSY,
			       "cannot %s: it is already traced by process %d (%s); end that first",
			       what, (int)by, tracer);
	if (code == EPERM && scope == 3)
		return err_set(e, code,
			       "cannot %s: kernel.yama.ptrace_scope=3 forbids it to all until the next boot; boot with another setting",
			       what);
	if (code == EPERM && (scope == 2 || (scope == 1 && tid)) && geteuid())
		return err_set(e, code,
			       "cannot %s: kernel.yama.ptrace_scope=%d forbids it; run hotvar as root, or: sysctl kernel.yama.ptrace_scope=0",
			       what, scope);
	if (code == EPERM && tid && geteuid())
		return err_set(e, code,
			       "cannot %s: it is not ours, or has more privileges than we have; run hotvar as root",
			       what);
	return err_set(e, code,
		       "cannot %s: ptrace is refused (%s), as containers do; start the container with --cap-add=SYS_PTRACE or --security-opt seccomp=unconfined",
		       what, strerror(code));
}

/* Attach to @tid if that is news.  1: it was; 0: not, or it is gone; -errno. */
static int attach_one(struct ptracer *p, pid_t pid, pid_t tid)
{
	struct tracee *x = tracees_find(&p->tasks, tid);
	int err;

	if (x)
		return 0;
	err = ptracer_seize(tid, 0);
	if (err == -ESRCH)
		return 0;
	if (err) {
		/* Born of one that we have: the kernel attached it to us.  Or it is dead. */
		char name[64], state = target_state(tid);
		pid_t by = target_tracer(tid, name);

		return by == getpid() || by == gettid() || by == -ESRCH || !state ||
		       state == 'Z' || state == 'X' ? 0 : err;
	}
	x = tracees_get(&p->tasks, tid);
	if (!x)
		return -ENOMEM; /* the kernel lets go of it with us */
	x->pid = pid;
	x->told = x->mid_call = true;
	p->settling++;
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	return 1;
}

/* One pass over the threads of @pid: how many are new, or -errno. */
static int attach_pass(struct ptracer *p, pid_t pid)
{
	char path[64];
	const struct dirent *d;
	int n = 0, got = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (got >= 0 && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		got = tid > 0 ? attach_one(p, pid, tid) : 0;
		n += got > 0;
	}
	closedir(dir);
	return got < 0 ? got : n;
}

int ptracer_attach(struct ptracer *p, pid_t pid, struct err *e)
{
	int got = 1, passes = 0;

	while (got > 0 && passes++ < ATTACH_PASSES)
		got = attach_pass(p, pid);
	if (got >= 0 && p->tasks.n)
		return 0;
	return ptracer_refused(pid, got < 0 ? -got : ESRCH, e);
}

void ptracer_detach(struct ptracer *p)
{
	struct tracee *x;
	unsigned ticks = 0;
	size_t i = 0;

	p->detaching = true;
	while ((x = tracees_next(&p->tasks, &i))) {
		if (!x->parked)
			ptrace(PTRACE_INTERRUPT, x->tid, 0, 0);
	}
	for (i = 0; (x = tracees_next(&p->tasks, &i));) {
		if (x->parked) {
			/* Its parent's event may still come; it may begin all the same. */
			ptrace(PTRACE_DETACH, x->tid, 0, 0);
			tracees_drop(&p->tasks, x);
			i = 0;
		}
	}
	while (p->tasks.n && ticks < DETACH_TICKS) {
		int status;
		pid_t tid = stop_wait(&p->wait, &p->tasks, &status);

		if (tid > 0) {
			ptracer_handle(p, tid, status);
			ticks = 0;
		} else if (errno == EINTR) {
			ticks += ticker_ticked();
		} else {
			break;
		}
	}
}
