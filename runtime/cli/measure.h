/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure.h - one session with its report's thread and its progress line.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>

#include "options_target.h"
#include "runtime/report/analysis.h"
#include "runtime/user/err.h"
#include "runtime/user/session.h"
#include "runtime/user/stream.h"

/*
 * Measure @o's target to the end; all that is learned goes to @a, and to the recording
 * @file if that is not NULL.  @s is filled in.  @talk: say on stderr what should
 * be known before CMD begins, and, on a terminal, how far it is.
 *
 * Returns 0 when something was measured, else -errno and @e.
 */
int measure(const struct target_options *o, struct analysis *a, struct stream *file,
	    bool talk, struct session *s, struct err *e);

/* A session's warn(). */
void measure_warn(const char *text);

/*
 * The exit status that hotvar(1) promises after a measuring with @s, waiting for a CMD that
 * runs on: CMD's own, or @otherwise if nothing was launched.
 */
int measure_status(struct session *s, int otherwise, struct err *e);

#endif /* MEASURE_H */
