// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "flow_problem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void flow_problem_fini(struct flow_problem *p)
{
	free(p->x);
	free(p->flows);
	free(p->times);
	free(p->step);
	free(p->work);
	free(p->tried);
	free(p->in);
	free(p->out);
	free(p->first_in);
	free(p->first_out);
	free(p->called);
	free(p->first_called);
	free(p->has_call_in);
	free(p->alone);
	free(p->cut_in);
	free(p->cut_out);
	free(p->cut_in_end);
	free(p->cut_out_end);
	flow_rows_fini(&p->rows);
}

static int index_edges(struct flow_problem *p)
{
	const struct flow_graph *g = p->g;
	uint32_t *at_in = p->first_in + 1, *at_out = p->first_out + 1, *at_called = p->first_called + 1;

	for (uint32_t e = 0; e < g->n_edges; e++) {
		const struct flow_edge *edge = &g->edges[e];

		if ((edge->from != FLOW_OUTSIDE && edge->from >= g->n_nodes) ||
		    (edge->to != FLOW_OUTSIDE && edge->to >= g->n_nodes))
			return -EINVAL;
		if (edge->to != FLOW_OUTSIDE)
			at_in[edge->to]++;
		if (edge->from != FLOW_OUTSIDE && !edge->is_call)
			at_out[edge->from]++;
		if (edge->from != FLOW_OUTSIDE && edge->is_share)
			at_called[edge->from]++;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		p->first_in[i + 1] += p->first_in[i];
		p->first_out[i + 1] += p->first_out[i];
		p->first_called[i + 1] += p->first_called[i];
	}
	/* Filled from the back, so that first_*[i] ends where row i begins. */
	for (uint32_t e = g->n_edges; e-- > 0;) {
		const struct flow_edge *edge = &g->edges[e];

		if (edge->to != FLOW_OUTSIDE)
			p->in[--at_in[edge->to]] = e;
		if (edge->from != FLOW_OUTSIDE && !edge->is_call)
			p->out[--at_out[edge->from]] = e;
		if (edge->from != FLOW_OUTSIDE && edge->is_share)
			p->called[--at_called[edge->from]] = e;
		if (edge->to != FLOW_OUTSIDE && edge->to == edge->from && !edge->is_call)
			p->alone[edge->to] = true;
		if (edge->to != FLOW_OUTSIDE && (edge->is_call || edge->is_tail) &&
		    edge->from != FLOW_OUTSIDE)
			p->has_call_in[edge->to] = true;
	}
	/* at_*[i] is first_*[i + 1] and now holds row i's start: move it back down. */
	memmove(p->first_in, p->first_in + 1, g->n_nodes * sizeof(*p->first_in));
	memmove(p->first_out, p->first_out + 1, g->n_nodes * sizeof(*p->first_out));
	memmove(p->first_called, p->first_called + 1, g->n_nodes * sizeof(*p->first_called));
	p->first_in[g->n_nodes] = p->first_out[g->n_nodes] = p->first_called[g->n_nodes] = 0;
	for (uint32_t e = 0; e < g->n_edges; e++) {
		p->first_in[g->n_nodes] += g->edges[e].to != FLOW_OUTSIDE;
		p->first_out[g->n_nodes] +=
			g->edges[e].from != FLOW_OUTSIDE && !g->edges[e].is_call;
		p->first_called[g->n_nodes] += g->edges[e].from != FLOW_OUTSIDE && g->edges[e].is_share;
	}
	return 0;
}

static bool push(uint32_t **list, uint32_t *n, uint32_t *cap, uint32_t v)
{
	if (*n == *cap) {
		uint32_t more = *cap ? 2 * *cap : 64;
		uint32_t *l = realloc(*list, more * sizeof(*l));

		if (!l)
			return false;
		*list = l;
		*cap = more;
	}
	(*list)[(*n)++] = v;
	return true;
}

