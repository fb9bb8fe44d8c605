/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate.h - timer samples -> accesses per variable.
 *
 * Two questions, kept apart.  Which variable does an operand touch?  Answered
 * exactly, from addresses recomputed out of a sample's registers.  How often
 * does each basic block run?  Estimated, from how many samples fell on it and
 * what flows in and out of it.  An address that cannot be proven is counted under
 * its reason, never guessed.
 */
#ifndef ESTIMATE_H
#define ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_hot.h"
#include "stream.h"

/* A place in code that is the same in every process that maps it. */
struct code_site {
	uint32_t module; /* 0: code without a file, of address space @mm */
	uint32_t mm;	 /* 0 if module is not */
	uint64_t where;	 /* file offset, or address without a module */
};

/* A place in thread-local memory, by the code that addresses it. */
struct estimate_tls {
	uint32_t module;  /* the code's */
	bool fixed;	  /* the code has its distance as a number, and not from a table that a loader fills */
	uint64_t offset;  /* from the thread pointer: "negative", as a rule */
};

/* What the estimator asks of the report.  All calls are for one moment: that of @ev. */
struct estimate_env {
	void *ctx;
	/* The site of code address @ip, and the first and past-the-end address of
	 * its mapping; false if nothing is mapped there. */
	bool (*site)(void *ctx, const struct hvar_event *ev, uint64_t ip,
		     struct code_site *out, uint64_t *start, uint64_t *end);
	/* Up to @len bytes of code at @at into @buf; returns how many there are. */
	size_t (*code)(void *ctx, const struct code_site *at, void *buf, size_t len);
	/* The function around @at as [start, end) in units of @at->where; false if not known. */
	bool (*function)(void *ctx, const struct code_site *at, uint64_t *start,
			 uint64_t *end);
	/*
	 * The hot table's entry for the memory at @addr, HVAR_HOT_NONE if it has no
	 * room, ESTIMATE_NOTHING_THERE if no memory is known at @addr.  @stack: an address
	 * certain to be on the thread's stack that the operand is based on, 0: none.
	 */
	uint32_t (*variable)(void *ctx, const struct hvar_event *ev, uint64_t addr,
			     uint64_t stack);
	/* The entry for thread-local memory at @at, of whatever thread; NULL: wherever it is.  HVAR_HOT_NONE without room. */
	uint32_t (*tls)(void *ctx, const struct hvar_event *ev, const struct estimate_tls *at);
	/* The thread of @ev, a sample, surely accesses @size bytes at @addr by the instruction at @at, as @flags (enum hvar_access_flags) say; NULL: nobody asks. */
	void (*accessed)(void *ctx, const struct hvar_event *ev, const struct code_site *at, uint64_t addr, uint32_t size, uint32_t flags);
};

#define ESTIMATE_NOTHING_THERE ((uint32_t)-2)

/* Why a sample, or a part of what it stands for, names no variable. */
enum estimate_reason {
	ESTIMATE_OK,
	ESTIMATE_NO_OPERAND,	/* its block accesses no memory */
	ESTIMATE_REGISTER_LOST, /* an address register was overwritten before or is not known yet */
	ESTIMATE_NO_CODE,	/* code could not be read, or ip is not mapped */
	ESTIMATE_BAD_CODE,	/* bytes that are no instruction */
	ESTIMATE_NO_REGS,
	ESTIMATE_TABLE_FULL,
	ESTIMATE_NO_BLOCK,	/* where its block begins is not known, and what is known of it accesses no memory */
	ESTIMATE_NOT_MAPPED,	/* no memory is known where the address points: it is wrong, or the map */
	ESTIMATE_REASONS
};
const char *estimate_reason_name(enum estimate_reason r); /* "no-memory-operand" ... */

struct estimate;

struct estimate *estimate_new(const struct estimate_env *env); /* NULL: no memory */
void estimate_free(struct estimate *e);

/* Take in one sample: recompute what addresses it proves, note where it fell. */
void estimate_sample(struct estimate *e, const struct stream_sample *s);

/*
 * Take in one hit of a breakpoint: as a sample, but it stands for no time, and where control went and
 * what was touched is as often told as it happened.  Hits of one place come in bursts.
 */
void estimate_hit(struct estimate *e, const struct stream_sample *s);

/* Take in one walk: it stands for no time either, and tells how often each branch on its way went where. */
void estimate_walk(struct estimate *e, const struct stream_walk *w);

/* What the samples say of one entry of the hot table. */
struct estimate_row {
	uint32_t variable;	/* hot table index */
	double accesses;	/* reads + writes, in a unit of its own, the same for all rows */
	double reads, writes, bytes;
	double time_ns;		/* CPU time charged to it */
	uint64_t samples;	/* samples whose block touches it */
	uint32_t threads;
	double share;		/* of all accesses, 0 .. 1 */
	double ci[2];		/* 95 % confidence interval of share */
	double time_share;	/* of all time, 0 .. 1 */
	double time_ci[2];	/* 95 % confidence interval of time_share */
};

struct estimate_result {
	struct estimate_row *rows; /* sorted by share, largest first; owned by the estimate */
	size_t n;
	uint64_t samples;	/* taken in */
	uint64_t attributed;	/* of them, with at least one proven address in their block */
	uint64_t by_reason[ESTIMATE_REASONS]; /* samples; [ESTIMATE_OK] == attributed */
	double share_lost[ESTIMATE_REASONS];  /* of all accesses; rows' shares and these add up to 1 */
	double time_lost[ESTIMATE_REASONS];   /* of all time; likewise */
};

/* Solve for all samples so far.  May be called again after more; good until the next call. */
const struct estimate_result *estimate_solve(struct estimate *e);

#endif /* ESTIMATE_H */
