/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * breakpoints.h - where control goes from chosen instructions, hit by hit.
 *
 * Timer samples say where time goes; a branch whose outcome has to wait for memory looks
 * unlike what it does.  A breakpoint of the CPU's own at the branch sees it as often
 * as it runs, with all registers.  In each round a few are set where samples fell
 * and little is known yet; each ends by itself after a few hits.  How many there are is
 * bounded by a part of the time the program runs.
 *
 * No privilege is needed for what may be sampled.  Used by one thread.
 */
#ifndef BREAKPOINTS_H
#define BREAKPOINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "perf_record.h"

struct breakpoints;

/* Spend @share of the time samples stand for.  NULL: no memory. */
struct breakpoints *breakpoints_new(double share);
void breakpoints_free(struct breakpoints *b);

/* From now on spend less: so large a part, 0 .. 1, of where control goes is told by others (walks.h). */
void breakpoints_beside(struct breakpoints *b, double told);

/* A sample of @ns fell on @ip of thread @tid, in the address space of number @mm. */
void breakpoints_saw(struct breakpoints *b, pid_t pid, pid_t tid, uint32_t mm, uint64_t ip,
		     bool is32, uint64_t ns);

/*
 * Call it when breakpoints_next_ns() has come: begins a round, if there is something to spend, or ends
 * one.  Then each of its hits goes to @fn as a sample record, those of one place in time order.
 */
void breakpoints_step(struct breakpoints *b, uint64_t now_ns, perf_record_fn fn, void *ctx);
uint64_t breakpoints_next_ns(const struct breakpoints *b);

/* Thread @tid has ended: what hits there are of it go to @fn now, while it is known what they mean. */
void breakpoints_gone(struct breakpoints *b, pid_t tid, perf_record_fn fn, void *ctx);

/* End the round, if there is one: no breakpoint is left. */
void breakpoints_stop(struct breakpoints *b, perf_record_fn fn, void *ctx);

struct breakpoints_counts {
	uint64_t hits;
	uint64_t rounds;
	uint64_t refused;  /* breakpoints that could not be set */
	uint64_t dear;	   /* not set, since they would slow threads down that take turns all the time */
	uint64_t spent_ns; /* of the program's time, as far as the gaps between hits tell */
	uint64_t late;	   /* hits that were no fair choice, and left out */
	uint64_t lost;	   /* hits for which there was no room */
	uint64_t forgotten; /* instructions for which the table had no room */
};
const struct breakpoints_counts *breakpoints_counts(const struct breakpoints *b);

#endif /* BREAKPOINTS_H */
