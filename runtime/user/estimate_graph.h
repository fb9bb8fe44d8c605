/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_graph.h - the basic blocks of all sampled functions, and how they hang together.
 *
 * Private to the estimator.  Functions with too few samples to say anything
 * about their inside, windows and whatever is beyond the bound on the work become
 * lone blocks, weighted by their samples alone.
 */
#ifndef ESTIMATE_GRAPH_H
#define ESTIMATE_GRAPH_H

#include "estimate_sites.h"
#include "flow.h"

struct graph_block {
	struct site_function *f;
	uint32_t first, end;	/* instructions */
	bool open;		/* control may come here from where we do not know */
};

struct graph {
	struct flow_graph flow;	/* nodes[i] is blocks[i] */
	struct graph_block *blocks;
	const struct series *series; /* of the samples; borrowed */
	uint32_t cap_nodes, cap_edges;
	double samples, all_ns;	/* of the whole measurement */
	double sample_cycles;	/* CPU cycles from sample to sample, at most; 0: not known */
};

/* @samples, for which @all_ns were measured. */
int graph_build(struct graph *g, const struct sites *s, double samples, double all_ns); /* 0 or -ENOMEM */
void graph_fini(struct graph *g);

#endif /* ESTIMATE_GRAPH_H */
