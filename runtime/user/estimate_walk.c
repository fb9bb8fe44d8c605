// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * estimate_walk.c - taking in walks: the way that a thread went on from some moment, gone again over decoded code.
 *
 * A walk begins where time is spent, at what waits, so that the first branches behind it are met more often than they run.
 * These are left out.  From there on each branch is met as often as it runs, unless the walk was cut where the
 * way led to what it cannot do: of a long loop before that it has a part, and its end for certain.  Walks are foreign input: one that
 * goes where the code does not ends there, and what came before it is kept.  So do loads on its way that overwrite their own address,
 * which samples that fall behind them, where they wait, do not know.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "estimate_rows.h"
#include "walker.h"

enum {
	UNFAIR = 100, /* instructions at a walk's start */
	STUB = 4,     /* instructions of a stub, at most */
};

/* A walk on its way. */
struct walking {
	struct estimate *e;
	const struct stream_walk *w;
	struct hvar_event ev; /* its place by now: where to look for code */
	uint32_t bit, target; /* the next ones */
	uint32_t insns;	      /* done */
	struct site_function *f;
	uint32_t insn;
	uint64_t base; /* address of @f's first byte */
	struct site_function *caller; /* of the call in hand, NULL: none whose callee is to be told */
	uint32_t call;
	struct site_walk walk;
};

void walks_fini(struct walks *w)
{
	free(w->places);
}

static bool is_fair(const struct walking *g)
{
	return g->insns > UNFAIR;
}

/* On to address @ip; false if there is no code that can be decoded. */
static bool go_to(struct walking *g, uint64_t ip)
{
	struct walks *all = &g->e->walks;
	struct walk_place *p = &all->places[ip * 0x9e3779b97f4a7c15ull >> 54];

	if (p->walk != all->n || p->ip != ip) {
		struct site_function *f;
		uint32_t insn;

		g->ev.u.sample.ip = ip;
		if (sites_find(&g->e->sites, &g->e->env, &g->ev, &f, &insn) != ESTIMATE_OK || f->b->is32)
			return false;
		known_fill(g->e, f, insn, &g->ev);
		*p = (struct walk_place){ ip, all->n, f, insn };
	}
	g->f = p->f;
	g->insn = p->insn;
	g->base = ip - p->f->b->off[p->insn];
	return true;
}

/* On to offset @off of the function in hand, or to what lies there outside of it. */
static bool go_near(struct walking *g, uint64_t off)
{
	uint32_t insn = blocks_find(g->f->b, off);

	if (insn == BLOCKS_NONE)
		return go_to(g, g->base + off);
	g->insn = insn;
	return true;
}

static bool next_target(struct walking *g, uint64_t *to)
{
	if (g->target == g->w->n_targets)
		return false;
	*to = g->w->targets[g->target++];
	return true;
}

static bool go_by_branch(struct walking *g, uint32_t i)
{
	const struct decode_insn *in = &g->f->b->insn[i];
	bool taken;

	if (g->bit == g->w->n_bits)
		return false;
	taken = stream_walk_bits(g->w)[g->bit / 8] >> g->bit % 8 & 1;
	g->bit++;
	if (is_fair(g))
		site_branch_walked(g->f, i, taken, &g->walk);
	return go_near(g, g->f->b->off[i] + (uint64_t)(taken ? in->target : in->len));
}

/* A stub of the linker's does nothing but jump to where the loader has found the function. */
static bool is_stub(const struct site_function *f, uint32_t insn)
{
	uint32_t last = f->b->span[insn].end - 1;
	const struct decode_insn *in = &f->b->insn[last];

	return in->flow == DECODE_INDIRECT && last - insn < STUB && in->n_mem && in->mem[0].base == DECODE_RIP;
}

/* The call at @i of the function in hand goes to @ip. */
static bool go_by_call(struct walking *g, uint32_t i, uint64_t ip)
{
	struct site_function *f = g->f;
	bool pointer = f->b->insn[i].flow == DECODE_INDIRECT_CALL;

	if (!go_to(g, ip))
		return false;
	if (!is_fair(g))
		return true;
	if (is_stub(g->f, g->insn)) {
		g->caller = f;
		g->call = i;
	} else if (pointer) {
		site_call_walked(f, i, g->insn ? NULL : g->f, &g->walk);
	}
	return true;
}

