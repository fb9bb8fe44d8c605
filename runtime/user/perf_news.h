/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_news.h - what each perf record means: for the tracker, and for the stream.
 *
 * Records come in time order.  A map that was read from /proc is newer than
 * records from before the reading, which are then no news.  Where the map alone is asked for they are news all the
 * same, since what came and went before the reading is in them and nowhere else.
 */
#ifndef PERF_NEWS_H
#define PERF_NEWS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "breakpoints.h"
#include "code_capture.h"
#include "kin.h"
#include "perf_ring.h"
#include "relook.h"
#include "stream.h"
#include "tracker.h"
#include "walks.h"

enum { PERF_NEWS_MAKERS = 64, PERF_NEWS_COPIES = 256 };

/* A task that makes processes, and how many since the last look. */
struct perf_news_maker {
	pid_t tid;
	unsigned made;
	bool apart; /* perf_rings_keep_apart() has been called for it */
};

struct perf_news {
	struct tracker *t; /* all borrowed */
	struct perf_rings *rings;
	struct stream *out;
	struct code_capture *code;
	struct relook *look;
	struct breakpoints *breaks; /* NULL: none are set */
	struct walks *walks;	/* NULL: none are done */
	uint64_t last_ns;	/* time told last: the stream's never goes back */
	uint64_t samples;	/* put */
	uint64_t told_new;	/* records of all else: mappings, tasks, losses */
	unsigned hz;		/* of the samples */
	bool faults;		/* samples are page faults */
	bool calls;		/* mapping calls are told, too */
	bool wide;		/* so is what others do: perf_rings_options.wide */
	pid_t first;		/* with wide: the process that is about to execute CMD, 0: none */
	pid_t copied[PERF_NEWS_COPIES]; /* with wide: tasks that are making a copy of their memory; one may take another's place */
	uint64_t until_ns;	/* what is later is not told: the end is the same for all rings; 0: none is */
	bool lost_some;		/* the kernel has lost records, */
	pid_t strangers[PERF_NEWS_COPIES]; /* and these have been asked for their makers since; one may take another's place */
	pid_t reopened;		/* perf_news_reopen() has seen to its next exec; 0: none */
	pid_t went_on;		/* the last process whose exec ended its events, 0: none */
	uint64_t went_on_ns;	/* when new ones were there */
	uint64_t cut_off;	/* processes that perf may not look at since an exec */
	uint64_t late;		/* processes that new events were opened for after such an exec */
	uint64_t lost_samples;	/* between such an exec and new events; not yet told */
	uint64_t homeless;	/* samples of tasks that were gone before they could be known */
	struct kin kin;		/* owned: processes that were made and have not ended */
	uint64_t ended, unsampled; /* processes that ended; of them, without one sample */
	uint64_t since_ticks;	/* processes that were made later by those that are followed are followed, too */
	bool lost;		/* the kernel lost records: look again, */
	uint64_t lost_since_ns;	/* the first of them no earlier than this, */
	uint64_t recover_ns;	/* but not before this: it costs much, and more would be lost meanwhile */
	bool recovers;		/* just now: what looks do not find to be as it was told was not told */
	bool looked;		/* at some that are quiet */
	uint64_t lost_ns;	/* when all were looked at since it had, 0: never */
	uint64_t overlooked;	/* records from before that look and after what was lost, mappings that a look came too late for; not yet told */
	struct perf_news_maker makers[PERF_NEWS_MAKERS]; /* by tid; one may take another's place */
	struct perf_ring_counts told; /* what perf_news_tell_losses() has told of */
	uint64_t skipped_told;
};

/* @pid has executed a program just now: ask where its break begins, and if that ended its events, open others at once. */
void perf_news_reopen(struct perf_news *n, pid_t pid);

/* A perf_record_fn; @ctx is a struct perf_news. */
void perf_news_take(void *ctx, const struct perf_record *r);

/* How many things have come that were not there before: all records but samples, changes of maps that a look has found, and pages of code. */
uint64_t perf_news_new(const struct perf_news *n);

/* Take all records there are, and look at what they leave in doubt. */
void perf_news_drain(struct perf_news *n);

/* Do a burst of walks, begin or end a round of breakpoints, when that is due, and put what they met; not @more: end it. */
void perf_news_breaks(struct perf_news *n, bool more);

/* Look at the maps that are due, and after a loss at who is there and at all maps: right after a drain, at each tick. */
void perf_news_look(struct perf_news *n, uint64_t now_ns);
/* The last drain is over: if what was lost is not found yet, it is now. */
void perf_news_recover(struct perf_news *n);

/* The kernel has lost records, says @r. */
void perf_news_lost(struct perf_news *n, const struct perf_record *r);

/* Put what was lost since the last call: here, in the rings, in the tracker and of code. */
void perf_news_tell_losses(struct perf_news *n);

/* Put the name that /proc has for @tid. */
void perf_news_comm(struct perf_news *n, pid_t pid, pid_t tid, uint64_t time_ns);

#endif /* PERF_NEWS_H */
