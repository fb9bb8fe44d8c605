// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_flow.c - the flow solver on graphs whose counts are known.
 *
 * Small ones by hand; then random programs: loops and branches are walked, blocks counted as they are passed, and
 * samples made from counts and costs that the solver is not told.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/user/flow.h"
#include "runtime/user/flow_factor.h"
#include "runtime/user/flow_rows.h"

enum { OUT = -1, MAX = 64 };

struct build {
	struct flow_graph g;
	struct flow_node nodes[MAX];
	struct flow_edge edges[4 * MAX];
};

static struct flow_edge *edge(struct build *b, int from, int to)
{
	struct flow_edge *e = &b->edges[b->g.n_edges++];

	*e = (struct flow_edge){ .from = (uint32_t)from, .to = (uint32_t)to };
	return e;
}

static void node(struct build *b, double samples, double cycles)
{
	b->nodes[b->g.n_nodes++] = (struct flow_node){ .samples = samples, .cycles = cycles };
}

static struct build *begin(void)
{
	struct build *b = calloc(1, sizeof(*b));

	b->g.nodes = b->nodes;
	b->g.edges = b->edges;
	return b;
}

static void end(struct build *b)
{
	free(b->g.cut_nodes);
	free(b->g.cut_end);
	free(b);
}

static void near(double got, double want, double factor)
{
	if (!(got < want * factor && got > want / factor))
		fail_msg("%g is not within a factor %g of %g", got, factor, want);
}

/* Three blocks that nothing ties to each other but how often two of them ran: the one that waits does not run as its time says. */
static void test_rates(void **state)
{
	static const struct flow_rate rates[] = { { 0, 3e9, 0.05 }, { 1, 3e6, 0.05 } };
	struct build *b = begin();
	double runs[MAX];

	(void)state;
	for (int v = 0; v < 3; v++) {
		node(b, 1000, 1);
		edge(b, OUT, v);
		edge(b, v, OUT);
	}
	b->g.sample_cycles = 2e6; /* an error that rates have in common */
	assert_int_equal(flow_graph_rate(&b->g, &rates[0]), 0);
	assert_int_equal(flow_graph_rate(&b->g, &rates[1]), 0);
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
	near(runs[0] / runs[1], 1000, 1.1);
	near(runs[0] / runs[2], 1, 1.6);
	assert_int_equal(flow_solve(&b->g, runs, 8, runs), 0);
	near(runs[0] / runs[1], 1000, 1.1);
	free(b->g.rates);
	end(b);
}

/* One block after the other: all run alike, whatever the time they take. */
static void test_chain(void **state)
{
	struct build *b = begin();
	double runs[MAX];

	(void)state;
	node(b, 100, 1);
	node(b, 2000, 1); /* waits */
	node(b, 0, 0.25);
	node(b, 110, 1);
	edge(b, OUT, 0);
	edge(b, 0, 1);
	edge(b, 1, 2);
	edge(b, 2, 3);
	edge(b, 3, OUT);
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
	for (int i = 1; i < 4; i++)
		near(runs[i], runs[0], 1.1);
	near(runs[0], 110, 2.5); /* the stall counts for little */
	end(b);
}

/*
 * A loop that is left after ten rounds by a break, or after 15 by its test: for each stay that the test ends, breaks
 * ended many others, so that the test's odds are the least there are.
 */
static void test_broken_off(void **state)
{
	for (int least = 0; least < 2; least++) {
		struct build *b = begin();
		double runs[MAX];
		struct flow_edge *e;

		(void)state;
		node(b, 100, 1);
		node(b, 1000, 1); /* the test */
		node(b, 1000, 1); /* may break */
		node(b, 100, 1);
		edge(b, OUT, 0);
		edge(b, 0, 2);
		e = edge(b, 1, 2);
		e->odds = 14;
		e->odds_sd = 0.1;
		e->odds_least = least;
		e->has_counted = true;
		e->excess = 1;
		e->counted = 300;
		e = edge(b, 1, 3);
		e->has_counted = true;
		e->excess = 1;
		e->counted = 2;
		e = edge(b, 2, 1);
		e->has_counted = true;
		e->excess = 1;
		e->counted = 900;
		e = edge(b, 2, 3);
		e->has_counted = true;
		e->excess = 1;
		e->counted = 100;
		edge(b, 3, OUT);
		assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
		if (least)
			near(runs[2], 10 * runs[0], 1.25);
		else
			assert_true(runs[2] < 7 * runs[0]);
		end(b);
	}
}

