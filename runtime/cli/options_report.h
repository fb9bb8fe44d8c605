/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_report.h - what a report shows: the options that run and report share.
 */
#ifndef OPTIONS_REPORT_H
#define OPTIONS_REPORT_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "runtime/cli/cli.h"
#include "runtime/report/analysis.h"
#include "runtime/report/rows.h"

struct report_choice {
	struct rows_options rows;
	bool per_process, by_member;
	bool by_region, by_page; /* touched pages, not variables */
	bool by_line; /* cache lines */
	bool callers;
	unsigned prefetches; /* as struct session has it */
	bool limit_given, min_share_given, sort_given;
	const char *by; /* WHAT of --by, NULL: not given */
};

extern const struct argp report_argp; /* its input is a struct report_choice */

/* LINES of --prefetches, NULL: none was given, into *@lines. */
error_t report_parse_prefetches(const char *arg, unsigned *lines);

/* The option that only a count of every access can answer, as it is written; NULL: there is none. */
const char *report_needs_exact(const struct report_choice *choice);
/* The same for one that page faults and watched variables cannot answer. */
const char *report_needs_accesses(const struct report_choice *choice);

/*
 * Is there an option that the report will have no use for?  @watched: of watched variables; @exact, @faults: of a count of
 * all accesses, of page faults; @untimed: of accesses that say nothing of time.  Returns 0, or CLI_USAGE with @e.
 */
struct report_of {
	bool watched, exact, faults, sampled, untimed;
};
int report_check(const struct report_choice *choice, const struct report_of *of, struct err *e);

/*
 * Solve @a and write the report to @f.  Returns the exit status: CLI_OK, CLI_NOTHING when no
 * variable was found, CLI_USAGE or CLI_FAILED with @e.
 */
int report_write(FILE *f, struct analysis *a, const struct report_choice *choice,
		 const struct cli_common *c, struct err *e);

#endif /* OPTIONS_REPORT_H */
