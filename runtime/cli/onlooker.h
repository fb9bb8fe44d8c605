/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * onlooker.h - what the subcommands share that look at the pages of one process, or of CMD: signals, and how they end.
 */
#ifndef ONLOOKER_H
#define ONLOOKER_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "runtime/cli/cli.h"
#include "runtime/user/err.h"
#include "runtime/user/launch.h"

/* The last signal that asks us to end, or is for CMD (end_signals.h); 0: none. */
extern volatile sig_atomic_t onlooker_asked;

/* Take them from here on.  @launched: there is a CMD, which the terminal asks itself. */
void onlooker_signals(bool launched);

/* Pass on to CMD, which is @pid, those that only we got. */
void onlooker_pass_on(pid_t pid);

/* Can @argv be run, and is then found in *@launch; or can @pid be looked at?  Returns 0, or the exit status with @e. */
int onlooker_ready(char **argv, pid_t pid, struct launch *launch, struct err *e);

/* The exit status of a CMD that ended with @wait_status of waitpid(2); 0 for -1. */
int onlooker_status(int wait_status);

/*
 * Close the output @f after work that came to @err, and to @status if that is 0.  A @launched CMD has ended with @wait_status.
 * Returns the exit status.
 */
int onlooker_close(FILE *f, const struct cli_common *c, int err, int status, bool launched, int wait_status, struct err *e);

#endif /* ONLOOKER_H */
