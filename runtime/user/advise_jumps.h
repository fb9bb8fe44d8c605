/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_jumps.h - do accesses jump about in memory, or walk through it?  From timer samples, and hits of breakpoints.
 *
 * The same operand of the same instruction of the same thread, at one sample and at the next that proves
 * its address, is a pair.  What is nearer than a walk gets meanwhile, around the area's ends too, is no
 * jump.  What is further away is one if the operand jumps from each access to the next, as
 * advise_strides.h has it; where that was never seen, it is taken for one, since few
 * walk that fast.  Pages that jumps land on are noted, so that jumps within a few pages are told
 * from jumps over many.
 */
#ifndef ADVISE_JUMPS_H
#define ADVISE_JUMPS_H

#include <stdbool.h>
#include <stdint.h>

#include "estimate.h"
#include "runtime/core/hvar_vmas.h"

/* Few walk faster: bytes a nanosecond.  What is nearer than the least is no jump in any case. */
#define ADVISE_WALK_SPEED 16
#define ADVISE_WALK_LEAST ((uint64_t)2 << 20)
#define ADVISE_PAIR_NS	  5000000 /* later ones are no pair */

struct advise_jumps;

struct advise_jumps *advise_jumps_new(void); /* NULL: no memory */
void advise_jumps_free(struct advise_jumps *j);

/*
 * Take in @s.  @env tells of its code (site, code and function only); @vmas is what was mapped when it was
 * taken, or lately.
 */
void advise_jumps_sample(struct advise_jumps *j, const struct estimate_env *env, const struct hvar_vmas *vmas,
			 const struct stream_sample *s);

/* The same of a hit of a breakpoint, which tells how its block goes on from access to access. */
void advise_jumps_hit(struct advise_jumps *j, const struct estimate_env *env, const struct stream_sample *s);

/* Is there an instruction where breakpoints would tell?  advise_strides_wanted() */
bool advise_jumps_wanted(struct advise_jumps *j, uint32_t *tid, uint64_t *ip);

/* One access at @addr by operand @op of thread @tid, in area @v; and how it went on; for the above, and for tests. */
void advise_jumps_access(struct advise_jumps *j, uint32_t tid, uint64_t op, const struct hvar_vma *v, uint64_t addr,
			 uint64_t time_ns, uint64_t ip);
void advise_jumps_next(struct advise_jumps *j, uint32_t tid, uint64_t op, uint64_t addr, uint64_t bytes, uint64_t time_ns);

struct advise_jumps_sum {
	uint64_t accesses;    /* proven, in the range */
	uint64_t pairs, far;  /* of them, jumps, as many as is known of some */
	uint64_t landed;      /* what pages are of: those that are known for jumps, and the unknown ones too if most are */
	uint64_t pages;	      /* different pages of 4 KiB that they landed on */
	uint64_t top;	      /* an address that jumps landed by often; 0: none */
	uint64_t top_ip;      /* of an instruction that jumps often */
};
/* Of what is in [@start, @end). */
void advise_jumps_sum(const struct advise_jumps *j, uint64_t start, uint64_t end, struct advise_jumps_sum *out);
/* The pages of its jumps to tell a person: no more than there were jumps. */
uint64_t advise_jumps_pages(const struct advise_jumps_sum *s);

/* Samples taken in; those that proved no address at all; accesses that there was no room for. */
uint64_t advise_jumps_samples(const struct advise_jumps *j);
uint64_t advise_jumps_unproven(const struct advise_jumps *j);
uint64_t advise_jumps_lost(const struct advise_jumps *j);

/*
 * Are @pages different ones of @n jumps more than there would be if each went to one of @reach
 * pages, all alike?
 */
int advise_jumps_exceed(uint64_t pages, uint64_t n, uint64_t reach);

#endif /* ADVISE_JUMPS_H */
