/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_jumps.h - do accesses jump about in memory, or walk through it?  From timer samples.
 *
 * The same operand of the same instruction of the same thread, at one sample and at the next that proves
 * its address, is a pair.  A walk goes no further between the two than the memory is fast: what is
 * further away, around the area's ends too, is a jump.  Pages that jumps land on are
 * noted, so that jumps within a few pages are told from jumps over many.
 */
#ifndef ADVISE_JUMPS_H
#define ADVISE_JUMPS_H

#include <stdint.h>

#include "estimate.h"
#include "runtime/core/hvar_vmas.h"

/* No core walks faster: bytes a nanosecond.  What is nearer than the least is no jump in any case. */
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

/* One access at @addr by operand @op of thread @tid, in area @v; for the above, and for tests. */
void advise_jumps_access(struct advise_jumps *j, uint32_t tid, uint64_t op, const struct hvar_vma *v, uint64_t addr,
			 uint64_t time_ns, uint64_t ip);

struct advise_jumps_sum {
	uint64_t accesses;    /* proven, in the range */
	uint64_t pairs, far;  /* of them, jumps */
	uint64_t pages;	      /* different pages of 4 KiB that jumps landed on */
	uint64_t top;	      /* an address that jumps landed by often; 0: none */
	uint64_t top_ip;      /* of an instruction that jumps often */
};
/* Of what is in [@start, @end). */
void advise_jumps_sum(const struct advise_jumps *j, uint64_t start, uint64_t end, struct advise_jumps_sum *out);

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
