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

static bool is_place(const struct decode_mem *m)
{
	return (m->base == 4 || m->base == 5) && m->index == DECODE_NONE && m->segment == DECODE_SEG_FLAT &&
	       !(m->flags & DECODE_MEM_STACK);
}

/* The number of the place that @m is, c->n_places: none. */
static uint32_t place_of(const struct consts *c, const struct decode_mem *m)
{
	uint32_t k = 0;

	if (!is_place(m))
		return c->n_places;
	while (k < c->n_places && (c->places[k].disp != m->disp || c->places[k].base != m->base))
		k++;
	return k;
}

static void note_place(struct consts *c, const struct decode_insn *in)
{
	const struct decode_mem *m = &in->mem[0];
	uint32_t k;

	if (in->moved == DECODE_NONE || !is_place(m))
		return;
	k = place_of(c, m);
	if (k == CONSTS_SLOTS)
		return;
	if (k == c->n_places)
		c->places[c->n_places++] = (struct consts_place){ .disp = m->disp, .base = m->base, .size = (uint8_t)m->size };
	if (c->places[k].size != m->size)
		c->places[k].size = 0; /* in parts: nothing is known of it */
	c->places[k].loaded |= m->flags & DECODE_MEM_READ;
	c->places[k].stored |= m->flags & DECODE_MEM_WRITE;
}

void consts_places(struct consts *c, const struct graph *g, uint32_t first, uint32_t n)
{
	uint32_t used = 0;

	for (uint32_t v = first; v < first + n; v++)
		for (uint32_t i = g->blocks[v].first; i < g->blocks[v].end; i++)
			note_place(c, &g->blocks[v].f->b->insn[i]);
	for (uint32_t k = 0; k < c->n_places; k++)
		if (c->places[k].size && c->places[k].loaded && c->places[k].stored)
			c->places[used++] = c->places[k];
	c->n_places = used;
}

