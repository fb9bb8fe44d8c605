/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_callers.c - functions that call sampled ones but were never sampled.
 *
 * Time spent in a caller may be too little to see, yet it ties its callees'
 * counts together.  Direct calls (e8 and 32 bits of distance) are found by
 * looking at every byte of the mapping; the caller's own decoding then says
 * whether an instruction begins there.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "estimate_sites.h"

enum {
	ROUNDS = 3,		  /* callers of callers of callers */
	MAX_RANGE = 2 << 20,	  /* bytes of a mapping: in more code, samples spread too thin for this */
	MAX_BYTES = 8 << 20,	  /* of code looked through for one program */
	MAX_CALLERS = 8,	  /* a function called from more places tells little about each */
	MAX_SOUGHT = 4096,
	WORTH = 200,		  /* one sample of so many: of a mapping with fewer its callers change nothing */
	CHUNK = 1 << 16,
};

struct sought {
	uint64_t start;
	uint32_t callers;
	uint64_t from[MAX_CALLERS]; /* where the calls are */
};

struct seeking {
	struct sites *s;
	const struct estimate_env *env;
	struct sought *v; /* by start */
	size_t n;
};

static int by_start(const void *a, const void *b)
{
	const struct sought *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool is_in(const struct site_function *f, const struct site_range *r)
{
	return f->module == r->module && f->mm == r->mm && f->start >= r->start && f->start < r->end;
}

/* The functions of range @r whose callers nobody has looked for. */
static void gather(struct seeking *k, const struct site_range *r)
{
	k->n = 0;
	for (size_t i = 0; i < k->s->n && k->n < MAX_SOUGHT; i++) {
		struct site_function *f = k->s->v[i];

		if (!is_in(f, r) || f->sought || !f->b || !f->b->bounded)
			continue;
		f->sought = true;
		k->v[k->n++] = (struct sought){ .start = f->start };
	}
	qsort(k->v, k->n, sizeof(*k->v), by_start);
}

static void note_call(struct seeking *k, uint64_t to, uint64_t from)
{
	struct sought key = { .start = to };
	struct sought *hit = bsearch(&key, k->v, k->n, sizeof(*k->v), by_start);

	if (!hit)
		return;
	if (hit->callers < MAX_CALLERS)
		hit->from[hit->callers] = from;
	hit->callers++;
}

static void scan(struct seeking *k, const struct site_range *r)
{
	uint8_t *buf = malloc(CHUNK);
	uint64_t at = r->start, lo = k->v[0].start, hi = k->v[k->n - 1].start;

	while (buf && at + 5 <= r->end) {
		struct code_site site = { r->module, r->mm, at };
		size_t want = r->end - at < CHUNK ? r->end - at : CHUNK;
		size_t got = k->env->code(k->env->ctx, &site, buf, want);

		if (got < 5 || got > want)
			break;
		for (const uint8_t *p = buf; (p = memchr(p, 0xe8, got - 4 - (size_t)(p - buf))); p++) {
			uint64_t from = at + (uint64_t)(p - buf), to;
			int32_t distance;

			memcpy(&distance, p + 1, 4);
			to = from + 5 + (uint64_t)(int64_t)distance;
			if (to >= lo && to <= hi)
				note_call(k, to, from);
		}
		at += got - 4; /* a call may lie across two chunks */
	}
	free(buf);
}

static bool add_callers(struct seeking *k, const struct site_range *r)
{
	bool added = false;

	for (size_t i = 0; i < k->n; i++) {
		if (k->v[i].callers > MAX_CALLERS)
			continue;
		for (uint32_t c = 0; c < k->v[i].callers; c++) {
			size_t before = k->s->n;

			sites_decode(k->s, k->env, r, k->v[i].from[c]);
			added |= k->s->n != before;
		}
	}
	return added;
}

/* What runs for so little of the time is not worth that all code beside it is looked through. */
static bool is_thin(const struct sites *s, const struct site_range *r)
{
	double all = 0, here = 0;

	for (size_t i = 0; i < s->n; i++) {
		all += s->v[i]->samples;
		here += is_in(s->v[i], r) ? s->v[i]->samples : 0;
	}
	return here * WORTH < all;
}

void sites_add_callers(struct sites *s, const struct estimate_env *env)
{
	struct seeking k = { .s = s, .env = env };
	uint64_t bytes = 0;

	k.v = malloc(MAX_SOUGHT * sizeof(*k.v));
	if (!k.v)
		return;
	for (int round = 0; round < ROUNDS; round++) {
		bool added = false;

		for (size_t i = 0; i < s->n_ranges; i++) {
			const struct site_range *r = &s->ranges[i];

			if (r->end - r->start > MAX_RANGE ||
			    bytes + (r->end - r->start) > MAX_BYTES || is_thin(s, r))
				continue;
			gather(&k, r);
			if (!k.n)
				continue;
			bytes += r->end - r->start;
			scan(&k, r);
			added |= add_callers(&k, r);
		}
		if (!added)
			break;
	}
	free(k.v);
}
