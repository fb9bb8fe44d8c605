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
#include "flow_problem.h"

static const double CONSERVE = 1 / 0.03;  /* flows in and out agree to a few per cent */
static const double COST_SD = 0.6;	  /* of the logarithm of a block's cost when nothing waits */
static const double HIDDEN_CYCLES = 2.0;  /* that a block may take less than its cost */
static const double SET_SD = 0.6;	  /* of the logarithm of the cost of all blocks of a set together */
static const double MOST_OF_SET = 0.95;   /* in one block: there is nobody to share its time with */
static const double SET_STALL_SD = 1.0;	  /* likewise, when it takes longer */
static const double NOTHING_SD = 1.7;	  /* of the same where no sample fell */
static const double STALL_SD = 1.5;	  /* beyond which waiting is no news */
static const double BRANCH_SD = 0.45;	  /* of log odds, from samples however many */
static const double LATE_CYCLES = 15;  /* that a branch foretold wrongly takes longer: mostly the rarer way */
static const double LATE_SD = 0.4;	  /* of the logarithm, of how much longer its block takes by that */
static const double COUNTED_SD = 0.08;	  /* of log odds, from hits of breakpoints however many */
static const double FEW_COUNTED = 3;	  /* hits that say little of how rare a way is */
static const double SWITCH_SD = 1.6;	  /* the same of indirect jumps: where they go decides how they stall */
static const double SPLIT_SD = 1.5;	  /* of log odds when nothing is known: branches lean */
static const double SPEED_SD = 0.3;	  /* of the logarithm of cycles a sample stands for */
static const double EXTRA_SD = 1.0;	  /* of unknown callers beside known ones: few */
static const double EXTRA_MEAN = -4;
static const double FARTHEST = 600;	  /* logarithm of what still is a number */
static const double NEAR = 0.01, FAR = 0.1; /* damping of the first step, from an earlier answer and from none */
static const double MOST_PATIENCE = 39.0625; /* 2.5 to the fourth */
static const double LEAST = 1e-3, MORE = 16; /* of damping; times as much after a step that went too far */
static const double ARRIVED = 1e-4;	  /* a step that brings less, of all that is left, is the last: shares differ by 0.3 points at most */
static const double ON_THE_WAY = 1e-2;	  /* the same where patience grows less: the next descent begins there */

/* Cycles a sample stands for, as rates and runs @start have it. */
static double speed_at(const struct flow_graph *g, const double *start)
{
	double sum = log(g->sample_cycles) / (SPEED_SD * SPEED_SD), weight = 1 / (SPEED_SD * SPEED_SD);

	for (uint32_t k = 0; k < g->n_rates && start; k++) {
		const struct flow_rate *r = &g->rates[k];
		double w = 1 / (r->sd * r->sd);

		if (!(start[r->node] > 0))
			continue;
		sum += w * log(r->runs / start[r->node]);
		weight += w;
	}
	return sum / weight;
}

static void begin_at(struct flow_problem *p, const double *start)
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
	if (g->n_rates)
		p->x[speed_unknown(p)] = speed_at(g, start);
}

/* What flows over edges list[0..n). */
static double sum_of(const struct flow_problem *p, const uint32_t *list, uint32_t n)
{
	double s = 0;

	for (uint32_t k = 0; k < n; k++)
		s += p->flows[flow_unknown(p, list[k])];
	return s;
}

/* Squared, weighted and clipped as the rows are: what the steps make less. */
static double add_row(struct flow_problem *p, double target, double weight, double clip)
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

/* The part that each has of @sum; all negative, if that is. */
static void sum_terms(struct flow_problem *p, const uint32_t *list, uint32_t n, double sum)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t u = flow_unknown(p, list[k]);

		flow_rows_term(&p->rows, u, p->flows[u] / sum);
	}
}

static double conserve(struct flow_problem *p, uint32_t node, const uint32_t *list, uint32_t n)
{
	double sum;

	if (!n)
		return 0;
	sum = sum_of(p, list, n);
	flow_rows_term(&p->rows, node, 1);
	sum_terms(p, list, n, -sum);
	return add_row(p, log(sum) - p->x[node], CONSERVE, 0);
}

