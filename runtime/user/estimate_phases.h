/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_phases.h - operands that touch now this variable and now that, told apart by rounds.
 *
 * Private to the estimator.  Samples say for how much of the time an operand touches each variable.  While it waits
 * for one of them there are fewer rounds than the time would say: where registers count both, rounds decide.
 */
#ifndef ESTIMATE_PHASES_H
#define ESTIMATE_PHASES_H

#include "estimate_sites.h"

enum { PHASES_MAX = 48 };

/* Rounds of one loop from sample to sample, while an operand touched a variable. */
struct phase {
	struct pairs_shown at;
	uint32_t n, missed; /* pairs of one stay; of none */
	double sum, squares;
};

struct phases {
	struct phase v[PHASES_MAX];
	uint32_t n;
};

/* @rounds went by until a sample that showed @at; < 0: it was not known how many, or not one stay. */
void phases_note(struct phases *p, const struct pairs_shown *at, double rounds);

/* Tell the operands of @f what is known of them now; of each it holds that the loop with the most rounds knows best. */
void phases_apply(const struct phases *p, struct site_function *f);

/* Nothing is known of @f's. */
void phases_forget(struct site_function *f);

#endif /* ESTIMATE_PHASES_H */
