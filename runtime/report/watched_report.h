/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watched_report.h - accesses to watched variables written out: by process, thread and line of code.
 */
#ifndef WATCHED_REPORT_H
#define WATCHED_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis.h"

struct watched_choice {
	size_t limit; /* processes of each variable, 0: all */
	size_t lines; /* threads and lines of code of each of those, 0: all */
	bool quiet;
};

/* Is @a of watched variables at all? */
bool watched_report_is(const struct analysis *a);

/* Errors of @f are the caller's to find, when it is closed.  Returns how many of the variables were found: all there were. */
size_t watched_text(FILE *f, struct analysis *a, const struct watched_choice *o);
size_t watched_json(FILE *f, struct analysis *a, const struct watched_choice *o);

#endif /* WATCHED_REPORT_H */
