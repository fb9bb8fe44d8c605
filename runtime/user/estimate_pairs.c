/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_pairs.c - keeping pairs of samples.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "estimate_pairs.h"

static const uint64_t LONGEST_NS =
	100000000; /* further apart, samples have little to do with each other */

void pairs_free(struct pairs *p)
{
	if (p)
		free(p->v);
	free(p);
}

/* A place for one more pair, NULL: it is not among the kept.  Each has the same chance, whenever it comes. */
static struct pair *place(struct pairs *p)
{
	uint32_t at = p->n;

	if (at == p->cap && at < PAIRS_KEPT) {
		uint32_t cap = at ? 2 * at : 6;
		struct pair *v = realloc(p->v, cap * sizeof(*v));

		if (!v)
			return NULL;
		p->v = v;
		p->cap = cap;
	}
	p->n++;
	if (at >= PAIRS_KEPT)
		at = (uint32_t)((uint64_t)(uint32_t)(at * 0x9e3779b97f4a7c15ull >>
						     32) *
					(at + 1) >>
				32);
	return at < PAIRS_KEPT ? &p->v[at] : NULL;
}

void pairs_sample(struct pairs **all, const struct stream_sample *s, uint32_t insn,
		  const struct pairs_shown *shown, uint32_t n)
{
	struct pairs *p = *all ? *all : calloc(1, sizeof(*p));
	struct pairs_last *last;
	struct pair *pair;

	*all = p;
	if (!p)
		return;
	last = &p->last[s->ev.tid % PAIRS_THREADS];
	if (last->tid == s->ev.tid && s->ev.time_ns > last->time_ns &&
	    s->ev.time_ns - last->time_ns < LONGEST_NS &&
	    (pair = place(p)) != NULL) {
		pair->from = last->insn;
		pair->to = insn;
		pair->n_shown = n < PAIRS_SHOWN ? n : PAIRS_SHOWN;
		memcpy(pair->shown, shown, pair->n_shown * sizeof(*shown));
		pair->gap_ns = s->ev.time_ns - last->time_ns;
		for (unsigned r = 0; r < DECODE_REGS; r++)
			pair->moved[r] = s->regs[r] - last->regs[r];
		memcpy(pair->regs, s->regs, sizeof(pair->regs));
	}
	last->tid = s->ev.tid;
	last->insn = insn;
	last->time_ns = s->ev.time_ns;
	memcpy(last->regs, s->regs, sizeof(last->regs));
}
