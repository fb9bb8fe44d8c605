/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_loops.c - natural loops, their exits, and how many rounds they make.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_consts.h"
#include "estimate_loops.h"

enum { MAX_BLOCKS = 3000, MAX_LOOPS = 400 };

struct loops {
	struct graph *g;
	uint32_t first, n;	   /* nodes, by number from first */
	uint32_t first_edge, end_edge;
	uint32_t *out, *first_out; /* edges inside the function, by node */
	uint32_t *in, *first_in;
	uint8_t *state;		   /* of the walk: 0 new, 1 on the way, 2 done */
	uint32_t *stack, *at;
	uint32_t *round;	   /* by block: registers that its loops change */
	uint8_t *is_back;	   /* by place in in[] */
	uint32_t *order, n_order;  /* blocks as the walk was done with them */
	uint8_t *goes_out;	   /* by node: has an edge out of the function */
	uint32_t *inside;	   /* by instruction: its block + 1 if that is in the loop in hand */
	uint8_t *member;	   /* of the loop in hand */
	struct consts consts[2];   /* registers by the code alone, under two seeds */
	struct { uint32_t head, tail; } back[MAX_LOOPS];
	uint32_t n_back;
};

/*
 * One loop's exit by comparison of two registers, D = b - a apart.  Told by the
 * made-up registers: how D changes each round, and from the head to the test.
 */
struct exit_test {
	uint32_t v, at;	    /* block, instruction that compares */
	uint32_t head;	    /* block */
	const struct decode_insn *in;
	int64_t per_round;  /* D at the next head - D at this head */
	int64_t to_test;    /* D at the test - D at the head */
	bool alone;	    /* the loop has no other way out */
};

static const struct graph_block *block(const struct loops *l, uint32_t v)
{
	return &l->g->blocks[l->first + v];
}

static const struct flow_edge *edge(const struct loops *l, uint32_t e)
{
	return &l->g->flow.edges[e];
}

static bool inside(const struct loops *l, uint32_t node)
{
	return node >= l->first && node < l->first + l->n;
}

