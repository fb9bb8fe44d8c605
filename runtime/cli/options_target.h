/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_target.h - what to measure and how: the options that run and record share.
 */
#ifndef OPTIONS_TARGET_H
#define OPTIONS_TARGET_H

#include <argp.h>
#include <sys/types.h>

#include "runtime/user/err.h"
#include "runtime/user/session.h"
#include "runtime/user/watchpoints.h"

struct target_options {
	pid_t pid; /* 0: not given */
	unsigned hz;
	double budget; /* as struct session has it */
	double seconds; /* 0: until the target ends */
	enum session_source source;
	bool source_given, exact_given, hz_given; /* --source, --exact, -F */
	bool exact_stopped;	  /* session.h */
	bool exact_lines;	  /* likewise; set by the subcommand */
	unsigned exact_prefetches; /* likewise; set by the subcommand */
	bool exact_callers;	  /* likewise; set by the subcommand */
	const char *needs_accesses; /* the option that neither page faults nor watched variables answer; set by the subcommand */
	const char *needs_exact;  /* the option that samples cannot answer, as written; set by the subcommand */
	const char *exact_malloc; /* as exact_stopped */
	struct watchpoints_ask watch; /* --watch */
	char **argv; /* CMD, or NULL */
};

extern const struct argp target_argp; /* its input is a struct target_options */

void target_options_init(struct target_options *o);

/*
 * After cli_parse(): the arguments left are CMD.  Exactly one of CMD and -p must be
 * there.  Returns 0, or CLI_USAGE with @e.
 */
int target_options_check(struct target_options *o, char **rest, const char *command, struct err *e);

/*
 * Can CMD be run, or process @pid be followed, as far as can be told beforehand?  To be
 * asked before the output is opened: a slip of the finger must not cost what is in it.
 * Returns 0, or the exit status with @e.
 */
int target_ready(char **argv, pid_t pid, struct err *e);

#endif /* OPTIONS_TARGET_H */
