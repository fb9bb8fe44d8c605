/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_problem.h - a flow graph on its way to a solution: its edges by node, and room for the unknowns.
 *
 * Private to the solver.
 */
#ifndef FLOW_PROBLEM_H
#define FLOW_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "flow.h"
#include "flow_rows.h"

struct flow_factor;

struct flow_time {
	double log_cycles, log_samples, sd;
};

struct flow_problem {
	const struct flow_graph *g;
	uint32_t n;	   /* unknowns */
	double *x;
	double *flows;	   /* of each unknown of x, as it is built: what x is the logarithm of */
	double *step, *work, *tried;
	uint32_t *in, *out; /* edge numbers by node, in rows of first_in[] */
	uint32_t *first_in, *first_out;
	uint32_t *called, *first_called; /* shares of calls, likewise */
	struct flow_time *times; /* by node */
	bool *has_call_in;
	bool *alone;	   /* node that goes round by itself */
	/* Edges into and out of each cut, by cut_end[]. */
	uint32_t *cut_in, *cut_out, *cut_in_end, *cut_out_end;
	struct flow_rows rows;
	struct flow_factor *factor; /* the caller's; NULL: too large, go by conjugate gradients */
	double patience;   /* how much further than at the end a stall is pulled at */
};

static inline uint32_t edge_unknown(const struct flow_problem *p, uint32_t e)
{
	return p->g->n_nodes + e;
}

/* The logarithm of the cycles that a sample stands for. */
static inline uint32_t speed_unknown(const struct flow_problem *p)
{
	return p->g->n_nodes + p->g->n_edges;
}

/* A call's flow is its caller's; any other edge, and a share of calls, has a flow of its own. */
static inline uint32_t flow_unknown(const struct flow_problem *p, uint32_t e)
{
	const struct flow_edge *edge = &p->g->edges[e];

	return edge->is_call && !edge->is_share && edge->from != FLOW_OUTSIDE ? edge->from : edge_unknown(p, e);
}

/* Returns 0, -EINVAL for an edge that names no node, or -ENOMEM; to be ended all the same.  @g is borrowed. */
int flow_problem_init(struct flow_problem *p, const struct flow_graph *g);
void flow_problem_fini(struct flow_problem *p);

#endif /* FLOW_PROBLEM_H */
