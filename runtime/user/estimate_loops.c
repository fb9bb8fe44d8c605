/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_loops.c - natural loops, and the odds of staying in them.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_chains.h"
#include "estimate_loops.h"
#include "estimate_rates.h"
#include "estimate_rounds.h"

enum {
	MAX_BLOCKS = 3000,
	COLD_BESIDE = 16, /* times that another way was seen to be taken, to call one cold */
};

static const double COST_SLACK = 2; /* a block may run in less than its cycles */

static bool inside(const struct loops *l, uint32_t node)
{
	return node >= l->first && node < l->first + l->n;
}

static bool is_local(const struct loops *l, uint32_t e)
{
	return !loops_edge(l, e)->is_call && loops_edge(l, e)->from != FLOW_OUTSIDE &&
	       inside(l, loops_edge(l, e)->from) && loops_edge(l, e)->to != FLOW_OUTSIDE &&
	       inside(l, loops_edge(l, e)->to);
}

static int init(struct loops *l)
{
	uint32_t n = l->n, m = l->end_edge - l->first_edge;

	l->out = calloc(m + 1, sizeof(*l->out));
	l->in = calloc(m + 1, sizeof(*l->in));
	l->first_out = calloc(n + 2, sizeof(*l->first_out));
	l->first_in = calloc(n + 2, sizeof(*l->first_in));
	l->state = calloc(n + 1, 1);
	l->member = calloc(n + 1, 1);
	l->stack = calloc(n + 1, sizeof(*l->stack));
	l->at = calloc(n + 1, sizeof(*l->at));
	l->order = calloc(n + 1, sizeof(*l->order));
	l->round = calloc(n + 1, sizeof(*l->round));
	l->is_back = calloc(m + 1, 1);
	l->cold = calloc(n + 1, 1);
	l->goes_out = calloc(n + 1, 1);
	l->inside = calloc(loops_block(l, 0)->f->n + 1, sizeof(*l->inside));
	if (!l->out || !l->in || !l->first_out || !l->first_in || !l->state ||
	    !l->member || !l->stack || !l->at || !l->inside ||
	    !l->goes_out || !l->order || !l->round || !l->is_back || !l->cold)
		return -ENOMEM;
	for (uint32_t e = l->first_edge; e < l->end_edge; e++) {
		if (!is_local(l, e)) {
			if (!loops_edge(l, e)->is_call && loops_edge(l, e)->from != FLOW_OUTSIDE)
				l->goes_out[loops_edge(l, e)->from - l->first] = 1;
			continue;
		}
		l->first_out[loops_edge(l, e)->from - l->first + 2]++;
		l->first_in[loops_edge(l, e)->to - l->first + 2]++;
	}
	for (uint32_t i = 2; i < n + 2; i++) {
		l->first_out[i] += l->first_out[i - 1];
		l->first_in[i] += l->first_in[i - 1];
	}
	/* first_*[i + 1] is row i's start while it fills, and its end after. */
	for (uint32_t e = l->first_edge; e < l->end_edge; e++) {
		if (!is_local(l, e))
			continue;
		l->out[l->first_out[loops_edge(l, e)->from - l->first + 1]++] = e;
		l->in[l->first_in[loops_edge(l, e)->to - l->first + 1]++] = e;
	}
	return 0;
}

static void fini(struct loops *l)
{
	free(l->out);
	free(l->in);
	free(l->first_out);
	free(l->first_in);
	free(l->state);
	free(l->member);
	free(l->stack);
	free(l->at);
	free(l->order);
	free(l->round);
	free(l->is_back);
	free(l->cold);
	free(l->inside);
	free(l->goes_out);
	consts_fini(&l->consts);
}

static void mark_back(struct loops *l, uint32_t from, uint32_t to)
{
	for (uint32_t k = l->first_in[to]; k < l->first_in[to + 1]; k++)
		if (loops_edge(l, l->in[k])->from == l->first + from)
			l->is_back[k] = 1;
	l->round[to] = ~0u; /* until the loop has been looked through */
}

