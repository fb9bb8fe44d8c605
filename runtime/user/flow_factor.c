/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_factor.c - L D L' of a sparse matrix, unknowns of least degree first.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "flow_factor.h"

enum { MAX_FILL = 3000000 }; /* entries of L */

#define ON_DIAGONAL ((size_t)-1)
#define NO_SLOT	    ((size_t)-2)
#define NOBODY	    ((uint32_t)-1)

struct flow_factor {
	uint32_t n;
	uint32_t *place;  /* of each unknown in the order of elimination */
	size_t *first;	  /* column p: entries [first[p], first[p + 1]) */
	uint32_t *row;	  /* of each entry, a place after p; ascending in a column */
	double *val;
	double *diag;
	double *b;
	size_t *slots;	  /* of each pair of terms of each row of the problem, in order */
	size_t cap_fill;
	/* The rows it was made for: where each begins, and the unknown of each term. */
	size_t n_rows, n_terms;
	size_t *row_first;
	uint32_t *unknown;
};

/* Neighbours of one unknown, ascending. */
struct set {
	uint32_t *v;
	uint32_t n, cap;
};

/* The graph while unknowns are taken out of it. */
struct graph {
	uint32_t n;
	struct set *adj;
	uint8_t *gone;
	/* By degree: lists of those that have it. */
	uint32_t *head, *next, *prev, *degree;
	struct set merged;
};

static bool reserve(struct set *s, uint32_t cap)
{
	uint32_t *v;

	if (cap <= s->cap)
		return true;
	cap += cap / 2 + 4;
	v = realloc(s->v, cap * sizeof(*v));
	if (!v)
		return false;
	s->v = v;
	s->cap = cap;
	return true;
}

/* @s and @add become one, without @self and what is gone. */
static bool merge(struct graph *g, struct set *s, const uint32_t *add, uint32_t n,
		  uint32_t self)
{
	struct set *m = &g->merged, t;
	uint32_t a = 0, b = 0;

	if (!reserve(m, s->n + n))
		return false;
	m->n = 0;
	while (a < s->n || b < n) {
		uint32_t x;

		if (b == n || (a < s->n && s->v[a] <= add[b])) {
			x = s->v[a++];
			if (b < n && add[b] == x)
				b++;
		} else {
			x = add[b++];
		}
		if (x != self && !g->gone[x])
			m->v[m->n++] = x;
	}
	t = *s;
	*s = *m;
	*m = t;
	return true;
}

static void unlink_degree(struct graph *g, uint32_t v)
{
	if (g->prev[v] != NOBODY)
		g->next[g->prev[v]] = g->next[v];
	else
		g->head[g->degree[v]] = g->next[v];
	if (g->next[v] != NOBODY)
		g->prev[g->next[v]] = g->prev[v];
}

