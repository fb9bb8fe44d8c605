/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_spread.h - how far off the shares may be.
 *
 * Private to the estimator.  The solution is found again several times from
 * evidence shaken as much as it is uncertain: samples and outcomes by chance,
 * block costs, branches and loops by what is typically wrong with them.  Where
 * flow and loops tie the counts together, little moves; where only time speaks, much does.
 */
#ifndef ESTIMATE_SPREAD_H
#define ESTIMATE_SPREAD_H

#include "estimate_graph.h"

struct estimate;

/*
 * The root mean square deviation of each variable's share from @share[@n], wider for the few solutions it is
 * made of, where @runs is the solution for @g.  @g is changed meanwhile, and restored.
 * @kept: as flow_solve_kept().  Returns 0 or -ENOMEM.
 */
int spread_shares(const struct estimate *e, struct graph *g, const double *runs,
		  const double *share, size_t n, double *deviation, struct flow_factor **kept);

#endif /* ESTIMATE_SPREAD_H */
