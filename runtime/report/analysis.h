/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * analysis.h - a stream of records -> counts per variable.
 *
 * Takes records one by one, in the stream's order, and keeps the state of the
 * world at that moment: address spaces, modules, code.  Each address is
 * resolved by what was mapped when it was touched; names are made at the end.
 */
#ifndef ANALYSIS_H
#define ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/user/err.h"
#include "runtime/user/estimate.h"
#include "runtime/user/stream.h"
#include "variables.h"

struct analysis_options {
	bool per_process; /* keep the memory of processes apart */
	bool by_member;	  /* keep members of variables apart */
	bool by_phase;	  /* keep what programs say they were doing apart; not with per_process */
	bool live;	  /* the processes are on this machine, now */
	bool touched;	  /* follow which pages are touched */
	/* each timer sample, before it is taken in; @env tells of its code, @vmas (NULL: not known) what is mapped; NULL */
	void (*sample)(void *ctx, const struct estimate_env *env, const struct hvar_vmas *vmas, const struct stream_sample *s);
	/* likewise each hit of a breakpoint */
	void (*hit)(void *ctx, const struct estimate_env *env, const struct hvar_vmas *vmas, const struct stream_sample *s);
	void *sample_ctx; /* of both */
	bool prefetches;  /* look for prefetch instructions in the code that samples are of */
	bool lines;	  /* follow who accesses which cache lines */
};

struct analysis;

struct analysis *analysis_new(const struct analysis_options *o, struct err *e);
void analysis_free(struct analysis *a);

/* Take in one well-formed record. */
void analysis_record(struct analysis *a, const struct stream_record *r);

/* Read @r to its end.  Returns 0; a cut-off or damaged recording is noted, see analysis_why(). */
void analysis_read(struct analysis *a, struct stream_reader *r);
/* How the recording broke off, NULL if it is whole. */
const char *analysis_why(const struct analysis *a);

/*
 * What the next record's taking in has needed from outside the stream since the
 * last call, as a record to put before it; then the stream can be read anywhere.  @head and
 * @body are its two parts, good until the next call.  False if there is no more.
 */
struct analysis_need {
	enum stream_type type; /* STREAM_IMAGE or STREAM_CODE */
	const void *head, *body;
	size_t head_len, body_len;
};
bool analysis_need(struct analysis *a, struct analysis_need *out);

/* ---- what came out ---- */

/* Solve for all samples; NULL: there are none, or no memory. */
const struct estimate_result *analysis_solve(struct analysis *a);

struct callers;

/* Of touched pages, if those were asked for; NULL: they were not. */
struct touched;
struct touched *analysis_touched(struct analysis *a);

/* Of accesses that were sampled with their addresses. */
struct accesses;
struct accesses *analysis_accesses(struct analysis *a);

/* Of cache lines, likewise. */
struct lines;
struct lines *analysis_lines(struct analysis *a);

/* Page faults, and what was watched. */
struct faulted;
struct faulted *analysis_faulted(struct analysis *a);
struct watched;
struct watched *analysis_watched(struct analysis *a);

/* Which lines of code access what is in the hot table. */
struct callers *analysis_callers(struct analysis *a);

/* What prefetch instructions have asked for. */
struct prefetches;
struct prefetches *analysis_prefetches(struct analysis *a);

struct variables *analysis_variables(struct analysis *a);
const struct images *analysis_images(const struct analysis *a);

struct analysis_totals {
	uint64_t samples;	 /* timer samples taken in */
	uint64_t accesses;	 /* exact accesses, in 1/65536 */
	uint64_t accesses_lost;	 /* of them, without an entry */
	uint64_t processes;	 /* address spaces that samples or accesses fell in */
	uint64_t lost[STREAM_LOST_WHATS]; /* by enum stream_loss_what, ours included */
	uint64_t misfits;	 /* events that could not be true */
	bool ended;		 /* there was a STREAM_END: */
	struct stream_end end;
	uint64_t first_ns, last_ns; /* of all records with a time; 0: none */
};
void analysis_totals(const struct analysis *a, struct analysis_totals *out);

/* The value of meta record @key, the last one that was put; NULL if there is none. */
const char *analysis_meta(const struct analysis *a, const char *key);

#endif /* ANALYSIS_H */
