/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_rows.c - evidence at code sites -> rows.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_graph.h"
#include "estimate_rows.h"
#include "estimate_spread.h"
#include "flow_factor.h"

enum {
	STEPS = 60,   /* of the flow solver */
	REFUTALS = 4, /* solutions that samples may contradict */
};

static const double OF_NOBODYS = 5; /* times its part of what is known, a variable may have of what nothing tells of */
static const double SKIDS = 0.014;

struct sums {
	double accesses, reads, writes, bytes, time_ns;
};

struct solving {
	struct estimate *e;
	struct graph graph;
	double *runs;		/* by node of the graph */
	struct flow_factor *factor; /* of its shape */
	struct sums *vars;	/* by hot table index */
	double lost[ESTIMATE_REASONS];
	double time_lost[ESTIMATE_REASONS];
	double accesses;
	double *share, *deviation; /* by hot table index */
	double *time_variance;	/* likewise, in ns, squared: what is more than chance */
	double nobodys;		/* share of accesses whose address nothing told: they may be anyone's */
};

static double repetitions(const struct decode_mem *m, const struct site_operand *o)
{
	if (!(m->flags & DECODE_MEM_REP))
		return 1;
	return o && o->rep_n ? o->rep_sum / o->rep_n : 1;
}

/* Accesses by an operand whose instruction runs @runs times; read and written counts as two. */
static double operand_times(const struct decode_mem *m, const struct site_operand *o,
			    double runs)
{
	return runs * m->elements * repetitions(m, o) *
	       (!!(m->flags & DECODE_MEM_READ) + !!(m->flags & DECODE_MEM_WRITE));
}

/* Why @o names no variable at all. */
static enum estimate_reason why_lost(const struct site_operand *o)
{
	if (o && o->full)
		return ESTIMATE_TABLE_FULL;
	return o && o->unmapped ? ESTIMATE_NOT_MAPPED : ESTIMATE_REGISTER_LOST;
}

static void add_operand(struct solving *s, const struct decode_mem *m,
			const struct site_operand *o, double runs)
{
	double times = operand_times(m, o, runs), known;
	bool reads = m->flags & DECODE_MEM_READ, writes = m->flags & DECODE_MEM_WRITE;

	s->accesses += times;
	if (!o || !o->proven) {
		s->lost[why_lost(o)] += times;
		return;
	}
	known = site_operand_told(o);
	for (uint32_t i = 0; i < o->n; i++) {
		struct sums *v = &s->vars[o->v[i].variable];
		double part = times * site_operand_part(o, i);

		v->accesses += part;
		v->bytes += part * m->size;
		if (reads)
			v->reads += part / (reads + writes);
		if (writes)
			v->writes += part / (reads + writes);
	}
	s->lost[ESTIMATE_TABLE_FULL] += times * o->full / known;
	s->lost[ESTIMATE_NOT_MAPPED] += times * o->unmapped / known;
}

static void lose_time(struct solving *s, enum estimate_reason r, double ns)
{
	s->time_lost[r] += ns;
}

/* @ns of waiting for the memory that instruction @i touches. */
static void charge(struct solving *s, const struct site_function *f, uint32_t i, double ns)
{
	const struct decode_insn *in = &f->b->insn[i];

	if (!in->n_mem) {
		lose_time(s, ESTIMATE_NO_OPERAND, ns);
		return;
	}
	ns /= in->n_mem;
	for (uint32_t m = 0; m < in->n_mem; m++) {
		const struct site_operand *o = known_operand(s->e, f, i, m);
		double known;

		if (!o || !o->proven) {
			lose_time(s, why_lost(o), ns);
			continue;
		}
		known = site_operand_told(o);
		for (uint32_t k = 0; k < o->n; k++)
			s->vars[o->v[k].variable].time_ns += ns * o->v[k].count / known;
		lose_time(s, ESTIMATE_TABLE_FULL, ns * o->full / known);
		lose_time(s, ESTIMATE_NOT_MAPPED, ns * o->unmapped / known);
	}
}

bool rows_waits_for(const struct site_function *f, uint32_t i, uint32_t *out)
{
	const struct decode_insn *in;

	if (f->b->insn[i].is_rep && f->b->insn[i].n_mem) {
		*out = i; /* it is interrupted in its own middle */
		return true;
	}
	if (!i)
		return false;
	in = &f->b->insn[i - 1];
	if (f->b->off[i] != f->b->off[i - 1] + in->len || in->flow == DECODE_JUMP ||
	    in->flow == DECODE_INDIRECT || in->flow == DECODE_RET ||
	    in->flow == DECODE_STOP || in->flow == DECODE_CALL ||
	    in->flow == DECODE_INDIRECT_CALL)
		return false;
	*out = i - 1;
	if (in->flow == DECODE_COND && i > 1 &&
	    f->b->insn[i - 2].flags_op != DECODE_FLAGS_KEPT)
		*out = i - 2;
	return true;
}

