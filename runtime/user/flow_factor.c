/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_factor.c - L D L' of a sparse matrix, unknowns of least degree first.
 *
 * All the unknowns of one row are neighbours, so that one long row makes a large part of the matrix dense.  It gets an
 * unknown of its own instead, y, what it misses its target by, and is a neighbour of that alone:
 *
 *	rows' rows x + long' y = rows' target
 *	      long x -       y = long's target
 *
 * There is an L D L' of this whatever comes first, if all but y's part is positive definite ("quasidefinite").
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow_factor.h"

enum {
	MAX_FILL = 3000000, /* entries of L */
	LONG = 12,	    /* terms: a longer row has an unknown of its own */
};

#define ON_DIAGONAL ((uint32_t)-1)
#define NO_SLOT	    ((uint32_t)-2)
#define NOBODY	    ((uint32_t)-1)

struct flow_factor {
	uint32_t n;	  /* unknowns, with those of long rows, which come last */
	uint32_t n_long;
	uint32_t *place;  /* of each unknown in the order of elimination */
	size_t *first;	  /* column p: entries [first[p], first[p + 1]) */
	uint32_t *row;	  /* of each entry, a place after p; ascending in a column */
	double *val;
	double *diag;
	double *b;
	/* While columns are made: of each row the slot in this one, and the first of those whose next entry is there. */
	uint32_t *slot, *waiting;
	uint32_t *next;	  /* of each column, the one that waits for the same */
	size_t *at;	  /* and its next entry */
	uint32_t *slots;  /* of each pair of terms of each row of the problem, in order; of a long one, of each term with its own unknown */
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

static uint32_t row_length(const struct flow_rows *r, size_t k)
{
	return (uint32_t)(r->first[k + 1] - r->first[k]);
}

static uint32_t count_long(const struct flow_rows *r)
{
	uint32_t n = 0;

	for (size_t k = 0; k < r->n; k++)
		n += row_length(r, k) > LONG;
	return n;
}

/* Unknown @own and those in @row, ascending, are neighbours, but those are none of each other. */
static bool join_long(struct graph *g, const struct set *row, uint32_t own)
{
	bool ok = merge(g, &g->adj[own], row->v, row->n, own);

	for (uint32_t t = 0; ok && t < row->n; t++)
		ok = (t && row->v[t] == row->v[t - 1]) || merge(g, &g->adj[row->v[t]], &own, 1, row->v[t]);
	return ok;
}

static bool join(struct graph *g, const struct set *row)
{
	bool ok = true;

	for (uint32_t t = 0; ok && t < row->n; t++)
		ok = (t && row->v[t] == row->v[t - 1]) || merge(g, &g->adj[row->v[t]], row->v, row->n, row->v[t]);
	return ok;
}

/* Unknowns that stand in one row are neighbours, all of them. */
static bool graph_init(struct graph *g, const struct flow_rows *r, uint32_t n, uint32_t own)
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
		row.n = row_length(r, k);
		if (row.n < 2)
			continue;
		ok = reserve(&row, row.n);
		for (uint32_t t = 0; ok && t < row.n; t++)
			row.v[t] = r->terms[r->first[k] + t].unknown;
		if (ok)
			qsort(row.v, row.n, sizeof(*row.v), compare);
		ok = ok && (row.n > LONG ? join_long(g, &row, own++) : join(g, &row));
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

static uint32_t slot_of(const struct flow_factor *f, uint32_t x, uint32_t y)
{
	uint32_t a = f->place[x], b = f->place[y];
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
	return lo < f->first[col + 1] && f->row[lo] == want ? (uint32_t)lo : NO_SLOT;
}

/* Those of row @k, whose own unknown is @own if it is long; returns how many, fewer than there should be if there is no place for one. */
static size_t slots_of(const struct flow_factor *f, const struct flow_rows *r, size_t k, uint32_t own, uint32_t *slots)
{
	const struct flow_term *t = r->terms + r->first[k];
	uint32_t len = row_length(r, k);
	size_t at = 0;

	if (len > LONG) {
		while (at < len && (slots[at] = slot_of(f, own, t[at].unknown)) != NO_SLOT)
			at++;
		return at;
	}
	for (uint32_t a = 0; a < len; a++)
		for (uint32_t b = 0; b < a; b++)
			if ((slots[at] = slot_of(f, t[a].unknown, t[b].unknown)) == NO_SLOT)
				return at;
			else
				at++;
	return at;
}

static size_t n_slots(uint32_t len)
{
	return len > LONG ? len : (size_t)len * (len - 1) / 2;
}

/* Row @k has the terms that slots were found for, and they begin where they did. */
static bool same_row(const struct flow_factor *f, const struct flow_rows *r, size_t k)
{
	if (k >= f->n_rows || f->row_first[k] != r->first[k] || f->row_first[k + 1] != r->first[k + 1])
		return false;
	for (size_t t = r->first[k]; t < r->first[k + 1]; t++)
		if (f->unknown[t] != r->terms[t].unknown)
			return false;
	return true;
}

/* Where each pair of terms goes; false if there is no place for one, or no memory. */
static bool find_slots(struct flow_factor *f, const struct flow_rows *r)
{
	size_t all = 0, at = 0;
	uint32_t own = f->n - f->n_long, *slots;
	bool same = true; /* so far slots are where they were */

	for (size_t k = 0; k < r->n; k++)
		all += n_slots(row_length(r, k));
	if (all > 4 * (size_t)MAX_FILL)
		return false;
	slots = realloc(f->slots, (all + 1) * sizeof(*f->slots));
	if (!slots)
		return false;
	f->slots = slots;
	for (size_t k = 0; k < r->n; k++) {
		uint32_t len = row_length(r, k);
		size_t n = n_slots(len);

		same = same && k < f->n_rows && f->row_first[k + 1] - f->row_first[k] == len;
		if (!(same && same_row(f, r, k)) && slots_of(f, r, k, own, slots + at) < n)
			return false;
		own += len > LONG;
		at += n;
	}
	return true;
}

static bool analyse(struct flow_factor *f, const struct flow_rows *r)
{
	struct graph g = { 0 };
	bool ok = graph_init(&g, r, f->n, f->n - f->n_long) && eliminate(f, &g);

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
	for (size_t k = 0; k < r->n; k++)
		if (!same_row(f, r, k))
			return false;
	return f->n_rows == r->n;
}

bool flow_factor_fit(struct flow_factor *f, const struct flow_rows *r, uint32_t n_unknowns)
{
	return f->n - f->n_long == n_unknowns &&
	       (same_rows(f, r) || (f->n_long == count_long(r) && find_slots(f, r) && keep_rows(f, r)));
}

struct flow_factor *flow_factor_new(const struct flow_rows *r, uint32_t n_unknowns)
{
	struct flow_factor *f = calloc(1, sizeof(*f));
	size_t n;

