/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow.c - run counts as a robust, damped least-squares problem.
 *
 * Unknowns are the logarithms of each node's runs, then of each edge's.  Each
 * outer step linearises all rows at the present answer, weighs down those that a
 * stall explains better, and takes one damped step.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "flow_factor.h"
#include "flow_rows.h"

static const double CONSERVE = 1 / 0.03;  /* flows in and out agree to a few per cent */
static const double COST_SD = 0.9;	  /* of the logarithm of a block's cost when nothing waits */
static const double HIDDEN_CYCLES = 2.0;  /* that a block may take less than its cost */
static const double SET_SD = 0.6;	  /* of the logarithm of the cost of all blocks of a set together */
static const double MOST_OF_SET = 0.95;   /* in one block: there is nobody to share its time with */
static const double SET_STALL_SD = 0.8;	  /* likewise, when it takes longer */
static const double NOTHING_SD = 1.7;	  /* of the same where no sample fell */
static const double STALL_SD = 1.5;	  /* beyond which waiting is no news */
static const double BRANCH_SD = 0.45;	  /* of log odds, from samples however many */
static const double COUNTED_SD = 0.08;	  /* of log odds, from hits of breakpoints however many */
static const double FEW_COUNTED = 3;	  /* hits that say little of how rare a way is */
static const double SWITCH_SD = 1.6;	  /* the same of indirect jumps: where they go decides how they stall */
static const double SPLIT_SD = 1.5;	  /* of log odds when nothing is known: branches lean */
static const double EXTRA_SD = 1.0;	  /* of unknown callers beside known ones: few */
static const double EXTRA_MEAN = -4;

struct problem {
	const struct flow_graph *g;
	uint32_t n;	   /* unknowns */
	double *x;
	double *step, *work, *tried;
	uint32_t *in, *out; /* edge numbers by node, in rows of first_in[] */
	uint32_t *first_in, *first_out;
	bool *has_call_in;
	bool *alone;	   /* node that goes round by itself */
	/* Edges into and out of each cut, by cut_end[]. */
	uint32_t *cut_in, *cut_out, *cut_in_end, *cut_out_end;
	struct flow_rows rows;
	struct flow_factor *factor; /* the caller's; NULL: too large, go by conjugate gradients */
	double patience;   /* how much further than at the end a stall is pulled at */
};

static uint32_t edge_unknown(const struct problem *p, uint32_t e)
{
	return p->g->n_nodes + e;
}

/* A call's flow is its caller's; any other edge has a flow of its own. */
static uint32_t flow_unknown(const struct problem *p, uint32_t e)
{
	const struct flow_edge *edge = &p->g->edges[e];

	return edge->is_call && edge->from != FLOW_OUTSIDE ? edge->from
							    : edge_unknown(p, e);
}

static void problem_fini(struct problem *p)
{
	free(p->x);
	free(p->step);
	free(p->work);
	free(p->tried);
	free(p->in);
	free(p->out);
	free(p->first_in);
	free(p->first_out);
	free(p->has_call_in);
	free(p->alone);
	free(p->cut_in);
	free(p->cut_out);
	free(p->cut_in_end);
	free(p->cut_out_end);
	flow_rows_fini(&p->rows);
}

