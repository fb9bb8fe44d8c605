/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_spread.c - solving again from shaken evidence.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_rows.h"
#include "estimate_spread.h"

enum {
	TIMES = 16, /* with 10, one recording of a sort missed by 8.7 points what it did not miss with 16 */
	FEW_TIMES = 4,	     /* when each is much work */
	STEPS = 3,	     /* of the solver, from the solution found before: with more, deviations differ by some 3 % */
	MUCH_WORK = 100000,  /* nodes, all times together */
};

static const double SHAKE_COST = 0.7;	/* standard deviations of logarithms */
static const double SHAKE_SET = 0.4, SHAKE_SET_ALONE = 0.7; /* the latter where no breakpoint was hit */
static const double SHAKE_BRANCH = 0.4;
static const double SHAKE_MIX = 1.5; /* of how much longer it takes with one variable than with another */
static const double SHAKE_UNSEEN = 3;
static const double SHAKE_SPEED = 0.3;

/* The same numbers each time: a report that changed by itself would puzzle. */
static uint64_t next(uint64_t *s)
{
	uint64_t x = *s;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *s = x;
}

static double uniform(uint64_t *s)
{
	return ((double)(next(s) >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
}

static double normal(uint64_t *s)
{
	double a = uniform(s), b = uniform(s);

	return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

/* As many as come by chance when @mean are to be expected. */
static double poisson(uint64_t *s, double mean)
{
	double p = exp(-mean), sum = p, u;
	unsigned k = 0;

	if (mean > 30) {
		double n = floor(mean + sqrt(mean) * normal(s) + 0.5);

		return n > 0 ? n : 0;
	}
	for (u = uniform(s); u > sum && k < 200; sum += p)
		p *= mean / ++k;
	return k;
}

/* A way that nobody was seen to take may be far rarer than one in so many: what stands for it is taken to be less than a half. */
static double unseen(uint64_t *s)
{
	return 0.5 * (exp(-SHAKE_UNSEEN * fabs(normal(s))) - 1);
}

static void shake(struct flow_graph *g, const struct flow_graph *was, double set, uint64_t *s)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		g->nodes[i].samples = poisson(s, was->nodes[i].samples);
		g->nodes[i].cycles = was->nodes[i].cycles * exp(SHAKE_COST * normal(s));
	}
	/* A loop whose blocks wait for each other takes longer as a whole. */
	for (uint32_t k = 0, i = 0; k < was->n_cuts; k++) {
		double longer = exp(set * normal(s));

		for (; i < was->cut_end[k]; i++)
			g->nodes[was->cut_nodes[i]].cycles *= longer;
	}
	for (uint32_t e = 0; e < g->n_edges; e++) {
		const struct flow_edge *edge = &was->edges[e];

		if (edge->has_seen)
			g->edges[e].seen = edge->seen > 0 ? poisson(s, edge->seen) * exp(SHAKE_BRANCH * normal(s)) : unseen(s);
		if (edge->has_counted)
			g->edges[e].counted = edge->counted > 0 ? edge->excess * poisson(s, edge->counted / edge->excess) *
									  exp(edge->counted_sd * normal(s)) :
								  unseen(s);
		if (edge->odds > 0)
			g->edges[e].odds = edge->odds * exp(edge->odds_sd * normal(s));
	}
	for (uint32_t k = 0; k < was->n_rates; k++)
		g->rates[k].runs = was->rates[k].runs * exp(was->rates[k].sd * normal(s));
	if (was->n_rates)
		g->sample_cycles = was->sample_cycles * exp(SHAKE_SPEED * normal(s));
	for (uint32_t k = 0; k < was->n_stays; k++)
		g->stays[k].rounds = was->stays[k].rounds * exp(was->stays[k].sd * normal(s));
}

static bool copy(struct flow_graph *to, const struct flow_graph *from)
{
	*to = *from;
	to->nodes = malloc((from->n_nodes + 1) * sizeof(*to->nodes));
	to->edges = malloc((from->n_edges + 1) * sizeof(*to->edges));
	to->stays = malloc((from->n_stays + 1) * sizeof(*to->stays));
	to->rates = malloc((from->n_rates + 1) * sizeof(*to->rates));
	if (!to->nodes || !to->edges || !to->stays || !to->rates)
		return false;
	if (from->n_rates)
		memcpy(to->rates, from->rates, from->n_rates * sizeof(*to->rates));
	if (from->n_stays)
		memcpy(to->stays, from->stays, from->n_stays * sizeof(*to->stays));
	if (from->n_nodes)
		memcpy(to->nodes, from->nodes, from->n_nodes * sizeof(*to->nodes));
	if (from->n_edges)
		memcpy(to->edges, from->edges, from->n_edges * sizeof(*to->edges));
	return true;
}

/* By how much wider 95 % are than of a normal distribution, when a deviation is that of @n cases: Student's t, to 2 %. */
static double few_cases(double n)
{
	return 1 + (1.2 + 1.6 / n) / n;
}

int spread_shares(const struct estimate *e, struct graph *g, const double *runs,
		  const double *share, size_t n, double *deviation, struct flow_factor **kept)
{
	struct flow_graph was = g->flow, shaken = { 0 };
	double *again = calloc(was.n_nodes + 1, sizeof(*again));
	double *accesses = calloc(n + 1, sizeof(*accesses));
	double *mix = calloc(n + 1, sizeof(*mix));
	uint64_t seed = 0x9e3779b97f4a7c15ull, mixing = seed;
	unsigned times = TIMES, k;
	int err = -ENOMEM;

	if (!again || !accesses || !mix || !copy(&shaken, &was))
		goto out;
	if (was.n_nodes * (uint64_t)times > MUCH_WORK)
		times = MUCH_WORK / was.n_nodes > FEW_TIMES ? MUCH_WORK / was.n_nodes
							    : FEW_TIMES;
	memset(deviation, 0, n * sizeof(*deviation));
	for (k = 0; k < times; k++) {
		double all;

		shake(&shaken, &was, e->hits ? SHAKE_SET : SHAKE_SET_ALONE, &seed);
		err = flow_solve_kept(&shaken, runs, STEPS, again, kept);
		if (err)
			goto out;
		memset(accesses, 0, n * sizeof(*accesses));
		g->flow = shaken;
		for (size_t i = 0; i < n; i++)
			mix[i] = exp(SHAKE_MIX * normal(&mixing));
		all = rows_accesses(e, g, again, mix, accesses);
		g->flow = was;
		for (size_t i = 0; i < n && all > 0; i++) {
			double d = accesses[i] / all - share[i];

			deviation[i] += d * d / times;
		}
	}
	for (size_t i = 0; i < n; i++)
		deviation[i] = sqrt(deviation[i]) * few_cases(times);
	err = 0;
out:
	free(shaken.nodes);
	free(shaken.edges);
	free(shaken.stays);
	free(shaken.rates);
	free(again);
	free(accesses);
	free(mix);
	return err;
}
