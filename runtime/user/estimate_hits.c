// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * estimate_hits.c - taking in hits of breakpoints.
 *
 * A hit says nothing of time.  What it proves of branches is counted apart from
 * what samples prove, since samples meet an outcome the more often the longer it
 * waits.  What it proves of operands is taken where samples know little.
 */
#include "config.h"

#include "estimate_rows.h"
#include "estimate_window.h"

enum { WELL_KNOWN = 48 }; /* samples that proved an operand */

struct hit {
	struct estimate *e;
	const struct stream_sample *s;
};

static void take_operand(void *ctx, struct site_function *f, uint32_t i, uint32_t mem,
			 bool proven, uint64_t addr, bool own, const struct decode_regs *regs)
{
	const struct hit *h = ctx;
	struct site_operand *o = site_operands(f, i);
	uint32_t variable;

	(void)own;
	if (!o || !proven)
		return;
	o += mem;
	site_operand_shown(o);
	variable = estimate_variable_at(h->e, h->s, f, i, mem, addr, regs);
	if (variable == ESTIMATE_NOTHING_THERE)
		o->unmapped++;
	else if (variable == HVAR_HOT_NONE || !estimate_var(h->e, variable))
		o->full++;
	else
		site_operand_note(o, variable);
}

static void take_branch(void *ctx, struct site_function *f, uint32_t i, bool taken)
{
	const struct hit *h = ctx;

	site_branch_hit(f, i, taken, h->s->ev.time_ns);
}

static void take_jump(void *ctx, struct site_function *f, uint32_t i, uint64_t off, bool own)
{
	const struct hit *h = ctx;
	uint32_t to = blocks_find(f->b, off);

	if (to == BLOCKS_NONE)
		return;
	blocks_saw_jump(f->b, i, to);
	if (own)
		site_jump_hit(f, i, to, h->s->ev.time_ns);
}

void estimate_hit(struct estimate *e, const struct stream_sample *s)
{
	const struct window_sink sink = { &(struct hit){ e, s }, take_operand, take_branch, take_jump, WELL_KNOWN };
	struct site_function *f;
	uint32_t insn;

	if (s->ev.u.sample.flags & HVAR_SAMPLE_NOREGS ||
	    sites_find(&e->sites, &e->env, &s->ev, &f, &insn) != ESTIMATE_OK)
		return;
	e->hits++;
	known_fill(e, f, insn, &s->ev);
	window_run(s, f, insn, &sink);
}
