/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise.h - what "hotvar advise" writes: each large area, the evidence, and the calls that would change it.
 */
#ifndef ADVISE_H
#define ADVISE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/user/advise_regions.h"
#include "runtime/user/advise_thp.h"
#include "runtime/user/advise_tlb.h"
#include "runtime/user/advise_verdict.h"

/* One process. */
struct advise_of {
	int pid;
	const char *comm; /* "": not known */
	const struct advise_regions *regions;
};

/* All borrowed. */
struct advise_report {
	const struct advise_of *of;    /* the first is what is watched, or has most samples of a recording */
	size_t n_of;
	const struct advise_tlb *tlb;
	const struct advise_thp *thp;  /* NULL: a recording's, of a machine that is not known */
	const char *no_samples;	       /* why there are none; NULL: there are */
	uint64_t samples, unproven, lost;
	uint64_t unwatched;	       /* samples of processes that were not watched */
	uint64_t unread;	       /* samples that were left out since there was too much new code */
	int pid;		       /* 0: of a recording */
	size_t left;		       /* processes that it started ran on when it had ended */
	int left_one;		       /* one of these, or 0 */
	double seconds, interval;      /* looked at; between two looks */
	uint64_t guarded;	       /* processes whose memory may not be looked at */
	bool starved;		       /* open files ran out: of areas and processes some may have been missed */
	bool since_start;	       /* reference bits could not be cleared */
	bool disabled;		       /* PR_SET_THP_DISABLE was called in it */
	bool without;		       /* it was watched without huge pages, whatever the machine gives */
	bool all;		       /* also the areas for which there is no advice */
};

/* Write it all.  Returns how many areas there is advice for. */
size_t advise_text(FILE *f, const struct advise_report *r);
size_t advise_json(FILE *f, const struct advise_report *r);

/* One thing to do. */
enum advise_call {
	ADVISE_CALL_ADMIN,
	ADVISE_CALL_PRCTL,
	ADVISE_CALL_UNREFUSE,
	ADVISE_CALL_MADVISE,
	ADVISE_CALL_COLLAPSE,
	ADVISE_CALL_TUNABLE,
	ADVISE_CALL_ALIGN,
	ADVISE_CALL_HUGETLB,
	ADVISE_CALL_LINK,
	ADVISE_CALL_ANON,
};
const char *advise_call_name(enum advise_call c); /* "madvise" */

/*
 * What would put @g into huge pages: each to @fn, the best first.  @text says it in one line; it is good
 * during the call.
 */
void advise_steps(const struct advise_report *r, const struct advise_region *g,
		  void (*fn)(void *ctx, enum advise_call c, const char *text), void *ctx);

/* Large areas of all processes; times that there was no room for one. */
size_t advise_report_areas(const struct advise_report *r);
uint64_t advise_report_lost(const struct advise_report *r);

/* The verdict on @g. */
enum advise_why advise_report_why(const struct advise_report *r, const struct advise_region *g);

#endif /* ADVISE_H */