/* All rounds of a stay are known, though the test that ends it is not passed in each. */
static void test_stay(void **state)
{
	struct build *b = begin();
	double runs[MAX];
	struct flow_stay stay = { .head = 1, .rounds = 50, .sd = 0.04 };

	(void)state;
	node(b, 0, 1);
	node(b, 800, 1);
	node(b, 0, 1); /* goes back, seldom, or leaves */
	node(b, 0, 1);
	edge(b, OUT, 0);
	edge(b, 0, 1);
	edge(b, 1, 1);
	edge(b, 1, 2);
	edge(b, 2, 1);
	stay.out = b->g.n_edges;
	edge(b, 2, 3);
	edge(b, 3, OUT);
	assert_int_equal(flow_graph_stay(&b->g, &stay), 0);
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
	near(runs[1], 50 * runs[3], 1.1);
	free(b->g.stays);
	end(b);
}

/* Three of four go left, by the samples' registers; the times say nothing of it. */
static void test_branch(void **state)
{
	struct build *b = begin();
	double runs[MAX];
	struct flow_edge *e;

	(void)state;
	node(b, 1000, 1);
	node(b, 500, 1);
	node(b, 500, 1);
	node(b, 1000, 1);
	edge(b, OUT, 0);
	e = edge(b, 0, 1);
	e->has_seen = true;
	e->seen = 300;
	e = edge(b, 0, 2);
	e->has_seen = true;
	e->seen = 100;
	edge(b, 1, 3);
	edge(b, 2, 3);
	edge(b, 3, OUT);
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
	near(runs[0], runs[3], 1.1);
	near(runs[1] + runs[2], runs[0], 1.1);
	near(runs[1] / runs[2], 3, 1.7);
	end(b);
}

/*
 * A branch that goes one way in three of four, by all that breakpoints saw; samples, which meet the other
 * when it waits, and time say the opposite.
 */
static void test_counted(void **state)
{
	struct build *b = begin();
	struct flow_edge *e;
	double runs[MAX];

	(void)state;
	node(b, 100, 2);
	node(b, 20, 2);
	node(b, 2000, 2);
	node(b, 100, 2);
	edge(b, OUT, 0);
	for (uint32_t side = 1; side <= 2; side++) {
		e = edge(b, 0, side);
		e->has_seen = true;
		e->seen = side == 1 ? 10 : 90;
		e->has_counted = true;
		e->counted = side == 1 ? 300 : 100;
		e->excess = 1;
		edge(b, side, 3);
	}
	edge(b, 3, OUT);
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
	near(runs[1] / runs[2], 3, 1.25);
	near(runs[1] + runs[2], runs[0], 1.1);
	end(b);
}

/*
 * Two loops after each other in one, of a million and of a hundred rounds.  The
 * first one's time is all stall: its odds, not its samples, tell its runs.
 */
static void test_loops(void **state)
{
	struct build *b = begin();
	const uint32_t first[] = { 1 }, second[] = { 2 }, all[] = { 0, 1, 2, 3 };
	struct flow_edge *e;
	double runs[MAX];

	(void)state;
	node(b, 0, 1);
	node(b, 50000, 1);
	node(b, 30, 1);
	node(b, 0, 1);
	edge(b, OUT, 0);
	edge(b, 0, 1);
	e = edge(b, 1, 1);
	e->odds = 999;
	e->odds_sd = 0.03;
	edge(b, 1, 2);
	e = edge(b, 2, 2);
	e->odds = 99;
	e->odds_sd = 0.03;
	edge(b, 2, 3);
	edge(b, 3, OUT);
	assert_int_equal(flow_graph_cut(&b->g, first, 1), 0);
	assert_int_equal(flow_graph_cut(&b->g, second, 1), 0);
	assert_int_equal(flow_graph_cut(&b->g, all, 4), 0);
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
	near(runs[1] / runs[2], 10, 1.2);
	near(runs[1] / runs[0], 1000, 1.3);
	near(runs[3], runs[0], 1.2);
	assert_int_equal(flow_refute(&b->g, runs), 0);
	end(b);
}

