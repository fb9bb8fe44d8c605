/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_sites.h - the functions that samples fell into, and what was seen at each instruction.
 *
 * Private to the estimator.  A function is decoded when its first sample
 * comes; all that later samples prove is kept per instruction, so that blocks
 * may still be cut in two when an indirect jump shows a new leader.
 */
#ifndef ESTIMATE_SITES_H
#define ESTIMATE_SITES_H

#include "blocks.h"
#include "estimate.h"
#include "estimate_pairs.h"
#include "estimate_series.h"

struct site_var {
	uint32_t variable; /* hot table index */
	uint32_t count;	   /* samples that proved it */
	float rate;	   /* rounds of a loop from sample to sample, while it is this one */
};

/* One memory operand of one instruction. */
struct site_operand {
	struct site_var *v; /* in order first seen */
	uint32_t n, cap;
	uint32_t proven, lost, full; /* samples: address proven; not; proven but the table was full */
	uint32_t unmapped;	     /* samples: address without memory */
	bool filled;		     /* these are of no sample, but by what known_fill() found: of one process */
	uint32_t last_variable, switches; /* noted last; times that it was another than before */
	double rounds;		     /* in all of @v[].count times their @rate; 0: rates are not known */
	uint32_t known_mm;	     /* RIP-relative: @known_variable is right in this address space */
	uint32_t known_variable;
	double rep_sum;		     /* of counts seen before a repetition began */
	uint32_t rep_n;
};

/* How a conditional jump went, or would have gone, at samples of its own block. */
struct site_branch {
	uint32_t taken, not_taken;
};

/* The registers of one sample of a function: a fair choice of them is kept. */
enum { SITE_KEPT = 256 };
struct site_kept {
	uint32_t insn;
	uint64_t regs[DECODE_REGS];
};

/* Where an indirect jump went, or would have gone; or a call. */
struct site_jump {
	uint32_t from, to;    /* instructions; of a call @to is BLOCKS_NONE */
	const struct site_function *callee; /* NULL: of a call, somewhere else */
	uint32_t count;
	uint32_t hits;	      /* by breakpoints and walks */
	uint32_t burst_hits;  /* of the last burst, as site_counted has it for all that leaves @from */
	double nt, tt;	      /* of all bursts before */
};

/*
 * What breakpoints and walks told of a conditional jump, in bursts: of hits that follow each other, or one walk each.
 * Of an indirect jump or call it has the number of hits alone.
 */
struct site_counted {
	uint32_t insn;
	uint32_t n, taken;	 /* all hits; of them, taken */
	uint32_t cut;		 /* of them, by walks that were cut */
	uint32_t bursts;
	uint32_t burst_n, burst_taken; /* of the last burst */
	uint64_t last_ns;	 /* of a burst of hits */
	uint64_t walk;		 /* number of the walk that the last burst is; 0: it is of hits */
	double nn, nt, tt;	 /* of all bursts before: sums of n * n, n * taken, taken * taken */
};

struct site_function {
	uint32_t module, mm;
	uint64_t start, end;	/* in units of code_site.where */
	struct blocks *b;	/* NULL: the code could not be read */
	uint32_t n;		/* of the arrays: b->n */
	uint32_t *hits;		/* samples at each instruction */
	double *time_ns;
	float **slices;		/* likewise by instruction, by slice of the run; each NULL: no time there */
	struct site_operand **ops; /* by instruction: its n_mem operands, NULL: nothing yet */
	struct site_branch *branches;
	struct site_jump *jumps; /* in order first seen */
	uint32_t n_jumps;
	size_t cap_jumps;
	struct site_counted *counted; /* in order first hit */
	uint32_t n_counted;
	size_t cap_counted;
	uint32_t *counted_at;	/* by instruction: 1 + its entry in counted, 0: none; NULL: none at all */
	uint32_t samples;
	struct site_operand stack; /* what operands based on the stack pointer touched, all together */
	struct site_kept *kept;	/* SITE_KEPT of them at most, NULL: none yet */
	uint32_t n_kept, cap_kept; /* seen; room for */
	struct pairs *pairs;	/* NULL: none yet */
	/* By frames_find(). */
	struct site_function *caller; /* the only one known that calls it; NULL: none */
	bool callers_differ;	/* there are others, or it is come to by a jump */
	uint32_t untouched;	/* registers that are its caller's all the while it runs */
	uint32_t clobbers;	/* registers that a call of it may change; clobbers_find() */
	bool filled;		/* known_fill() has been here */
	uint32_t frame;		/* from this instruction on RBP is the frame pointer; BLOCKS_NONE: nowhere */
	bool sought;		/* its callers have been looked for */
	bool cut;		/* it may go on behind @end */
};