/* Edges back to a block that the walk is still inside of close loops. */
static void find_back_edges(struct loops *l, uint32_t root)
{
	uint32_t depth = 0;

	if (l->state[root])
		return;
	l->stack[depth++] = root;
	l->state[root] = 1;
	l->at[root] = l->first_out[root];
	while (depth) {
		uint32_t v = l->stack[depth - 1], to;

		if (l->at[v] == l->first_out[v + 1]) {
			l->state[v] = 2;
			l->order[l->n_order++] = v;
			depth--;
			continue;
		}
		to = loops_edge(l, l->out[l->at[v]++])->to - l->first;
		if (l->state[to] == 1) {
			mark_back(l, v, to);
			if (l->n_back < LOOPS_MAX) {
				l->back[l->n_back].head = to;
				l->back[l->n_back++].tail = v;
			}
		} else if (!l->state[to]) {
			l->state[to] = 1;
			l->at[to] = l->first_out[to];
			l->stack[depth++] = to;
		}
	}
}

/* Was edge @e never taken while its fellows were? */
static bool never_taken(const struct loops *l, uint32_t e)
{
	const struct flow_edge *edge = loops_edge(l, e);
	uint32_t from = edge->from - l->first;
	double others = 0;

	if ((!edge->has_seen && !edge->has_counted) || edge->seen > 0 || edge->counted > 0)
		return false;
	for (uint32_t k = l->first_out[from]; k < l->first_out[from + 1]; k++)
		others += loops_edge(l, l->out[k])->seen + loops_edge(l, l->out[k])->counted;
	return others >= COLD_BESIDE;
}

/* Blocks that no sample fell into, and that are only come to by ways that nobody was seen to take. */
static void find_cold(struct loops *l)
{
	for (uint32_t n = l->n_order; n-- > 0;) {
		uint32_t v = l->order[n];
		bool any = false, all = l->g->flow.nodes[l->first + v].samples < 0.5 && !l->g->blocks[l->first + v].open;

		for (uint32_t k = l->first_in[v]; k < l->first_in[v + 1] && all; k++) {
			if (l->is_back[k])
				continue;
			any = true;
			all = l->cold[loops_edge(l, l->in[k])->from - l->first] || never_taken(l, l->in[k]);
		}
		l->cold[v] = any && all;
	}
}

static void add_member(struct loops *l, uint32_t v, uint32_t *n)
{
	if (!l->member[v]) {
		l->member[v] = 1;
		l->stack[(*n)++] = v;
	}
}

/* The blocks that reach a tail of @head's back edges without passing @head. */
static void find_members(struct loops *l, uint32_t head)
{
	uint32_t n = 0;

	memset(l->member, 0, l->n);
	l->member[head] = 1;
	for (uint32_t k = 0; k < l->n_back; k++)
		if (l->back[k].head == head)
			add_member(l, l->back[k].tail, &n);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t v = l->stack[k];

		for (uint32_t e = l->first_in[v]; e < l->first_in[v + 1]; e++)
			add_member(l, loops_edge(l, l->in[e])->from - l->first, &n);
	}
}

/*
 * Would one stay of @rounds in the loop in hand take more samples than fell into it?
 * Then none was left within the measurement, and how many rounds it would have made
 * says nothing of how often its blocks ran.
 */
static bool unfinished(const struct loops *l, const struct exit_test *t, double rounds)
{
	const struct flow_node *nodes = &l->g->flow.nodes[l->first];
	double round = nodes[t->head].cycles / COST_SLACK, seen = 0;

	if (t->alone && t->v != t->head)
		round += nodes[t->v].cycles / COST_SLACK;
	for (uint32_t v = 0; v < l->n; v++)
		if (l->member[v])
			seen += nodes[v].samples;
	return l->g->sample_cycles > 0 &&
	       rounds * round > l->g->sample_cycles * flow_most(seen);
}