static int index_edges(struct problem *p)
{
	const struct flow_graph *g = p->g;
	uint32_t *at_in = p->first_in + 1, *at_out = p->first_out + 1;

	for (uint32_t e = 0; e < g->n_edges; e++) {
		const struct flow_edge *edge = &g->edges[e];

		if ((edge->from != FLOW_OUTSIDE && edge->from >= g->n_nodes) ||
		    (edge->to != FLOW_OUTSIDE && edge->to >= g->n_nodes))
			return -EINVAL;
		if (edge->to != FLOW_OUTSIDE)
			at_in[edge->to]++;
		if (edge->from != FLOW_OUTSIDE && !edge->is_call)
			at_out[edge->from]++;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		p->first_in[i + 1] += p->first_in[i];
		p->first_out[i + 1] += p->first_out[i];
	}
	/* Filled from the back, so that first_*[i] ends where row i begins. */
	for (uint32_t e = g->n_edges; e-- > 0;) {
		const struct flow_edge *edge = &g->edges[e];

		if (edge->to != FLOW_OUTSIDE)
			p->in[--at_in[edge->to]] = e;
		if (edge->from != FLOW_OUTSIDE && !edge->is_call)
			p->out[--at_out[edge->from]] = e;
		if (edge->to != FLOW_OUTSIDE && edge->to == edge->from && !edge->is_call)
			p->alone[edge->to] = true;
		if (edge->to != FLOW_OUTSIDE && (edge->is_call || edge->is_tail) &&
		    edge->from != FLOW_OUTSIDE)
			p->has_call_in[edge->to] = true;
	}
	/* at_*[i] is first_*[i + 1] and now holds row i's start: move it back down. */
	memmove(p->first_in, p->first_in + 1, g->n_nodes * sizeof(*p->first_in));
	memmove(p->first_out, p->first_out + 1, g->n_nodes * sizeof(*p->first_out));
	p->first_in[g->n_nodes] = p->first_out[g->n_nodes] = 0;
	for (uint32_t e = 0; e < g->n_edges; e++) {
		p->first_in[g->n_nodes] += g->edges[e].to != FLOW_OUTSIDE;
		p->first_out[g->n_nodes] +=
			g->edges[e].from != FLOW_OUTSIDE && !g->edges[e].is_call;
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
static int cross(struct problem *p, uint32_t k, const uint8_t *marked, uint32_t *n,
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

static int index_cuts(struct problem *p)
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

static int problem_init(struct problem *p, const struct flow_graph *g)
{
	uint32_t nodes = g->n_nodes, edges = g->n_edges;
	int err;

	memset(p, 0, sizeof(*p));
	p->g = g;
	p->n = nodes + edges;
	p->x = calloc(p->n + 1, sizeof(*p->x));
	p->step = calloc(p->n + 1, sizeof(*p->step));
	p->tried = calloc(p->n + 1, sizeof(*p->tried));
	p->work = calloc(5 * (size_t)p->n + 1, sizeof(*p->work));
	p->in = calloc(edges + 1, sizeof(*p->in));
	p->out = calloc(edges + 1, sizeof(*p->out));
	p->first_in = calloc(nodes + 2, sizeof(*p->first_in));
	p->first_out = calloc(nodes + 2, sizeof(*p->first_out));
	p->has_call_in = calloc(nodes + 1, sizeof(*p->has_call_in));
	p->alone = calloc(nodes + 1, sizeof(*p->alone));
	p->cut_in_end = calloc(g->n_cuts + 1, sizeof(*p->cut_in_end));
	p->cut_out_end = calloc(g->n_cuts + 1, sizeof(*p->cut_out_end));
	if (!p->x || !p->step || !p->tried || !p->work || !p->in || !p->out ||
	    !p->first_in || !p->first_out || !p->has_call_in || !p->alone || !p->cut_in_end ||
	    !p->cut_out_end)
		return -ENOMEM;
	err = index_edges(p);
	return err ? err : index_cuts(p);
}

static void begin_at(struct problem *p, const double *start)
{
	const struct flow_graph *g = p->g;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		p->x[i] = start && start[i] > 0
				  ? log(start[i])
				  : log((g->nodes[i].samples + 0.3) / g->nodes[i].cycles);
	for (uint32_t e = 0; e < g->n_edges; e++) {
		const struct flow_edge *edge = &g->edges[e];
		double a, b;

		a = edge->from == FLOW_OUTSIDE ? p->x[edge->to] - 1 : p->x[edge->from];
		b = edge->to == FLOW_OUTSIDE ? a - 1 : p->x[edge->to];
		p->x[edge_unknown(p, e)] = (a < b ? a : b) - 0.7;
	}
}

/* What flows over edges list[0..n), as a logarithm. */
static double log_sum(const struct problem *p, const uint32_t *list, uint32_t n)
{
	double max = -INFINITY, s = 0;

	for (uint32_t k = 0; k < n; k++) {
		double v = p->x[flow_unknown(p, list[k])];

		max = v > max ? v : max;
	}
	for (uint32_t k = 0; k < n; k++)
		s += exp(p->x[flow_unknown(p, list[k])] - max);
	return max + log(s);
}

/* Squared, weighted and clipped as the rows are: what the steps make less. */
static double add_row(struct problem *p, double target, double weight, double clip)
{
	double r = target * weight, w = weight;

	if (clip > 0) {
		double q = r * r / (clip * clip);

		/* Student's t: far off, a row pulls less and less. */
		w *= 1 / sqrt(1 + q);
		flow_rows_end(&p->rows, target, w);
		return clip * clip * log1p(q);
	}
	flow_rows_end(&p->rows, target, w);
	return r * r;
}

static double conserve(struct problem *p, uint32_t node, const uint32_t *list, uint32_t n)
{
	double sum;

	if (!n)
		return 0;
	sum = log_sum(p, list, n);
	flow_rows_term(&p->rows, node, 1);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t u = flow_unknown(p, list[k]);

		flow_rows_term(&p->rows, u, -exp(p->x[u] - sum));
	}
	return add_row(p, sum - p->x[node], CONSERVE, 0);
}

static void sum_terms(struct problem *p, const uint32_t *list, uint32_t n, double sum,
		      double sign)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t u = flow_unknown(p, list[k]);

		flow_rows_term(&p->rows, u, sign * exp(p->x[u] - sum));
	}
}

