/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_ways.h - what was seen of the ways out of a block, for the edges of the graph.
 *
 * Private to the estimator.
 */
#ifndef ESTIMATE_WAYS_H
#define ESTIMATE_WAYS_H

#include "estimate_sites.h"
#include "flow.h"

enum { WAYS_FEWEST = 8 }; /* hits and walks past a jump, to be worth anything */

/* Into @e what samples, breakpoints and walks saw of the branch at @last, going on at once or @taken. */
void ways_branch(const struct site_function *f, uint32_t last, bool taken, struct flow_edge *e);

/* The same of the way from the indirect jump at @last to instruction @to. */
void ways_jump(const struct site_function *f, uint32_t last, uint32_t to, struct flow_edge *e);

/* Into @e what was counted of @j, NULL: nothing, of all that @c was counted. */
void ways_counted(const struct site_counted *c, const struct site_jump *j, struct flow_edge *e);

#endif /* ESTIMATE_WAYS_H */
