/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows.h - an analysis as what a report shows: variables by rank, and what is in none.
 *
 * Every access and every sample is in a row or in one of the unattributed
 * reasons; over all rows, shown or not, and all reasons shares add up to 1.
 */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accesses.h"
#include "analysis.h"
#include "faulted.h"

enum rows_sort { ROWS_BY_ACCESSES, ROWS_BY_TIME };

/* For rows_options.callers: 3 in text, all in JSON. */
#define ROWS_CALLERS_DEFAULT SIZE_MAX

struct rows_options {
	size_t callers; /* lines of code for each row at most; 0: none */
	bool by_phase;
	enum rows_sort sort;
	double min_share; /* of what is sorted by, 0 .. 1 */
	size_t limit;	  /* rows shown, 0: all */
};

struct row {
	uint32_t entry;	    /* in the hot table */
	struct variable var;
	double share;	    /* of all accesses, 0 .. 1 */
	double ci[2];	    /* 95 % confidence interval of share; NaN: exact */
	double time_share;  /* of all time; NaN: not known */
	double time_ci[2];  /* 95 % confidence interval of time_share; NaN: not known */
	double write_share; /* of its accesses; NaN: not known */
	uint64_t samples;
	uint64_t accesses, reads, writes; /* if rows.exact, else 0 */
	struct faulted_row faults;	  /* if rows.faults: accesses that are neither, or not told */
	uint32_t threads;
	bool told;	    /* likewise; perf has named it, from a map that is not known here */
	struct accesses_sum sampled; /* if rows.addressed: what share and time_share are made of */
};

struct rows_unattributed {
	const char *reason; /* as the JSON has it */
	const char *text;   /* for people */
	uint64_t samples;
	double share, time_share;
};

struct rows {
	bool by_phase;	 /* as rows_options */
	size_t callers;	 /* likewise */
	bool phases;	 /* some row, shown or not, is of a phase */
	bool exact;	 /* accesses were counted, not sampled */
	bool faults;	 /* besides, they are page faults: the first touches of pages */
	bool addressed;	 /* accesses were sampled, each with its address: time is the cycles that they took */
	struct row *v;	 /* shown, best first */
	size_t n;
	size_t hidden;	 /* rows not shown, and their shares */
	double hidden_share, hidden_time_share; /* NaN: not known, of time */
	struct rows_unattributed un[(int)ESTIMATE_REASONS > (int)ACCESSES_REASONS ? (int)ESTIMATE_REASONS : (int)ACCESSES_REASONS];
	size_t n_un;	 /* those that occurred */
	uint64_t samples, attributed;
	uint64_t accesses; /* if exact; one that reads and writes is two */
	uint64_t lost;	 /* samples and records; what else went wrong is in totals.lost */
	double seconds;
	double slowdown; /* the part that measuring took of the program's CPU time, estimated; NaN: not known */
	uint64_t sample_ns; /* that one sample took of it, as measured; 0: not measured */
	uint64_t hits;	 /* of breakpoints */
	uint64_t walks, walk_insns; /* which way threads went on from samples */
	double cpu_seconds; /* CPU time of the program, as the kernel has it; NaN: not known */
	double unsampled; /* the part of it that samples do not stand for; NaN: not known */
	double own_cpu_share; /* hotvar's CPU time by seconds; NaN: not known */
	struct analysis_totals totals;
	struct row *all; /* private */
};

/* Returns 0 or -ENOMEM with @e.  What @r points at is good until analysis_free(). */
int rows_make(struct rows *r, struct analysis *a, const struct rows_options *o, struct err *e);
void rows_fini(struct rows *r);

#endif /* ROWS_H */
