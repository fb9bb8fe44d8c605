/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow.h - how often each basic block runs, from where samples fell and what flows where.
 *
 * Samples measure time, and a block that waits for memory takes much of it while it
 * runs seldom.  What runs must also come from somewhere and go somewhere: the
 * solver looks for run counts that explain the samples with as little waiting as
 * possible, keep what flows in and out of each block equal, and agree with the
 * branches whose outcome samples have shown.  All in log space, as factors.
 */
#ifndef FLOW_H
#define FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_OUTSIDE ((uint32_t)-1)

struct flow_node {
	double samples; /* that fell on the block */
	double cycles;	/* that one run takes at least, roughly; > 0 */
	bool open_in;	/* control may also come from where we do not know */
	bool open_out;	/* and go there */
	double runs;	/* measured another way, on a scale common to all nodes; 0: not */
	double runs_sd; /* of its logarithm */
};

/* Control goes from the end of one block to the start of another, or from a call site to a function's entry. */
struct flow_edge {
	uint32_t from, to; /* nodes; FLOW_OUTSIDE */
	bool is_call;	   /* does not use up what leaves @from */
	double seen;	   /* samples whose registers proved that control goes here next */
	bool has_seen;
	double odds;	   /* known ratio of this edge to the node's others together, 0: none */
	double odds_sd;	   /* of its logarithm */
};

struct flow_graph {
	struct flow_node *nodes;
	uint32_t n_nodes;
	struct flow_edge *edges;
	uint32_t n_edges;
};

/*
 * Fill runs[@g->n_nodes] (relative: samples per @cycles of a block that never waits).
 * @start: an earlier answer for the same graph to begin with, or NULL.  @steps
 * bounds the work.  Deterministic.  Returns 0, -EINVAL for an edge that names no node, or -ENOMEM.
 */
int flow_solve(const struct flow_graph *g, const double *start, unsigned steps,
	       double *runs);

#endif /* FLOW_H */