/* The same, but the measurement ended before the second loop: samples go before odds. */
static void test_unfinished(void **state)
{
	struct build *b = begin();
	const uint32_t first[] = { 1 }, second[] = { 2 };
	struct flow_edge *e;
	double runs[MAX];

	(void)state;
	node(b, 0, 1);
	node(b, 5000, 1);
	node(b, 0, 1);
	node(b, 0, 1);
	edge(b, OUT, 0);
	edge(b, 0, 1);
	e = edge(b, 1, 1);
	e->has_seen = true;
	e->seen = 5000;
	e->odds = 1e9;
	e->odds_sd = 0.03;
	e = edge(b, 1, 2);
	e->has_seen = true;
	e = edge(b, 2, 2);
	e->odds = 1e9;
	e->odds_sd = 0.03;
	edge(b, 2, 3);
	edge(b, 3, OUT);
	assert_int_equal(flow_graph_cut(&b->g, first, 1), 0);
	assert_int_equal(flow_graph_cut(&b->g, second, 1), 0);
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
	assert_true(runs[2] > 100); /* as the odds have it */
	assert_int_equal(flow_refute(&b->g, runs), 1);
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
	assert_int_equal(flow_refute(&b->g, runs), 0);
	assert_true(runs[1] > 100 * runs[2]);
	assert_true(runs[2] < flow_most(0));
	end(b);
}

/* A function called from two places runs as often as both together. */
static void test_calls(void **state)
{
	struct build *b = begin();
	double runs[MAX];

	(void)state;
	node(b, 300, 1); /* calls 2 */
	node(b, 100, 1); /* in another function: calls 2 */
	node(b, 9000, 1);
	edge(b, OUT, 0);
	edge(b, 0, OUT);
	edge(b, OUT, 1);
	edge(b, 1, OUT);
	edge(b, OUT, 2);
	edge(b, 0, 2)->is_call = true;
	edge(b, 1, 2)->is_call = true;
	edge(b, 2, OUT);
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
	near(runs[2], runs[0] + runs[1], 1.15);
	end(b);
}

static void test_bad(void **state)
{
	struct build *b = begin();
	double runs[MAX] = { 0 };

	(void)state;
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0); /* nothing at all */
	node(b, 5, 1);
	edge(b, OUT, 0);
	edge(b, 0, 1);
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), -EINVAL);
	b->edges[1].to = (uint32_t)OUT;
	assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
	assert_true(isfinite(runs[0]));
	end(b);
}

/*
 * A random program of @n blocks: each goes on to the next, and some branch ahead
 * or, as a loop's end, back.  Walked from the start again and again.
 */
static void walk(struct build *b, double *counts, double *taken, unsigned steps)
{
	unsigned n = b->g.n_nodes, at = 0;

	for (unsigned k = 0; k < steps; k++) {
		double left = rand() / (RAND_MAX + 1.0);
		uint32_t to = (uint32_t)OUT;

		counts[at]++;
		for (uint32_t e = 0; e < b->g.n_edges; e++) {
			if (b->edges[e].from != at)
				continue;
			to = b->edges[e].to;
			left -= b->edges[e].odds; /* the odds' field holds the chance, here */
			if (left < 0) {
				taken[e]++;
				break;
			}
		}
		at = to < n ? to : 0;
	}
}

static void random_program(struct build *b)
{
	unsigned n = 6 + (unsigned)rand() % 20;

	for (unsigned i = 0; i < n; i++)
		node(b, 0, 0.5 + rand() % 8);
	edge(b, OUT, 0);
	for (unsigned i = 0; i < n; i++) {
		double chance = 0.1 + 0.8 * rand() / (RAND_MAX + 1.0);
		unsigned to = (unsigned)rand() % n;

		if (i + 1 == n) {
			edge(b, (int)i, OUT)->odds = 1;
		} else if (rand() % 3 == 0 && to && to != i + 1) {
			edge(b, (int)i, (int)to)->odds = chance;
			edge(b, (int)i, (int)i + 1)->odds = 1 - chance;
		} else {
			edge(b, (int)i, (int)i + 1)->odds = 1;
		}
	}
}