static void link_degree(struct graph *g, uint32_t v)
{
	uint32_t d = g->adj[v].n;

	g->degree[v] = d;
	g->prev[v] = NOBODY;
	g->next[v] = g->head[d];
	if (g->head[d] != NOBODY)
		g->prev[g->head[d]] = v;
	g->head[d] = v;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Unknowns that stand in one row are neighbours, all of them. */
static bool graph_init(struct graph *g, const struct flow_rows *r, uint32_t n)
{
	struct set row = { NULL, 0, 0 };
	bool ok = true;

	g->n = n;
	g->adj = calloc(n + 1, sizeof(*g->adj));
	g->gone = calloc(n + 1, 1);
	g->head = malloc((n + 1) * sizeof(*g->head));
	g->next = malloc((n + 1) * sizeof(*g->next));
	g->prev = malloc((n + 1) * sizeof(*g->prev));
	g->degree = malloc((n + 1) * sizeof(*g->degree));
	if (!g->adj || !g->gone || !g->head || !g->next || !g->prev || !g->degree)
		return false;
	for (size_t k = 0; k < r->n && ok; k++) {
		uint32_t len = (uint32_t)(r->first[k + 1] - r->first[k]);

		if (len < 2)
			continue;
		ok = reserve(&row, len);
		for (uint32_t t = 0; ok && t < len; t++)
			row.v[t] = r->terms[r->first[k] + t].unknown;
		if (ok)
			qsort(row.v, len, sizeof(*row.v), compare);
		for (uint32_t t = 0; ok && t < len; t++)
			ok = (t && row.v[t] == row.v[t - 1]) ||
			     merge(g, &g->adj[row.v[t]], row.v, len, row.v[t]);
	}
	/* A merged row may have named an unknown twice: once is enough. */
	for (uint32_t v = 0; v < n; v++) {
		struct set *s = &g->adj[v];
		uint32_t kept = 0;

		for (uint32_t i = 0; i < s->n; i++)
			if (!kept || s->v[kept - 1] != s->v[i])
				s->v[kept++] = s->v[i];
		s->n = kept;
		g->head[v] = NOBODY;
	}
	g->head[n] = NOBODY;
	for (uint32_t v = 0; ok && v < n; v++)
		link_degree(g, v);
	free(row.v);
	return ok;
}

static void graph_fini(struct graph *g)
{
	for (uint32_t v = 0; g->adj && v < g->n; v++)
		free(g->adj[v].v);
	free(g->adj);
	free(g->gone);
	free(g->head);
	free(g->next);
	free(g->prev);
	free(g->degree);
	free(g->merged.v);
}

static bool keep_column(struct flow_factor *f, uint32_t p, const struct set *s)
{
	size_t at = f->first[p];

	if (at + s->n > MAX_FILL)
		return false;
	if (at + s->n > f->cap_fill) {
		size_t cap = 2 * (at + s->n) + 64;
		uint32_t *row = realloc(f->row, cap * sizeof(*row));

		if (!row)
			return false;
		f->row = row;
		f->cap_fill = cap;
	}
	if (s->n)
		memcpy(f->row + at, s->v, s->n * sizeof(*s->v));
	f->first[p + 1] = at + s->n;
	return true;
}

/* Take out the unknown with the fewest neighbours, who thereby come to know each other; again. */
static bool eliminate(struct flow_factor *f, struct graph *g)
{
	uint32_t least = 0;

	for (uint32_t p = 0; p < f->n; p++) {
		uint32_t v;

		while (g->head[least] == NOBODY)
			least++;
		v = g->head[least];
		unlink_degree(g, v);
		g->gone[v] = 1;
		f->place[v] = p;
		if (!keep_column(f, p, &g->adj[v]))
			return false;
		for (uint32_t i = 0; i < g->adj[v].n; i++) {
			uint32_t u = g->adj[v].v[i];

			unlink_degree(g, u);
			if (!merge(g, &g->adj[u], g->adj[v].v, g->adj[v].n, u))
				return false;
			link_degree(g, u);
			if (g->adj[u].n < least)
				least = g->adj[u].n;
		}
		free(g->adj[v].v);
		g->adj[v] = (struct set){ NULL, 0, 0 };
	}
	return true;
}

static size_t slot_of(const struct flow_factor *f, uint32_t a, uint32_t b)
{
	uint32_t col = a < b ? a : b, want = a < b ? b : a;
	size_t lo = f->first[col], hi = f->first[col + 1];

	if (a == b)
		return ON_DIAGONAL;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->row[mid] < want)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->first[col + 1] && f->row[lo] == want ? lo : NO_SLOT;
}

/* Where each pair of terms goes; false if there is no place for one, or no memory. */
static bool find_slots(struct flow_factor *f, const struct flow_rows *r)
{
	size_t pairs = 0, at = 0;
	size_t *slots;

	for (size_t k = 0; k < r->n; k++) {
		size_t len = r->first[k + 1] - r->first[k];

		pairs += len * (len - 1) / 2;
	}
	if (pairs > 4 * (size_t)MAX_FILL)
		return false;
	slots = realloc(f->slots, (pairs + 1) * sizeof(*f->slots));
	if (!slots)
		return false;
	f->slots = slots;
	for (size_t k = 0; k < r->n; k++)
		for (size_t a = r->first[k]; a < r->first[k + 1]; a++)
			for (size_t b = r->first[k]; b < a; b++) {
				slots[at] = slot_of(f, f->place[r->terms[a].unknown], f->place[r->terms[b].unknown]);
				if (slots[at++] == NO_SLOT)
					return false;
			}
	return true;
}

static bool analyse(struct flow_factor *f, const struct flow_rows *r)
{
	struct graph g = { 0 };
	bool ok = graph_init(&g, r, f->n) && eliminate(f, &g);

	graph_fini(&g);
	if (!ok)
		return false;
	for (uint32_t p = 0; p < f->n; p++) {
		for (size_t k = f->first[p]; k < f->first[p + 1]; k++)
			f->row[k] = f->place[f->row[k]];
		qsort(f->row + f->first[p], f->first[p + 1] - f->first[p], sizeof(*f->row),
		      compare);
	}
	f->val = malloc((f->first[f->n] + 1) * sizeof(*f->val));
	return f->val && find_slots(f, r);
}

static bool keep_rows(struct flow_factor *f, const struct flow_rows *r)
{
	size_t *first = realloc(f->row_first, (r->n + 1) * sizeof(*first));
	uint32_t *unknown;

	f->row_first = first ? first : f->row_first;
	unknown = realloc(f->unknown, (r->n_terms + 1) * sizeof(*unknown));
	f->unknown = unknown ? unknown : f->unknown;
	if (!first || !unknown)
		return false;
	f->n_rows = r->n;
	f->n_terms = r->n_terms;
	if (r->n)
		memcpy(first, r->first, (r->n + 1) * sizeof(*first));
	for (size_t t = 0; t < r->n_terms; t++)
		unknown[t] = r->terms[t].unknown;
	return true;
}

