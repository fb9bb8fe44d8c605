/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * touched_report.h - touched pages written out: a time line, and the areas or the pages at the peak.
 */
#ifndef TOUCHED_REPORT_H
#define TOUCHED_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis.h"
#include "touched.h"

struct touched_choice {
	bool by_page; /* else by region */
	size_t limit; /* rows, 0: all */
	int width;    /* of the terminal, 0: lines are as long as they must be */
};

/* Errors of @f are the caller's to find, when it is closed. */
void touched_text(FILE *f, const struct touched_result *t, const struct analysis *a, const struct touched_choice *o);
void touched_json(FILE *f, const struct touched_result *t, const struct analysis *a, const struct touched_choice *o);

#endif /* TOUCHED_REPORT_H */