static void test_random(void **state)
{
	double sum = 0, sum_density = 0;

	(void)state;
	srand(3);
	for (int k = 0; k < 40; k++) {
		struct build *b = begin();
		double counts[MAX] = { 0 }, taken[4 * MAX] = { 0 }, runs[MAX], again[MAX];
		double all = 0, time = 0, found = 0, density = 0, off = 0, off_density = 0;

		random_program(b);
		walk(b, counts, taken, 200000);
		for (unsigned i = 0; i < b->g.n_nodes; i++) {
			/* What a run takes: its cycles, more or less, and now and then a long wait. */
			double cost = b->nodes[i].cycles * (0.6 + (rand() % 100) / 125.0) *
				      (rand() % 4 ? 1 : 12);

			b->nodes[i].samples = counts[i] * cost;
			time += b->nodes[i].samples;
		}
		for (unsigned i = 0; i < b->g.n_nodes; i++)
			b->nodes[i].samples = floor(b->nodes[i].samples / time * 2000 + 0.5);
		for (uint32_t e = 0; e < b->g.n_edges; e++) {
			uint32_t from = b->edges[e].from;
			bool branch = b->edges[e].odds > 0 && b->edges[e].odds < 1;

			b->edges[e].odds = 0;
			if (!branch || !b->nodes[from].samples)
				continue;
			b->edges[e].has_seen = true; /* what a tenth of its samples would show */
			b->edges[e].seen = floor(b->nodes[from].samples / 10 * taken[e] /
							 counts[from] + 0.5);
		}
		assert_int_equal(flow_solve(&b->g, NULL, 60, runs), 0);
		assert_int_equal(flow_solve(&b->g, NULL, 60, again), 0);
		assert_memory_equal(runs, again, b->g.n_nodes * sizeof(*runs)); /* the same each time */
		for (unsigned i = 0; i < b->g.n_nodes; i++) {
			assert_true(isfinite(runs[i]) && runs[i] >= 0);
			all += counts[i];
			found += runs[i];
			density += b->nodes[i].samples / b->nodes[i].cycles;
		}
		for (unsigned i = 0; i < b->g.n_nodes; i++) {
			off += fabs(runs[i] / found - counts[i] / all) / 2;
			off_density += fabs(b->nodes[i].samples / b->nodes[i].cycles / density -
					    counts[i] / all) / 2;
		}
		sum += off / 40;
		sum_density += off_density / 40;
		end(b);
	}
	/* How much of the whole is in the wrong place: far less than by time alone. */
	print_message("misplaced: %.3f, by time alone: %.3f\n", sum, sum_density);
	assert_true(sum < 0.12);
	assert_true(sum < 0.45 * sum_density);
}

/* Least squares against the normal equations solved by hand: 2x + y = 5, x - y = 1, weight 3 on x = 2. */
static void test_rows(void **state)
{
	struct flow_rows r = { 0 };
	double step[2], work[10];

	(void)state;
	flow_rows_term(&r, 0, 2);
	flow_rows_term(&r, 1, 1);
	flow_rows_end(&r, 5, 1);
	flow_rows_term(&r, 0, 1);
	flow_rows_term(&r, 1, -1);
	flow_rows_end(&r, 1, 1);
	flow_rows_term(&r, 0, 1);
	flow_rows_end(&r, 2, 3);
	flow_rows_solve(&r, 2, 0, 100, step, work);
	near(step[0], 2, 1.000001);
	near(step[1], 1, 1.000001);
	flow_rows_clear(&r);
	flow_rows_term(&r, 0, 1);
	flow_rows_end(&r, 4, 1);
	flow_rows_solve(&r, 2, 1, 100, step, work); /* damped half-way; the other stays */
	near(step[0], 2, 1.000001);
	assert_true(step[1] == 0);
	assert_false(r.failed);
	flow_rows_fini(&r);
}

/* The slope of |rows * step - target|^2 / 2 + damping * |step|^2 / 2 at its minimum is nothing. */
static double steepest(const struct flow_rows *r, unsigned n, double damping, const double *step)
{
	double slope[64], worst = 0;

	for (unsigned i = 0; i < n; i++)
		slope[i] = damping * step[i];
	for (size_t k = 0; k < r->n; k++) {
		double miss = -r->target[k];

		for (size_t t = r->first[k]; t < r->first[k + 1]; t++)
			miss += r->terms[t].slope * step[r->terms[t].unknown];
		for (size_t t = r->first[k]; t < r->first[k + 1]; t++)
			slope[r->terms[t].unknown] += r->terms[t].slope * miss;
	}
	for (unsigned i = 0; i < n; i++)
		worst = fabs(slope[i]) > worst ? fabs(slope[i]) : worst;
	return worst;
}

/* @r without some of its terms and rows. */
static void some_of(const struct flow_rows *r, struct flow_rows *some)
{
	for (size_t k = 0; k < r->n; k++) {
		for (size_t t = r->first[k]; t < r->first[k + 1]; t++)
			if (t == r->first[k] || rand() % 3)
				flow_rows_term(some, r->terms[t].unknown, rand() % 21 - 10);
		if (k % 7)
			flow_rows_end(some, rand() % 100 - 50, 1);
		else
			some->n_terms = some->n ? some->first[some->n] : 0;
	}
}