static double cut_row(struct flow_problem *p, uint32_t k)
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
	a = sum_of(p, in, n_in);
	b = sum_of(p, out, n_out);
	sum_terms(p, in, n_in, a);
	sum_terms(p, out, n_out, -b);
	return add_row(p, log(b / a), CONSERVE, 0);
}

/*
 * How uncertain the cost of a block is, of @usual when it is long.  Of a short one the
 * neighbours may bear it all: what is done together with them takes no time of its own.
 * A loop of one block has no neighbours.
 */
static double cost_sd(const struct flow_problem *p, uint32_t i, double usual)
{
	double hidden = p->alone[i] ? 0 : HIDDEN_CYCLES / p->g->nodes[i].cycles;

	return sqrt(usual * usual + hidden * hidden);
}

/* What no step changes of their time. */
static void note_times(struct flow_problem *p)
{
	for (uint32_t i = 0; i < p->g->n_nodes; i++) {
		const struct flow_node *node = &p->g->nodes[i];
		struct flow_time *t = &p->times[i];
		bool sampled = node->samples >= 0.5;
		double sd = cost_sd(p, i, sampled ? COST_SD : NOTHING_SD);

		t->log_cycles = log(node->cycles);
		t->log_samples = sampled ? log(node->samples) : 0;
		t->sd = sampled ? sqrt(sd * sd + 1 / node->samples) : sd;
	}
}

static double time_row(struct flow_problem *p, uint32_t i)
{
	const struct flow_time *t = &p->times[i];
	double expected = p->x[i] + t->log_cycles, r;

	flow_rows_term(&p->rows, i, 1);
	if (p->g->nodes[i].samples < 0.5) {
		/*
		 * Nothing fell here: r^2 = 2 mu, by Poisson, while that is little.
		 * Further on a small block may well hide behind its neighbours.
		 */
		double slope = 1 / t->sd;

		r = 1 + (expected - log(0.5)) * slope;
		if (expected < log(0.5)) {
			r = sqrt(2 * exp(expected));
			slope = r / 2;
		}
		if (slope < 1e-6)
			slope = 1e-6;
		return add_row(p, -r / slope, slope, 3);
	}
	r = t->log_samples - expected;
	/* More time than expected is a stall, and common; less is not. */
	return add_row(p, r, 1 / t->sd, r > 0 ? p->patience * STALL_SD / t->sd : 0);
}

/*
 * The ways out of a node as breakpoints counted them.  Where one way was not met at all, what samples saw
 * of it is worth more.  False if nothing was counted.
 */
static bool counted_rows(struct flow_problem *p, const uint32_t *list, uint32_t n, double *sum)
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
		sd = sqrt((1 / a + 1 / b) * edge->excess + COUNTED_SD * COUNTED_SD + edge->counted_sd * edge->counted_sd);
		flow_rows_term(&p->rows, edge_unknown(p, list[k]), 1);
		flow_rows_term(&p->rows, edge_unknown(p, first), -1);
		*sum += add_row(p, log(a / b) - p->x[edge_unknown(p, list[k])] + p->x[edge_unknown(p, first)],
				1 / sd, 4 * p->patience);
	}
	return n > 2 || least >= FEW_COUNTED;
}

/* What is known of edge @e against the @other.  Where that is the least, more is as good; the row stays, as rows must. */
static double odds_row(struct flow_problem *p, uint32_t e, uint32_t other)
{
	const struct flow_edge *edge = &p->g->edges[e];
	double r = log(edge->odds) - p->x[edge_unknown(p, e)] + p->x[edge_unknown(p, other)];

	flow_rows_term(&p->rows, edge_unknown(p, e), 1);
	flow_rows_term(&p->rows, edge_unknown(p, other), -1);
	if (edge->odds_least && r < 0)
		return add_row(p, 0, 1e-6, 0);
	return add_row(p, r, 1 / edge->odds_sd, edge->odds_sd < 0.05 ? 0 : 4 * p->patience);
}

