/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_slices.h - how much the time at each instruction changes while the program runs.
 *
 * Private to the estimator.  A run is cut into slices of as many samples each.  Instructions of one loop, or of one function
 * outside of its loops, go together whatever the program does: where their parts of the time that the loop takes differ from slice to slice
 * by more than chance has it, what they wait for has changed, and may be another in the next run.  That a loop runs now and not
 * then is no such change: programs have phases, and have them again.
 */
#ifndef ESTIMATE_SLICES_H
#define ESTIMATE_SLICES_H

#include <stddef.h>
#include <stdint.h>

enum {
	SLICES = 48
}; /* half of them at least are in use, once there were as many samples */

struct estimate;
struct sites;
struct site_function;

struct slices {
	uint32_t at, taken; /* the slice in hand, and its samples */
	uint32_t each;	    /* samples that a slice takes; 0: none has come */
};

/* A sample that stands for @ns at instruction @insn of @f, one of @all.  Without memory it is in no slice. */
void slices_take(struct slices *s, const struct sites *all,
		 struct site_function *f, uint32_t insn, double ns);

/*
 * Add to @variance[@n], by variable, by how much that of its time (in ns, squared) is larger than samples that have
 * nothing to do with each other have it.  Returns 0 or -ENOMEM.
 */
int slices_variance(const struct estimate *e, double *variance, size_t n);

#endif /* ESTIMATE_SLICES_H */
