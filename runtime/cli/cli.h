/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli.h - what subcommands share: the table of them, common options, output.
 *
 * A subcommand is one file and one row in cli_commands[].
 */
#ifndef CLI_H
#define CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "runtime/user/err.h"

/* Exit statuses, as hotvar(1) lists them. */
enum {
	CLI_OK = 0,
	CLI_NOTHING = 1,  /* nothing found */
	CLI_USAGE = 2,
	CLI_FAILED = 125,
	CLI_CANNOT_RUN = 126,
	CLI_NOT_FOUND = 127,
};

struct cli_command {
	const char *name;
	const char *summary; /* one line for "hotvar --help" */
	/* argv[0] is the subcommand's name.  Returns the exit status; on failure @e may say why. */
	int (*run)(int argc, char **argv, struct err *e);
};
extern const struct cli_command cli_commands[]; /* ends with a NULL name */

/* --json -o FILE --color=WHEN -q -v: a child parser for each subcommand's argp. */
struct cli_common {
	bool json, quiet;
	int verbose;
	const char *output; /* -o FILE, "-" for stdout, NULL: not given */
	enum { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER } color;
};
extern const struct argp cli_common_argp; /* its input is a struct cli_common */

/*
 * What a parser function returns for a bad value of option @option: records the
 * text for cli_parse() to put in its @e, and returns EINVAL.
 */
error_t cli_bad_value(const char *option, const char *value, const char *want);
/* The same for what the interface has but this version has not: @what, "--by line" say; @instead says what to do. */
error_t cli_not_yet(const char *what, const char *instead);

/*
 * argp_parse() as every subcommand uses it: an unknown option names the nearest
 * known one.  Arguments from "--" on
 * (or, with @stop_at_arg, from the first that is no option) are left: *@rest is their index, the "--" skipped.
 * --help, --usage and --version are answered here, and exit.
 * Returns 0 to go on, or CLI_USAGE with @e.
 */
int cli_parse(const struct argp *argp, int argc, char **argv, bool stop_at_arg,
	      int *rest, void *input, struct err *e);

/* A whole number, decimal or 0x hex, no sign, no rest; false if it is none. */
bool cli_number(const char *s, unsigned long long *out);

/* The arguments of -p, and of -d and other options in seconds: 0, or what cli_bad_value() returns.  @out of -p is 0 before the first. */
error_t cli_pid(const char *arg, pid_t *out);
error_t cli_duration(const char *option, const char *arg, double *out);

/*
 * Where the report goes: @c->output, or @otherwise.  Returns NULL and @e.
 * cli_close() reports a full disk: 0 or -errno and @e.  A reader that has read enough is no failure.
 */
FILE *cli_open(const struct cli_common *c, FILE *otherwise, struct err *e);
/* 0 if that is not the command's own file or @input (NULL: none); else -EEXIST and @e: it would be lost. */
int cli_spares(const struct cli_common *c, char *const argv[], const char *input, struct err *e);
int cli_close(FILE *f, const struct cli_common *c, struct err *e);
/* The same for a write to @name (NULL: stdout; -o goes first) that has failed with @code: -@code and @e. */
int cli_unwritten(const char *name, const struct cli_common *c, int code, struct err *e);
bool cli_colored(const struct cli_common *c, FILE *f);

/*
 * "hotvar: @text", a line of its own, on stderr.  Names of files may be in it: what would control a terminal
 * or begin another line is shown as \\n, \\x1b.
 */
void cli_say(const char *text);

/* The nearest of @known (NULL-terminated) to @word, or NULL if none is near. */
const char *cli_nearest(const char *word, const char *const *known);

int cmd_run(int argc, char **argv, struct err *e);
int cmd_record(int argc, char **argv, struct err *e);
int cmd_report(int argc, char **argv, struct err *e);
int cmd_maps(int argc, char **argv, struct err *e);
int cmd_pages(int argc, char **argv, struct err *e);
int cmd_advise(int argc, char **argv, struct err *e);
int cmd_sym(int argc, char **argv, struct err *e);
int cmd_symbols(int argc, char **argv, struct err *e);
int cmd_stap(int argc, char **argv, struct err *e);
int cmd_doctor(int argc, char **argv, struct err *e);

#endif /* CLI_H */