static bool is_local(const struct loops *l, uint32_t e)
{
	return !edge(l, e)->is_call && edge(l, e)->from != FLOW_OUTSIDE &&
	       inside(l, edge(l, e)->from) && edge(l, e)->to != FLOW_OUTSIDE &&
	       inside(l, edge(l, e)->to);
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
	l->goes_out = calloc(n + 1, 1);
	l->inside = calloc(block(l, 0)->f->n + 1, sizeof(*l->inside));
	if (!l->out || !l->in || !l->first_out || !l->first_in || !l->state ||
	    !l->member || !l->stack || !l->at || !l->inside ||
	    !l->goes_out || !l->order || !l->round || !l->is_back)
		return -ENOMEM;
	for (uint32_t e = l->first_edge; e < l->end_edge; e++) {
		if (!is_local(l, e)) {
			if (!edge(l, e)->is_call && edge(l, e)->from != FLOW_OUTSIDE)
				l->goes_out[edge(l, e)->from - l->first] = 1;
			continue;
		}
		l->first_out[edge(l, e)->from - l->first + 2]++;
		l->first_in[edge(l, e)->to - l->first + 2]++;
	}
	for (uint32_t i = 2; i < n + 2; i++) {
		l->first_out[i] += l->first_out[i - 1];
		l->first_in[i] += l->first_in[i - 1];
	}
	/* first_*[i + 1] is row i's start while it fills, and its end after. */
	for (uint32_t e = l->first_edge; e < l->end_edge; e++) {
		if (!is_local(l, e))
			continue;
		l->out[l->first_out[edge(l, e)->from - l->first + 1]++] = e;
		l->in[l->first_in[edge(l, e)->to - l->first + 1]++] = e;
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
	free(l->inside);
	free(l->goes_out);
	consts_fini(&l->consts[0]);
	consts_fini(&l->consts[1]);
}

static void mark_back(struct loops *l, uint32_t from, uint32_t to)
{
	for (uint32_t k = l->first_in[to]; k < l->first_in[to + 1]; k++)
		if (edge(l, l->in[k])->from == l->first + from)
			l->is_back[k] = 1;
	l->round[to] = 0xffff; /* until the loop has been looked through */
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
		to = edge(l, l->out[l->at[v]++])->to - l->first;
		if (l->state[to] == 1) {
			mark_back(l, v, to);
			if (l->n_back < MAX_LOOPS) {
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
			add_member(l, edge(l, l->in[e])->from - l->first, &n);
	}
}

/*
 * The values that @in compares, as b - a, so that an equal outcome is 0: of cmp
 * and sub a - b, of add a + b, of test the register with itself.
 */
static uint64_t distance(const struct decode_insn *in, const uint64_t *regs)
{
	uint64_t a = regs[in->flags_a], b = (uint64_t)in->flags_imm;

	if (in->flags_op == DECODE_FLAGS_AND)
		b = 0;
	else if (in->flags_b != DECODE_NONE)
		b = regs[in->flags_b];
	if (in->flags_op == DECODE_FLAGS_ADD || in->flags_op == DECODE_FLAGS_INC)
		b = 0 - b;
	return b - a;
}

/* Distances of a 32-bit comparison are modulo 2^32. */
static int64_t cut(const struct decode_insn *in, uint64_t d)
{
	return in->flags_bits == 32 ? (int32_t)(uint32_t)d : (int64_t)d;
}

static bool compares(const struct decode_insn *in)
{
	if (in->flags_bits < 32)
		return false;
	switch (in->flags_op) {
	case DECODE_FLAGS_SUB:
	case DECODE_FLAGS_DEC:
	case DECODE_FLAGS_ADD:
	case DECODE_FLAGS_INC:
		return true;
	case DECODE_FLAGS_AND:
		return in->flags_a == in->flags_b;
	default:
		return false;
	}
}

/*
 * *@d = D before instruction @insn of block @v, less D at the loop's head.  False
 * if that is no constant of the code.
 */
static bool from_head(const struct loops *l, const struct exit_test *t, uint32_t v,
		      uint32_t insn, int64_t *d)
{
	int64_t x[2];

	for (int k = 0; k < 2; k++) {
		struct decode_regs s;

		consts_at(&l->consts[k], l->g, l->first, v, insn, &s);
		x[k] = cut(t->in, distance(t->in, s.v) -
					  distance(t->in, l->consts[k].in[t->head].v));
	}
	*d = x[0];
	return x[0] == x[1];
}

/* The same at the end of a round: all ways back to the head must agree. */
static bool round_of(const struct loops *l, struct exit_test *t)
{
	bool any = false;

	for (uint32_t k = 0; k < l->n_back; k++) {
		uint32_t tail = l->back[k].tail;
		int64_t d;

		if (l->back[k].head != t->head)
			continue;
		if (!from_head(l, t, tail, block(l, tail)->end, &d) ||
		    (any && d != t->per_round))
			return false;
		t->per_round = d;
		any = true;
	}
	return any && t->per_round;
}

static bool test_of(const struct loops *l, uint32_t v, uint32_t head, struct exit_test *t)
{
	const struct graph_block *b = block(l, v);

	t->v = v;
	t->head = head;
	if (!consts_deciding(b, &t->at))
		return false;
	t->in = &b->f->b->insn[t->at];
	return compares(t->in) && round_of(l, t) && from_head(l, t, v, t->at, &t->to_test);
}

/* How many rounds are still to come at distance @d. */
static double rounds_left(const struct exit_test *t, int64_t d)
{
	double rest = -(double)d / (double)t->per_round;

	return rest < 0 && rest > -1.5 ? 0 : ceil(rest);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Is what is left of @rounds spread as it is when every stay makes that many? */
static bool even(const double *rest, uint32_t n, double rounds)
{
	double worst = 0;
	uint32_t high = 0;

	for (uint32_t k = 0; k < n; k++) {
		double d = fabs((rest[k] + 0.5) / rounds - (k + 0.5) / n);

		worst = d > worst ? d : worst;
		high += rest[k] >= 0.75 * rounds - 1;
	}
	/* Kolmogorov-Smirnov, with half a sample of slack. */
	if (worst <= 1.4 / sqrt(n) + 0.5 / n)
		return true;
	/* Rounds that take unequal time bend the spread, but it keeps its sharp end. */
	return n >= 16 && high >= 0.12 * n;
}

/* The number of rounds of a stay, from how many were left at samples inside. */
static bool sampled_rounds(const struct loops *l, const struct exit_test *t,
			   double *rounds, double *sd)
{
	const struct site_function *f = block(l, t->v)->f;
	uint32_t kept = f->n_kept < SITE_KEPT ? f->n_kept : SITE_KEPT, n = 0;
	double rest[SITE_KEPT];

	for (uint32_t k = 0; k < kept; k++) {
		const struct site_kept *s = &f->kept[k];
		uint32_t v = l->inside[s->insn];
		int64_t d;

		if (!v--)
			continue;
		if (!from_head(l, t, v, s->insn, &d))
			continue;
		d = cut(t->in, distance(t->in, s->regs) - (uint64_t)d + (uint64_t)t->to_test);
		rest[n] = rounds_left(t, d);
		if (rest[n] < 0 || rest[n] > 1e15)
			return false; /* not a loop that comes to 0 this way */
		n++;
	}
	if (!n)
		return false;
	qsort(rest, n, sizeof(*rest), by_value);
	*rounds = (rest[n - 1] + 1) * (n + 1) / n;
	if (!even(rest, n, *rounds))
		return false;
	/* Few samples cannot tell an even spread from another. */
	*sd = n < 24 ? 0.3 + 8.0 / n : 0.1 + 3.0 / n;
	if (!t->alone)
		*sd = 2 * *sd + 0.2;
	return true;
}

/* D wherever control enters the loop, by the made-up registers; false if that differs by the way. */
static bool entry_distance(const struct loops *l, const struct exit_test *t, uint64_t d[2])
{
	bool any = false;

	if (!t->head)
		return false;
	for (uint32_t k = l->first_in[t->head]; k < l->first_in[t->head + 1]; k++) {
		uint32_t from = edge(l, l->in[k])->from - l->first;

		if (l->member[from] || !l->consts[0].seen[from])
			continue;
		for (int seed = 0; seed < 2; seed++) {
			uint64_t x = distance(t->in, l->consts[seed].out[from].v);

			if (any && cut(t->in, x - d[seed]))
				return false;
			d[seed] = x;
		}
		any = true;
	}
	return any;
}

/* Does register @r stay as it is from round to round, and before @insn of block @v? */
static bool stays(const struct loops *l, const struct exit_test *t, unsigned r, uint32_t v,
		  uint32_t insn)
{
	for (int seed = 0; seed < 2; seed++) {
		struct decode_regs s;

		consts_at(&l->consts[seed], l->g, l->first, v, insn, &s);
		if (s.v[r] != l->consts[seed].in[t->head].v[r])
			return false;
	}
	return true;
}

/*
 * Rounds when D at the entry is register @r, which stays, or its negative, and
 * @c: then each sample tells how many its own stay makes.  A sample falls into a stay as often
 * as that has rounds, so that the mean of 1 / rounds is stays / rounds of all.
 */
static bool rounds_by_register(const struct loops *l, const struct exit_test *t, unsigned r,
			       bool negative, uint64_t c, double *rounds, double *sd)
{
	const struct site_function *f = block(l, t->v)->f;
	uint32_t kept = f->n_kept < SITE_KEPT ? f->n_kept : SITE_KEPT, n = 0;
	double sum = 0, squares = 0, mean;

	for (uint32_t k = 0; k < kept; k++) {
		const struct site_kept *s = &f->kept[k];
		uint32_t v = l->inside[s->insn];
		double x;
		uint64_t d;

		if (!v-- || !stays(l, t, r, v, s->insn))
			continue;
		d = (negative ? 0 - s->regs[r] : s->regs[r]) + c + (uint64_t)t->to_test;
		x = rounds_left(t, cut(t->in, d)) + 1;
		if (x < 1 || x > 1e15)
			return false;
		sum += 1 / x;
		squares += 1 / (x * x);
		n++;
	}
	if (!n)
		return false;
	mean = sum / n;
	*rounds = 1 / mean;
	*sd = 0.05 + sqrt((squares / n - mean * mean > 0 ? squares / n - mean * mean : 0) /
			  n) / mean + 0.3 / n;
	return true;
}

/* From what the registers are where control enters: constants, or one that stays and tells. */
static bool entry_rounds(const struct loops *l, const struct exit_test *t, double *rounds,
			 double *sd)
{
	uint64_t d[2];

	if (!t->alone || !entry_distance(l, t, d))
		return false;
	if (!cut(t->in, d[0] - d[1])) {
		*rounds = rounds_left(t, cut(t->in, d[0] + (uint64_t)t->to_test)) + 1;
		*sd = 0.03;
		return *rounds >= 1 && *rounds < 1e15;
	}
	for (unsigned r = 0; r < 2 * DECODE_REGS; r++) {
		bool negative = r & 1;
		uint64_t c[2];

		for (int seed = 0; seed < 2; seed++) {
			uint64_t v = l->consts[seed].in[t->head].v[r / 2];

			c[seed] = d[seed] - (negative ? 0 - v : v);
		}
		if (!cut(t->in, c[0] - c[1]) &&
		    rounds_by_register(l, t, r / 2, negative, c[0], rounds, sd))
			return true;
	}
	return false;
}

static void set_odds(struct loops *l, const struct exit_test *t)
{
	double rounds, sd, odds;
	uint32_t v = t->v;

	if (!entry_rounds(l, t, &rounds, &sd) && !sampled_rounds(l, t, &rounds, &sd))
		return;
	odds = rounds - 1 > 0.02 ? rounds - 1 : 0.02;
	for (uint32_t k = l->first_out[v]; k < l->first_out[v + 1]; k++) {
		struct flow_edge *e = &l->g->flow.edges[l->out[k]];

		if (!l->member[e->to - l->first] || (e->odds > 0 && e->odds_sd <= sd))
			continue;
		e->odds = odds;
		e->odds_sd = sd;
	}
}

static void mark_inside(struct loops *l, bool on)
{
	for (uint32_t v = 0; v < l->n; v++)
		for (uint32_t i = block(l, v)->first; l->member[v] && i < block(l, v)->end; i++)
			l->inside[i] = on ? v + 1 : 0;
}

/*
 * A branch around a loop guards it against having nothing to do: such loops are
 * entered nearly always.
 */
static void guard_odds(struct loops *l, uint32_t head)
{
	for (uint32_t k = l->first_in[head]; k < l->first_in[head + 1]; k++) {
		uint32_t e = l->in[k], from = edge(l, e)->from - l->first;

		if (l->member[from])
			continue;
		/* Back over blocks that do nothing but lead here. */
		for (int hop = 0; hop < 4 && l->first_out[from + 1] - l->first_out[from] == 1 &&
				  l->first_in[from + 1] - l->first_in[from] == 1; hop++) {
			e = l->in[l->first_in[from]];
			from = edge(l, e)->from - l->first;
		}
		if (l->first_out[from + 1] - l->first_out[from] != 2 || l->member[from] ||
		    edge(l, e)->odds > 0)
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
		const struct graph_block *b = block(l, v);

		for (uint32_t i = b->first; l->member[v] && i < b->end; i++)
			l->round[head] |= consts_changed(&b->f->b->insn[i]);
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

static int one_loop(struct loops *l, uint32_t head)
{
	struct exit_test tests[4], t;
	uint32_t n_tests = 0, exits = 0, n_members = 0;

	find_members(l, head);
	for (uint32_t v = 0; v < l->n; v++) {
		const struct graph_block *b = block(l, v);
		bool leaves = l->goes_out[v];

		if (!l->member[v])
			continue;
		l->stack[n_members++] = l->first + v;
		for (uint32_t k = l->first_out[v]; k < l->first_out[v + 1]; k++)
			leaves |= !l->member[edge(l, l->out[k])->to - l->first];
		if (!leaves)
			continue;
		exits++;
		if (b->f->b->insn[b->end - 1].flow == DECODE_COND && n_tests < 4 &&
		    l->first_out[v + 1] - l->first_out[v] == 2 &&
		    test_of(l, v, head, &t)) {
			tests[n_tests++] = t;
		}
	}
	mark_inside(l, true);
	for (uint32_t k = 0; k < n_tests; k++) {
		tests[k].alone = exits == 1;
		set_odds(l, &tests[k]);
	}
	guard_odds(l, head);
	mark_inside(l, false);
	return flow_graph_cut(&l->g->flow, l->stack, n_members);
}

int loops_apply(struct graph *g, uint32_t first, uint32_t end, uint32_t first_edge,
		uint32_t end_edge)
{
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
						    l->round, l->is_back };

		for (uint32_t v = 0; v < l->n; v++)
			find_back_edges(l, v);
		for (uint32_t k = 0; k < l->n_back && l->n_back < MAX_LOOPS; k++)
			if (first_to_head(l, k))
				registers_of_loop(l, l->back[k].head);
		for (int k = 0; k < 2 && l->n_back && !err; k++)
			err = consts_find(&l->consts[k], g, first, l->n, &edges, k + 1);
		for (uint32_t k = 0; k < l->n_back && !err; k++) {
			if (first_to_head(l, k))
				err = one_loop(l, l->back[k].head);
		}
	}
	fini(l);
	free(l);
	return err;
}
