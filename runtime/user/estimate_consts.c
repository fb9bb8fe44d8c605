/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_consts.c - constant propagation over a function's blocks.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_consts.h"

bool consts_kept_over_calls(uint8_t reg)
{
	return reg == 3 || reg == 4 || reg == 5 || reg >= 12; /* rbx rsp rbp r12-r15 */
}

static uint64_t made_up(uint64_t seed, uint64_t where, unsigned reg)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15ull + where * 64 + reg;

	/* Two rounds of xor and odd multiplication: any change spreads over all bits. */
	x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 29)) * 0x94d049bb133111ebull;
	return x ^ (x >> 32);
}

static void fill(struct decode_regs *s, uint64_t seed, uint64_t where)
{
	for (unsigned r = 0; r < DECODE_REGS; r++) {
		if (s->known[r] == 64)
			continue;
		s->v[r] = made_up(seed, where, r);
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

static void over_block(const struct graph_block *b, uint32_t end, struct decode_regs *s,
		       uint64_t seed)
{
	for (uint32_t i = b->first; i < end; i++) {
		const struct decode_insn *in = &b->f->b->insn[i];
		struct decode_regs before = *s;

		decode_regs_forward(s, in, b->f->b->off[i]);
		if (in->flow == DECODE_CALL || in->flow == DECODE_INDIRECT_CALL) {
			for (uint8_t r = 0; r < DECODE_REGS; r++) {
				if (!consts_kept_over_calls(r))
					continue;
				s->v[r] = before.v[r];
				s->known[r] = before.known[r];
			}
		}
		fill(s, seed, 2 * (uint64_t)i);
	}
}

struct run {
	struct consts *c;
	const struct graph *g;
	uint32_t first, n;
	const struct consts_edges *edges;
	uint64_t seed;
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
	if (in->flags_b == DECODE_NONE)
		s->v[in->flags_a] = (uint64_t)in->flags_imm;
	else if (later & (1u << in->flags_b))
		return;
	else if (stepped & (1u << in->flags_a))
		s->v[in->flags_a] = s->v[in->flags_b];
	else
		s->v[in->flags_b] = s->v[in->flags_a];
}

/* What block @v begins with, from the ends of those before it; true if that is news. */
static bool enter(struct run *r, uint32_t v)
{
	struct decode_regs now, *in = &r->c->in[v];
	uint32_t known = 0, differs = 0, news = !r->c->seen[v];
	uint64_t where = 2 * (uint64_t)r->g->blocks[r->first + v].first + 1;

	memset(&now, 0, sizeof(now));
	if (!v || r->g->blocks[r->first + v].open)
		differs = 0xffff; /* nothing is known of who else comes here */
	for (uint32_t k = r->edges->first_in[v]; k < r->edges->first_in[v + 1]; k++) {
		uint32_t from = r->g->flow.edges[r->edges->in[k]].from - r->first;
		const struct graph_block *b = &r->g->blocks[r->first + from];
		struct decode_regs out;

		if (!r->c->seen[from])
			continue;
		out = r->c->out[from];
		equal_on(b, r->g->blocks[r->first + v].first != b->end, &out);
		for (unsigned q = 0; q < DECODE_REGS; q++) {
			/* What comes round unchanged decides nothing. */
			if (out.v[q] == made_up(r->seed, where, q))
				continue;
			if (!(known & (1u << q)))
				now.v[q] = out.v[q];
			else if (now.v[q] != out.v[q])
				differs |= 1u << q;
			known |= 1u << q;
		}
	}
	for (unsigned q = 0; q < DECODE_REGS; q++) {
		now.known[q] = 64;
		if ((differs | ~known) & (1u << q))
			now.v[q] = made_up(r->seed, where, q);
		news |= now.v[q] != in->v[q];
	}
	*in = now;
	r->c->seen[v] = 1;
	return news;
}

/* Until nothing changes any more, or the bound on the work is reached. */
static bool settle(struct run *r, uint8_t *queued, uint32_t *queue)
{
	uint32_t head = 0, len = 0;
	uint64_t budget = 64 * (uint64_t)r->n + 64;

	for (uint32_t v = 0; v < r->n; v++) {
		if (v && !r->g->blocks[r->first + v].open)
			continue;
		queued[v] = 1;
		queue[len++] = v;
	}
	while (len && budget--) {
		uint32_t v = queue[head];

		head = (head + 1) % (r->n + 1);
		len--;
		queued[v] = 0;
		if (!enter(r, v))
			continue;
		r->c->out[v] = r->c->in[v];
		over_block(&r->g->blocks[r->first + v],
			   r->g->blocks[r->first + v].end, &r->c->out[v], r->seed);
		for (uint32_t k = r->edges->first_out[v]; k < r->edges->first_out[v + 1]; k++) {
			uint32_t to = r->g->flow.edges[r->edges->out[k]].to - r->first;

			if (queued[to])
				continue;
			queued[to] = 1;
			queue[(head + len++) % (r->n + 1)] = to;
		}
	}
	return !len;
}

int consts_find(struct consts *c, const struct graph *g, uint32_t first, uint32_t n,
		const struct consts_edges *edges, uint64_t seed)
{
	struct run r = { c, g, first, n, edges, seed };
	uint8_t *queued = calloc(n + 1, 1);
	uint32_t *queue = calloc(n + 1, sizeof(*queue));
	int err = 0;

	c->in = calloc(n + 1, sizeof(*c->in));
	c->out = calloc(n + 1, sizeof(*c->out));
	c->seen = calloc(n + 1, 1);
	if (!queued || !queue || !c->in || !c->out || !c->seen) {
		consts_fini(c);
		err = -ENOMEM;
	} else {
		c->seed = seed;
		c->settled = settle(&r, queued, queue);
	}
	free(queued);
	free(queue);
	return err;
}

void consts_at(const struct consts *c, const struct graph *g, uint32_t first, uint32_t v,
	       uint32_t insn, struct decode_regs *out)
{
	*out = c->in[v];
	over_block(&g->blocks[first + v], insn, out, c->seed);
}

void consts_fini(struct consts *c)
{
	free(c->in);
	free(c->out);
	free(c->seen);
	memset(c, 0, sizeof(*c));
}
