/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_debuginfod.h - "--debuginfod", for the subcommands that have it.
 */
#ifndef OPTIONS_DEBUGINFOD_H
#define OPTIONS_DEBUGINFOD_H

#include "runtime/cli/cli.h"

/* A child parser; its input is a bool: the option was given. */
extern const struct argp debuginfod_argp;

/*
 * It was: servers may be asked now.  What becomes of it is said on stderr unless quiet.  Returns 0, or CLI_FAILED and
 * @e if nobody can be asked.
 */
int debuginfod_start(const struct cli_common *c, struct err *e);

#endif /* OPTIONS_DEBUGINFOD_H */
