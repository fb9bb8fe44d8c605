/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_rows.h - the estimator's own state, shared by its files.
 */
#ifndef ESTIMATE_ROWS_H
#define ESTIMATE_ROWS_H

#include "decode_regs.h"
#include "estimate_sites.h"
#include "estimate_slices.h"
#include "estimate_walk.h"

/* What is kept of a variable while samples come in; by hot table index. */
struct estimate_var {
	uint64_t samples;
	uint64_t stamp;	   /* number of the sample that counted last: one sample counts once */
	uint32_t last_tid;
	uint32_t threads;
};

struct estimate {
	struct estimate_env env;
	struct sites sites;
	struct estimate_var *vars;
	size_t n_vars;
	uint64_t *tids;	   /* set of (variable + 1) << 32 | tid, open addressing */
	size_t n_tids, used_tids;
	struct site_operand stack; /* as site_function.stack, of all functions */
	struct site_operand tls;   /* thread-local memory, for operands that no sample told more of */
	uint64_t hits;	   /* of breakpoints */
	double all_ns;	   /* time of all samples */
	double placed_ns;  /* of those whose instruction was found */
	double by_reason_ns[ESTIMATE_REASONS];
	struct slices slices;
	struct walks walks;
	struct estimate_result result;
};

/*
 * The hot table's entry for @addr, which operand @mem of instruction @i has at @s with the
 * registers @regs, as estimate_env.variable has it.
 */
uint32_t estimate_variable_at(struct estimate *e, const struct stream_sample *s,
			      const struct site_function *f, uint32_t i, uint32_t mem,
			      uint64_t addr, const struct decode_regs *regs);

struct graph;

/*
 * Add to @by_variable the accesses to each, if block i of @g runs @runs[i] times.
 * Returns all of them, lost ones as well.  @mix, by variable: how much more than its samples say of the runs of operands with phases
 * it has; NULL: as they say.
 */
double rows_accesses(const struct estimate *e, const struct graph *g, const double *runs,
		     const double *mix, double *by_variable);

/*
 * The instruction of @f whose wait shows at @i: the one before.  A jump that is fused
 * with the comparison before it waits for that one's operand.  False: it is not known.
 */
bool rows_waits_for(const struct site_function *f, uint32_t i, uint32_t *out);

/* Room for what is known of @variable; NULL when memory is short. */
struct estimate_var *estimate_var(struct estimate *e, uint32_t variable);

/*
 * At the first sample of @f, at its instruction @insn: ask for all operands of @f whose address the
 * code alone tells.  Later its memory may be gone.
 */
void known_fill(struct estimate *e, struct site_function *f, uint32_t insn,
		const struct hvar_event *ev);

/*
 * What operand @m of instruction @i touches: as proven there; if it is based on the
 * stack pointer and no sample came by, as others like it in the function or anywhere.
 * NULL: nothing was ever seen.
 */
const struct site_operand *known_operand(const struct estimate *e,
					 const struct site_function *f, uint32_t i,
					 uint32_t m);

#endif /* ESTIMATE_ROWS_H */