/* The edges that cross into or out of cut @k, whose nodes are marked. */
static int cross(struct flow_problem *p, uint32_t k, const uint8_t *marked, uint32_t *n,
		 uint32_t *cap)
{
	const struct flow_graph *g = p->g;

	for (uint32_t i = k ? g->cut_end[k - 1] : 0; i < g->cut_end[k]; i++) {
		uint32_t v = g->cut_nodes[i];

		for (uint32_t e = p->first_in[v]; e < p->first_in[v + 1]; e++) {
			const struct flow_edge *edge = &g->edges[p->in[e]];

			if ((edge->is_call || edge->from == FLOW_OUTSIDE ||
			     !marked[edge->from]) &&
			    !push(&p->cut_in, &n[0], &cap[0], p->in[e]))
				return -ENOMEM;
		}
		for (uint32_t e = p->first_out[v]; e < p->first_out[v + 1]; e++) {
			const struct flow_edge *edge = &g->edges[p->out[e]];

			if ((edge->to == FLOW_OUTSIDE || !marked[edge->to]) &&
			    !push(&p->cut_out, &n[1], &cap[1], p->out[e]))
				return -ENOMEM;
		}
	}
	p->cut_in_end[k] = n[0];
	p->cut_out_end[k] = n[1];
	return 0;
}

static int index_cuts(struct flow_problem *p)
{
	const struct flow_graph *g = p->g;
	uint8_t *marked = calloc(g->n_nodes + 1, 1);
	uint32_t n[2] = { 0, 0 }, cap[2] = { 0, 0 };
	int err = marked ? 0 : -ENOMEM;

	for (uint32_t k = 0, i = 0; k < g->n_cuts && !err; k++) {
		uint32_t from = i;

		for (; i < g->cut_end[k]; i++)
			marked[g->cut_nodes[i]] = 1;
		err = cross(p, k, marked, n, cap);
		for (i = from; i < g->cut_end[k]; i++)
			marked[g->cut_nodes[i]] = 0;
	}
	free(marked);
	return err;
}

int flow_problem_init(struct flow_problem *p, const struct flow_graph *g)
{
	uint32_t nodes = g->n_nodes, edges = g->n_edges;
	int err;

	memset(p, 0, sizeof(*p));
	p->g = g;
	p->n = nodes + edges + (g->n_rates > 0);
	p->x = calloc(p->n + 1, sizeof(*p->x));
	p->flows = calloc(p->n + 1, sizeof(*p->flows));
	p->times = calloc(nodes + 1, sizeof(*p->times));
	p->step = calloc(p->n + 1, sizeof(*p->step));
	p->tried = calloc(p->n + 1, sizeof(*p->tried));
	p->work = calloc(5 * (size_t)p->n + 1, sizeof(*p->work));
	p->in = calloc(edges + 1, sizeof(*p->in));
	p->out = calloc(edges + 1, sizeof(*p->out));
	p->first_in = calloc(nodes + 2, sizeof(*p->first_in));
	p->first_out = calloc(nodes + 2, sizeof(*p->first_out));
	p->called = calloc(edges + 1, sizeof(*p->called));
	p->first_called = calloc(nodes + 2, sizeof(*p->first_called));
	p->has_call_in = calloc(nodes + 1, sizeof(*p->has_call_in));
	p->alone = calloc(nodes + 1, sizeof(*p->alone));
	p->cut_in_end = calloc(g->n_cuts + 1, sizeof(*p->cut_in_end));
	p->cut_out_end = calloc(g->n_cuts + 1, sizeof(*p->cut_out_end));
	if (!p->x || !p->flows || !p->times || !p->step || !p->tried || !p->work || !p->in || !p->out ||
	    !p->first_in || !p->first_out || !p->called || !p->first_called || !p->has_call_in || !p->alone || !p->cut_in_end ||
	    !p->cut_out_end)
		return -ENOMEM;
	err = index_edges(p);
	return err ? err : index_cuts(p);
}
