/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_consts.h - how registers hang together at the ends of blocks, by the code alone.
 *
 * Private to the estimator.  What the code does not tell (arguments, loads, what
 * differs by the way taken) is given a made-up number that depends on where it
 * comes from; all else is computed.  This is done twice, with other made-up
 * numbers: a difference of two registers that comes out the same both times is a
 * constant of the code.  What keeps only a part of a made-up number (a mask, a
 * shift to the right) is made up anew, lest two small numbers agree by chance.
 *
 * Calls are taken to keep what the psABI says they keep: good enough to count
 * rounds of a loop, no proof of an address.
 */
#ifndef ESTIMATE_CONSTS_H
#define ESTIMATE_CONSTS_H

#include "decode_regs.h"
#include "estimate_graph.h"

enum { CONSTS_SLOTS = 12 };

/* Where registers are put by and by: memory by the stack or frame pointer that the function moves them to and from. */
struct consts_place {
	int64_t disp;
	uint8_t base, size;
	bool loaded, stored;
};

struct consts_slot {
	uint64_t v[2], at[2]; /* what is there, and at which address */
};

struct consts_pair {
	struct decode_regs of[2];
	struct consts_slot slot[CONSTS_SLOTS];
};

struct consts {
	struct consts_place places[CONSTS_SLOTS];
	uint32_t n_places;
	struct consts_pair *in, *out; /* by block, numbered from the function's first */
	uint8_t *seen;		      /* control can get there */
};

/* Edges that stay in the function, by block: those of block v are list[first[v]..first[v + 1]). */
struct consts_edges {
	const uint32_t *out, *first_out, *in, *first_in;
	const uint32_t *order;	/* all blocks, each after those it leads to, but for edges back */
	const uint32_t *round;	/* by block: what changes before control is here again, as consts_changed() has it */
	const uint8_t *is_back;	/* by place in @in: an edge back */
	const uint8_t *cold;	/* by block: control hardly ever gets there; what it brings along is left out */
};

/* Find c->places, once, before all else. */
void consts_places(struct consts *c, const struct graph *g, uint32_t first, uint32_t n);

/* Blocks are nodes [@first, @first + @n) of @g.  Returns 0 or -ENOMEM. */
int consts_find(struct consts *c, const struct graph *g, uint32_t first, uint32_t n,
		const struct consts_edges *edges);
void consts_fini(struct consts *c);

/* The registers before instruction @insn of block @v. */
void consts_at(const struct consts *c, const struct graph *g, uint32_t first, uint32_t v,
	       uint32_t insn, struct consts_pair *out);

/* The last comparison of block @b, which decides its jump, at *@at; false if that is unknown. */
bool consts_deciding(const struct graph_block *b, uint32_t *at);

/* Registers that @in may change, calls taken at the psABI's word; and above those, places. */
uint32_t consts_changed(const struct consts *c, const struct decode_insn *in);

#endif /* ESTIMATE_CONSTS_H */
