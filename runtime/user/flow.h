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
};

/* From the end of one block to the start of another, or from a call to a function's entry. */
struct flow_edge {
	uint32_t from, to; /* nodes; FLOW_OUTSIDE */
	bool is_call;	   /* does not use up what leaves @from */
	bool is_share;	   /* a call, of several functions: of one of them, or to FLOW_OUTSIDE of all others */
	bool is_tail;	   /* to another function's entry, by a jump */
	double seen;	   /* samples whose registers proved that control goes here next */
	bool has_seen;
	double counted;	   /* times that control was seen to go here by all that passed for a while */
	bool has_counted;
	double counted_sd; /* by how much the odds of what was counted may be off, besides: of their logarithm */
	double excess;	   /* counted ones depend on each other: worth as many as a part of 1 in so many */
	double odds;	   /* known ratio of this edge to the node's others together, 0: none */
	double odds_sd;	   /* of its logarithm */
	bool odds_least;   /* @odds is the least that it can be */
};

/* All stays in a loop together: @head runs @rounds times as often as @out, the only edge that leaves it, is taken. */
struct flow_stay {
	uint32_t head, out; /* a node, an edge */
	double rounds, sd;  /* 0: taken back; sd: of the logarithm */
};

/* How often a node ran in all, by count: a row of its own kind, since runs are told in samples and cycles. */
struct flow_rate {
	uint32_t node;
	double runs, sd; /* 0: taken back; sd: of the logarithm */
};

/*
 * Every node has at least one edge in and one out; what comes from or goes to
 * places unknown has an edge from or to FLOW_OUTSIDE.
 */
struct flow_graph {
	struct flow_node *nodes;
	uint32_t n_nodes;
	struct flow_edge *edges;
	uint32_t n_edges;
	/*
	 * Sets of nodes (loops, functions) that as much flows into as out of.  It
	 * follows from the same for each node, but where a loop makes a million rounds it
	 * would drown in what is tolerated at each.  Set k is
	 * cut_nodes[cut_end[k - 1]..cut_end[k]).
	 */
	uint32_t *cut_nodes, *cut_end;
	uint32_t n_cuts, cap_cuts, cap_cut_nodes;
	struct flow_stay *stays;
	uint32_t n_stays, cap_stays;
	struct flow_rate *rates;
	uint32_t n_rates, cap_rates;
	double sample_cycles; /* cycles that a sample stands for, roughly: by how much rates are more than runs */
	bool calls_unseen; /* there are calls through pointers: of any function, for all we see */
};

/* Add a set; 0 or -ENOMEM. */
int flow_graph_cut(struct flow_graph *g, const uint32_t *nodes, uint32_t n);
int flow_graph_stay(struct flow_graph *g, const struct flow_stay *stay); /* likewise */
int flow_graph_rate(struct flow_graph *g, const struct flow_rate *rate);
void flow_graph_fini(struct flow_graph *g);

/*
 * Fill runs[@g->n_nodes] (relative: samples per @cycles of a block that never waits).
 * @start: an earlier answer for the same graph to begin with, or NULL.  @steps
 * bounds the work.  Deterministic.  Returns 0, -EINVAL for an edge that names no node, or -ENOMEM.
 */
int flow_solve(const struct flow_graph *g, const double *start, unsigned steps,
	       double *runs);

/*
 * The same.  *@kept, NULL at first, is what need not be found out again for a graph that differs in numbers only: the
 * caller's, to be freed by flow_factor_free().
 */
struct flow_factor;
int flow_solve_kept(const struct flow_graph *g, const double *start, unsigned steps,
		    double *runs, struct flow_factor **kept);

/*
 * Take back what is known of the odds around sets that, by @runs, would have taken far more
 * samples than fell there: a loop that the end of the measurement came before has
 * not made its rounds.  Returns how many edges lost their odds; if any, solve again.
 */
unsigned flow_refute(struct flow_graph *g, const double *runs);

/* The most samples to be expected, at 95 % and more, where @seen fell. */
double flow_most(double seen);

#endif /* FLOW_H */