uint32_t consts_changed(const struct consts *c, const struct decode_insn *in)
{
	uint32_t changed = in->written;

	if (in->flow == DECODE_CALL || in->flow == DECODE_INDIRECT_CALL)
		changed = 0xffff & ~kept_over(in);
	else if (in->flow == DECODE_SYSCALL)
		changed = 0xffff;
	for (int m = 0; m < in->n_mem; m++) {
		uint32_t k = place_of(c, &in->mem[m]);

		if (in->mem[m].flags & DECODE_MEM_WRITE && k < c->n_places)
			changed |= 1u << (DECODE_REGS + k);
	}
	return changed;
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

static bool same(const struct decode_regs of[2], uint8_t r)
{
	return r == DECODE_NONE || of[0].v[r] == of[1].v[r];
}

/* What instruction @in, number @i, puts into a place or takes from there; @s are the registers after it. */
static void over_place(const struct consts *c, const struct decode_insn *in, uint32_t i, uint32_t mem,
		       const struct decode_regs before[2], struct consts_pair *s)
{
	const struct decode_mem *m = &in->mem[mem];
	uint32_t k = place_of(c, m);
	struct consts_slot now, *slot = &s->slot[k];
	bool stores = m->flags & DECODE_MEM_WRITE, plain = in->moved != DECODE_NONE;

	if (k == c->n_places || (!stores && !plain))
		return;
	for (unsigned time = 0; time < 2; time++) {
		now.at[time] = before[time].v[m->base] + (uint64_t)m->disp;
		now.v[time] = !plain ? made_up(time, 2 * (uint64_t)i, DECODE_REGS + k) : stores ? before[time].v[in->moved] :
												 s->of[time].v[in->moved];
		if (m->size == 4)
			now.v[time] = (uint32_t)now.v[time];
	}
	if (!stores && slot->at[0] == now.at[0] && slot->at[1] == now.at[1])
		memcpy(now.v, slot->v, sizeof(now.v));
	*slot = now;
	for (unsigned time = 0; time < 2 && !stores; time++)
		s->of[time].v[in->moved] = now.v[time];
}

static void over_block(const struct consts *c, const struct graph_block *b, uint32_t end, struct consts_pair *s)
{
	for (uint32_t i = b->first; i < end; i++) {
		const struct decode_insn *in = &b->f->b->insn[i];
		struct { struct decode_regs of[2]; } before;

		memcpy(before.of, s->of, sizeof(before.of));
		for (unsigned time = 0; time < 2; time++)
			over_instruction(b->f->b, i, &s->of[time], time);
		for (uint32_t m = 0; c->n_places && m < in->n_mem; m++)
			over_place(c, in, i, m, before.of, s);
		for (int k = 0; k < in->n_effects; k++) {
			const struct decode_effect *e = &in->effects[k];

			if (!keeps_part(e) || (same(before.of, e->dst) && same(before.of, e->src)))
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

/* Does the in[@k]-th edge count where control joins?  Not what comes round, nor what hardly ever comes, if others do. */
static bool joins(const struct run *r, uint32_t k, bool warm_only)
{
	uint32_t from = r->g->flow.edges[r->edges->in[k]].from - r->first;

	return !r->edges->is_back[k] && r->c->seen[from] && !(warm_only && r->edges->cold[from]);
}

static bool any_warm(const struct run *r, uint32_t v)
{
	for (uint32_t k = r->edges->first_in[v]; k < r->edges->first_in[v + 1]; k++)
		if (joins(r, k, true))
			return true;
	return false;
}

/* Join @out, what one way brings, with what the ways before have brought, into *@in: returns what differs. */
static uint32_t join(const struct consts *c, const struct consts_pair *out, bool is_first, struct consts_pair *in)
{
	uint32_t differs = 0;

	if (is_first) {
		*in = *out;
		return 0;
	}
	for (unsigned time = 0; time < 2; time++)
		for (unsigned q = 0; q < DECODE_REGS; q++)
			if (in->of[time].v[q] != out->of[time].v[q])
				differs |= 1u << q;
	for (unsigned k = 0; k < c->n_places; k++) {
		if (memcmp(in->slot[k].v, out->slot[k].v, sizeof(in->slot[k].v)))
			differs |= 1u << (DECODE_REGS + k);
		for (unsigned time = 0; time < 2; time++)
			if (in->slot[k].at[time] != out->slot[k].at[time])
				in->slot[k].at[time] = 0; /* no address */
	}
	return differs;
}

/* What block @v begins with, from the ends of those before it. */
static void enter(struct run *r, uint32_t v)
{
	struct consts_pair *in = &r->c->in[v];
	uint32_t differs = r->edges->round[v];
	uint64_t where = 2 * (uint64_t)r->g->blocks[r->first + v].first + 1;
	bool warm_only = any_warm(r, v), any = false;

	for (uint32_t k = r->edges->first_in[v]; k < r->edges->first_in[v + 1]; k++) {
		uint32_t from = r->g->flow.edges[r->edges->in[k]].from - r->first;
		const struct graph_block *b = &r->g->blocks[r->first + from];
		struct consts_pair out;

		if (!joins(r, k, warm_only))
			continue;
		out = r->c->out[from];
		for (unsigned time = 0; time < 2; time++)
			equal_on(b, r->g->blocks[r->first + v].first != b->end, &out.of[time]);
		differs |= join(r->c, &out, !any, in);
		any = true;
	}
	if (!any)
		memset(in->slot, 0, sizeof(in->slot));
	if (!any || !v || r->g->blocks[r->first + v].open)
		differs = ~0u; /* nothing is known of who else comes here */
	for (unsigned time = 0; time < 2; time++) {
		for (unsigned q = 0; q < DECODE_REGS; q++) {
			in->of[time].known[q] = 64;
			if (differs & (1u << q))
				in->of[time].v[q] = made_up(time, where, q);
		}
		for (unsigned k = 0; k < r->c->n_places; k++)
			if (differs & 1u << (DECODE_REGS + k))
				in->slot[k].v[time] = r->c->places[k].size == 4 ? (uint32_t)made_up(time, where, DECODE_REGS + k) :
										  made_up(time, where, DECODE_REGS + k);
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
		over_block(c, &g->blocks[first + v], g->blocks[first + v].end, &c->out[v]);
	}
	return 0;
}

void consts_at(const struct consts *c, const struct graph *g, uint32_t first, uint32_t v,
	       uint32_t insn, struct consts_pair *out)
{
	*out = c->in[v];
	over_block(c, &g->blocks[first + v], insn, out);
}

void consts_fini(struct consts *c)
{
	free(c->in);
	free(c->out);
	free(c->seen);
	memset(c, 0, sizeof(*c));
}
