/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target.h - a process that runs already: can it be measured, and if not, why.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "err.h"

/*
 * Is @pid a process that we may look into?  Returns 0; -ESRCH: gone, a zombie, or
 * a thread (which process is said); -EINVAL: hotvar itself or a kernel thread;
 * -EACCES: not ours, or guarded; -ENOENT: no /proc, or another PID namespace's.  Each with @e.
 */
int target_check(pid_t pid, struct err *e);

/* Is /proc mounted, and for our PID namespace?  0, or -ENOENT with @e, which says that @what cannot be followed. */
int target_proc(const char *what, struct err *e);

/* Who traces task @tid: 0 nobody, or -ESRCH.  *@name is the tracer's command, "" if not known. */
pid_t target_tracer(pid_t tid, char name[64]);

/* A line of /proc/@tid/status, "Tgid:" say, as a number; -1 if there is none. */
long target_status(pid_t tid, const char *key);

/*
 * Did its last exec change its ids, or raise its privileges?  There the kernel ends all
 * perf events of the task ("Disable monitoring for regular users" in begin_new_exec()), root's too.
 */
bool target_guarded(pid_t tid);

/* Its state, as /proc/@tid/stat has it ('R', 'Z'); '\0' if it is gone. */
char target_state(pid_t tid);
/* Process @pid is there, and one of its threads, be it not the first one, has not ended. */
bool target_is_alive(pid_t pid);
/* It is stopped by job control. */
bool target_is_stopped(pid_t pid);

#endif /* TARGET_H */