/* The ways out of a node: what samples saw of them, or that nothing is known. */
static double branch_rows(struct flow_problem *p, const uint32_t *list, uint32_t n)
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

		if (edge->odds > 0 && n == 2)
			sum += odds_row(p, e, list[1 - k]);
		if (e == first || (counted && (n > 2 || !seen || total <= 0)))
			continue;
		flow_rows_term(&p->rows, edge_unknown(p, e), 1);
		flow_rows_term(&p->rows, edge_unknown(p, first), -1);
		if (seen && total > 0) {
			double a = edge->seen + 0.5, b = p->g->edges[first].seen + 0.5;
			double r = log(a / b) - p->x[edge_unknown(p, e)] + p->x[edge_unknown(p, first)];
			double late = n == 2 && r > 0 ? LATE_SD * log1p(LATE_CYCLES / p->g->nodes[edge->from].cycles) : 0;
			double sd = sqrt(1 / a + 1 / b + branch * branch + late * late);

			sum += add_row(p, r, 1 / sd, 2.5 * p->patience);
		} else {
			sum += add_row(p,
				       p->x[edge_unknown(p, first)] -
					       p->x[edge_unknown(p, e)],
				       1 / SPLIT_SD, 1);
		}
	}
	return sum;
}

/* What is called by turns from block @i is as much as it runs, divided as it was counted. */
static double call_rows(struct flow_problem *p, uint32_t i)
{
	const uint32_t *list = p->called + p->first_called[i];
	uint32_t n = p->first_called[i + 1] - p->first_called[i];
	double sum = conserve(p, i, list, n);

	if (n > 1)
		counted_rows(p, list, n, &sum);
	return sum;
}

/* An edge from outside into a function whose callers we know: others are few. */
static double extra_row(struct flow_problem *p, uint32_t e)
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
static double set_time_row(struct flow_problem *p, uint32_t k)
{
	const struct flow_graph *g = p->g;
	uint32_t from = k ? g->cut_end[k - 1] : 0;
	double expected = 0, seen = 0, most = 0, sd, r;

	for (uint32_t i = from; i < g->cut_end[k]; i++) {
		const struct flow_node *node = &g->nodes[g->cut_nodes[i]];

		most = node->samples > most ? node->samples : most;
		expected += p->flows[g->cut_nodes[i]] * node->cycles;
		seen += node->samples;
	}
	if (g->cut_end[k] - from < 2)
		return 0;
	expected = expected > 1e-200 ? expected : 1e-200;
	for (uint32_t i = from; i < g->cut_end[k]; i++) {
		uint32_t v = g->cut_nodes[i];

		flow_rows_term(&p->rows, v, p->flows[v] * g->nodes[v].cycles / expected);
	}
	/* Where few fell there is nothing to tell.  The row stays, as rows must: it is of one shape when samples are shaken. */
	if (seen < 2)
		return add_row(p, 0, 1e-3, 0);
	r = log(seen / expected);
	sd = r > 0 ? SET_STALL_SD : SET_SD;
	sd = sqrt(sd * sd + 1 / seen);
	/* Where one block has it all, and waits, it has said so itself. */
	if (most > MOST_OF_SET * seen && r > 0)
		sd = 1e3;
	return add_row(p, r, 1 / sd, r > 0 ? 2 * p->patience : 0);
}

static double stay_row(struct flow_problem *p, const struct flow_stay *s)
{
	uint32_t out = edge_unknown(p, s->out);

	if (!(s->rounds > 0))
		return 0;
	flow_rows_term(&p->rows, s->head, 1);
	flow_rows_term(&p->rows, out, -1);
	return add_row(p, log(s->rounds) - p->x[s->head] + p->x[out], 1 / s->sd, s->sd < 0.05 ? 0 : 4 * p->patience);
}

