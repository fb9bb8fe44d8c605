/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_walk.h - what the estimator keeps from walk to walk.
 *
 * Private to the estimator.
 */
#ifndef ESTIMATE_WALK_H
#define ESTIMATE_WALK_H

#include "estimate_sites.h"

enum { WALK_PLACES = 1024 }; /* a power of 2 */

/* Where an address of the walk in hand was found. */
struct walk_place {
	uint64_t ip;
	uint64_t walk; /* its number: what an earlier walk found may lie elsewhere by now */
	struct site_function *f;
	uint32_t insn;
};

struct walks {
	uint64_t n;	 /* taken in */
	uint64_t insns;	 /* done by them, as far as they could be followed */
	struct walk_place *places; /* WALK_PLACES of them, NULL: none yet */
};

void walks_fini(struct walks *w);

#endif /* ESTIMATE_WALK_H */
