// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flow_graph.c - sets of nodes of a graph, and odds that their samples refute.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "flow_factor.h"

static const double REFUTED = 4;	  /* by so much costs of whole sets are not mistaken */

int flow_graph_cut(struct flow_graph *g, const uint32_t *nodes, uint32_t n)
{
	uint32_t at = g->n_cuts ? g->cut_end[g->n_cuts - 1] : 0;

	if (at + n > g->cap_cut_nodes) {
		uint32_t cap = 2 * (at + n);
		uint32_t *v = realloc(g->cut_nodes, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		g->cut_nodes = v;
		g->cap_cut_nodes = cap;
	}
	if (g->n_cuts == g->cap_cuts) {
		uint32_t cap = g->cap_cuts ? 2 * g->cap_cuts : 64;
		uint32_t *v = realloc(g->cut_end, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		g->cut_end = v;
		g->cap_cuts = cap;
	}
	if (n)
		memcpy(g->cut_nodes + at, nodes, n * sizeof(*nodes));
	g->cut_end[g->n_cuts++] = at + n;
	return 0;
}

int flow_graph_stay(struct flow_graph *g, const struct flow_stay *stay)
{
	if (g->n_stays == g->cap_stays) {
		uint32_t cap = g->cap_stays ? 2 * g->cap_stays : 16;
		struct flow_stay *v = realloc(g->stays, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		g->stays = v;
		g->cap_stays = cap;
	}
	g->stays[g->n_stays++] = *stay;
	return 0;
}

int flow_graph_rate(struct flow_graph *g, const struct flow_rate *rate)
{
	if (g->n_rates == g->cap_rates) {
		uint32_t cap = g->cap_rates ? 2 * g->cap_rates : 16;
		struct flow_rate *v = realloc(g->rates, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		g->rates = v;
		g->cap_rates = cap;
	}
	g->rates[g->n_rates++] = *rate;
	return 0;
}

void flow_graph_fini(struct flow_graph *g)
{
	free(g->nodes);
	free(g->edges);
	free(g->cut_nodes);
	free(g->cut_end);
	free(g->stays);
	free(g->rates);
	memset(g, 0, sizeof(*g));
}

double flow_most(double seen)
{
	return seen + 2 * sqrt(seen) + 3;
}

static unsigned drop_odds(struct flow_graph *g, const uint8_t *marked)
{
	unsigned n = 0;

	for (uint32_t e = 0; e < g->n_edges; e++) {
		struct flow_edge *edge = &g->edges[e];

		if (!(edge->odds > 0) ||
		    !((edge->from != FLOW_OUTSIDE && marked[edge->from]) ||
		      (edge->to != FLOW_OUTSIDE && marked[edge->to])))
			continue;
		edge->odds = 0;
		n++;
	}
	for (uint32_t k = 0; k < g->n_stays; k++) {
		if (!(g->stays[k].rounds > 0) || !marked[g->stays[k].head])
			continue;
		g->stays[k].rounds = 0;
		n++;
	}
	return n;
}

unsigned flow_refute(struct flow_graph *g, const double *runs)
{
	uint8_t *marked = calloc(g->n_nodes + 1, 1);
	unsigned n = 0;

	for (uint32_t k = 0, i = 0; marked && k < g->n_cuts; k++) {
		uint32_t from = i;
		double expected = 0, seen = 0;

		for (; i < g->cut_end[k]; i++) {
			const struct flow_node *node = &g->nodes[g->cut_nodes[i]];

			expected += runs[g->cut_nodes[i]] * node->cycles;
			seen += node->samples;
		}
		for (; from < i && expected > REFUTED * flow_most(seen); from++)
			marked[g->cut_nodes[from]] = 1;
	}
	if (marked)
		n = drop_odds(g, marked);
	free(marked);
	return n;
}

int flow_solve(const struct flow_graph *g, const double *start, unsigned steps, double *runs)
{
	struct flow_factor *kept = NULL;
	int err = flow_solve_kept(g, start, steps, runs, &kept);

	flow_factor_free(kept);
	return err;
}