/* A row with many terms, some unknown twice; the same ones each time. */
static void long_row(struct flow_rows *r, unsigned n)
{
	for (unsigned t = 0; t < 40; t++)
		flow_rows_term(r, t * 7 % n, rand() % 21 - 10);
	flow_rows_end(r, rand() % 100 - 50, 1);
}

/* The order found for many rows serves for some of them; not for a row with strangers. */
static void test_fit(void **state)
{
	double step[64], none[64] = { 0 };

	(void)state;
	srand(9);
	for (int k = 0; k < 60; k++) {
		unsigned n = 4 + (unsigned)rand() % 60;
		struct flow_rows r = { 0 }, some = { 0 }, strange = { 0 };
		struct flow_factor *f;

		/* Two halves that have nothing to do with each other. */
		for (unsigned i = 0; i < 3 * n; i++) {
			unsigned from = i % 2 ? n / 2 : 0, of = i % 2 ? n - n / 2 : n / 2;

			for (unsigned t = 0; t < 4; t++)
				flow_rows_term(&r, from + (i / 3 + (unsigned)rand() % 4) % of, rand() % 21 - 10);
			flow_rows_end(&r, rand() % 100 - 50, 1);
		}
		some_of(&r, &some);
		/* In one half, too. */
		for (int i = 0; i < k % 3; i++) {
			long_row(&r, n / 2);
			long_row(&some, n / 2);
		}
		flow_rows_term(&strange, 0, 1);
		flow_rows_term(&strange, n - 1, 1);
		flow_rows_end(&strange, 1, 1);
		f = flow_factor_new(&r, n);
		assert_non_null(f);
		for (int turn = 0; turn < 4; turn++) {
			const struct flow_rows *now = turn % 2 ? &r : &some;

			assert_true(flow_factor_fit(f, now, n));
			flow_factor_solve(f, now, 0.5, step);
			assert_true(steepest(now, n, 0.5, step) < 1e-9 * steepest(now, n, 0.5, none));
		}
		assert_false(flow_factor_fit(f, &r, n + 1));
		long_row(&some, n / 2);
		assert_false(flow_factor_fit(f, &some, n));
		assert_false(flow_factor_fit(f, &strange, n));
		flow_factor_free(f);
		flow_rows_fini(&r);
		flow_rows_fini(&some);
		flow_rows_fini(&strange);
	}
}

/* Both ways find the minimum, on random sparse rows; and again, with other numbers in the same places. */
static void test_factor(void **state)
{
	(void)state;
	srand(6);
	for (int k = 0; k < 60; k++) {
		unsigned n = 1 + (unsigned)rand() % 60;
		struct flow_rows r = { 0 }, again = { 0 };
		struct flow_factor *f;
		double a[64], b[64], work[5 * 64];

		for (unsigned i = 0; i < 3 * n; i++) {
			unsigned terms = 1 + (unsigned)rand() % (i % 20 ? 4 : 50);
			double target = rand() % 100 - 50;

			for (unsigned t = 0; t < terms; t++) {
				/* neighbours mostly, now and then the same twice */
				unsigned u = (i / 3 + (unsigned)rand() % (rand() % 8 ? 4 : n)) % n;

				flow_rows_term(&r, u, rand() % 21 - 10);
				flow_rows_term(&again, u, rand() % 21 - 10);
			}
			flow_rows_end(&r, target, 1);
			flow_rows_end(&again, target, 0.5);
		}
		f = flow_factor_new(&r, n);
		assert_non_null(f);
		for (int twice = 0; twice < 2; twice++) {
			const struct flow_rows *now = twice ? &again : &r;

			flow_factor_solve(f, now, 0.5, a);
			flow_rows_solve(now, n, 0.5, 2000, b, work);
			memset(work, 0, sizeof(work));
			assert_true(steepest(now, n, 0.5, a) < 1e-9 * steepest(now, n, 0.5, work));
			assert_true(steepest(now, n, 0.5, b) < 1e-2 * steepest(now, n, 0.5, work));
		}
		flow_factor_free(f);
		flow_rows_fini(&r);
		flow_rows_fini(&again);
	}
	flow_factor_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),  cmocka_unit_test(test_factor),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_broken_off),
		cmocka_unit_test(test_stay),
		cmocka_unit_test(test_branch), cmocka_unit_test(test_counted),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_calls), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