static bool same_rows(const struct flow_factor *f, const struct flow_rows *r)
{
	if (f->n_rows != r->n || f->n_terms != r->n_terms ||
	    (r->n && memcmp(f->row_first, r->first, (r->n + 1) * sizeof(*f->row_first))))
		return false;
	for (size_t t = 0; t < r->n_terms; t++)
		if (f->unknown[t] != r->terms[t].unknown)
			return false;
	return true;
}

bool flow_factor_fit(struct flow_factor *f, const struct flow_rows *r, uint32_t n_unknowns)
{
	return f->n == n_unknowns && (same_rows(f, r) || (find_slots(f, r) && keep_rows(f, r)));
}

struct flow_factor *flow_factor_new(const struct flow_rows *r, uint32_t n_unknowns)
{
	struct flow_factor *f = calloc(1, sizeof(*f));
	size_t n = (size_t)n_unknowns + 1;

	if (!f)
		return NULL;
	f->n = n_unknowns;
	f->place = calloc(n, sizeof(*f->place));
	f->first = calloc(n, sizeof(*f->first));
	f->diag = calloc(n, sizeof(*f->diag));
	f->b = calloc(n, sizeof(*f->b));
	f->row = calloc(1, sizeof(*f->row));
	if (!f->place || !f->first || !f->diag || !f->b || !f->row || !analyse(f, r) || !keep_rows(f, r)) {
		flow_factor_free(f);
		return NULL;
	}
	return f;
}

void flow_factor_free(struct flow_factor *f)
{
	if (!f)
		return;
	free(f->place);
	free(f->first);
	free(f->row);
	free(f->val);
	free(f->diag);
	free(f->b);
	free(f->slots);
	free(f->row_first);
	free(f->unknown);
	free(f);
}

static void assemble(struct flow_factor *f, const struct flow_rows *r, double damping)
{
	const size_t *slot = f->slots;

	memset(f->val, 0, f->first[f->n] * sizeof(*f->val));
	for (uint32_t p = 0; p < f->n; p++) {
		f->diag[p] = damping;
		f->b[p] = 0;
	}
	for (size_t k = 0; k < r->n; k++) {
		for (size_t a = r->first[k]; a < r->first[k + 1]; a++) {
			double s = r->terms[a].slope;
			uint32_t p = f->place[r->terms[a].unknown];

			f->diag[p] += s * s;
			f->b[p] += s * r->target[k];
			for (size_t b = r->first[k]; b < a; b++, slot++) {
				double x = s * r->terms[b].slope;

				if (*slot == ON_DIAGONAL)
					f->diag[p] += 2 * x;
				else
					f->val[*slot] += x;
			}
		}
	}
}

/* Four at a time, as compilers at -O2 do not by themselves. */
typedef double four __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double)), may_alias));

static void subtract(double *restrict from, const double *restrict v, size_t n, double times)
{
	size_t i = 0;

	for (; i + 4 <= n; i += 4)
		*(four *)(from + i) -= times * *(const four *)(v + i);
	for (; i < n; i++)
		from[i] -= times * v[i];
}

static void factor(struct flow_factor *f)
{
	for (uint32_t p = 0; p < f->n; p++) {
		size_t end = f->first[p + 1];
		double d = f->diag[p] > 1e-300 ? f->diag[p] : 1e-300;

		f->diag[p] = d;
		for (size_t a = f->first[p]; a < end; a++) {
			uint32_t col = f->row[a];
			double l = f->val[a] / d;
			size_t t = f->first[col];

			f->diag[col] -= l * f->val[a];
			f->val[a] = l; /* for those behind it is what it was no more */
			/* What follows in this column is all in that one, too; it may be all of that one. */
			if (end - (a + 1) == f->first[col + 1] - t) {
				subtract(f->val + t, f->val + a + 1, end - (a + 1), l);
				continue;
			}
			for (size_t b = a + 1; b < end; b++) {
				while (f->row[t] != f->row[b])
					t++;
				f->val[t] -= l * f->val[b];
			}
		}
	}
}

void flow_factor_solve(struct flow_factor *f, const struct flow_rows *r, double damping,
		       double *step)
{
	assemble(f, r, damping);
	factor(f);
	for (uint32_t p = 0; p < f->n; p++)
		for (size_t a = f->first[p]; a < f->first[p + 1]; a++)
			f->b[f->row[a]] -= f->val[a] * f->b[p];
	for (uint32_t p = f->n; p-- > 0;) {
		f->b[p] /= f->diag[p];
		for (size_t a = f->first[p]; a < f->first[p + 1]; a++)
			f->b[p] -= f->val[a] * f->b[f->row[a]];
	}
	for (uint32_t u = 0; u < f->n; u++)
		step[u] = f->b[f->place[u]];
}
