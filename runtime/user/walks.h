/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walks.h - which way threads go on from where they are, some thousand instructions at a time.
 *
 * Now and then a thread is made to stand still (standstill.h), and what its code will do next is done here (walker.h) before it goes
 * on.  Walks come in bursts, when we are awake anyway.  Each is of the thread of a sample not long ago, so that time
 * decides whose, and begins at a random moment.  How many there are is bounded by a part of the time the program runs.
 *
 * No privilege is needed for what may be sampled.  Used by one thread.
 */
#ifndef WALKS_H
#define WALKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "perf_record.h"
#include "perf_ring.h"
#include "walker.h"

struct walks;

/*
 * Spend @share of the time samples stand for.  Threads that shall have no timer of their own stand still at samples that come to @r,
 * which outlives it (overhear.h); NULL: they are left out.  NULL, errno set: no memory, or none that may be executed.
 */
struct walks *walks_new(double share, struct perf_rings *r);
void walks_free(struct walks *w);

/* A sample of @ns, taken at @time_ns on @cpu, fell on thread @tid of @pid, in the address space of number @mm. */
void walks_saw(struct walks *w, pid_t pid, pid_t tid, uint32_t mm, uint32_t cpu, uint64_t time_ns, uint64_t ns);

/*
 * Call it when awake, with all samples seen: does a burst of walks, if there is enough to spend.  Takes some milliseconds at most; where
 * this thread may run is as before then.  Returns how many there are to take.
 */
int walks_step(struct walks *w, uint64_t now_ns);

/* A thread was at @at, in the address space of number @mm, and went the way @path from there.  @fs_base: 0, not known. */
typedef void (*walks_fn)(void *ctx, const struct perf_record *at, uint32_t mm, uint64_t fs_base, const struct walk_path *path);

/* Hand on those of the last burst. */
void walks_take(struct walks *w, walks_fn fn, void *ctx);

/* How large a part of the walks gets far, 0 .. 1; 0 if there were few. */
double walks_tell(const struct walks *w);

/* No timer is left, and no thread. */
void walks_stop(struct walks *w);

struct walks_counts {
	uint64_t walks;		/* handed on, */
	uint64_t insns;		/* and their instructions */
	uint64_t far;		/* of them, those that got far enough to tell of the loops they began in */
	uint64_t by_end[WALK_ENDS]; /* why they ended there */
	uint64_t moved;		/* the thread had not stood still: thrown away */
	uint64_t asleep;	/* it did not run */
	uint64_t elsewhere;	/* on a CPU that we may not use */
	uint64_t refused;	/* no timer, or none that can be judged */
	uint64_t heard;		/* handed on, of threads that had no timer of their own */
	uint64_t dear;		/* left out, since they would slow threads down that take turns all the time */
	uint64_t late;		/* times that we had to wait for the CPU: after some there are none any more */
	uint64_t spent_ns;	/* of the program's time */
	uint64_t apart_ns;	/* of it, what other threads of ours have used */
};
const struct walks_counts *walks_counts(const struct walks *w);

#endif /* WALKS_H */