/* A stub that was called has led here. */
static void end_call(struct walking *g)
{
	if (g->caller)
		site_call_walked(g->caller, g->call, g->insn ? NULL : g->f, &g->walk);
	g->caller = NULL;
}

static bool go_by_jump(struct walking *g, uint32_t i)
{
	struct site_function *f = g->f;
	uint64_t ip;

	if (!next_target(g, &ip) || !go_near(g, ip - g->base))
		return false;
	end_call(g);
	if (g->f == f)
		blocks_saw_jump(f->b, i, g->insn);
	if (!is_fair(g))
		return true;
	if (g->f == f)
		site_jump_walked(f, i, g->insn, &g->walk);
	else
		site_call_walked(f, i, g->insn ? NULL : g->f, &g->walk);
	return true;
}

/* From the end of a block, instruction @i, to the next one; false where the walk ends or leaves the code. */
static bool go_on(struct walking *g, uint32_t i)
{
	const struct decode_insn *in = &g->f->b->insn[i];
	uint64_t ip;

	switch (in->flow) {
	case DECODE_NEXT:
		return go_near(g, (uint64_t)g->f->b->off[i] + in->len);
	case DECODE_JUMP:
		return go_near(g, g->f->b->off[i] + (uint64_t)in->target);
	case DECODE_CALL:
		return go_by_call(g, i, g->base + g->f->b->off[i] + (uint64_t)in->target);
	case DECODE_COND:
		return go_by_branch(g, i);
	case DECODE_INDIRECT:
		return go_by_jump(g, i);
	case DECODE_INDIRECT_CALL:
		return next_target(g, &ip) && go_by_call(g, i, ip);
	case DECODE_RET:
		return next_target(g, &ip) && go_to(g, ip);
	default:
		return false;
	}
}

/* The operand of the instruction at @i that is no access to the stack by push, call or the like; DECODE_MAX_MEM: none. */
static uint32_t operand_of(const struct decode_insn *in)
{
	uint32_t m = 0;

	while (m < in->n_mem && in->mem[m].flags & DECODE_MEM_STACK)
		m++;
	return m < in->n_mem ? m : DECODE_MAX_MEM;
}

/* What a load touched whose address no sample behind it tells. */
static void take_load(struct walking *g, const struct stream_walk_load *load)
{
	const struct decode_regs none = { .flags = 0 };
	struct site_operand *o;
	uint32_t mem, variable;

	if (!go_to(g, load->ip))
		return;
	mem = operand_of(&g->f->b->insn[g->insn]);
	o = mem == DECODE_MAX_MEM ? NULL : site_operands(g->f, g->insn);
	if (!o)
		return;
	o += mem;
	site_operand_shown(o);
	variable = estimate_variable_at(g->e, &g->w->s, g->f, g->insn, mem, load->addr, &none);
	if (variable == ESTIMATE_NOTHING_THERE)
		o->unmapped++;
	else if (variable == HVAR_HOT_NONE || !estimate_var(g->e, variable))
		o->full++;
	else
		site_operand_note(o, variable);
}

void estimate_walk(struct estimate *e, const struct stream_walk *w)
{
	struct walking g = { .e = e, .w = w, .ev = w->s.ev };

	if (!e->walks.places)
		e->walks.places = calloc(WALK_PLACES, sizeof(*e->walks.places));
	if (!e->walks.places)
		return;
	e->walks.n++;
	g.walk = (struct site_walk){ e->walks.n, w->end != WALK_ENOUGH };
	if (!go_to(&g, w->s.ev.u.sample.ip))
		return;
	while (g.insns < w->insns) {
		uint32_t end = g.f->b->span[g.insn].end;

		/* The rest of the last block was not done: its jump told nothing. */
		if (end - g.insn > w->insns - g.insns)
			break;
		g.insns += end - g.insn;
		if (!go_on(&g, end - 1))
			break;
	}
	e->walks.insns += g.insns;
	for (uint32_t i = 0; i < w->n_loads; i++)
		take_load(&g, &stream_walk_loads(w)[i]);
}
