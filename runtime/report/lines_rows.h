/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines_rows.h - cache lines by rank, and what they are written out as.
 */
#ifndef LINES_ROWS_H
#define LINES_ROWS_H

#include <stdio.h>

#include "analysis.h"
#include "lines_advice.h"

struct lines_row {
	const struct line *line;
	struct line_judged judged;
	double weight; /* what it is ranked by; share: of all rows' */
	double share;
};

struct lines_rows {
	struct lines_row *v; /* best first; then those that are shared once or never, which @n does not count */
	size_t n, others;
	bool exact, pmu; /* where it is known from */
	uint64_t handovers, handovers_most; /* counted ones, of all lines, and of the one that has most */
};

struct lines_options {
	size_t limit; /* rows shown, 0: all */
	double min_share; /* 0 .. 1 */
	bool all;     /* --min-share was given: text shows what does not matter, too */
	bool quiet;
	int width;
};

/* Returns 0 or -ENOMEM.  Good while the analysis is. */
int lines_rows_make(struct lines_rows *r, const struct lines *l);
void lines_rows_fini(struct lines_rows *r);

double lines_seconds(const struct analysis_totals *t);
/* Neither a sample nor a count is there to find lines by. */
bool lines_unmeasured(struct analysis *a);
void lines_text(FILE *f, const struct lines_rows *r, struct analysis *a, const struct lines_options *o);
void lines_json(FILE *f, const struct lines_rows *r, struct analysis *a, const struct lines_options *o);

#endif /* LINES_ROWS_H */
