/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_rows.h - the estimator's own state, shared by its files.
 */
#ifndef ESTIMATE_ROWS_H
#define ESTIMATE_ROWS_H

#include "estimate_sites.h"

/* What is kept of a variable while samples come in; by hot table index. */
struct estimate_var {
	uint64_t samples;
	uint64_t stamp;	   /* number of the sample that counted last: one sample counts once */
	uint32_t last_tid;
	uint32_t threads;
};

struct estimate {
	struct estimate_env env;
	struct sites sites;
	struct estimate_var *vars;
	size_t n_vars;
	uint64_t *tids;	   /* set of (variable + 1) << 32 | tid, open addressing */
	size_t n_tids, used_tids;
	double all_ns;	   /* time of all samples */
	double placed_ns;  /* of those whose instruction was found */
	double by_reason_ns[ESTIMATE_REASONS];
	struct estimate_result result;
};

struct graph;

/*
 * Add to @by_variable the accesses to each, if block i of @g runs @runs[i] times.
 * Returns all of them, lost ones as well.
 */
double rows_accesses(const struct graph *g, const double *runs, double *by_variable);

#endif /* ESTIMATE_ROWS_H */