/* Does each round of the loop in hand at @head pass block @v? */
static bool each_round(struct loops *l, uint32_t head, uint32_t v)
{
	uint32_t n = 0, done = 0;

	if (v == head)
		return true;
	memset(l->state, 0, l->n);
	l->stack[n++] = head;
	l->state[head] = 1;
	while (done < n) {
		uint32_t at = l->stack[done++];

		for (uint32_t k = l->first_out[at]; k < l->first_out[at + 1]; k++) {
			uint32_t to = loops_edge(l, l->out[k])->to - l->first;

			if (to == head)
				return false;
			if (to == v || !l->member[to] || l->state[to])
				continue;
			l->state[to] = 1;
			l->stack[n++] = to;
		}
	}
	return true;
}

/* The edge by which block @v leaves the loop in hand, whose only exit it is; n_edges: it has none alone. */
static uint32_t way_out(const struct loops *l, uint32_t v)
{
	uint32_t out = l->g->flow.n_edges;

	for (uint32_t k = l->first_out[v]; k < l->first_out[v + 1]; k++) {
		if (l->member[loops_edge(l, l->out[k])->to - l->first])
			continue;
		if (out != l->g->flow.n_edges)
			return l->g->flow.n_edges;
		out = l->out[k];
	}
	return out;
}

static int set_odds(struct loops *l, const struct exit_test *t)
{
	double rounds, sd, odds;
	uint32_t v = t->v;

	if (!rounds_find(l, t, &rounds, &sd) || unfinished(l, t, rounds))
		return 0;
	if (!each_round(l, t->head, v)) {
		/* Its test is not passed in each round: then what it lets out says how many begin. */
		uint32_t out = way_out(l, v);
		const struct flow_stay stay = { l->first + t->head, out, rounds, sd };

		return t->alone && out != l->g->flow.n_edges ? flow_graph_stay(&l->g->flow, &stay) : 0;
	}
	odds = rounds - 1 > 0.02 ? rounds - 1 : 0.02;
	for (uint32_t k = l->first_out[v]; k < l->first_out[v + 1]; k++) {
		struct flow_edge *e = &l->g->flow.edges[l->out[k]];

		if (!l->member[e->to - l->first] || (e->odds > 0 && e->odds_sd <= sd))
			continue;
		e->odds = odds;
		e->odds_sd = sd;
		/* Left another way too, the test lets more rounds pass for each stay that it ends. */
		e->odds_least = !t->alone;
	}
	return 0;
}

static void mark_inside(struct loops *l, bool on)
{
	for (uint32_t v = 0; v < l->n; v++)
		for (uint32_t i = loops_block(l, v)->first; l->member[v] && i < loops_block(l, v)->end; i++)
			l->inside[i] = on ? v + 1 : 0;
}

static bool is_tail(const struct loops *l, uint32_t v)
{
	for (uint32_t k = 0; k < l->n_back; k++)
		if (l->back[k].tail == v)
			return true;
	return false;
}

/*
 * A branch around a loop guards it against having nothing to do: such loops are
 * entered nearly always.  The branch that closes the loop before is no such guard.
 */
static void guard_odds(struct loops *l, uint32_t head)
{
	for (uint32_t k = l->first_in[head]; k < l->first_in[head + 1]; k++) {
		uint32_t e = l->in[k], from = loops_edge(l, e)->from - l->first;

		if (l->member[from])
			continue;
		/* Back over blocks that do nothing but lead here. */
		for (int hop = 0; hop < 4 && l->first_out[from + 1] - l->first_out[from] == 1 &&
				  l->first_in[from + 1] - l->first_in[from] == 1; hop++) {
			e = l->in[l->first_in[from]];
			from = loops_edge(l, e)->from - l->first;
		}
		if (l->first_out[from + 1] - l->first_out[from] != 2 || l->member[from] ||
		    is_tail(l, from) || loops_edge(l, e)->odds > 0)
			continue;
		l->g->flow.edges[e].odds = 20;
		l->g->flow.edges[e].odds_sd = 1;
	}
}

