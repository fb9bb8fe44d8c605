/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_hits.h - breakpoints at instructions that went far between samples: do they from access to access, too?
 *
 * A few hits each, and at most a fiftieth of the time, but for the first few.  Used by one thread.
 */
#ifndef ADVISE_HITS_H
#define ADVISE_HITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "breakpoint.h"

enum { ADVISE_HITS_SLOTS = 2, ADVISE_HITS_FIRST = 24 };

struct advise_hits {
	struct advise_hits_slot {
		struct breakpoint bp;
		bool on, hit;
		uint64_t since_ns; /* it was set, or was found to be hit */
	} slots[ADVISE_HITS_SLOTS];
	uint64_t begun_ns, settings;
};

/* End those that were all hit, or had their time, or (@all) each of them: @fn gets the hits, in time order for each place. */
void advise_hits_read(struct advise_hits *h, uint64_t now_ns, bool all, perf_record_fn fn, void *ctx);

/* May one more be set now? */
bool advise_hits_may(const struct advise_hits *h, uint64_t now_ns);

/* Set one at @ip of thread @tid; where that is refused nothing comes of it. */
void advise_hits_set(struct advise_hits *h, pid_t tid, uint64_t ip, uint64_t now_ns);

void advise_hits_fini(struct advise_hits *h);

#endif /* ADVISE_HITS_H */
