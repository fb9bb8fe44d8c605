/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stops.h - samples without perf: stop a running thread, read its registers.
 *
 * Only threads that are runnable are asked: a sleeping one has nothing to tell,
 * and interrupting its system call could be noticed.  A sample stands for the CPU
 * time its thread has used since the one before.
 */
#ifndef STOPS_H
#define STOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "stream.h"
#include "tracees.h"

#define STOPS_MAX_HZ 200 /* a stop costs some 20-50 us */

struct stops {
	unsigned hz;
	unsigned skip;	   /* ticks still to be left out, because looking took too long */
	uint64_t skipped;  /* ticks left out in all */
};

void stops_init(struct stops *s, unsigned hz);

/* What @t has used so far is nobody's. */
void stops_begin(struct tracee *t);

/* PTRACE_INTERRUPT the threads that run and have used CPU time since their last sample. */
void stops_ask(struct stops *s, struct tracees *tasks);

/*
 * The registers of @t, which is stopped, and the time since its last sample into @out, whose ids and
 * time the caller sets.  False if it is gone or has not run since.
 */
bool stops_read(struct tracee *t, struct stream_sample *out);

#endif /* STOPS_H */
