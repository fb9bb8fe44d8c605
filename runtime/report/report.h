/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - rows written out: as text for people, as JSON Lines for programs.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "rows.h"

struct report_options {
	bool color;
	int width;   /* of the terminal, 0: lines are as long as they must be */
	bool quiet;  /* the table only */
	bool prefetches; /* they were asked for: say so if there are none */
	int verbose; /* also which modules had no names, why, and what to do */
};

/* Errors of @f are the caller's to find, when it is closed. */
void report_text(FILE *f, const struct rows *r, const struct analysis *a,
		 const struct report_options *o);
void report_json(FILE *f, const struct rows *r, const struct analysis *a);

#endif /* REPORT_H */
