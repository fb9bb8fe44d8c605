/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_known.c - operands that need no sample of their own.
 *
 * Blocks that run often may be too short to be sampled.  What they touch at a
 * fixed place of their module is known all the same, and what they touch by the
 * stack pointer is where the function's other such operands are.
 */
#include "config.h"

#include "estimate_rows.h"
#include "estimate_window.h"

static bool is_fixed(const struct site_function *f, const struct decode_mem *m)
{
	return f->module && m->index == DECODE_NONE && m->segment == DECODE_SEG_FLAT &&
	       !(m->flags & DECODE_MEM_LOST) &&
	       (m->base == DECODE_RIP || m->base == DECODE_NONE);
}

static bool is_stack(const struct decode_mem *m)
{
	return m->base == 4 && m->index == DECODE_NONE && m->segment == DECODE_SEG_FLAT;
}

static void fill_one(struct estimate *e, struct site_function *f, uint32_t i, uint32_t m,
		     const struct hvar_event *ev, uint64_t base)
{
	const struct decode_mem *mem = &f->b->insn[i].mem[m];
	struct site_operand *o = site_operands(f, i);
	uint64_t addr = (uint64_t)mem->disp;
	struct estimate_tls at = { f->module, true, addr };
	uint32_t variable;

	if (!o || o[m].proven || o[m].full || o[m].unmapped)
		return;
	if (mem->base == DECODE_RIP)
		addr += base + f->b->off[i];
	if (mem->addr_bits == 32)
		addr = (uint32_t)addr;
	variable = window_is_tls(ev, mem) ? e->env.tls(e->env.ctx, ev, &at)
					  : e->env.variable(e->env.ctx, ev, addr, 0);
	o[m].known_mm = ev->mm;
	o[m].known_variable = variable;
	if (variable == ESTIMATE_NOTHING_THERE)
		o[m].unmapped++;
	else if (variable == HVAR_HOT_NONE || !estimate_var(e, variable))
		o[m].full++;
	else
		site_operand_note(&o[m], variable);
	o[m].filled = true;
}

/* At a fixed distance it is known which; else samples will tell, or it is thread-local memory of any kind. */
static void fill_tls(struct estimate *e, struct site_function *f, uint32_t i, uint32_t m,
		     const struct hvar_event *ev)
{
	const struct decode_mem *mem = &f->b->insn[i].mem[m];
	uint32_t variable;

	if (mem->base == DECODE_NONE && mem->index == DECODE_NONE) {
		fill_one(e, f, i, m, ev, 0);
		return;
	}
	variable = e->tls.proven ? HVAR_HOT_NONE : e->env.tls(e->env.ctx, ev, NULL);
	if (variable != HVAR_HOT_NONE && estimate_var(e, variable))
		site_operand_note(&e->tls, variable);
}

static bool copies_stack_pointer(const struct decode_insn *in)
{
	return in->n_effects == 1 && in->effects[0].op == DECODE_COPY &&
	       in->effects[0].dst == 5 && in->effects[0].src == 4;
}

/*
 * The instruction after which RBP is the frame pointer, as all of the function's
 * code agrees: nothing else sets it but what takes the caller's back from the stack.
 */
static uint32_t frame_from(const struct site_function *f)
{
	enum { PROLOGUE = 8 };
	uint32_t from = BLOCKS_NONE;

	for (uint32_t i = 0; f->b->bounded && i < f->n; i++) {
		const struct decode_insn *in = &f->b->insn[i];

		if (i < PROLOGUE && from == BLOCKS_NONE && copies_stack_pointer(in))
			from = i + 1;
		else if ((in->written & 1u << 5) && in->flow != DECODE_CALL &&
			 in->flow != DECODE_INDIRECT_CALL &&
			 !(in->n_mem && (in->mem[0].flags & DECODE_MEM_STACK)))
			return BLOCKS_NONE;
	}
	return from;
}

void known_fill(struct estimate *e, struct site_function *f, uint32_t insn,
		const struct hvar_event *ev)
{
	uint64_t base = ev->u.sample.ip - f->b->off[insn];

	if (f->filled)
		return;
	f->filled = true;
	f->frame = frame_from(f);
	for (uint32_t i = 0; i < f->n; i++)
		for (uint32_t m = 0; m < f->b->insn[i].n_mem; m++)
			if (is_fixed(f, &f->b->insn[i].mem[m]))
				fill_one(e, f, i, m, ev, base);
			else if (window_is_tls(ev, &f->b->insn[i].mem[m]))
				fill_tls(e, f, i, m, ev);
}

const struct site_operand *known_operand(const struct estimate *e,
					 const struct site_function *f, uint32_t i,
					 uint32_t m)
{
	const struct site_operand *o = f->ops[i] ? &f->ops[i][m] : NULL;

	if (o && (o->proven || o->full || o->unmapped))
		return o;
	if (f->b->insn[i].mem[m].segment == (f->b->is32 ? DECODE_SEG_GS : DECODE_SEG_FS) && e->tls.proven)
		return &e->tls;
	if (!is_stack(&f->b->insn[i].mem[m]))
		return o;
	if (f->stack.proven)
		return &f->stack;
	return e->stack.proven ? &e->stack : o;
}
