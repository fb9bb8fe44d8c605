/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_window.c - registers over a basic block and what follows for certain.
 */
#include "config.h"

#include "estimate_window.h"

enum {
	MAX_BACK = 64,	  /* instructions backwards: the rest of a longer block is lost */
	MAX_FORWARD = 128, /* and forwards, own block and all */
	MAX_BLOCKS = 5,	  /* the own block and up to four that follow */
};

struct window {
	const struct stream_sample *s;
	struct site_function *f;
	const struct window_sink *sink;
	uint64_t base; /* address of the function's first byte */
	bool is32;
};

static uint64_t address_of(const struct window *w, uint32_t i)
{
	uint64_t a = w->base + w->f->b->off[i];

	return w->is32 ? (uint32_t)a : a;
}

/* Does the sink want to know of operand @m of instruction @i? */
static bool is_asked(const struct window *w, uint32_t i, uint32_t m)
{
	const struct site_operand *o = w->sink->enough ? w->f->ops[i] : NULL;

	return !o || o[m].proven < w->sink->enough || o[m].lost > o[m].proven;
}

static void tell_operands(const struct window *w, uint32_t i,
			  const struct decode_regs *regs, bool own)
{
	const struct decode_insn *in = &w->f->b->insn[i];

	for (uint32_t m = 0; m < in->n_mem; m++) {
		uint64_t addr = 0;
		bool ok;

		if (!is_asked(w, i, m))
			continue;
		ok = window_is_tls(&w->s->ev, &in->mem[m]) ?
			     window_tls_offset(regs, &in->mem[m], &addr) :
			     decode_regs_address(regs, &in->mem[m], address_of(w, i),
						 w->s->fs_base, w->s->gs_base, &addr);
		w->sink->operand(w->sink->ctx, w->f, i, m, ok, addr, own, regs);
	}
}

/* Behind the last instruction of [@from, @end) with an operand that is asked for; @from: there is none. */
static uint32_t last_asked(const struct window *w, uint32_t from, uint32_t end)
{
	for (uint32_t i = end; i-- > from;)
		for (uint32_t m = 0; m < w->f->b->insn[i].n_mem; m++)
			if (is_asked(w, i, m))
				return i + 1;
	return from;
}

/* From before instruction @i of the window to after it. */
static void step(const struct window *w, uint32_t i, struct decode_regs *regs)
{
	const struct decode_insn *in = &w->f->b->insn[i];
	const struct blocks_switch *sw = NULL;
	uint64_t off, index = 0;

	/* A load from a jump table gives what the table says, if the index is known. */
	if (in->n_mem && w->f->b->n_sw)
		sw = blocks_switch_of(w->f->b, i);
	if (sw && (sw->load != i || sw->result == DECODE_NONE || regs->known[sw->index] < 64))
		sw = NULL;
	if (sw)
		index = regs->v[sw->index];
	decode_regs_forward(regs, in, address_of(w, i));
	if (!sw || index >= sw->n_table)
		return;
	off = w->f->b->off[sw->targets[index]];
	regs->v[sw->result] = sw->relative ? off - sw->table : off + w->base;
	regs->known[sw->result] = 64;
}

/* Where the indirect jump at @i goes, if the registers before it tell. */
static bool jump_target(const struct window *w, uint32_t i,
			const struct decode_regs *regs, uint64_t *off)
{
	uint8_t r = w->f->b->insn[i].jump_reg;
	const struct blocks_switch *sw;

	if (r == DECODE_NONE) {
		sw = blocks_switch_of(w->f->b, i);
		if (!sw || sw->load != i || regs->known[sw->index] < 64 ||
		    regs->v[sw->index] >= sw->n_table)
			return false;
		*off = w->f->b->off[sw->targets[regs->v[sw->index]]];
		return true;
	}
	if (regs->known[r] < (w->is32 ? 32 : 64))
		return false;
	*off = regs->v[r] - w->base;
	return true;
}

