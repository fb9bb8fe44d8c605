/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stop_wait.h - wait for the next stop of any tracee, also when there are thousands of them.
 *
 * wait4(-1) goes through the tracees in the kernel, one by one, each time: with ten thousand that takes longer than
 * all the rest.  A wait for one of them does not (since Linux 5.14).  It is mostly the same few that stop: those
 * are asked first.  SIGCHLD tells of one more, and all are gone through a few hundred times a second, and as long as
 * that finds new ones.  While it does, as when all have been interrupted, they are asked one by one as well.
 *
 * Of the thread that traces.
 */
#ifndef STOP_WAIT_H
#define STOP_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracees.h"

enum { STOP_WAIT_RECENT = 32 };

struct stop_wait {
	pid_t recent[STOP_WAIT_RECENT]; /* the last ones that stopped, 0: none */
	size_t next;		/* where the next of them goes */
	size_t turn;		/* who is asked first: all in turn */
	unsigned run;		/* how many in a row were recent ones */
	size_t at;		/* in the table: who is asked next when most have stopped */
	bool bulk;		/* going through all found a new one: many may have stopped */
	bool recent_first;	/* going through all found one of them: they are to be asked */
	bool kept;		/* SIGCHLD is blocked */
	uint64_t scanned_ns;	/* when going through all found nothing, last */
};

/* As waitpid(-1, status, __WALL | __WNOTHREAD) with the tracees @t; may also be interrupted by nothing (EINTR). */
pid_t stop_wait(struct stop_wait *w, const struct tracees *t, int *status);

#endif /* STOP_WAIT_H */
