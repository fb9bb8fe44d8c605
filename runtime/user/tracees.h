/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracees.h - the tasks that we trace, by tid.
 *
 * A tracee is made at the first news of it, be that its parent's event or its
 * own first stop, and goes when it is reaped.  Pointers stay good until then.
 */
#ifndef TRACEES_H
#define TRACEES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "call_args.h"

struct tracee {
	pid_t tid, pid;
	bool told;	   /* the tracker knows of it, or need not: its parent's event came, or it was attached */
	bool parked;	   /* stopped at its first stop until its parent's event comes */
	bool park_stopped; /* that stop is a group-stop */
	bool started;	   /* its first stop was seen */
	bool mid_call;	   /* attached: may be inside a call whose entry was not seen */
	bool listening;	   /* in a group-stop, left there */
	bool exiting;	   /* past PTRACE_EVENT_EXIT */
	bool asked;	   /* a PTRACE_INTERRUPT of ours is under way, for a sample */
	bool in_call;	   /* args holds a mapping call that has not returned */
	struct call_args args; /* of the last call that matters */
	uint64_t run_ns;   /* CPU time used when it was last sampled */
	unsigned ticks;	   /* that it is parked */
};

struct tracees {
	struct tracee **slots; /* hash by tid, linear probing */
	size_t nslots, n;
};

void tracees_fini(struct tracees *t);

struct tracee *tracees_find(const struct tracees *t, pid_t tid);
/* The tracee @tid, made if there is none; NULL: no memory. */
struct tracee *tracees_get(struct tracees *t, pid_t tid);
void tracees_drop(struct tracees *t, struct tracee *x);

/*
 * Walk, from *i == 0: while ((x = tracees_next(t, &i))).  The one just returned may be
 * changed, not dropped.
 */
struct tracee *tracees_next(const struct tracees *t, size_t *i);

/* How many tasks of process @pid have not begun to exit. */
size_t tracees_alive(const struct tracees *t, pid_t pid);

#endif /* TRACEES_H */