static void charge_time(struct solving *s)
{
	for (size_t k = 0; k < s->e->sites.n; k++) {
		const struct site_function *f = s->e->sites.v[k];

		for (uint32_t i = 0; i < f->n; i++) {
			uint32_t from;

			if (!(f->time_ns[i] > 0))
				continue;
			if (rows_waits_for(f, i, &from))
				charge(s, f, from, f->time_ns[i]);
			else
				lose_time(s, !i && f->b->headless ? ESTIMATE_NO_BLOCK : ESTIMATE_NO_OPERAND, f->time_ns[i]);
		}
	}
	lose_time(s, ESTIMATE_NO_CODE, s->e->by_reason_ns[ESTIMATE_NO_CODE]);
	lose_time(s, ESTIMATE_BAD_CODE, s->e->by_reason_ns[ESTIMATE_BAD_CODE]);
}

/* Samples outside of known code, and of known blocks, made accesses like the others, as far as we can tell. */
static void add_unknown_code(struct solving *s)
{
	static const enum estimate_reason unknown[] = { ESTIMATE_NO_CODE, ESTIMATE_BAD_CODE, ESTIMATE_NO_BLOCK };
	const struct estimate_result *r = &s->e->result;
	double outside = 0, inside, each;

	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		outside += (double)r->by_reason[unknown[i]];
	if (!(outside > 0))
		return;
	inside = (double)r->samples - outside;
	each = inside > 0 && s->accesses > 0 ? s->accesses / inside : 1;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		s->lost[unknown[i]] += each * (double)r->by_reason[unknown[i]];
		s->accesses += each * (double)r->by_reason[unknown[i]];
	}
}

static int by_share(const void *a, const void *b)
{
	const struct estimate_row *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	return (x->variable > y->variable) - (x->variable < y->variable);
}

/*
 * The deviation under shaken evidence, widened by what no shaking shows: a
 * variable that only a few samples proved, a share that is small.
 */
static void interval(const struct solving *s, struct estimate_row *r)
{
	double n = s->e->result.samples ? (double)s->e->result.samples : 1;
	double seen = r->samples ? (double)r->samples : 1;
	double few = r->share / sqrt(seen) + 1 / n;
	double half = 2 * s->deviation[r->variable] + few + 0.1 * r->share * (1 - r->share);
	double of_nobodys = OF_NOBODYS * r->share < 1 ? OF_NOBODYS * r->share : 1;
	double most = r->share + half + of_nobodys * s->nobodys;

	r->ci[0] = r->share - half > 0 ? r->share - half : 0;
	r->ci[1] = most < 1 ? most : 1;
}

/*
 * Of the time: Wilson's interval of a part of so many samples, what its slices spread beyond chance, and what skids by another distance than one
 * instruction, which is 1.4 % of samples.
 */
static void time_interval(const struct solving *s, struct estimate_row *r)
{
	double n = s->e->result.samples ? (double)s->e->result.samples : 1, z2 = 1.96 * 1.96;
	double p = r->time_share, middle = (p + z2 / (2 * n)) / (1 + z2 / n);
	double more = s->e->all_ns > 0 ? s->time_variance[r->variable] / s->e->all_ns / s->e->all_ns : 0;
	double half = 1.96 / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n) + more);

	half += SKIDS * p;
	r->time_ci[0] = p > 0 && middle - half > 0 ? middle - half : 0; /* of none it is 0, but for rounding */
	r->time_ci[1] = middle + half < 1 ? middle + half : 1;
}

static bool make_rows(struct solving *s)
{
	struct estimate *e = s->e;
	struct estimate_row *rows;
	size_t n = 0;

	for (size_t i = 0; i < e->n_vars; i++)
		n += s->vars[i].accesses > 0 || s->vars[i].time_ns > 0;
	rows = realloc(e->result.rows, (n ? n : 1) * sizeof(*rows));
	if (!rows)
		return false;
	e->result.rows = rows;
	e->result.n = 0;
	s->nobodys = s->accesses > 0 ? (s->lost[ESTIMATE_REGISTER_LOST] + s->lost[ESTIMATE_TABLE_FULL] + s->lost[ESTIMATE_NO_BLOCK]) / s->accesses : 0;
	for (size_t i = 0; i < e->n_vars; i++) {
		const struct sums *v = &s->vars[i];
		struct estimate_row *r = &rows[e->result.n];

		if (!(v->accesses > 0) && !(v->time_ns > 0))
			continue;
		*r = (struct estimate_row){
			.variable = (uint32_t)i,
			.accesses = v->accesses,
			.reads = v->reads,
			.writes = v->writes,
			.bytes = v->bytes,
			.time_ns = v->time_ns,
			.samples = e->vars[i].samples,
			.threads = e->vars[i].threads,
			.share = s->share[i],
			.time_share = e->all_ns > 0 ? v->time_ns / e->all_ns : 0,
		};
		interval(s, r);
		time_interval(s, r);
		e->result.n++;
	}
	qsort(rows, e->result.n, sizeof(*rows), by_share);
	for (int i = 0; i < ESTIMATE_REASONS; i++) {
		/* If nothing touches memory, that is where all of nothing went. */
		e->result.share_lost[i] = s->accesses > 0 ? s->lost[i] / s->accesses
							  : i == ESTIMATE_NO_OPERAND;
		e->result.time_lost[i] = e->all_ns > 0 ? s->time_lost[i] / e->all_ns : 0;
	}
	return true;
}

