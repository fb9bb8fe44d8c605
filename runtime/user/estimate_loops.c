/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_loops.c - natural loops, and the odds of staying in them.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_loops.h"
#include "estimate_rounds.h"

enum {
	MAX_BLOCKS = 3000,
	NEVER_IN = 12, /* turns */
};

static const double GUARD_SD = 1;
static const double RARE_BACK = 0.5, RARE_SD = 0.2;
static const double COST_SLACK = 2; /* a block may run in less than its cycles */

static bool inside(const struct loops *l, uint32_t node)
{
	return node >= l->first && node < l->first + l->n;
}

static bool is_inner(const struct loops *l, uint32_t e)
{
	return !loops_edge(l, e)->is_call && loops_edge(l, e)->from != FLOW_OUTSIDE &&
	       inside(l, loops_edge(l, e)->from) && loops_edge(l, e)->to != FLOW_OUTSIDE &&
	       inside(l, loops_edge(l, e)->to);
}

/* What rare blocks lead back to is no part of how a loop goes round as a rule. */
static bool is_local(const struct loops *l, uint32_t e)
{
	return is_inner(l, e) && !l->rare[loops_edge(l, e)->from - l->first];
}

/* Edges are in the order of the nodes they come from: is @e the way that none of many turns took? */
static bool never_taken(const struct loops *l, uint32_t e)
{
	const struct flow_edge *edge = loops_edge(l, e);
	double counted = 0, seen = 0;

	if (edge->counted > 0 || edge->seen > 0)
		return false;
	for (uint32_t k = e; k < l->end_edge && loops_edge(l, k)->from == edge->from; k++) {
		counted += loops_edge(l, k)->counted;
		seen += loops_edge(l, k)->seen;
	}
	for (uint32_t k = e; k-- > l->first_edge && loops_edge(l, k)->from == edge->from;) {
		counted += loops_edge(l, k)->counted;
		seen += loops_edge(l, k)->seen;
	}
	return edge->has_counted ? counted >= NEVER_IN : edge->has_seen && seen >= NEVER_IN;
}

/* One pass over the edges: to where control was seen to come from blocks that are not rare.  Anything new? */
static bool reach(struct loops *l)
{
	bool more = false;

	for (uint32_t e = l->first_edge; e < l->end_edge; e++) {
		uint32_t to;

		if (!is_inner(l, e) || l->rare[loops_edge(l, e)->from - l->first] || never_taken(l, e))
			continue;
		to = loops_edge(l, e)->to - l->first;
		more |= l->rare[to];
		l->rare[to] = 0;
	}
	return more;
}

/* One pass backwards: which rare blocks lead to @state ones?  Anything new? */
static bool lead_to(struct loops *l)
{
	bool more = false;

	for (uint32_t e = l->end_edge; e-- > l->first_edge;) {
		uint32_t from, to;

		if (!is_inner(l, e))
			continue;
		from = loops_edge(l, e)->from - l->first;
		to = loops_edge(l, e)->to - l->first;
		if (!l->rare[from] || !l->rare[to] || !l->state[to] || l->state[from])
			continue;
		l->state[from] = 1;
		more = true;
	}
	return more;
}

/*
 * Turns that none of many samples or hits took, as the end of a long loop, must be taken all the same where
 * samples fell behind them.  Blocks that are needed for no such way are rare.
 */
static void find_rare(struct loops *l)
{
	bool more = true;

	for (uint32_t v = 0; v < l->n; v++)
		l->rare[v] = v && !l->g->blocks[l->first + v].open;
	while (more) {
		while (reach(l))
			;
		for (uint32_t v = 0; v < l->n; v++)
			l->state[v] = l->rare[v] && l->g->flow.nodes[l->first + v].samples >= 1;
		while (lead_to(l))
			;
		more = false;
		/* One at a time: what is behind it may lead to all the others. */
		for (uint32_t e = l->first_edge; e < l->end_edge && !more; e++) {
			uint32_t to;

			if (!is_inner(l, e) || l->rare[loops_edge(l, e)->from - l->first])
				continue;
			to = loops_edge(l, e)->to - l->first;
			more = l->rare[to] && l->state[to];
			l->rare[to] = l->rare[to] && !l->state[to];
		}
	}
	memset(l->state, 0, l->n);
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
	l->round_slots = calloc(n + 1, sizeof(*l->round_slots));
	l->is_back = calloc(m + 1, 1);
	l->goes_out = calloc(n + 1, 1);
	l->rare = calloc(n + 1, 1);
	l->inside = calloc(loops_block(l, 0)->f->n + 1, sizeof(*l->inside));
	if (!l->out || !l->in || !l->first_out || !l->first_in || !l->state ||
	    !l->member || !l->stack || !l->at || !l->inside ||
	    !l->goes_out || !l->rare || !l->order || !l->round || !l->round_slots || !l->is_back)
		return -ENOMEM;
	if (l->without_rare)
		find_rare(l);
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
	free(l->round_slots);
	free(l->is_back);
	free(l->inside);
	free(l->goes_out);
	free(l->rare);
	consts_fini(&l->consts);
}

