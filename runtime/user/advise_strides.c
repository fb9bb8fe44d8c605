// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_strides.c - from one access of an instruction to its next: is that near, or anywhere?
 *
 * Tables of fixed size: where there is no room, the operand that has gone far least often gives way,
 * and the burst that was hit longest ago.
 */
#include "config.h"

#include "advise_strides.h"

#include <stdlib.h>

enum {
	OPERANDS = 4096,
	PROBES = 8,
	BURSTS = 32,
	LENGTH = 64,	    /* hits of a burst that are remembered */
	WARM_UP = 8,	    /* so many walks by turns have to be met before one is known to go on */
	LEAST = 16,	    /* hits after that that tell */
	JUMPS_LEAST = 3,    /* fewer are the ends of walks */
	ENOUGH = 384,	    /* hits without any jump, however little was walked */
	KEPT = 1024,	    /* hits, of which later ones count more */
	FIRST_WANTED = 8,   /* times far */
	PAGE = 4096,
};
#define BURST_NS 300000 /* hits further apart are of two bursts */

struct operand {
	uint64_t op; /* 0: free */
	uint64_t ip, far, wanted_at;
	uint64_t near; /* bytes walked between hits */
	uint32_t tid, hits, jumps;
};

struct burst {
	uint64_t op, last_ns;
	uint32_t tid, n; /* n 0: free */
	uint64_t addr[LENGTH], end[LENGTH];
};

struct advise_strides {
	struct operand operands[OPERANDS];
	struct burst bursts[BURSTS];
	bool due; /* one may be wanted */
};

struct advise_strides *advise_strides_new(void)
{
	return calloc(1, sizeof(struct advise_strides));
}

void advise_strides_free(struct advise_strides *s)
{
	free(s);
}

static struct operand *operand_of(struct advise_strides *s, uint64_t op)
{
	uint64_t h = op * 0x9e3779b97f4a7c15ull >> 40;
	struct operand *least = &s->operands[h % OPERANDS];

	for (unsigned i = 0; i < PROBES; i++) {
		struct operand *o = &s->operands[(h + i) % OPERANDS];

		if (o->op == op)
			return o;
		if (!o->op || (least->op && o->far < least->far))
			least = o;
		if (!o->op)
			break;
	}
	*least = (struct operand){ .op = op, .wanted_at = FIRST_WANTED };
	return least;
}

static enum advise_stride stride_of(const struct operand *o)
{
	if (o->hits < LEAST)
		return ADVISE_STRIDE_UNKNOWN;
	if (o->jumps >= JUMPS_LEAST)
		return o->near / o->jumps < ADVISE_STRIDE_RUN ? ADVISE_STRIDE_JUMPS : ADVISE_STRIDE_WALKS;
	/* the next may be a jump: how much was walked without? */
	return o->near / (o->jumps + 1) >= ADVISE_STRIDE_RUN || o->hits >= ENOUGH ? ADVISE_STRIDE_WALKS : ADVISE_STRIDE_UNKNOWN;
}

static void note(struct operand *o, uint64_t from, uint64_t bytes)
{
	if (o->hits == KEPT) { /* what was before may have been another phase of the program */
		o->hits /= 2;
		o->jumps /= 2;
		o->near /= 2;
	}
	o->hits++;
	o->jumps += from >= PAGE;
	o->near += from >= PAGE ? bytes : from ? from - 1 + bytes : 0;
}

enum advise_stride advise_strides_far(struct advise_strides *s, uint64_t op, uint64_t ip, uint32_t tid)
{
	struct operand *o = operand_of(s, op);

	o->ip = ip;
	o->tid = tid;
	o->far++;
	s->due |= o->far >= o->wanted_at;
	return stride_of(o);
}

static struct burst *burst_of(struct advise_strides *s, uint64_t op, uint32_t tid)
{
	struct burst *oldest = &s->bursts[0];

	for (unsigned i = 0; i < BURSTS; i++) {
		struct burst *b = &s->bursts[i];

		if (b->n && b->op == op && b->tid == tid)
			return b;
		if (b->n ? oldest->n && b->last_ns < oldest->last_ns : oldest->n)
			oldest = b;
	}
	oldest->n = 0;
	return oldest;
}

/* Bytes from the nearest access of the burst to @addr: 0, it is in one; PAGE and more: none is near. */
static uint64_t nearest(const struct burst *b, uint64_t addr)
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < b->n; i++) {
		uint64_t from = addr < b->addr[i] ? b->addr[i] - addr : addr < b->end[i] ? 0 : addr - b->end[i] + 1;

		best = from < best ? from : best;
	}
	return best;
}

void advise_strides_hit(struct advise_strides *s, uint64_t op, uint32_t tid, uint64_t addr, uint64_t bytes, uint64_t time_ns)
{
	struct operand *o = operand_of(s, op);
	struct burst *b = burst_of(s, op, tid);

	if (b->n && (b->n == LENGTH || time_ns - b->last_ns > BURST_NS))
		b->n = 0;
	if (!b->n) {
		b->op = op;
		b->tid = tid;
	} else if (b->n >= WARM_UP) {
		note(o, nearest(b, addr), bytes);
	}
	b->addr[b->n] = addr;
	b->end[b->n++] = addr + bytes > addr ? addr + bytes : UINT64_MAX;
	b->last_ns = time_ns;
}

bool advise_strides_wanted(struct advise_strides *s, uint32_t *tid, uint64_t *ip)
{
	struct operand *best = NULL;

	for (unsigned i = 0; s->due && i < OPERANDS; i++) {
		struct operand *o = &s->operands[i];

		if (o->op && o->far >= o->wanted_at && (!best || o->far - o->wanted_at > best->far - best->wanted_at))
			best = o;
	}
	s->due = best != NULL;
	if (!best)
		return false;
	best->wanted_at = stride_of(best) == ADVISE_STRIDE_UNKNOWN ? best->far + FIRST_WANTED : 2 * best->far;
	*tid = best->tid;
	*ip = best->ip;
	return true;
}
