/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_consts.c - constant propagation over a function's blocks.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_consts.h"

static const uint32_t KEPT_BY_ABI = 0xf038; /* rbx rsp rbp r12-r15 */

static uint32_t kept_over(const struct decode_insn *call)
{
	return KEPT_BY_ABI | call->call_kept;
}

uint32_t consts_changed(const struct decode_insn *in)
{
	if (in->flow == DECODE_CALL || in->flow == DECODE_INDIRECT_CALL)
		return 0xffff & ~kept_over(in);
	return in->flow == DECODE_SYSCALL ? 0xffff : in->written;
}

static uint64_t made_up(unsigned time, uint64_t where, unsigned reg)
{
	uint64_t x = (time + 1) * 0x9e3779b97f4a7c15ull + where * 64 + reg;

	/* Two rounds of xor and odd multiplication: any change spreads over all bits. */
	x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 29)) * 0x94d049bb133111ebull;
	return x ^ (x >> 32);
}

static void fill(struct decode_regs *s, unsigned time, uint64_t where)
{
	for (unsigned r = 0; r < DECODE_REGS; r++) {
		if (s->known[r] == 64)
			continue;
		s->v[r] = made_up(time, where, r);
		s->known[r] = 64;
	}
	s->flags_known = s->carry_known = false;
}

bool consts_deciding(const struct graph_block *b, uint32_t *at)
{
	for (uint32_t i = b->end - 1; i-- > b->first;) {
		if (b->f->b->insn[i].flags_op == DECODE_FLAGS_KEPT)
			continue;
		*at = i;
		return b->f->b->insn[i].flags_op != DECODE_FLAGS_LOST;
	}
	return false;
}

static void over_instruction(const struct blocks *code, uint32_t i, struct decode_regs *s,
			     unsigned time)
{
	const struct decode_insn *in = &code->insn[i];
	struct decode_regs before = *s;

	decode_regs_forward(s, in, code->off[i]);
	if (in->flow == DECODE_CALL || in->flow == DECODE_INDIRECT_CALL) {
		for (unsigned r = 0; r < DECODE_REGS; r++) {
			if (!(kept_over(in) >> r & 1))
				continue;
			s->v[r] = before.v[r];
			s->known[r] = before.known[r];
		}
	}
	fill(s, time, 2 * (uint64_t)i);
}

/* Does @e keep so few bits of what it works on that two made-up numbers may well agree in them? */
static bool keeps_part(const struct decode_effect *e)
{
	switch (e->op) {
	case DECODE_AND:
		return e->src != DECODE_NONE || __builtin_popcountll((uint64_t)e->imm) < 40;
	case DECODE_OR:
		return true;
	case DECODE_SHR:
	case DECODE_SAR:
		return e->imm > 24;
	case DECODE_ZEXT:
	case DECODE_SEXT:
		return e->src_bits < 32;
	default:
		return false;
	}
}

static bool same(const struct consts_pair *s, uint8_t r)
{
	return r == DECODE_NONE || s->of[0].v[r] == s->of[1].v[r];
}

static void over_block(const struct graph_block *b, uint32_t end, struct consts_pair *s)
{
	for (uint32_t i = b->first; i < end; i++) {
		const struct decode_insn *in = &b->f->b->insn[i];
		struct consts_pair before = *s;

		for (unsigned time = 0; time < 2; time++)
			over_instruction(b->f->b, i, &s->of[time], time);
		for (int k = 0; k < in->n_effects; k++) {
			const struct decode_effect *e = &in->effects[k];

			if (!keeps_part(e) || (same(&before, e->dst) && same(&before, e->src)))
				continue;
			for (unsigned time = 0; time < 2; time++)
				s->of[time].v[e->dst] = made_up(time, 2 * (uint64_t)i, e->dst);
		}
	}
}

struct run {
	struct consts *c;
	const struct graph *g;
	uint32_t first, n;
	const struct consts_edges *edges;
};

/*
 * Where "cmp a, b; jne" falls through, a is b: a counter that has come to its
 * end is where its bound is.  The one that the block stepped takes the other's number.
 */