static void registers_of_loop(struct loops *l, uint32_t head)
{
	l->round[head] = 0;
	find_members(l, head);
	for (uint32_t v = 0; v < l->n; v++) {
		const struct graph_block *b = loops_block(l, v);

		for (uint32_t i = b->first; l->member[v] && i < b->end; i++)
			l->round[head] |= consts_changed(&l->consts, &b->f->b->insn[i]);
	}
}

/* Is the k-th edge back the first to its head? */
static bool first_to_head(const struct loops *l, uint32_t k)
{
	for (uint32_t j = 0; j < k; j++)
		if (l->back[j].head == l->back[k].head)
			return false;
	return true;
}

static int one_loop(struct loops *l, uint32_t head, const struct rates *rates)
{
	struct exit_test tests[4], t;
	uint32_t n_tests = 0, exits = 0, n_members = 0, *members;
	int err = 0;

	members = malloc(l->n * sizeof(*members));
	if (!members)
		return -ENOMEM;
	find_members(l, head);
	for (uint32_t v = 0; v < l->n; v++) {
		const struct graph_block *b = loops_block(l, v);
		bool leaves = l->goes_out[v];

		if (!l->member[v])
			continue;
		members[n_members++] = l->first + v;
		for (uint32_t k = l->first_out[v]; k < l->first_out[v + 1]; k++)
			leaves |= !l->member[loops_edge(l, l->out[k])->to - l->first];
		if (!leaves)
			continue;
		exits++;
		if (b->f->b->insn[b->end - 1].flow == DECODE_COND && n_tests < 4 &&
		    l->first_out[v + 1] - l->first_out[v] == 2 &&
		    rounds_test(l, v, head, &t)) {
			tests[n_tests++] = t;
		}
	}
	mark_inside(l, true);
	for (uint32_t k = 0; k < n_tests && !err; k++) {
		tests[k].alone = exits == 1;
		err = set_odds(l, &tests[k]);
	}
	guard_odds(l, head);
	mark_inside(l, false);
	if (!err)
		err = rates_apply(rates, l, head);
	if (!err)
		err = flow_graph_cut(&l->g->flow, members, n_members);
	free(members);
	return err;
}

int loops_apply(struct graph *g, uint32_t first, uint32_t end, uint32_t first_edge,
		uint32_t end_edge)
{
	struct rates *rates = NULL;
	struct loops *l;
	int err;

	if (end - first > MAX_BLOCKS || end == first)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->g = g;
	l->first = first;
	l->n = end - first;
	l->first_edge = first_edge;
	l->end_edge = end_edge;
	err = init(l);
	if (!err) {
		const struct consts_edges edges = { l->out, l->first_out, l->in,
						    l->first_in, l->order,
						    l->round, l->is_back, l->cold };

		for (uint32_t v = 0; v < l->n; v++)
			find_back_edges(l, v);
		find_cold(l);
		consts_places(&l->consts, g, first, l->n);
		for (uint32_t k = 0; k < l->n_back && l->n_back < LOOPS_MAX; k++)
			if (first_to_head(l, k))
				registers_of_loop(l, l->back[k].head);
		if (l->n_back)
			err = consts_find(&l->consts, g, first, l->n, &edges);
		if (l->n_back && !err)
			rates = rates_new(l);
		for (uint32_t k = 0; k < l->n_back && !err; k++) {
			if (!first_to_head(l, k))
				continue;
			find_members(l, l->back[k].head);
			chains_apply(l, l->back[k].head);
		}
		for (uint32_t k = 0; k < l->n_back && !err; k++) {
			if (first_to_head(l, k))
				err = one_loop(l, l->back[k].head, rates);
		}
	}
	rates_free(rates);
	fini(l);
	free(l);
	return err;
}
