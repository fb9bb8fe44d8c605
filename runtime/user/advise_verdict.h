/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_verdict.h - is there evidence that an area should be in huge pages?
 *
 * Two things together: within one interval more of its pages were touched than the TLB
 * reaches, and accesses jump about in it, over more pages than that.  Either alone is none: a
 * walk through a large area needs each translation once, and jumps in a small one find theirs kept.
 */
#ifndef ADVISE_VERDICT_H
#define ADVISE_VERDICT_H

#include "advise_regions.h"

enum advise_why {
	ADVISE_GIVEN,
	ADVISE_HUGE_ALREADY, /* it is in huge pages, but for little */
	ADVISE_SMALL,	     /* no more is touched than the TLB reaches */
	ADVISE_NO_SAMPLES,   /* there are none: the order of accesses is not known */
	ADVISE_FEW_SAMPLES,  /* of it */
	ADVISE_IN_ORDER,     /* accesses walk */
	ADVISE_FEW_PAGES,    /* they jump, but to few pages */
	ADVISE_NO_SPAN,	     /* no aligned 2 MiB lie in it */
	ADVISE_WHYS
};

#define ADVISE_JUMPS_LEAST 200 /* fewer tell nothing */
#define ADVISE_JUMPS_SHARE 5   /* one pair of so many must be a jump: walks jump only where they begin again */

/* @sampled: there were samples.  @reach: pages. */
enum advise_why advise_verdict(const struct advise_region *r, bool sampled, uint64_t reach);

const char *advise_why_name(enum advise_why w); /* "small", "in-order" */
const char *advise_why_text(enum advise_why w); /* for people */

#endif /* ADVISE_VERDICT_H */
