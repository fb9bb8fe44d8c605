/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_cost.h - what measuring has taken of the program's time, and what came of it: put to the stream at the end.
 */
#ifndef PERF_COST_H
#define PERF_COST_H

#include <stdint.h>

#include "breakpoints.h"
#include "session.h"
#include "walks.h"

/* Samples have taken @samples_ns.  @w: NULL, none were done.  All are borrowed. */
void perf_cost_put(struct session *s, uint64_t samples_ns, const struct breakpoints *b, const struct walks *w);

#endif /* PERF_COST_H */
