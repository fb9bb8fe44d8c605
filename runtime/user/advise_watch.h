/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_watch.h - a process, and those that it starts, watched for whether huge pages would help them: samples, and looks.
 *
 * Samples are perf's, with registers, of all of them.  A process that it starts is watched from when it has run for
 * some 10 ms, each for itself.  All calls from one thread.
 */
#ifndef ADVISE_WATCH_H
#define ADVISE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "advise_process.h"
#include "err.h"

#define ADVISE_HZ	   10000 /* samples a second of CPU time */
#define ADVISE_INTERVAL_NS 100000000

struct advise_watch;

/*
 * Watch process @pid, which runs, or (@on_exec) will execute a program.  Looks are @interval_ns apart, or
 * further where one takes more than a tenth of that.  NULL and @e: it is not there, no memory.
 */
struct advise_watch *advise_watch_new(pid_t pid, bool on_exec, uint64_t interval_ns, uint64_t reach, struct err *e);
void advise_watch_free(struct advise_watch *w);

/* The first has executed a program: watching begins anew. */
void advise_watch_executed(struct advise_watch *w);

/* Take samples in; look if it is due, or @now.  -ESRCH: the first is gone. */
int advise_watch_tick(struct advise_watch *w, bool now);

/* Wait for samples, up to @ms; ends early at a signal. */
void advise_watch_wait(struct advise_watch *w, int ms);

/* The process that was asked for is number 0; then those that it started, ended ones, too. */
size_t advise_watch_n(const struct advise_watch *w);
struct advise_process *advise_watch_process(const struct advise_watch *w, size_t i);
/* Why there are no samples; NULL: there are. */
const char *advise_watch_no_samples(const struct advise_watch *w);

struct advise_watched {
	unsigned looks;	      /* at the first, as interval_ns and cleared */
	uint64_t interval_ns; /* on the average */
	uint64_t samples, unproven; /* of all that are watched, as advise_jumps.h has them */
	uint64_t lost;	      /* samples that the kernel had no room for, and accesses */
	uint64_t unread;      /* of all, left out since there was too much new code */
	uint64_t unwatched;   /* samples of processes that ran for too short a time, or were too many */
	size_t left;	      /* processes that it has started and that run still; 0 without samples */
	pid_t left_one;	      /* one of these, or 0 */
	uint64_t guarded;     /* processes that may not be looked at, at the last time */
	bool starved;	      /* there were not always the open files that a look, or one more process, takes */
	bool cleared;	      /* reference bits could be cleared: else touched pages are those since the start */
};
void advise_watch_told(const struct advise_watch *w, struct advise_watched *out);

#endif /* ADVISE_WATCH_H */
