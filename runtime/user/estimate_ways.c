// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * estimate_ways.c - what was seen of the ways out of a block, for the edges of the graph.
 */
#include "config.h"

#include "estimate_ways.h"

static const double CUT_SD = 0.5; /* of log odds: half of a loop's rounds, and its end, are odds of half */

static double cut_sd(const struct site_counted *c)
{
	return CUT_SD * c->cut / c->n;
}

/* What is known of the jump from @from to @to; *@any: it was seen to go anywhere by samples. */
static const struct site_jump *jump_at(const struct site_function *f, uint32_t from, uint32_t to, bool *any)
{
	const struct site_jump *found = NULL;

	*any = false;
	for (uint32_t k = 0; k < f->n_jumps; k++) {
		if (f->jumps[k].from != from)
			continue;
		*any |= f->jumps[k].count > 0;
		if (f->jumps[k].to == to)
			found = &f->jumps[k];
	}
	return found;
}

void ways_counted(const struct site_counted *c, const struct site_jump *j, struct flow_edge *e)
{
	static const struct site_jump never = { 0 };

	e->has_counted = true;
	e->counted = j ? j->hits : 0;
	e->excess = site_jump_excess(c, j ? j : &never);
	e->counted_sd = cut_sd(c);
}

void ways_jump(const struct site_function *f, uint32_t last, uint32_t to, struct flow_edge *e)
{
	const struct site_counted *c = site_counted_at(f, last);
	const struct site_jump *j = jump_at(f, last, to, &e->has_seen);

	e->seen = j ? j->count : 0;
	if (c && c->n >= WAYS_FEWEST)
		ways_counted(c, j, e);
}

void ways_branch(const struct site_function *f, uint32_t last, bool taken, struct flow_edge *e)
{
	const struct site_branch *br = &f->branches[last];
	const struct site_counted *c = site_counted_at(f, last);

	if (br->taken || br->not_taken) {
		e->has_seen = true;
		e->seen = taken ? br->taken : br->not_taken;
	}
	if (c && c->n >= WAYS_FEWEST) {
		e->has_counted = true;
		e->counted = taken ? c->taken : c->n - c->taken;
		e->excess = site_counted_excess(c);
		e->counted_sd = cut_sd(c);
	}
}