static void mark_back(struct loops *l, uint32_t from, uint32_t to)
{
	for (uint32_t k = l->first_in[to]; k < l->first_in[to + 1]; k++)
		if (loops_edge(l, l->in[k])->from == l->first + from)
			l->is_back[k] = 1;
	l->round[to] = 0xffff; /* until the loop has been looked through */
	l->round_slots[to] = ~0ull;
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

/* What leaves the loop in hand by a turn that is hardly ever taken does so for good, or comes back now and then. */
static void rare_stays_out(struct loops *l)
{
	for (uint32_t e = l->first_edge; e < l->end_edge; e++) {
		struct flow_edge *edge = &l->g->flow.edges[e];

		if (!is_inner(l, e) || !l->rare[edge->from - l->first] || !l->member[edge->to - l->first] ||
		    edge->odds > 0 || edge->has_seen || edge->has_counted)
			continue;
		edge->odds = RARE_BACK;
		edge->odds_sd = GUARD_SD;
	}
}

static void set_odds(struct loops *l, const struct exit_test *t)
{
	double rounds, sd, odds;
	uint32_t v = t->v;

	if (!rounds_find(l, t, &rounds, &sd) || unfinished(l, t, rounds))
		return;
	odds = rounds - 1 > 0.02 ? rounds - 1 : 0.02;
	for (uint32_t k = l->first_out[v]; k < l->first_out[v + 1]; k++) {
		struct flow_edge *e = &l->g->flow.edges[l->out[k]];

		if (!l->member[e->to - l->first] || (e->odds > 0 && e->odds_sd <= sd))
			continue;
		if (l->without_rare && e->odds > 0 && e->odds_sd < GUARD_SD)
			continue; /* with all blocks, it is known better */
		e->odds = odds;
		e->odds_sd = l->without_rare ? sd + RARE_SD : sd;
		if (l->without_rare)
			rare_stays_out(l);
	}
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
		l->g->flow.edges[e].odds_sd = GUARD_SD;
	}
}

static void registers_of_loop(struct loops *l, uint32_t head)
{
	l->round[head] = 0;
	l->round_slots[head] = 0;
	find_members(l, head);
	for (uint32_t v = 0; v < l->n; v++) {
		const struct graph_block *b = loops_block(l, v);

		for (uint32_t i = b->first; l->member[v] && i < b->end; i++) {
			l->round[head] |= consts_changed(&b->f->b->insn[i]);
			l->round_slots[head] |= consts_slots_changed(&b->f->b->insn[i]);
		}
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

/* Does each round of the loop in hand pass block @v? */
static bool each_round(struct loops *l, uint32_t v, uint32_t head)
{
	bool more = v != head;

	memset(l->state, 0, l->n);
	l->state[head] = more;
	while (more) {
		more = false;
		for (uint32_t k = 0; k < l->n_order; k++) {
			uint32_t w = l->order[l->n_order - 1 - k]; /* those before first */

			if (!l->state[w])
				continue;
			for (uint32_t e = l->first_out[w]; e < l->first_out[w + 1]; e++) {
				uint32_t to = loops_edge(l, l->out[e])->to - l->first;

				if (to == head)
					return false;
				if (to == v || !l->member[to] || l->state[to])
					continue;
				l->state[to] = 1;
				more = true;
			}
		}
	}
	return true;
}

static int one_loop(struct loops *l, uint32_t head)
{
	struct exit_test tests[4], t;
	uint32_t n_tests = 0, exits = 0, n_members = 0;

	find_members(l, head);
	for (uint32_t v = 0; v < l->n; v++) {
		const struct graph_block *b = loops_block(l, v);
		bool leaves = l->goes_out[v];

		if (!l->member[v])
			continue;
		l->stack[n_members++] = l->first + v;
		for (uint32_t k = l->first_out[v]; k < l->first_out[v + 1]; k++)
			leaves |= !l->member[loops_edge(l, l->out[k])->to - l->first];
		if (!leaves)
			continue;
		exits++;
		if (b->f->b->insn[b->end - 1].flow == DECODE_COND && n_tests < 4 &&
		    l->first_out[v + 1] - l->first_out[v] == 2 &&
		    each_round(l, v, head) && rounds_test(l, v, head, &t)) {
			tests[n_tests++] = t;
		}
	}
	mark_inside(l, true);
	for (uint32_t k = 0; k < n_tests; k++) {
		tests[k].alone = exits == 1;
		set_odds(l, &tests[k]);
	}
	if (!l->without_rare)
		guard_odds(l, head);
	mark_inside(l, false);
	return l->without_rare ? 0 : flow_graph_cut(&l->g->flow, l->stack, n_members);
}

static int apply(struct graph *g, uint32_t first, uint32_t end, uint32_t first_edge, uint32_t end_edge,
		 bool without_rare)
{
	struct loops *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->g = g;
	l->first = first;
	l->n = end - first;
	l->first_edge = first_edge;
	l->end_edge = end_edge;
	l->without_rare = without_rare;
	err = init(l);
	if (!err) {
		const struct consts_edges edges = { l->out, l->first_out, l->in,
						    l->first_in, l->order,
						    l->round, l->round_slots, l->is_back };

		for (uint32_t v = 0; v < l->n; v++)
			find_back_edges(l, v);
		for (uint32_t k = 0; k < l->n_back && l->n_back < LOOPS_MAX; k++)
			if (first_to_head(l, k))
				registers_of_loop(l, l->back[k].head);
		if (l->n_back)
			err = consts_find(&l->consts, g, first, l->n, &edges);
		for (uint32_t k = 0; k < l->n_back && !err; k++) {
			if (first_to_head(l, k))
				err = one_loop(l, l->back[k].head);
		}
	}
	fini(l);
	free(l);
	return err;
}

int loops_apply(struct graph *g, uint32_t first, uint32_t end, uint32_t first_edge, uint32_t end_edge)
{
	int err = 0;

	if (end - first > MAX_BLOCKS || end == first)
		return 0;
	for (int without_rare = 0; without_rare < 2 && !err; without_rare++)
		err = apply(g, first, end, first_edge, end_edge, without_rare);
	return err;
}
