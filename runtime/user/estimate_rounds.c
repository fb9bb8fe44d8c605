/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_rounds.c - the rounds of a loop: by constants, by a register that tells, by what
 * samples had left.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "estimate_rounds.h"

static const double BENT_SD = 0.6; /* of the logarithm of rounds where samples are not spread evenly over them */
static const double SHARP = 0.6; /* of what lies in the eighth before the last one */

/*
 * The values that @in compares, as b - a, so that an equal outcome is 0: of cmp
 * and sub a - b, of add a + b, of test the register with itself.
 */
static uint64_t distance(const struct decode_insn *in, const uint64_t *regs)
{
	uint64_t a = regs[in->flags_a], b = (uint64_t)in->flags_imm;

	if (in->flags_op == DECODE_FLAGS_AND)
		b = 0;
	else if (in->flags_b != DECODE_NONE)
		b = regs[in->flags_b];
	if (in->flags_op == DECODE_FLAGS_ADD || in->flags_op == DECODE_FLAGS_INC)
		b = 0 - b;
	return b - a;
}

/* Distances of a 32-bit comparison are modulo 2^32. */
static int64_t cut(const struct decode_insn *in, uint64_t d)
{
	return in->flags_bits == 32 ? (int32_t)(uint32_t)d : (int64_t)d;
}

static bool compares(const struct decode_insn *in)
{
	if (in->flags_bits < 32)
		return false;
	switch (in->flags_op) {
	case DECODE_FLAGS_SUB:
	case DECODE_FLAGS_DEC:
	case DECODE_FLAGS_ADD:
	case DECODE_FLAGS_INC:
		return true;
	case DECODE_FLAGS_AND:
		return in->flags_a == in->flags_b;
	default:
		return false;
	}
}

/*
 * *@d = D before instruction @insn of block @v, less D at the loop's head.  False
 * if that is no constant of the code.
 */
static bool from_head(const struct loops *l, const struct exit_test *t, uint32_t v,
		      uint32_t insn, int64_t *d)
{
	struct consts_pair s;
	int64_t x[2];

	consts_at(&l->consts, l->g, l->first, v, insn, &s);
	for (int k = 0; k < 2; k++)
		x[k] = cut(t->in, distance(t->in, s.of[k].v) -
					  distance(t->in, l->consts.in[t->head].of[k].v));
	*d = x[0];
	return x[0] == x[1];
}

/* The same at the end of a round: all ways back to the head must agree. */
static bool round_of(const struct loops *l, struct exit_test *t)
{
	bool any = false, warm = false;

	for (uint32_t k = 0; k < l->n_back; k++)
		warm |= l->back[k].head == t->head && !l->cold[l->back[k].tail];
	for (uint32_t k = 0; k < l->n_back; k++) {
		uint32_t tail = l->back[k].tail;
		int64_t d;

		if (l->back[k].head != t->head || (warm && l->cold[tail]))
			continue;
		if (!from_head(l, t, tail, loops_block(l, tail)->end, &d) ||
		    (any && d != t->per_round))
			return false;
		t->per_round = d;
		any = true;
	}
	return any && t->per_round;
}

bool rounds_test(const struct loops *l, uint32_t v, uint32_t head, struct exit_test *t)
{
	const struct graph_block *b = loops_block(l, v);

	t->v = v;
	t->head = head;
	if (!consts_deciding(b, &t->at))
		return false;
	t->in = &b->f->b->insn[t->at];
	return compares(t->in) && round_of(l, t) && from_head(l, t, v, t->at, &t->to_test);
}