static double cut_row(struct problem *p, uint32_t k)
{
	uint32_t first_in = k ? p->cut_in_end[k - 1] : 0;
	uint32_t first_out = k ? p->cut_out_end[k - 1] : 0;
	uint32_t n_in = p->cut_in_end[k] - first_in;
	uint32_t n_out = p->cut_out_end[k] - first_out;
	const uint32_t *in, *out;
	double a, b;

	/* Lists that hold nothing at all were never allocated. */
	if (!n_in || !n_out)
		return 0;
	in = p->cut_in + first_in;
	out = p->cut_out + first_out;
	a = log_sum(p, in, n_in);
	b = log_sum(p, out, n_out);
	sum_terms(p, in, n_in, a, 1);
	sum_terms(p, out, n_out, b, -1);
	return add_row(p, b - a, CONSERVE, 0);
}

/*
 * How uncertain the cost of a block is, of @usual when it is long.  Of a short one the
 * neighbours may bear it all: what is done together with them takes no time of its own.
 * A loop of one block has no neighbours.
 */
static double cost_sd(const struct problem *p, uint32_t i, double usual)
{
	double hidden = p->alone[i] ? 0 : HIDDEN_CYCLES / p->g->nodes[i].cycles;

	return sqrt(usual * usual + hidden * hidden);
}

static double time_row(struct problem *p, uint32_t i)
{
	const struct flow_node *node = &p->g->nodes[i];
	double expected = p->x[i] + log(node->cycles), r, sd;

	flow_rows_term(&p->rows, i, 1);
	if (node->samples < 0.5) {
		/*
		 * Nothing fell here: r^2 = 2 mu, by Poisson, while that is little.
		 * Further on a small block may well hide behind its neighbours.
		 */
		double slope = 1 / cost_sd(p, i, NOTHING_SD);

		r = 1 + (expected - log(0.5)) * slope;
		if (expected < log(0.5)) {
			r = sqrt(2 * exp(expected));
			slope = r / 2;
		}
		if (slope < 1e-6)
			slope = 1e-6;
		return add_row(p, -r / slope, slope, 3);
	}
	r = log(node->samples) - expected;
	sd = cost_sd(p, i, COST_SD);
	sd = sqrt(sd * sd + 1 / node->samples);
	/* More time than expected is a stall, and common; less is not. */
	return add_row(p, r, 1 / sd, r > 0 ? p->patience * STALL_SD / sd : 0);
}

/*
 * The ways out of a node as breakpoints counted them.  Where one way was not met at all, what samples saw
 * of it is worth more.  False if nothing was counted.
 */
