/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_watch.h - one process watched for whether huge pages would help it: samples, and looks.
 *
 * Samples are perf's, with registers; the code around them is read from the process's memory.  At
 * each look the reference bits are cleared, which is all that is done to it.
 * All calls from one thread.
 */
#ifndef ADVISE_WATCH_H
#define ADVISE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "advise_regions.h"
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

/* It has executed a program: watching begins anew. */
void advise_watch_executed(struct advise_watch *w);

/* Take samples in; look if it is due, or @now.  -ESRCH: it is gone. */
int advise_watch_tick(struct advise_watch *w, bool now);

/* Wait for samples, up to @ms; ends early at a signal. */
void advise_watch_wait(struct advise_watch *w, int ms);

struct advise_regions *advise_watch_regions(struct advise_watch *w);
/* NULL: there are no samples, and *@why says why. */
const struct advise_jumps *advise_watch_jumps(const struct advise_watch *w, const char **why);

struct advise_watched {
	unsigned looks;
	uint64_t interval_ns; /* on the average */
	uint64_t lost;	      /* samples that the kernel had no room for */
	bool cleared;	      /* reference bits could be cleared: else touched pages are those since the start */
};
void advise_watch_told(const struct advise_watch *w, struct advise_watched *out);

#endif /* ADVISE_WATCH_H */
