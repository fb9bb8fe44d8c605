// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * estimate_turns.c - which way control went at the jumps of a function, by samples and by breakpoints.
 */
#include "config.h"

#include <stdlib.h>

#include "estimate_sites.h"

enum {
	BURST_NS = 20000000, /* hits further apart than that belong to different bursts */
	USUAL_EXCESS = 3,
};

/* The entry of the jump from @i to @to, new if need be; NULL without memory. */
static struct site_jump *jump(struct site_function *f, uint32_t i, uint32_t to)
{
	for (uint32_t k = 0; k < f->n_jumps; k++)
		if (f->jumps[k].from == i && f->jumps[k].to == to)
			return &f->jumps[k];
	if (f->n_jumps == f->cap_jumps) {
		uint32_t cap = f->cap_jumps ? 2 * f->cap_jumps : 8;
		struct site_jump *v = realloc(f->jumps, cap * sizeof(*v));

		if (!v)
			return NULL;
		f->jumps = v;
		f->cap_jumps = cap;
	}
	f->jumps[f->n_jumps] = (struct site_jump){ .from = i, .to = to };
	return &f->jumps[f->n_jumps++];
}

void site_jump_note(struct site_function *f, uint32_t i, uint32_t to)
{
	struct site_jump *j = jump(f, i, to);

	if (j)
		j->count++;
}

void site_jump_hit(struct site_function *f, uint32_t i, uint32_t to)
{
	struct site_jump *j = jump(f, i, to);

	if (j)
		j->hits++;
}

const struct site_counted *site_counted_at(const struct site_function *f, uint32_t i)
{
	for (uint32_t k = 0; k < f->n_counted; k++)
		if (f->counted[k].insn == i)
			return &f->counted[k];
	return NULL;
}

static struct site_counted *counted(struct site_function *f, uint32_t i)
{
	for (uint32_t k = 0; k < f->n_counted; k++)
		if (f->counted[k].insn == i)
			return &f->counted[k];
	if (f->n_counted == f->cap_counted) {
		uint32_t cap = f->cap_counted ? 2 * f->cap_counted : 4;
		struct site_counted *v = realloc(f->counted, cap * sizeof(*v));

		if (!v)
			return NULL;
		f->counted = v;
		f->cap_counted = cap;
	}
	f->counted[f->n_counted] = (struct site_counted){ .insn = i };
	return &f->counted[f->n_counted++];
}

void site_branch_hit(struct site_function *f, uint32_t i, bool taken, uint64_t time_ns)
{
	struct site_counted *c = counted(f, i);

	if (!c)
		return;
	if (!c->bursts || time_ns > c->last_ns + BURST_NS) {
		c->nn += (double)c->burst_n * c->burst_n;
		c->nt += (double)c->burst_n * c->burst_taken;
		c->tt += (double)c->burst_taken * c->burst_taken;
		c->burst_n = c->burst_taken = 0;
		c->bursts++;
	}
	c->last_ns = time_ns;
	c->n++;
	c->taken += taken;
	c->burst_n++;
	c->burst_taken += taken;
}

double site_counted_excess(const struct site_counted *c)
{
	double n = c->burst_n, t = c->burst_taken;
	double nn = c->nn + n * n, nt = c->nt + n * t, tt = c->tt + t * t;
	double p = (c->taken + 0.5) / (c->n + 1.0), mean = (double)c->n / c->bursts, chi;

	/* The sum of (taken - p n)^2 over all bursts, by what it is when hits do not depend on each other. */
	chi = (tt - 2 * p * nt + p * p * nn) / (mean * p * (1 - p));
	/* A few bursts that agree prove little: two more are taken to differ a good deal. */
	chi = (chi + 2 * USUAL_EXCESS) / (c->bursts - 1.0 + 2);
	return chi > 1 ? chi : 1;
}
