/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_phases.c - rates while an operand touched one variable and another.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "estimate_phases.h"

enum { FEWEST = 3 }; /* pairs */

static const double SAME_SD =
	0.1; /* of the logarithm of two rates that are the same for all we care */
static const double DIFFERENT = 3; /* standard deviations */

/* Where so many of the pairs are not of one stay, stays are short, and those that look like one are two. */
static const double MANY_MISSED = 0.2;

void phases_note(struct phases *p, const struct pairs_shown *at, double rounds)
{
	uint32_t k = 0;

	while (k < p->n && memcmp(&p->v[k].at, at, sizeof(*at)))
		k++;
	if (k == PHASES_MAX)
		return;
	if (k == p->n)
		p->v[p->n++] = (struct phase){.at = *at};
	if (rounds < 0) {
		p->v[k].missed++;
		return;
	}
	p->v[k].n++;
	p->v[k].sum += rounds;
	p->v[k].squares += rounds * rounds;
}

void phases_forget(struct site_function *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		for (uint32_t m = 0; f->ops[i] && m < f->b->insn[i].n_mem; m++)
			f->ops[i][m].rounds = 0;
}

static bool same_operand(const struct phase *a, const struct phase *b)
{
	return a->at.insn == b->at.insn && a->at.mem == b->at.mem;
}

static bool is_known(const struct phase *p)
{
	return p->n >= FEWEST && p->sum >= FEWEST;
}

/* Of the logarithm of the rate, squared. */
static double variance(const struct phase *p)
{
	double mean = p->sum / p->n, all = p->squares / p->n - mean * mean;

	return (all > 0 ? all : 0) / (mean * mean * p->n) + SAME_SD * SAME_SD;
}

static bool differ(const struct phase *a, const struct phase *b)
{
	double far = log(a->sum / a->n) - log(b->sum / b->n);

	return fabs(far) > DIFFERENT * sqrt(variance(a) + variance(b));
}

/* The rate of @p's operand while it touched @variable; what is not known is as all together. */
static double rate_of(const struct phases *p, const struct phase *like,
		      uint32_t variable)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t k = 0; k < p->n; k++) {
		if (!same_operand(&p->v[k], like))
			continue;
		if (p->v[k].at.variable == variable && is_known(&p->v[k]))
			return p->v[k].sum / p->v[k].n;
		sum += p->v[k].sum;
		n += p->v[k].n;
	}
	return sum / n;
}

static void apply_one(const struct phases *p, const struct phase *like,
		      struct site_operand *o)
{
	double all = 0;

	for (uint32_t k = 0; k < p->n; k++)
		if (same_operand(&p->v[k], like) && p->v[k].missed >= FEWEST &&
		    p->v[k].missed > MANY_MISSED * (p->v[k].n + p->v[k].missed))
			return;
	for (uint32_t k = 0; k < o->n; k++)
		all += o->v[k].count * rate_of(p, like, o->v[k].variable);
	if (!(all > o->rounds))
		return;
	for (uint32_t k = 0; k < o->n; k++)
		o->v[k].rate = (float)rate_of(p, like, o->v[k].variable);
	o->rounds = all;
}

void phases_apply(const struct phases *p, struct site_function *f)
{
	for (uint32_t a = 0; a < p->n; a++) {
		bool is_first = true, any = false;

		for (uint32_t b = 0; b < a; b++)
			is_first &= !same_operand(&p->v[a], &p->v[b]);
		for (uint32_t b = a; b < p->n && is_first; b++)
			for (uint32_t c = b + 1; c < p->n && !any; c++)
				any = same_operand(&p->v[a], &p->v[b]) &&
				      same_operand(&p->v[a], &p->v[c]) &&
				      is_known(&p->v[b]) &&
				      is_known(&p->v[c]) &&
				      differ(&p->v[b], &p->v[c]);
		if (any && f->ops[p->v[a].at.insn])
			apply_one(p, &p->v[a],
				  &f->ops[p->v[a].at.insn][p->v[a].at.mem]);
	}
}