static void equal_on(const struct graph_block *b, bool taken, struct decode_regs *s)
{
	const struct decode_insn *last = &b->f->b->insn[b->end - 1], *in;
	uint32_t at, later = 0, stepped = 0;

	if (last->flow != DECODE_COND || last->cond != (taken ? 4 : 5) ||
	    !consts_deciding(b, &at))
		return;
	in = &b->f->b->insn[at];
	if (in->flags_op != DECODE_FLAGS_SUB || in->written || in->flags_bits < 64)
		return;
	for (uint32_t i = b->first; i < b->end; i++) {
		stepped |= b->f->b->insn[i].written;
		later |= i > at ? b->f->b->insn[i].written : 0;
	}
	if (later & (1u << in->flags_a))
		return;
	if (in->flags_b == DECODE_NONE) {
		if (stepped & (1u << in->flags_a))
			s->v[in->flags_a] = (uint64_t)in->flags_imm;
	} else if (!(later & (1u << in->flags_b))) {
		if (stepped & (1u << in->flags_a))
			s->v[in->flags_a] = s->v[in->flags_b];
		else if (stepped & (1u << in->flags_b))
			s->v[in->flags_b] = s->v[in->flags_a];
	}
}

/* What block @v begins with, from the ends of those before it. */
static void enter(struct run *r, uint32_t v)
{
	struct consts_pair *in = &r->c->in[v];
	uint32_t known = 0, differs = r->edges->round[v];
	uint64_t where = 2 * (uint64_t)r->g->blocks[r->first + v].first + 1;

	if (!v || r->g->blocks[r->first + v].open)
		differs = 0xffff; /* nothing is known of who else comes here */
	for (uint32_t k = r->edges->first_in[v]; k < r->edges->first_in[v + 1]; k++) {
		uint32_t from = r->g->flow.edges[r->edges->in[k]].from - r->first;
		const struct graph_block *b = &r->g->blocks[r->first + from];
		struct consts_pair out;

		if (r->edges->is_back[k] || !r->c->seen[from])
			continue;
		out = r->c->out[from];
		for (unsigned time = 0; time < 2; time++) {
			struct decode_regs *x = &out.of[time];

			equal_on(b, r->g->blocks[r->first + v].first != b->end, x);
			for (unsigned q = 0; q < DECODE_REGS; q++) {
				if (!(known & (1u << q)))
					in->of[time].v[q] = x->v[q];
				else if (in->of[time].v[q] != x->v[q])
					differs |= 1u << q;
			}
		}
		known = 0xffff;
	}
	for (unsigned time = 0; time < 2; time++) {
		for (unsigned q = 0; q < DECODE_REGS; q++) {
			in->of[time].known[q] = 64;
			if ((differs | ~known) & (1u << q))
				in->of[time].v[q] = made_up(time, where, q);
		}
	}
	r->c->seen[v] = 1;
}

int consts_find(struct consts *c, const struct graph *g, uint32_t first, uint32_t n,
		const struct consts_edges *edges)
{
	struct run r = { c, g, first, n, edges };

	c->in = calloc(n + 1, sizeof(*c->in));
	c->out = calloc(n + 1, sizeof(*c->out));
	c->seen = calloc(n + 1, 1);
	if (!c->in || !c->out || !c->seen) {
		consts_fini(c);
		return -ENOMEM;
	}
	/* Each block after those that lead to it; what comes round is known to change. */
	for (uint32_t k = n; k-- > 0;) {
		uint32_t v = edges->order[k];

		enter(&r, v);
		c->out[v] = c->in[v];
		over_block(&g->blocks[first + v], g->blocks[first + v].end, &c->out[v]);
	}
	return 0;
}

void consts_at(const struct consts *c, const struct graph *g, uint32_t first, uint32_t v,
	       uint32_t insn, struct consts_pair *out)
{
	*out = c->in[v];
	over_block(&g->blocks[first + v], insn, out);
}

void consts_fini(struct consts *c)
{
	free(c->in);
	free(c->out);
	free(c->seen);
	memset(c, 0, sizeof(*c));
}