/* How often each block ran, and with that how often each operand was used. */
static void add_blocks(struct solving *s)
{
	for (uint32_t k = 0; k < s->graph.flow.n_nodes; k++) {
		const struct graph_block *b = &s->graph.blocks[k];

		for (uint32_t i = b->first; i < b->end; i++)
			for (uint32_t m = 0; m < b->f->b->insn[i].n_mem; m++)
				add_operand(s, &b->f->b->insn[i].mem[m],
					    known_operand(s->e, b->f, i, m), s->runs[k]);
	}
}

/* All runs of @o are @times. */
static void share_out(const struct site_operand *o, double times, const double *mix, double *by_variable)
{
	double all = 0, mixed = 0;

	if (mix && !site_operand_phased(o))
		mix = NULL;
	for (uint32_t v = 0; mix && v < o->n; v++) {
		all += site_operand_part(o, v);
		mixed += site_operand_part(o, v) * mix[o->v[v].variable];
	}
	for (uint32_t v = 0; v < o->n; v++)
		by_variable[o->v[v].variable] += times * site_operand_part(o, v) *
						 (mix && mixed > 0 ? mix[o->v[v].variable] * all / mixed : 1);
}

double rows_accesses(const struct estimate *e, const struct graph *g, const double *runs,
		     const double *mix, double *by_variable)
{
	double all = 0;

	for (uint32_t k = 0; k < g->flow.n_nodes; k++) {
		const struct graph_block *b = &g->blocks[k];

		for (uint32_t i = b->first; i < b->end; i++) {
			const struct decode_insn *in = &b->f->b->insn[i];

			for (uint32_t m = 0; m < in->n_mem; m++) {
				const struct site_operand *o =
					known_operand(e, b->f, i, m);
				double times = operand_times(&in->mem[m], o, runs[k]);

				all += times;
				if (o)
					share_out(o, times, mix, by_variable);
			}
		}
	}
	return all;
}

/* Without memory to say more: nothing is known of anything. */
static void know_nothing(struct estimate *e)
{
	e->result.n = 0;
	memset(e->result.share_lost, 0, sizeof(e->result.share_lost));
	memset(e->result.time_lost, 0, sizeof(e->result.time_lost));
	e->result.share_lost[ESTIMATE_TABLE_FULL] = 1;
	e->result.time_lost[ESTIMATE_TABLE_FULL] = 1;
}

static bool solve(struct solving *s)
{
	struct estimate *e = s->e;
	size_t n;

	sites_add_callers(&e->sites, &e->env);
	clobbers_find(&e->sites);
	frames_find(&e->sites);
	if (graph_build(&s->graph, &e->sites, (double)e->result.samples, e->all_ns))
		return false;
	n = e->n_vars ? e->n_vars : 1;
	s->vars = calloc(n, sizeof(*s->vars));
	s->share = calloc(n, sizeof(*s->share));
	s->deviation = calloc(n, sizeof(*s->deviation));
	s->time_variance = calloc(n, sizeof(*s->time_variance));
	if (!s->vars || !s->share || !s->deviation || !s->time_variance)
		return false;
	s->runs = calloc(s->graph.flow.n_nodes + 1, sizeof(*s->runs));
	if (!s->runs)
		return false;
	for (int k = 0; k < REFUTALS; k++) {
		if (flow_solve_kept(&s->graph.flow, NULL, STEPS, s->runs, &s->factor))
			return false;
		if (!flow_refute(&s->graph.flow, s->runs))
			break;
	}
	add_blocks(s);
	add_unknown_code(s);
	charge_time(s);
	if (slices_variance(e, s->time_variance, e->n_vars))
		return false;
	for (size_t i = 0; i < e->n_vars && s->accesses > 0; i++)
		s->share[i] = s->vars[i].accesses / s->accesses;
	return !spread_shares(e, &s->graph, s->runs, s->share, e->n_vars, s->deviation, &s->factor) &&
	       make_rows(s);
}

const struct estimate_result *estimate_solve(struct estimate *e)
{
	struct solving s = { .e = e };

	if (!solve(&s))
		know_nothing(e);
	graph_fini(&s.graph);
	flow_factor_free(s.factor);
	free(s.runs);
	free(s.vars);
	free(s.share);
	free(s.deviation);
	free(s.time_variance);
	return &e->result;
}