/* A mapping of code that samples fell into. */
struct site_range {
	uint32_t module, mm;
	uint64_t start, end;	/* in units of code_site.where */
	uint64_t bias;		/* address - where */
	struct hvar_event ev;	/* the moment it was seen */
};

struct sites {
	struct site_function **v; /* sorted by module, mm, start */
	size_t n, cap;
	struct site_cache *cache;
	struct site_range *ranges;
	size_t n_ranges, cap_ranges;
	struct series series;
	bool failed;		  /* memory was short once */
};

int sites_init(struct sites *s); /* 0 or -ENOMEM */
void sites_fini(struct sites *s);

/*
 * The function and instruction of @ev's ip, decoded now if need be.  Returns
 * ESTIMATE_OK, NO_CODE or BAD_CODE.
 */
enum estimate_reason sites_find(struct sites *s, const struct estimate_env *env,
				const struct hvar_event *ev,
				struct site_function **f, uint32_t *insn);

/* The function that starts at @where, or NULL. */
struct site_function *sites_at(const struct sites *s, uint32_t module, uint32_t mm,
			       uint64_t where);

/*
 * Add the functions that call sampled ones directly but were never sampled
 * themselves: through them flows what their callees run.  They have no samples.
 */
void sites_add_callers(struct sites *s, const struct estimate_env *env);

/* The function around @where, in range @r, decoded but not sampled; for estimate_callers.c. */
struct site_function *sites_decode(struct sites *s, const struct estimate_env *env,
				   const struct site_range *r, uint64_t where);

/* The operands of instruction @i, made on first use; NULL when memory is short. */
struct site_operand *site_operands(struct site_function *f, uint32_t i);

/* Before something shows where @o's address is: what known_fill() took for granted, of a process that may never come here, goes. */
void site_operand_shown(struct site_operand *o);

/* Note that @o touched @variable once. */
void site_operand_note(struct site_operand *o, uint32_t variable);

/* Samples that told the operand's address, rightly or not. */
static inline double site_operand_told(const struct site_operand *o)
{
	return (double)o->proven + o->full + o->unmapped;
}

/* The part of all its runs, as far as samples told, in which the operand touches v[@k]: rather of rounds than of time. */
static inline double site_operand_part(const struct site_operand *o, uint32_t k)
{
	double part = o->rounds > 0 ? o->v[k].count * (double)o->v[k].rate / o->rounds * o->proven : o->v[k].count;

	return part / site_operand_told(o);
}

/* Did the operand touch now this variable and now that for long, with unknown rates?  Then how often each may be far from how long. */
bool site_operand_phased(const struct site_operand *o);

/* Keep the registers of a sample at @i, perhaps; note that the jump at @i went to @to. */
void site_keep(struct site_function *f, uint32_t i, const uint64_t regs[DECODE_REGS]);
void site_jump_note(struct site_function *f, uint32_t i, uint32_t to);

/* Note that a breakpoint saw the jump at @i go to @to, or the branch at @i, at @time_ns. */
void site_jump_hit(struct site_function *f, uint32_t i, uint32_t to, uint64_t time_ns);
void site_branch_hit(struct site_function *f, uint32_t i, bool taken, uint64_t time_ns);

struct site_walk {
	uint64_t number; /* from 1 */
	bool cut;	 /* it ended where it could not go on, and not at a moment that does not depend on its way */
};

/* Note that a walk came by the branch at @i. */
void site_branch_walked(struct site_function *f, uint32_t i, bool taken, const struct site_walk *walk);
/* Likewise by the jump at @i to @to, or by the call at @i of @callee, NULL: of something that is no function we know. */
void site_jump_walked(struct site_function *f, uint32_t i, uint32_t to, const struct site_walk *walk);
void site_call_walked(struct site_function *f, uint32_t i, const struct site_function *callee, const struct site_walk *walk);

/* What is known of the branch at @i from breakpoints and walks, or NULL. */
const struct site_counted *site_counted_at(const struct site_function *f, uint32_t i);

/*
 * How much more bursts of @c differ than independent hits would: what their
 * number must be divided by.  At least 1.
 */
double site_counted_excess(const struct site_counted *c);
/* The same of one way out of @c's instruction. */
double site_jump_excess(const struct site_counted *c, const struct site_jump *j);

/*
 * What each decoded function changes of the registers that the psABI lets it, by its code and that of
 * what it calls: compilers keep others in them across calls of functions they know.  Told at each call.
 */
void clobbers_find(struct sites *s);

/* Who calls each function, by direct calls.  After clobbers_find(). */
void frames_find(struct sites *s);

#endif /* ESTIMATE_SITES_H */
