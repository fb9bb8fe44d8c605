/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_process.h - one of the processes that are watched for whether huge pages would help them.
 *
 * Samples that fell in it are given to it; the code around them is read from its memory.  At each look
 * its reference bits are cleared, which is all that is done to it.
 * All calls from one thread.
 */
#ifndef ADVISE_PROCESS_H
#define ADVISE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "advise_regions.h"
#include "err.h"
#include "perf_record.h"

/* Times that code is read between two calls of advise_process_see(): where code is new all the time, more would hold up the process. */
enum { ADVISE_PROCESS_READS = 512 };

struct advise_process {
	pid_t pid;
	char comm[17];		  /* its name, when it was first seen; "": not known */
	struct live *live;	  /* NULL: it has not executed yet */
	int mem;
	struct advise_jumps *jumps;
	struct advise_regions regions;
	uint64_t interval_ns, next_ns, last_ns, sum_ns;
	uint64_t live_next_ns;	  /* when what is mapped is looked at again */
	unsigned looks;
	unsigned reads;		  /* of code, since the last advise_process_see() */
	uint64_t unread;	  /* samples that were left out since there were too many of these */
	bool cleared;		  /* reference bits could be */
	bool ended;		  /* what was seen stays */
	bool guarded;		  /* the kernel refused the last look at its memory */
};

/* Process @pid, which has not executed yet: advise_process_begin() says when.  NULL: no memory. */
struct advise_process *advise_process_new(pid_t pid, uint64_t interval_ns, uint64_t reach);
void advise_process_free(struct advise_process *p);

/* It is there: from here on touched pages are counted, and looks come.  @clear: it ran before.  -ESRCH and @e. */
int advise_process_begin(struct advise_process *p, bool clear, struct err *e);

/* It has executed a program: watching begins anew.  -ESRCH: it is ending, and what was seen stays. */
int advise_process_executed(struct advise_process *p);

/* A sample of its own; a hit of a breakpoint. */
void advise_process_sample(struct advise_process *p, const struct perf_record *r);
void advise_process_hit(struct advise_process *p, const struct perf_record *r);

/* See what is mapped, if it is time, and let code be read again: areas that samples fall in should be known.  Here and below it is one @of as many, which share what time a look may take. */
void advise_process_see(struct advise_process *p, size_t of);

/* Look if it is due, or @now; @samples: there are any.  -errno: -ESRCH, it is gone. */
int advise_process_look(struct advise_process *p, bool now, bool samples, size_t of);

/* Is its address space gone?  It has executed another program then, or ended. */
bool advise_process_is_new(const struct advise_process *p);

#endif /* ADVISE_PROCESS_H */
