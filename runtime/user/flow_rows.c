/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_rows.c - building rows, and conjugate gradients on their normal equations.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "flow_rows.h"

/* Of the squared residual: the next step starts from new slopes anyway. */
static const double ENOUGH = 1e-7;

void flow_rows_fini(struct flow_rows *r)
{
	free(r->terms);
	free(r->first);
	free(r->target);
	memset(r, 0, sizeof(*r));
}

void flow_rows_clear(struct flow_rows *r)
{
	r->n = 0;
	r->n_terms = 0;
}

bool flow_rows_more_terms(struct flow_rows *r)
{
	size_t cap = r->cap_terms ? 2 * r->cap_terms : 1024;
	struct flow_term *t = realloc(r->terms, cap * sizeof(*t));

	if (!t) {
		r->failed = true;
		return false;
	}
	r->terms = t;
	r->cap_terms = cap;
	return true;
}

bool flow_rows_more(struct flow_rows *r)
{
	size_t cap = r->cap ? 2 * r->cap : 512;
	size_t *first = realloc(r->first, (cap + 1) * sizeof(*first));
	double *t;

	if (first)
		r->first = first;
	t = realloc(r->target, cap * sizeof(*t));
	if (t)
		r->target = t;
	if (!first || !t) {
		r->failed = true;
		return false;
	}
	if (!r->n)
		r->first[0] = 0;
	r->cap = cap;
	return true;
}

/* out = rows^T (rows v) + damping v, or, with @target, rows^T target. */
static void normal(const struct flow_rows *r, uint32_t n, double damping,
		   const double *v, double *out)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = v ? damping * v[i] : 0;
	for (size_t k = 0; k < r->n; k++) {
		double a = r->target[k];

		if (v) {
			a = 0;
			for (size_t t = r->first[k]; t < r->first[k + 1]; t++)
				a += r->terms[t].slope * v[r->terms[t].unknown];
		}
		for (size_t t = r->first[k]; t < r->first[k + 1]; t++)
			out[r->terms[t].unknown] += r->terms[t].slope * a;
	}
}

static void diagonal(const struct flow_rows *r, uint32_t n, double damping, double *out)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = damping;
	for (size_t t = 0; t < r->n_terms; t++)
		out[r->terms[t].unknown] += r->terms[t].slope * r->terms[t].slope;
}

static double dot(const double *a, const double *b, uint32_t n)
{
	double s = 0;

	for (uint32_t i = 0; i < n; i++)
		s += a[i] * b[i];
	return s;
}

void flow_rows_solve(const struct flow_rows *r, uint32_t n_unknowns, double damping,
		     unsigned iterations, double *step, double *work)
{
	uint32_t n = n_unknowns;
	double *res = work, *pre = work + n, *dir = work + 2 * n, *a = work + 3 * n;
	double *z = work + 4 * n, rz, start;

	memset(step, 0, n * sizeof(*step));
	normal(r, n, 0, NULL, res);
	diagonal(r, n, damping, pre);
	for (uint32_t i = 0; i < n; i++)
		dir[i] = z[i] = res[i] / pre[i];
	rz = start = dot(res, z, n);
	for (unsigned k = 0; k < iterations && rz > ENOUGH * start && rz > 0; k++) {
		double da, alpha, next;

		normal(r, n, damping, dir, a);
		da = dot(dir, a, n);
		if (!(da > 0))
			break;
		alpha = rz / da;
		for (uint32_t i = 0; i < n; i++) {
			step[i] += alpha * dir[i];
			res[i] -= alpha * a[i];
			z[i] = res[i] / pre[i];
		}
		next = dot(res, z, n);
		for (uint32_t i = 0; i < n; i++)
			dir[i] = z[i] + next / rz * dir[i];
		rz = next;
	}
}
