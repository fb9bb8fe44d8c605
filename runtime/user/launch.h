/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch.h - start CMD so that it can be watched from its first instruction.
 *
 * The child is forked and waits; the engine opens its events on the pid or
 * seizes it; launch_go() then lets it execute CMD.  CMD keeps hotvar's stdin,
 * stdout, stderr, process group, terminal, signal mask and dispositions: nothing
 * of hotvar's leaks into it.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "err.h"

struct launch {
	pid_t pid;
	int go_fd;  /* a byte lets the child go on, EOF (hotvar died) ends it; -1 after that */
	int why_fd; /* the child's errno comes here if exec fails; EOF at success */
	int gate_errno; /* why the gate that was asked for could not be installed; 0: it is */
	char path[4096]; /* the file that will be executed, found along PATH */
};

/*
 * Find argv[0] as execvp(3) does and check what can be told beforehand.  Returns
 * 0, or -errno with e->status 127 (no such command) or 126 (cannot be executed:
 * directory, no x bit) and a text with what to do.
 */
int launch_find(struct launch *l, char *const argv[], struct err *e);

/*
 * Fork the child.  @gated: it installs the seccomp gate (gate.h) before it waits, so that
 * l->gate_errno is known on return; it must be seized before launch_go(), because a
 * gated execve without a tracer fails.  Returns 0 or -errno and @e.
 */
int launch_fork(struct launch *l, char *const argv[], bool gated, struct err *e);

/* What hotvar does with signals as it was found, for who is about to execute another program in its place. */
void launch_restore_signals(void);

/* Let the child execute.  Does not wait. */
void launch_go(struct launch *l);

/*
 * What became of exec: 1 it ran, 0 not known yet (only with !@wait), or -errno
 * and @e with status 126 or 127; the child is then reaped.
 */
int launch_result(struct launch *l, bool wait, struct err *e);

/* Kill and reap the child if it has not executed yet; close what is open. */
void launch_abort(struct launch *l);

/* Is @path a set-uid or set-gid file that would change who we are?  For the warning. */
bool launch_changes_ids(const char *path);

/* Why the kernel will show the process that executes @path to root alone, if not for its ids.  NULL: it will not. */
const char *launch_unreadable(const char *path);

#endif /* LAUNCH_H */
