/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_loops.h - how often loops go round, from the registers that count them.
 *
 * Private to the estimator.  Where a register stepped by a constant meets another
 * that stays as it is, a loop has a number of rounds that can be read off: from
 * constants in the code, from a register that tells, or from how far samples were
 * from the end, if they were so evenly.
 */
#ifndef ESTIMATE_LOOPS_H
#define ESTIMATE_LOOPS_H

#include "estimate_graph.h"

/*
 * Set odds on the edges [@first_edge, @end_edge) of the function whose blocks are
 * nodes [@first, @end) of @g, the first of them its entry.  Returns 0 or -ENOMEM.
 */
int loops_apply(struct graph *g, uint32_t first, uint32_t end, uint32_t first_edge,
		uint32_t end_edge);

#endif /* ESTIMATE_LOOPS_H */
