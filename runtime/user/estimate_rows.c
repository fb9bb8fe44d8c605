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

enum { STEPS = 60 }; /* of the flow solver */

struct sums {
	double accesses, reads, writes, bytes, time_ns;
};

struct solving {
	struct estimate *e;
	struct graph graph;
	double *runs;		/* by node of the graph */
	struct sums *vars;	/* by hot table index */
	double lost[ESTIMATE_REASONS];
	double time_lost[ESTIMATE_REASONS];
	double accesses, time_ns;
};

static double repetitions(const struct decode_mem *m, const struct site_operand *o)
{
	if (!(m->flags & DECODE_MEM_REP))
		return 1;
	return o && o->rep_n ? o->rep_sum / o->rep_n : 1;
}

static void add_operand(struct solving *s, const struct decode_mem *m,
			const struct site_operand *o, double runs)
{
	double times = runs * m->elements * repetitions(m, o), known;
	bool reads = m->flags & DECODE_MEM_READ, writes = m->flags & DECODE_MEM_WRITE;

	times *= reads + writes; /* an operand that is read and written is two accesses */
	s->accesses += times;
	if (!o || !o->proven) {
		s->lost[o && o->full ? ESTIMATE_TABLE_FULL : ESTIMATE_REGISTER_LOST] += times;
		return;
	}
	known = (double)o->proven + o->full;
	for (uint32_t i = 0; i < o->n; i++) {
		struct sums *v = &s->vars[o->v[i].variable];
		double part = times * o->v[i].count / known;

		v->accesses += part;
		v->bytes += part * m->size;
		if (reads)
			v->reads += part / (reads + writes);
		if (writes)
			v->writes += part / (reads + writes);
	}
	s->lost[ESTIMATE_TABLE_FULL] += times * o->full / known;
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
		const struct site_operand *o = f->ops[i] ? &f->ops[i][m] : NULL;
		double known;

		if (!o || !o->proven) {
			lose_time(s, o && o->full ? ESTIMATE_TABLE_FULL
						  : ESTIMATE_REGISTER_LOST, ns);
			continue;
		}
		known = (double)o->proven + o->full;
		for (uint32_t k = 0; k < o->n; k++)
			s->vars[o->v[k].variable].time_ns += ns * o->v[k].count / known;
		lose_time(s, ESTIMATE_TABLE_FULL, ns * o->full / known);
	}
}

/*
 * The instruction whose wait shows at @i: the one before.  A jump that is fused
 * with the comparison before it waits for that one's operand.
 */
static bool before(const struct site_function *f, uint32_t i, uint32_t *out)
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
			if (before(f, i, &from))
				charge(s, f, from, f->time_ns[i]);
			else
				lose_time(s, ESTIMATE_NO_OPERAND, f->time_ns[i]);
		}
	}
	lose_time(s, ESTIMATE_NO_CODE, s->e->by_reason_ns[ESTIMATE_NO_CODE]);
	lose_time(s, ESTIMATE_BAD_CODE, s->e->by_reason_ns[ESTIMATE_BAD_CODE]);
}

/* Samples outside of known code made accesses like the others, as far as we can tell. */
static void add_unknown_code(struct solving *s)
{
	const struct estimate_result *r = &s->e->result;
	double outside = (double)r->by_reason[ESTIMATE_NO_CODE] +
			 r->by_reason[ESTIMATE_BAD_CODE];
	double inside = (double)r->samples - outside, each;

	if (!outside)
		return;
	each = inside > 0 && s->accesses > 0 ? s->accesses / inside : 1;
	for (int i = ESTIMATE_NO_CODE; i <= ESTIMATE_BAD_CODE; i++) {
		s->lost[i] += each * r->by_reason[i];
		s->accesses += each * r->by_reason[i];
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

static void interval(const struct estimate *e, struct estimate_row *r)
{
	double n = e->result.samples ? (double)e->result.samples : 1;
	double sampling = sqrt(r->share * (1 - r->share) / n);
	double model = 0.25 * r->share * (1 - r->share);
	double half = 1.96 * sqrt(sampling * sampling + model * model) + 1 / n;

	r->ci[0] = r->share - half > 0 ? r->share - half : 0;
	r->ci[1] = r->share + half < 1 ? r->share + half : 1;
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
			.share = s->accesses > 0 ? v->accesses / s->accesses : 0,
			.time_share = e->all_ns > 0 ? v->time_ns / e->all_ns : 0,
		};
		interval(e, r);
		e->result.n++;
	}
	qsort(rows, e->result.n, sizeof(*rows), by_share);
	for (int i = 0; i < ESTIMATE_REASONS; i++) {
		e->result.share_lost[i] = s->accesses > 0 ? s->lost[i] / s->accesses : 0;
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
					    b->f->ops[i] ? &b->f->ops[i][m] : NULL,
					    s->runs[k]);
	}
}

const struct estimate_result *estimate_solve(struct estimate *e)
{
	struct solving s = { .e = e };

	s.vars = calloc(e->n_vars ? e->n_vars : 1, sizeof(*s.vars));
	sites_add_callers(&e->sites, &e->env);
	if (!s.vars || graph_build(&s.graph, &e->sites))
		goto out;
	s.runs = calloc(s.graph.flow.n_nodes + 1, sizeof(*s.runs));
	if (!s.runs || flow_solve(&s.graph.flow, NULL, STEPS, s.runs))
		goto out;
	add_blocks(&s);
	add_unknown_code(&s);
	charge_time(&s);
	make_rows(&s);
out:
	graph_fini(&s.graph);
	free(s.runs);
	free(s.vars);
	return &e->result;
}