/* How many rounds are still to come at distance @d. */
static double rounds_left(const struct exit_test *t, int64_t d)
{
	double rest = -(double)d / (double)t->per_round;

	return rest < 0 && rest > -1.5 ? 0 : ceil(rest);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

enum spread { SPREAD_NONE, SPREAD_BENT, SPREAD_EVEN };

/* Is what is left of @rounds spread as it is when every stay makes that many? */
static enum spread spread_of(const double *rest, uint32_t n, double rounds)
{
	double worst = 0;
	uint32_t high = 0, last = 0;

	for (uint32_t k = 0; k < n; k++) {
		double d = fabs((rest[k] + 0.5) / rounds - (k + 0.5) / n);

		worst = d > worst ? d : worst;
		high += rest[k] >= 0.75 * rounds - 1;
		last += rest[k] >= 0.875 * rounds - 1;
	}
	/* Kolmogorov-Smirnov, with half a sample of slack. */
	if (worst <= 1.4 / sqrt(n) + 0.5 / n)
		return SPREAD_EVEN;
	/* Rounds that take unequal time bend the spread, but it keeps its sharp end: where stays differ, it dwindles. */
	return n >= 16 && high >= 0.12 * n && last >= SHARP * (high - last) ? SPREAD_BENT : SPREAD_NONE;
}

/* The number of rounds of a stay, from how many were left at samples inside. */
static bool sampled_rounds(const struct loops *l, const struct exit_test *t,
			   double *rounds, double *sd)
{
	const struct site_function *f = loops_block(l, t->v)->f;
	uint32_t kept = f->n_kept < SITE_KEPT ? f->n_kept : SITE_KEPT, n = 0;
	enum spread spread;
	double rest[SITE_KEPT];

	for (uint32_t k = 0; k < kept; k++) {
		const struct site_kept *s = &f->kept[k];
		uint32_t v = l->inside[s->insn];
		int64_t d;

		if (!v--)
			continue;
		if (!from_head(l, t, v, s->insn, &d))
			continue;
		d = cut(t->in, distance(t->in, s->regs) - (uint64_t)d + (uint64_t)t->to_test);
		rest[n] = rounds_left(t, d);
		if (rest[n] < 0 || rest[n] > 1e15)
			return false; /* not a loop that comes to 0 this way */
		n++;
	}
	if (!n)
		return false;
	qsort(rest, n, sizeof(*rest), by_value);
	*rounds = (rest[n - 1] + 1) * (n + 1) / n;
	spread = spread_of(rest, n, *rounds);
	if (spread == SPREAD_NONE)
		return false;
	/* Few samples cannot tell an even spread from another. */
	*sd = n < 24 ? 0.3 + 8.0 / n : 0.1 + 3.0 / n;
	/* Or stays that differ bend it, and most are shorter than the longest. */
	if (spread == SPREAD_BENT)
		*sd += BENT_SD;
	if (!t->alone)
		*sd = 2 * *sd + 0.2;
	return true;
}

/* D where control enters the loop, by made-up registers; false if that differs by the way. */
static bool entry_distance(const struct loops *l, const struct exit_test *t, uint64_t d[2])
{
	bool any = false;

	if (!t->head)
		return false;
	for (uint32_t k = l->first_in[t->head]; k < l->first_in[t->head + 1]; k++) {
		uint32_t from = loops_edge(l, l->in[k])->from - l->first;

		if (l->member[from] || !l->consts.seen[from])
			continue;
		for (int time = 0; time < 2; time++) {
			uint64_t x = distance(t->in, l->consts.out[from].of[time].v);

			if (any && cut(t->in, x - d[time]))
				return false;
			d[time] = x;
		}
		any = true;
	}
	return any;
}

/* Does register @r stay as it is from round to round, and before @insn of block @v? */
static bool stays(const struct loops *l, const struct exit_test *t, unsigned r, uint32_t v,
		  uint32_t insn)
{
	struct consts_pair s;

	consts_at(&l->consts, l->g, l->first, v, insn, &s);
	return s.of[0].v[r] == l->consts.in[t->head].of[0].v[r] &&
	       s.of[1].v[r] == l->consts.in[t->head].of[1].v[r];
}

/*
 * Rounds when D at the entry is register @r, which stays, or its negative, and
 * @c: then each sample tells how many its own stay makes.  A sample falls into a stay as often
 * as that has rounds, so that the mean of 1 / rounds is stays / rounds of all.
 */
static bool rounds_by_register(const struct loops *l, const struct exit_test *t, unsigned r,
			       bool negative, uint64_t c, double *rounds, double *sd)
{
	const struct site_function *f = loops_block(l, t->v)->f;
	uint32_t kept = f->n_kept < SITE_KEPT ? f->n_kept : SITE_KEPT, n = 0;
	double sum = 0, squares = 0, mean;

	for (uint32_t k = 0; k < kept; k++) {
		const struct site_kept *s = &f->kept[k];
		uint32_t v = l->inside[s->insn];
		double x;
		uint64_t d;

		if (!v-- || !stays(l, t, r, v, s->insn))
			continue;
		d = (negative ? 0 - s->regs[r] : s->regs[r]) + c + (uint64_t)t->to_test;
		x = rounds_left(t, cut(t->in, d)) + 1;
		if (x < 1 || x > 1e15)
			return false;
		sum += 1 / x;
		squares += 1 / (x * x);
		n++;
	}
	if (!n)
		return false;
	mean = sum / n;
	*rounds = 1 / mean;
	*sd = 0.05 + sqrt((squares / n - mean * mean > 0 ? squares / n - mean * mean : 0) /
			  n) / mean + 0.3 / n;
	return true;
}

/* From what the registers are where control enters: constants, or one that stays and tells. */
static bool entry_rounds(const struct loops *l, const struct exit_test *t, double *rounds,
			 double *sd)
{
	uint64_t d[2];

	if (!t->alone || !entry_distance(l, t, d))
		return false;
	if (!cut(t->in, d[0] - d[1])) {
		*rounds = rounds_left(t, cut(t->in, d[0] + (uint64_t)t->to_test)) + 1;
		*sd = 0.03;
		return *rounds >= 1 && *rounds < 1e15;
	}
	for (unsigned r = 0; r < 2 * DECODE_REGS; r++) {
		bool negative = r & 1;
		uint64_t c[2];

		for (int time = 0; time < 2; time++) {
			uint64_t v = l->consts.in[t->head].of[time].v[r / 2];

			c[time] = d[time] - (negative ? 0 - v : v);
		}
		if (!cut(t->in, c[0] - c[1]) &&
		    rounds_by_register(l, t, r / 2, negative, c[0], rounds, sd))
			return true;
	}
	return false;
}

bool rounds_find(const struct loops *l, const struct exit_test *t, double *rounds,
		 double *sd)
{
	return entry_rounds(l, t, rounds, sd) || sampled_rounds(l, t, rounds, sd);
}