/*
 * The instruction that control goes to from @i, the last of a block, or
 * BLOCKS_NONE if that is not certain.
 */
static uint32_t where_next(const struct window *w, uint32_t i,
			   const struct decode_regs *regs, bool own)
{
	const struct decode_insn *in = &w->f->b->insn[i];
	uint32_t out[2], n;
	uint64_t off;
	bool leaves;
	int taken;

	switch (in->flow) {
	case DECODE_NEXT:
	case DECODE_JUMP:
		n = blocks_next(w->f->b, i, out, 2, &leaves);
		return n == 1 && !leaves ? out[0] : BLOCKS_NONE;
	case DECODE_COND:
		taken = decode_regs_condition(regs, in->cond);
		if (taken < 0)
			return BLOCKS_NONE;
		if (own)
			w->sink->branch(w->sink->ctx, w->f, i, taken);
		if (taken)
			return blocks_find(w->f->b, w->f->b->off[i] + (uint64_t)in->target);
		return blocks_find(w->f->b, w->f->b->off[i] + in->len);
	case DECODE_INDIRECT:
		if (!jump_target(w, i, regs, &off))
			return BLOCKS_NONE;
		w->sink->jump(w->sink->ctx, w->f, i, off, own);
		return blocks_find(w->f->b, off);
	default:
		return BLOCKS_NONE;
	}
}

/* What the block of @insn touched before it, from @first on. */
static void look_back(const struct window *w, uint32_t first, uint32_t insn)
{
	struct decode_regs back[MAX_BACK + 1], now;
	uint8_t at[MAX_BACK + 1]; /* which of them is before an instruction */
	uint32_t from = insn - first > MAX_BACK ? insn - MAX_BACK : first;
	uint32_t last = last_asked(w, from, insn), n = 0;

	if (last == from)
		return;
	decode_regs_init(&back[0], w->s->regs, (uint32_t)w->s->regs[STREAM_RFLAGS]);
	at[insn - from] = 0;
	for (uint32_t i = insn; i-- > from;) {
		if (!decode_regs_kept(&w->f->b->insn[i])) {
			back[n + 1] = back[n];
			decode_regs_backward(&back[++n], &w->f->b->insn[i], address_of(w, i));
		}
		at[i - from] = (uint8_t)n;
	}
	/* Forwards again from there: what an instruction sets is known after it. */
	now = back[n];
	for (uint32_t i = from; i < last; i++) {
		if (at[i - from] != n) {
			n = at[i - from];
			decode_regs_merge(&now, &back[n]);
		}
		if (w->f->b->insn[i].n_mem)
			tell_operands(w, i, &now, true);
		if (!decode_regs_kept(&w->f->b->insn[i]))
			step(w, i, &now);
	}
}

void window_run(const struct stream_sample *s, struct site_function *f, uint32_t insn,
		const struct window_sink *sink)
{
	struct window w = { s, f, sink, s->ev.u.sample.ip - f->b->off[insn],
			    s->ev.u.sample.flags & HVAR_SAMPLE_ABI32 };
	uint32_t first, end, budget = MAX_FORWARD;
	struct decode_regs now;

	blocks_around(f->b, insn, &first, &end);
	look_back(&w, first, insn);
	decode_regs_init(&now, s->regs, (uint32_t)s->regs[STREAM_RFLAGS]);
	for (int block = 0; block < MAX_BLOCKS; block++) {
		uint32_t i = insn, next;

		for (; i < end && budget; i++, budget--) {
			if (f->b->insn[i].n_mem)
				tell_operands(&w, i, &now, block == 0);
			if (i + 1 < end && !decode_regs_kept(&f->b->insn[i]))
				step(&w, i, &now);
		}
		if (!budget)
			return;
		next = where_next(&w, end - 1, &now, block == 0);
		if (next == BLOCKS_NONE)
			return;
		step(&w, end - 1, &now);
		insn = next;
		blocks_around(f->b, insn, &first, &end);
	}
}
