/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watchpoints.h - the processor's own watchpoints on variables of tasks, and what comes of them.
 *
 * A point is one variable of one task: an event of perf's on each CPU, which no other task inherits, so that each is set while
 * its task is stopped or has nothing of the variable yet, and none is missed or counted twice.  The kernel counts every hit, and
 * writes a record of it as long as its ring has room: hits without a record are told as lost, and how many they are is exact.
 *
 * No privilege is needed for what may be traced, up to kernel.perf_event_paranoid = 2.  The kernel's own accesses in system
 * calls are no hits.  Used by one thread.
 */
#ifndef WATCHPOINTS_H
#define WATCHPOINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "stream.h"
#include "tracker.h"

enum { WATCHPOINTS_MAX = STREAM_WATCHES_MAX }; /* that an x86 CPU has */

/* Variables: @v, borrowed, are as they were given, "NAME", "NAME+OFFSET,SIZE" or "START-END"; @name is as watch.h has it. */
struct watchpoints_ask {
	const char *v[WATCHPOINTS_MAX];
	char name[WATCHPOINTS_MAX][1024];
	uint64_t offset[WATCHPOINTS_MAX];
	uint32_t size[WATCHPOINTS_MAX]; /* 0: all of it */
	size_t n;
};

/* Add @text.  0; -EEXIST: it is there; -EINVAL; -ERANGE: not 1, 2, 4 or 8 bytes; -ENOSPC: there are four. */
int watchpoints_ask_add(struct watchpoints_ask *a, const char *text);

struct watchpoints;

/* Both are borrowed.  NULL and @e: refused, not there, no memory; each with what mends it. */
struct watchpoints *watchpoints_new(struct tracker *t, struct stream *out, struct err *e);
void watchpoints_free(struct watchpoints *w);

/* Can [@start, @start + @size) be one: 1, 2, 4 or 8 bytes at a multiple of that? */
bool watchpoints_fit(uint64_t start, uint64_t size);

/*
 * Set variable number @watch of task @tid, of process @pid and address space @mm; nothing if it has that already.  0; -ESRCH: it
 * is gone; -ENOSPC: the processor's are all taken; -EMFILE; or -errno.
 */
int watchpoints_set(struct watchpoints *w, pid_t pid, pid_t tid, uint32_t mm, uint32_t watch, uint64_t start, uint32_t size,
		    uint64_t time_ns);

/* Take all of @tid away; or variable @watch of all tasks in @mm. */
void watchpoints_unset(struct watchpoints *w, pid_t tid, uint64_t time_ns);
void watchpoints_unset_in(struct watchpoints *w, uint32_t mm, uint32_t watch, uint64_t time_ns);

/* Put what came so far to the stream: now and then, and before each map event. */
void watchpoints_drain(struct watchpoints *w, uint64_t time_ns);

/* Accesses so far, also those of which nothing else is known. */
uint64_t watchpoints_hits(const struct watchpoints *w);

/* Why watchpoints_set() has failed with -@code, for a person. */
int watchpoints_refused(int code, struct err *e);

#endif /* WATCHPOINTS_H */
