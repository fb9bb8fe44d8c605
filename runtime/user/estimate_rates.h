/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_rates.h - how often loops went round in all, from registers that moved between samples.
 *
 * Private to the estimator.  Between two samples in a loop a register that moves by the same step in
 * each round has moved by as many steps as there were rounds, if the loop was not left: then whatever stays
 * as it is in the loop is as it was, all registers that count agree, and none has gone back.
 */
#ifndef ESTIMATE_RATES_H
#define ESTIMATE_RATES_H

#include "estimate_rounds.h"

/* One function's pairs of samples, and the registers by the code at each of their instructions. */
struct rates;

/* For l->consts as found; NULL: nothing to be known, or no memory. */
struct rates *rates_new(const struct loops *l);
void rates_free(struct rates *r);

/* Put to the graph how often the loop in hand at @head went round, if @r (NULL: nothing) tells.  0 or -ENOMEM. */
int rates_apply(const struct rates *r, struct loops *l, uint32_t head);

#endif /* ESTIMATE_RATES_H */
