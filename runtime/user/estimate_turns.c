// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * estimate_turns.c - which way control went at the jumps of a function, by samples and by breakpoints.
 */
#include "config.h"

#include <stdlib.h>

#include "estimate_sites.h"
#include "grow.h"

enum {
	BURST_NS = 20000000, /* hits further apart than that belong to different bursts */
	USUAL_EXCESS = 3,
	MOST_JUMPS = 4096, /* ways, of one function: they are looked through */
};

/* The entry of the jump or call from @i to @to or @callee, new if need be; NULL without memory or room. */
static struct site_jump *jump(struct site_function *f, uint32_t i, uint32_t to, const struct site_function *callee)
{
	for (uint32_t k = 0; k < f->n_jumps; k++)
		if (f->jumps[k].from == i && f->jumps[k].to == to && f->jumps[k].callee == callee)
			return &f->jumps[k];
	if (f->n_jumps == MOST_JUMPS ||
	    grow_array((void **)&f->jumps, &f->cap_jumps,
		       f->n_jumps + (size_t)1, sizeof(*f->jumps)))
		return NULL;
	f->jumps[f->n_jumps] = (struct site_jump){ .from = i, .to = to, .callee = callee };
	return &f->jumps[f->n_jumps++];
}

void site_jump_note(struct site_function *f, uint32_t i, uint32_t to)
{
	struct site_jump *j = jump(f, i, to, NULL);

	if (j)
		j->count++;
}

const struct site_counted *site_counted_at(const struct site_function *f, uint32_t i)
{
	return f->counted_at && f->counted_at[i] ? &f->counted[f->counted_at[i] - 1] : NULL;
}

static struct site_counted *counted(struct site_function *f, uint32_t i)
{
	if (!f->counted_at && !(f->counted_at = calloc(f->n, sizeof(*f->counted_at))))
		return NULL;
	if (f->counted_at[i])
		return &f->counted[f->counted_at[i] - 1];
	if (grow_array((void **)&f->counted, &f->cap_counted,
		       f->n_counted + (size_t)1, sizeof(*f->counted)))
		return NULL;
	f->counted[f->n_counted] = (struct site_counted){ .insn = i };
	f->counted_at[i] = ++f->n_counted;
	return &f->counted[f->n_counted - 1];
}

static void begin_burst(struct site_function *f, struct site_counted *c)
{
	for (uint32_t k = 0; c->bursts && k < f->n_jumps; k++) {
		struct site_jump *j = &f->jumps[k];

		if (j->from != c->insn)
			continue;
		j->nt += (double)c->burst_n * j->burst_hits;
		j->tt += (double)j->burst_hits * j->burst_hits;
		j->burst_hits = 0;
	}
	c->nn += (double)c->burst_n * c->burst_n;
	c->nt += (double)c->burst_n * c->burst_taken;
	c->tt += (double)c->burst_taken * c->burst_taken;
	c->burst_n = c->burst_taken = 0;
	c->bursts++;
}

/* What is counted at @i, for one hit more: of walk @walk, or if that is 0 of a breakpoint at @time_ns.  NULL without memory or room. */
static struct site_counted *hit(struct site_function *f, uint32_t i, uint64_t walk, uint64_t time_ns)
{
	struct site_counted *c = counted(f, i);

	if (!c)
		return NULL;
	if (!c->bursts || c->walk != walk || (!walk && time_ns > c->last_ns + BURST_NS))
		begin_burst(f, c);
	c->walk = walk;
	c->last_ns = time_ns;
	c->n++;
	c->burst_n++;
	return c;
}

static struct site_counted *walked(struct site_function *f, uint32_t i, const struct site_walk *walk)
{
	struct site_counted *c = hit(f, i, walk->number, 0);

	if (c)
		c->cut += walk->cut;
	return c;
}

static void hit_branch(struct site_counted *c, bool taken)
{
	if (!c)
		return;
	c->taken += taken;
	c->burst_taken += taken;
}

static void hit_jump(struct site_counted *c, struct site_jump *j)
{
	if (!c || !j)
		return;
	j->hits++;
	j->burst_hits++;
}

void site_branch_hit(struct site_function *f, uint32_t i, bool taken, uint64_t time_ns)
{
	hit_branch(hit(f, i, 0, time_ns), taken);
}

void site_branch_walked(struct site_function *f, uint32_t i, bool taken, const struct site_walk *walk)
{
	hit_branch(walked(f, i, walk), taken);
}

void site_jump_hit(struct site_function *f, uint32_t i, uint32_t to, uint64_t time_ns)
{
	hit_jump(hit(f, i, 0, time_ns), jump(f, i, to, NULL));
}

void site_jump_walked(struct site_function *f, uint32_t i, uint32_t to, const struct site_walk *walk)
{
	hit_jump(walked(f, i, walk), jump(f, i, to, NULL));
}

void site_call_walked(struct site_function *f, uint32_t i, const struct site_function *callee, const struct site_walk *walk)
{
	hit_jump(walked(f, i, walk), jump(f, i, BLOCKS_NONE, callee));
}

/* Of @c's hits @taken went one way: by how much more bursts differ, by the sums of n * t and t * t over all but the last one. */
static double excess(const struct site_counted *c, double taken, double t, double nt, double tt)
{
	double n = c->burst_n, p = (taken + 0.5) / (c->n + 1.0), mean = (double)c->n / c->bursts, chi;

	/* The sum of (taken - p n)^2 over all bursts, by what it is when hits do not depend on each other. */
	chi = tt + t * t - 2 * p * (nt + n * t) + p * p * (c->nn + n * n);
	chi /= mean * p * (1 - p);
	/* A few bursts that agree prove little: two more are taken to differ a good deal. */
	chi = (chi + 2 * USUAL_EXCESS) / (c->bursts - 1.0 + 2);
	return chi > 1 ? chi : 1;
}

double site_counted_excess(const struct site_counted *c)
{
	return excess(c, c->taken, c->burst_taken, c->nt, c->tt);
}

double site_jump_excess(const struct site_counted *c, const struct site_jump *j)
{
	return excess(c, j->hits, j->burst_hits, j->nt, j->tt);
}