static bool counted_rows(struct problem *p, const uint32_t *list, uint32_t n, double *sum)
{
	uint32_t first = list[0];
	double least = INFINITY;

	for (uint32_t k = 0; k < n; k++) {
		const struct flow_edge *e = &p->g->edges[list[k]];

		if (!e->has_counted)
			return false;
		if (e->counted > p->g->edges[first].counted)
			first = list[k];
		least = e->counted < least ? e->counted : least;
	}
	for (uint32_t k = 0; k < n; k++) {
		const struct flow_edge *edge = &p->g->edges[list[k]];
		double a = edge->counted + 0.5, b = p->g->edges[first].counted + 0.5, sd;

		if (list[k] == first)
			continue;
		sd = sqrt((1 / a + 1 / b) * edge->excess + COUNTED_SD * COUNTED_SD);
		flow_rows_term(&p->rows, edge_unknown(p, list[k]), 1);
		flow_rows_term(&p->rows, edge_unknown(p, first), -1);
		*sum += add_row(p, log(a / b) - p->x[edge_unknown(p, list[k])] + p->x[edge_unknown(p, first)],
				1 / sd, 4 * p->patience);
	}
	return n > 2 || least >= FEW_COUNTED;
}

/* The ways out of a node: what samples saw of them, or that nothing is known. */
static double branch_rows(struct problem *p, const uint32_t *list, uint32_t n)
{
	double total = 0, sum = 0;
	uint32_t first = list[0];
	double branch = n > 2 ? SWITCH_SD : BRANCH_SD;
	bool seen = false, counted = counted_rows(p, list, n, &sum);

	for (uint32_t k = 0; k < n; k++) {
		const struct flow_edge *e = &p->g->edges[list[k]];

		if (e->has_seen) {
			seen = true;
			total += e->seen;
			if (e->seen > p->g->edges[first].seen)
				first = list[k]; /* the best known is what others are compared with */
		}
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t e = list[k];
		const struct flow_edge *edge = &p->g->edges[e];

		if (edge->odds > 0 && n == 2) {
			uint32_t other = list[1 - k];

			flow_rows_term(&p->rows, edge_unknown(p, e), 1);
			flow_rows_term(&p->rows, edge_unknown(p, other), -1);
			sum += add_row(p,
				       log(edge->odds) - p->x[edge_unknown(p, e)] +
					       p->x[edge_unknown(p, other)],
				       1 / edge->odds_sd, edge->odds_sd < 0.05 ? 0 : 4 * p->patience);
		}
		if (e == first || (counted && (n > 2 || !seen || total <= 0)))
			continue;
		flow_rows_term(&p->rows, edge_unknown(p, e), 1);
		flow_rows_term(&p->rows, edge_unknown(p, first), -1);
		if (seen && total > 0) {
			double a = edge->seen + 0.5, b = p->g->edges[first].seen + 0.5;
			double sd = sqrt(1 / a + 1 / b + branch * branch);

			sum += add_row(p,
				       log(a / b) - p->x[edge_unknown(p, e)] +
					       p->x[edge_unknown(p, first)],
				       1 / sd, 2.5 * p->patience);
		} else {
			sum += add_row(p,
				       p->x[edge_unknown(p, first)] -
					       p->x[edge_unknown(p, e)],
				       1 / SPLIT_SD, 1);
		}
	}
	return sum;
}

/* An edge from outside into a function whose callers we know: others are few. */
static double extra_row(struct problem *p, uint32_t e)
{
	const struct flow_edge *edge = &p->g->edges[e];
	uint32_t u = edge_unknown(p, e), to = edge->to;
	double known = -INFINITY;

	if (edge->from != FLOW_OUTSIDE || to == FLOW_OUTSIDE || !p->has_call_in[to])
		return 0;
	for (uint32_t k = p->first_in[to]; k < p->first_in[to + 1]; k++) {
		const struct flow_edge *in = &p->g->edges[p->in[k]];

		if ((in->is_call || in->is_tail) && in->from != FLOW_OUTSIDE &&
		    p->x[flow_unknown(p, p->in[k])] > known)
			known = p->x[flow_unknown(p, p->in[k])];
	}
	flow_rows_term(&p->rows, u, 1);
	return add_row(p, known + EXTRA_MEAN - p->x[u], 1 / EXTRA_SD,
		       p->g->calls_unseen ? 2.5 * p->patience : 0);
}

