/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_chains.h - loops whose rounds wait for each other.
 *
 * Private to the estimator.  Where a round needs what the one before has loaded or computed, it takes at least
 * as long as that takes, however many other instructions fit in beside it.
 */
#ifndef ESTIMATE_CHAINS_H
#define ESTIMATE_CHAINS_H

#include "estimate_rounds.h"

/* Raise the cycles of the blocks of the loop in hand at @head, if it has no other inside and no calls. */
void chains_apply(struct loops *l, uint32_t head);

#endif /* ESTIMATE_CHAINS_H */