static double rate_rows(struct flow_problem *p)
{
	const struct flow_graph *g = p->g;
	uint32_t speed = speed_unknown(p);
	double sum;

	if (!g->n_rates)
		return 0;
	flow_rows_term(&p->rows, speed, 1);
	sum = add_row(p, log(g->sample_cycles) - p->x[speed], 1 / SPEED_SD, 0);
	for (uint32_t k = 0; k < g->n_rates; k++) {
		const struct flow_rate *r = &g->rates[k];

		flow_rows_term(&p->rows, r->node, 1);
		flow_rows_term(&p->rows, speed, 1);
		sum += add_row(p, log(r->runs) - p->x[r->node] - p->x[speed], 1 / r->sd, 4 * p->patience);
	}
	return sum;
}

static double build(struct flow_problem *p)
{
	const struct flow_graph *g = p->g;
	double sum = 0;

	flow_rows_clear(&p->rows);
	for (uint32_t u = 0; u < p->n; u++)
		p->flows[u] = exp(p->x[u] > FARTHEST ? FARTHEST : p->x[u] < -FARTHEST ? -FARTHEST : p->x[u]);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		uint32_t n_in = p->first_in[i + 1] - p->first_in[i];
		uint32_t n_out = p->first_out[i + 1] - p->first_out[i];

		sum += conserve(p, i, p->in + p->first_in[i], n_in);
		sum += conserve(p, i, p->out + p->first_out[i], n_out);
		sum += time_row(p, i);
		if (n_out > 1)
			sum += branch_rows(p, p->out + p->first_out[i], n_out);
		sum += call_rows(p, i);
	}
	for (uint32_t e = 0; e < g->n_edges; e++)
		sum += extra_row(p, e);
	for (uint32_t k = 0; k < g->n_cuts; k++)
		sum += cut_row(p, k) + set_time_row(p, k);
	for (uint32_t k = 0; k < g->n_stays; k++)
		sum += stay_row(p, &g->stays[k]);
	return sum + rate_rows(p);
}

/* Steps until they bring nothing more, @steps at most.  Rows are built, and their sum is @best. */
static void descend(struct flow_problem *p, unsigned steps, double damping, double best)
{
	double enough_of = p->patience > 1 ? ON_THE_WAY : ARRIVED;

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
			bool enough = best - now < enough_of * best + 1e-9 || longest < 1e-3;

			p->tried = was;
			best = now;
			damping = damping > LEAST ? damping / 4 : damping;
			if (enough)
				break;
			continue;
		}
		p->x = was;
		damping *= MORE;
		if (damping > 1e6)
			break;
		if (k + 1 < steps)
			build(p);
	}
}

/* For its rows as they are: *@kept, if that can be made to fit, or a new one that takes its place. */
static void find_factor(struct flow_problem *p, struct flow_factor **kept)
{
	if (*kept && flow_factor_fit(*kept, &p->rows, p->n))
		return;
	flow_factor_free(*kept);
	*kept = flow_factor_new(&p->rows, p->n);
}

int flow_solve_kept(const struct flow_graph *g, const double *start, unsigned steps,
		    double *runs, struct flow_factor **kept)
{
	struct flow_problem p;
	int err = flow_problem_init(&p, g);
	double sum;

	if (err)
		goto out;
	begin_at(&p, start);
	note_times(&p);
	p.patience = start ? 1 : MOST_PATIENCE;
	sum = build(&p);
	if (!p.rows.failed)
		find_factor(&p, kept);
	p.factor = p.rows.failed ? NULL : *kept;
	/*
	 * A stall that pulls less the larger it is makes for many valleys.  Begin
	 * where all pull alike, which has one, and let go by and by.
	 */
	for (;; sum = build(&p)) {
		descend(&p, steps, start ? NEAR : FAR, sum);
		p.patience /= 2.5;
		if (p.patience < 1)
			break;
	}
	err = p.rows.failed ? -ENOMEM : 0;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		runs[i] = exp(p.x[i]);
out:
	flow_problem_fini(&p);
	return err;
}
