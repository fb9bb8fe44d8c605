/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_slices.c - time by slices of the run, and how far it spreads.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_rows.h"
#include "estimate_slices.h"
#include "grow.h"

enum {
	FEWEST = 6,  /* slices, to tell anything */
	LONGEST = 4, /* slices taken as one */
};

static const double SMALLEST = 1e-4; /* part of all time that is looked at */

/* ---- taking samples in ---- */

static void halve(struct slices *s, const struct sites *all)
{
	for (size_t k = 0; k < all->n; k++) {
		const struct site_function *f = all->v[k];

		for (uint32_t i = 0; f->slices && i < f->n; i++) {
			float *x = f->slices[i];

			for (uint32_t b = 0; x && b < SLICES; b++)
				x[b] = 2 * b < SLICES ? x[2 * b] + x[2 * b + 1]
						      : 0;
		}
	}
	s->at = SLICES / 2;
	s->each *= 2;
}

void slices_take(struct slices *s, const struct sites *all,
		 struct site_function *f, uint32_t insn, double ns)
{
	if (!s->each)
		s->each = 1;
	if (s->taken == s->each) {
		s->taken = 0;
		if (++s->at == SLICES)
			halve(s, all);
	}
	s->taken++;
	if (!f->slices)
		f->slices = calloc(f->n, sizeof(*f->slices));
	if (f->slices && !f->slices[insn])
		f->slices[insn] = calloc(SLICES, sizeof(**f->slices));
	if (f->slices && f->slices[insn])
		f->slices[insn][s->at] += (float)ns;
}

/* ---- loops ---- */

/* A loop as code lies: from where a jump goes back to, to that jump. */
struct span {
	uint32_t first, last;
};

struct spans {
	struct span *v;
	size_t n, cap;
	uint32_t *around; /* by instruction: spans_around() */
	uint32_t *next;	  /* likewise: next_free() */
	size_t cap_around, cap_next;
};

static int find_jumps(struct spans *s, const struct site_function *f)
{
	s->n = 0;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct decode_insn *in = &f->b->insn[i];
		uint32_t to;

		if ((in->flow != DECODE_COND && in->flow != DECODE_JUMP) ||
		    in->target > 0)
			continue;
		to = blocks_find(f->b, f->b->off[i] + (uint64_t)in->target);
		if (to == BLOCKS_NONE || to > i)
			continue;
		if (grow_array((void **)&s->v, &s->cap, s->n + 1,
			       sizeof(*s->v)))
			return -ENOMEM;
		s->v[s->n++] = (struct span){to, i};
	}
	return 0;
}

static int by_length(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;
	uint32_t x = a->last - a->first, y = b->last - b->first;

	if (x != y)
		return x < y ? -1 : 1;
	return (a->last < b->last) - (a->last > b->last);
}

/* From @i on, what is in no loop yet. */
static uint32_t next_free(uint32_t *next, uint32_t i)
{
	while (next[i] != i)
		i = next[i] = next[next[i]];
	return i;
}

/* What is in a shorter loop is passed over at once: as many steps as instructions, however many loops there are. */
static int spans_find(struct spans *s, const struct site_function *f)
{
	if (find_jumps(s, f) ||
	    grow_array((void **)&s->around, &s->cap_around, f->n + (size_t)1,
		       sizeof(*s->around)) ||
	    grow_array((void **)&s->next, &s->cap_next, f->n + (size_t)1,
		       sizeof(*s->next)))
		return -ENOMEM;
	for (uint32_t i = 0; i <= f->n; i++) {
		s->around[i] = 0;
		s->next[i] = i;
	}
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_length);
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t i = next_free(s->next, s->v[k].first);
		     i <= s->v[k].last; i = next_free(s->next, i)) {
			s->around[i] = k + 1;
			s->next[i] = i + 1;
		}
	return 0;
}

static void spans_fini(struct spans *s)
{
	free(s->v);
	free(s->around);
	free(s->next);
}

/* The innermost loop around @i: 1 + its number; 0: none. */
static uint32_t spans_around(const struct spans *s, uint32_t i)
{
	return s->around[i];
}

/* ---- the spread ---- */

/* A part of the time in one loop, by slice. */
struct part {
	uint32_t loop, variable; /* HVAR_HOT_NONE: of none */
	float at[SLICES];
};

struct adding {
	const struct estimate *e;
	struct spans spans;
	struct part *v;
	size_t n, cap;
	double *variance;
	size_t n_vars;
};

static int add_part(struct adding *a, uint32_t loop, uint32_t variable,
		    const float *at, double of)
{
	struct part *p;

	if (grow_array((void **)&a->v, &a->cap, a->n + 1, sizeof(*a->v)))
		return -ENOMEM;
	p = &a->v[a->n++];
	p->loop = loop;
	p->variable = variable;
	for (uint32_t b = 0; b < SLICES; b++)
		p->at[b] = (float)of * at[b];
	return 0;
}

