/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_pairs.h - samples of one thread that follow each other in one function.
 *
 * Private to the estimator.  By how much a register has moved from one to the next tells how often a loop
 * went round in that time, if the register counts it; which ones do is found out when all is solved.
 */
#ifndef ESTIMATE_PAIRS_H
#define ESTIMATE_PAIRS_H

#include <stdint.h>

#include "decode.h"
#include "stream.h"

enum { PAIRS_KEPT = 192, PAIRS_THREADS = 4, PAIRS_SHOWN = 3 };

/* What an operand touched at a sample. */
struct pairs_shown {
	uint32_t insn, mem, variable;
};

struct pair {
	uint32_t from, to; /* instructions */
	uint64_t gap_ns;
	uint32_t n_shown;
	struct pairs_shown shown[PAIRS_SHOWN]; /* at @to */
	uint64_t regs[DECODE_REGS];  /* at @to */
	uint64_t moved[DECODE_REGS]; /* from @from to there */
};

/* The last sample of a thread in the function. */
struct pairs_last {
	uint32_t tid, insn; /* 0: none */
	uint64_t time_ns;
	uint64_t regs[DECODE_REGS];
};

/* A fair choice of a function's pairs. */
struct pairs {
	struct pairs_last last
		[PAIRS_THREADS]; /* by thread number; threads may be in each other's way */
	struct pair *v;
	uint32_t n, cap; /* seen; room for */
};

/*
 * The next sample @s of the function that *@p is of, at its instruction @insn, where @n operands
 * were shown; *@p is made on first use.
 */
void pairs_sample(struct pairs **p, const struct stream_sample *s, uint32_t insn,
		  const struct pairs_shown *shown, uint32_t n);

static inline uint32_t pairs_kept(const struct pairs *p)
{
	return !p ? 0 : p->n < PAIRS_KEPT ? p->n : PAIRS_KEPT;
}

void pairs_free(struct pairs *p);

#endif /* ESTIMATE_PAIRS_H */