/* All the time in a set: within one, who waits for whom makes no difference. */
static double set_time_row(struct problem *p, uint32_t k)
{
	const struct flow_graph *g = p->g;
	uint32_t from = k ? g->cut_end[k - 1] : 0;
	double expected = 0, seen = 0, most = 0, sd, r;

	for (uint32_t i = from; i < g->cut_end[k]; i++) {
		const struct flow_node *node = &g->nodes[g->cut_nodes[i]];

		most = node->samples > most ? node->samples : most;
		expected += exp(p->x[g->cut_nodes[i]]) * node->cycles;
		seen += node->samples;
	}
	if (g->cut_end[k] - from < 2 || seen < 2)
		return 0;
	expected = expected > 1e-200 ? expected : 1e-200;
	for (uint32_t i = from; i < g->cut_end[k]; i++) {
		uint32_t v = g->cut_nodes[i];

		flow_rows_term(&p->rows, v, exp(p->x[v]) * g->nodes[v].cycles / expected);
	}
	r = log(seen / expected);
	sd = r > 0 ? SET_STALL_SD : SET_SD;
	sd = sqrt(sd * sd + 1 / seen);
	/* Where one block has it all, and waits, it has said so itself.  The row stays, as rows must. */
	if (most > MOST_OF_SET * seen && r > 0)
		sd = 1e3;
	return add_row(p, r, 1 / sd, r > 0 ? 2 * p->patience : 0);
}

static double build(struct problem *p)
{
	const struct flow_graph *g = p->g;
	double sum = 0;

	flow_rows_clear(&p->rows);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		uint32_t n_in = p->first_in[i + 1] - p->first_in[i];
		uint32_t n_out = p->first_out[i + 1] - p->first_out[i];

		sum += conserve(p, i, p->in + p->first_in[i], n_in);
		sum += conserve(p, i, p->out + p->first_out[i], n_out);
		sum += time_row(p, i);
		if (n_out > 1)
			sum += branch_rows(p, p->out + p->first_out[i], n_out);
	}
	for (uint32_t e = 0; e < g->n_edges; e++)
		sum += extra_row(p, e);
	for (uint32_t k = 0; k < g->n_cuts; k++)
		sum += cut_row(p, k) + set_time_row(p, k);
	return sum;
}

/* Steps until they bring nothing more, @steps at most. */
static void descend(struct problem *p, unsigned steps)
{
	double damping = 0.1, best = build(p);

	for (unsigned k = 0; k < steps && !p->rows.failed; k++) {
		double *was = p->x, now, longest = 0;

		if (p->factor)
			flow_factor_solve(p->factor, &p->rows, damping, p->step);
		else
			flow_rows_solve(&p->rows, p->n, damping,
					40 + p->n < 120 ? 40 + p->n : 120, p->step,
					p->work);
		for (uint32_t i = 0; i < p->n; i++) {
			double s = p->step[i] > 2 ? 2 : p->step[i] < -2 ? -2 : p->step[i];

			p->tried[i] = p->x[i] + s;
			longest = fabs(s) > longest ? fabs(s) : longest;
		}
		p->x = p->tried;
		now = build(p);
		if (now < best) {
			bool enough = best - now < 1e-6 * best + 1e-9 || longest < 1e-3;

			p->tried = was;
			best = now;
			damping = damping > 1e-6 ? damping / 4 : damping;
			if (enough)
				break;
			continue;
		}
		p->x = was;
		damping *= 8;
		if (damping > 1e6)
			break;
		build(p);
	}
}

/* For its rows as they are: *@kept, if that can be made to fit, or a new one that takes its place. */
static void find_factor(struct problem *p, struct flow_factor **kept)
{
	if (*kept && flow_factor_fit(*kept, &p->rows, p->n))
		return;
	flow_factor_free(*kept);
	*kept = flow_factor_new(&p->rows, p->n);
}

int flow_solve_kept(const struct flow_graph *g, const double *start, unsigned steps,
		    double *runs, struct flow_factor **kept)
{
	struct problem p;
	int err = problem_init(&p, g);

	if (err)
		goto out;
	begin_at(&p, start);
	p.patience = 1;
	build(&p);
	if (!p.rows.failed)
		find_factor(&p, kept);
	p.factor = p.rows.failed ? NULL : *kept;
	/*
	 * A stall that pulls less the larger it is makes for many valleys.  Begin
	 * where all pull alike, which has one, and let go by and by.
	 */
	for (p.patience = start ? 1 : 39.0625; p.patience >= 1; p.patience /= 2.5)
		descend(&p, steps);
	err = p.rows.failed ? -ENOMEM : 0;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		runs[i] = exp(p.x[i]);
out:
	problem_fini(&p);
	return err;
}