/* The time at @i, for what it waited for. */
static int add_insn(struct adding *a, const struct site_function *f, uint32_t i)
{
	uint32_t from = i, loop;
	bool waits = rows_waits_for(f, i, &from);
	const struct decode_insn *in = &f->b->insn[from];
	double each = f->time_ns[i] / (in->n_mem ? in->n_mem : 1);

	loop = spans_around(&a->spans, from);
	if (add_part(a, loop, HVAR_HOT_NONE, f->slices[i], 1))
		return -ENOMEM;
	for (uint32_t m = 0; waits && m < in->n_mem; m++) {
		const struct site_operand *o = known_operand(a->e, f, from, m);

		for (uint32_t k = 0; o && o->proven && k < o->n; k++) {
			double part = o->v[k].count / site_operand_told(o);

			if (each * part > SMALLEST * a->e->all_ns &&
			    o->v[k].variable < a->n_vars &&
			    add_part(a, loop, o->v[k].variable, f->slices[i],
				     part / in->n_mem))
				return -ENOMEM;
		}
	}
	return 0;
}

static int by_loop(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	if (a->loop != b->loop)
		return a->loop < b->loop ? -1 : 1;
	return (a->variable < b->variable) -
	       (a->variable >
		b->variable); /* HVAR_HOT_NONE, all of the loop's, first */
}

/* Those of one loop and variable become one. */
static void merge(struct adding *a)
{
	size_t n = 0;

	qsort(a->v, a->n, sizeof(*a->v), by_loop);
	for (size_t k = 0; k < a->n; k++) {
		if (!n || by_loop(&a->v[n - 1], &a->v[k])) {
			a->v[n++] = a->v[k];
			continue;
		}
		for (uint32_t b = 0; b < SLICES; b++)
			a->v[n - 1].at[b] += a->v[k].at[b];
	}
	a->n = n;
}

/* By how much the square of 95 % is larger, when a variance is that of @n cases: Student's t, to 2 %. */
static double few_slices(double n)
{
	double wider = 1 + (1.2 + 1.6 / n) / n;

	return wider * wider;
}

/* Of the sum of @p, as a part of @all: what its slices say, taken @together of them at a time; 0: they say nothing. */
static double spread(const struct part *p, const struct part *all,
		     uint32_t used, uint32_t together, double part)
{
	double squares = 0;
	uint32_t n = 0;

	for (uint32_t b = 0; b < used; n++) {
		double off = 0, any = 0;

		for (uint32_t k = 0; k < together && b < used; k++, b++) {
			off += p->at[b] - part * all->at[b];
			any += all->at[b];
		}
		squares += off * off;
		n -= !(any > 0);
	}
	return n >= FEWEST ? squares * n / (n - 1) * few_slices(n - 1) : 0;
}

static void add_variance(struct adding *a, const struct part *p,
			 const struct part *all)
{
	uint32_t used = a->e->slices.at + 1;
	double sum = 0, of = 0, part, chance, seen = 0,
	       each = a->e->all_ns / (double)a->e->result.samples;

	for (uint32_t b = 0; b < used; b++) {
		sum += p->at[b];
		of += all->at[b];
	}
	if (!(of > 0))
		return;
	part = sum / of;
	chance = of * each * part * (1 - part);
	/* What changes slowly shows in long slices, the rest better in many. */
	for (uint32_t together = 1; together <= LONGEST; together *= 2) {
		double x = spread(p, all, used, together, part);

		seen = x > seen ? x : seen;
	}
	if (seen > chance)
		a->variance[p->variable] += seen - chance;
}

static int add_function(struct adding *a, const struct site_function *f)
{
	const struct part *all = NULL;

	a->n = 0;
	if (spans_find(&a->spans, f))
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n; i++)
		if (f->slices[i] && add_insn(a, f, i))
			return -ENOMEM;
	merge(a);
	for (size_t k = 0; k < a->n; k++)
		if (a->v[k].variable == HVAR_HOT_NONE)
			all = &a->v[k];
		else
			add_variance(a, &a->v[k], all);
	return 0;
}

int slices_variance(const struct estimate *e, double *variance, size_t n)
{
	struct adding a = {.e = e, .variance = variance, .n_vars = n};
	int err = 0;

	for (size_t k = 0; k < e->sites.n && !err; k++)
		if (e->sites.v[k]->slices)
			err = add_function(&a, e->sites.v[k]);
	spans_fini(&a.spans);
	free(a.v);
	return err;
}