	if (!f)
		return NULL;
	f->n_long = count_long(r);
	f->n = n_unknowns + f->n_long;
	n = (size_t)f->n + 1;
	f->place = calloc(n, sizeof(*f->place));
	f->first = calloc(n, sizeof(*f->first));
	f->diag = calloc(n, sizeof(*f->diag));
	f->b = calloc(n, sizeof(*f->b));
	f->slot = calloc(n, sizeof(*f->slot));
	f->waiting = calloc(n, sizeof(*f->waiting));
	f->next = calloc(n, sizeof(*f->next));
	f->at = calloc(n, sizeof(*f->at));
	f->row = calloc(1, sizeof(*f->row));
	if (!f->place || !f->first || !f->diag || !f->b || !f->slot || !f->waiting || !f->next || !f->at || !f->row || !analyse(f, r) || !keep_rows(f, r)) {
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
	free(f->slot);
	free(f->waiting);
	free(f->next);
	free(f->at);
	free(f->slots);
	free(f->row_first);
	free(f->unknown);
	free(f);
}

/* A row and its target, over the slots of its pairs; returns the first slot behind. */
static const uint32_t *add_short(struct flow_factor *f, const struct flow_term *t, uint32_t len, double target, const uint32_t *slot)
{
	for (uint32_t a = 0; a < len; a++) {
		double s = t[a].slope;
		uint32_t p = f->place[t[a].unknown];

		f->diag[p] += s * s;
		f->b[p] += s * target;
		for (uint32_t b = 0; b < a; b++, slot++) {
			double x = s * t[b].slope;

			if (*slot == ON_DIAGONAL)
				f->diag[p] += 2 * x;
			else
				f->val[*slot] += x;
		}
	}
	return slot;
}

static const uint32_t *add_long(struct flow_factor *f, const struct flow_term *t, uint32_t len, double target, uint32_t own,
				const uint32_t *slot)
{
	uint32_t p = f->place[own];

	f->diag[p] = -1;
	f->b[p] = target;
	for (uint32_t a = 0; a < len; a++)
		f->val[*slot++] += t[a].slope;
	return slot;
}

static void assemble(struct flow_factor *f, const struct flow_rows *r, double damping)
{
	const uint32_t *slot = f->slots;
	uint32_t own = f->n - f->n_long;

	memset(f->val, 0, f->first[f->n] * sizeof(*f->val));
	for (uint32_t p = 0; p < f->n; p++) {
		f->diag[p] = damping;
		f->b[p] = 0;
	}
	for (size_t k = 0; k < r->n; k++) {
		const struct flow_term *t = r->terms + r->first[k];
		uint32_t len = row_length(r, k);

		if (len > LONG)
			slot = add_long(f, t, len, r->target[k], own++, slot);
		else
			slot = add_short(f, t, len, r->target[k], slot);
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

/* Column @j, done, waits for the row of its next entry to become a column. */
static void wait_for_next(struct flow_factor *f, uint32_t j)
{
	if (f->at[j] == f->first[j + 1])
		return;
	f->next[j] = f->waiting[f->row[f->at[j]]];
	f->waiting[f->row[f->at[j]]] = j;
}

/* Take from column @p what @j has of it: all of its entries from the one in row @p on are there, too. */
static void take_out(struct flow_factor *f, uint32_t p, uint32_t j)
{
	size_t from = f->at[j]++, end = f->first[j + 1];
	double l = f->val[from], v = l * f->diag[j];

	f->diag[p] -= l * v;
	/* They may be all that there are. */
	if (end - (from + 1) == f->first[p + 1] - f->first[p]) {
		subtract(f->val + f->first[p], f->val + from + 1, end - (from + 1), v);
		return;
	}
	for (size_t b = from + 1; b < end; b++)
		f->val[f->slot[f->row[b]]] -= v * f->val[b];
}

static void factor(struct flow_factor *f)
{
	for (uint32_t p = 0; p < f->n; p++)
		f->waiting[p] = NOBODY;
	for (uint32_t p = 0; p < f->n; p++) {
		for (size_t a = f->first[p]; a < f->first[p + 1]; a++)
			f->slot[f->row[a]] = (uint32_t)a;
		for (uint32_t j = f->waiting[p], then; j != NOBODY; j = then) {
			then = f->next[j];
			take_out(f, p, j);
			wait_for_next(f, j);
		}
		f->diag[p] = fabs(f->diag[p]) > 1e-300 ? f->diag[p] : 1e-300;
		for (size_t a = f->first[p]; a < f->first[p + 1]; a++)
			f->val[a] /= f->diag[p];
		f->at[p] = f->first[p];
		wait_for_next(f, p);
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
	for (uint32_t u = 0; u < f->n - f->n_long; u++)
		step[u] = f->b[f->place[u]];
}
