/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_rounds.h - one function's loops, and how many rounds one of them makes.
 *
 * Private to the estimator: what estimate_loops.c finds and estimate_rounds.c counts.
 */
#ifndef ESTIMATE_ROUNDS_H
#define ESTIMATE_ROUNDS_H

#include "estimate_consts.h"
#include "estimate_graph.h"

enum { LOOPS_MAX = 400 };

struct loops {
	struct graph *g;
	uint32_t first, n;	   /* nodes, by number from first */
	uint32_t first_edge, end_edge;
	uint32_t *out, *first_out; /* edges inside the function, by node */
	uint32_t *in, *first_in;
	uint8_t *state;		   /* of the walk: 0 new, 1 on the way, 2 done */
	uint32_t *stack, *at;
	uint32_t *round;	   /* by block: what its loops change, as consts_changed() has it */
	uint8_t *cold;		   /* by block: was never come to by whoever was seen before it */
	uint8_t *is_back;	   /* by place in in[] */
	uint32_t *order, n_order;  /* blocks as the walk was done with them */
	uint8_t *goes_out;	   /* by node: has an edge out of the function */
	uint32_t *inside;	   /* by instruction: its block + 1 if that is in the loop in hand */
	uint8_t *member;	   /* of the loop in hand */
	struct consts consts;	   /* registers by the code alone */
	struct { uint32_t head, tail; } back[LOOPS_MAX];
	uint32_t n_back;
};

/*
 * One loop's exit by comparison of two registers, D = b - a apart.  Told by the
 * made-up registers: how D changes each round, and from the head to the test.
 */
struct exit_test {
	uint32_t v, at;	    /* block, instruction that compares */
	uint32_t head;	    /* block */
	const struct decode_insn *in;
	int64_t per_round;  /* D at the next head - D at this head */
	int64_t to_test;    /* D at the test - D at the head */
	bool alone;	    /* the loop has no other way out */
};

static inline const struct graph_block *loops_block(const struct loops *l, uint32_t v)
{
	return &l->g->blocks[l->first + v];
}

static inline const struct flow_edge *loops_edge(const struct loops *l, uint32_t e)
{
	return &l->g->flow.edges[e];
}

/*
 * Is the jump at the end of block @v an exit of the loop at @head by a comparison
 * that comes nearer by the same distance each round?  Fills all of *@t but alone.
 */
bool rounds_test(const struct loops *l, uint32_t v, uint32_t head, struct exit_test *t);

/*
 * The rounds that a stay in the loop makes on average, and the standard deviation
 * of their logarithm; false if neither code nor samples tell.  l->inside is that loop.
 */
bool rounds_find(const struct loops *l, const struct exit_test *t, double *rounds,
		 double *sd);

#endif /* ESTIMATE_ROUNDS_H */
