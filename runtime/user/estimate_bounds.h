/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_bounds.h - where the function around a place begins and ends, by its code alone.
 *
 * Private to the estimator: for code that neither symbols nor unwind information tell of.
 */
#ifndef ESTIMATE_BOUNDS_H
#define ESTIMATE_BOUNDS_H

#include "estimate.h"

struct bounds {
	uint64_t start, end; /* in units of code_site.where */
	bool begins; /* control ends before @start: a function, or a part of one that is jumped to, begins there */
	bool ends;   /* control ends before @end, not only what was looked at */
};

/*
 * Look at the code around @at, which lies in [@lowest, @highest): what lies outside is someone else's, or not mapped; without @edge,
 * what is before @lowest may be of the same function.  False if the instructions that lead to @at cannot be told, or memory is short.
 */
bool bounds_find(const struct estimate_env *env, const struct code_site *at,
		 bool is32, uint64_t lowest, uint64_t highest, bool edge,
		 struct bounds *out);

#endif /* ESTIMATE_BOUNDS_H */
