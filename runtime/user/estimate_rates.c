/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_rates.c - which registers count a loop's rounds, and what they counted.
 *
 * Two kinds of evidence: pairs of samples in the function itself, of one thread that had no sample there in between, up to 100 ms
 * apart (estimate_pairs.c), and samples all over the run, also in what the function calls, as far as that leaves its registers alone.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_phases.h"
#include "estimate_rates.h"

enum {
	FEWEST = 6,	    /* pairs that tell */
	FEWEST_SPREAD = 16, /* samples all over the run */
	DEEPEST = 8,	    /* calls */
	MAX_CALLEES = 64,
};

static const double COST_SLACK = 2; /* a round may take less than its cycles */
static const double CONTRADICTED =
	0.15; /* part of pairs that are no stay in the loop although they look like one */
static const double
	FEW_STAYED = 0.25,
	MANY_STAYED = 0.8; /* parts of pairs that no or any rounds go with */
static const double STAYED_SLACK = 0.1;
static const double RATE_SD =
	0.05; /* of the logarithm, from pairs however many */
enum { SERIES_THREADS = 256 };

static const double SERIES_SD = 0.3; /* by samples that lie far apart: what comes between is like them, or is not */
static const double LEFT_SD =
	0.2; /* likewise, where only few pairs were within one stay */

/* Registers, by the code alone, before an instruction that samples are at. */
struct known {
	uint32_t block; /* numbered as in loops */
	uint64_t v[2][DECODE_REGS];
};

/* What the function calls, and what is called from there: samples in it show some of the function's registers. */
struct callee {
	const struct site_function *f;
	const struct site_function
		*called; /* by the function itself, on the way to @f */
	uint32_t shown;	 /* registers */
};

struct rates {
	const struct pairs *pairs;
	const struct series *series;
	uint32_t *block; /* by instruction: its block + 1 */
	uint32_t *place; /* by instruction: its entry in known + 1 */
	struct known *known;
	uint32_t n_known, cap_known;
	struct callee callees[MAX_CALLEES];
	uint32_t n_callees;
	uint32_t *
		spots; /* by sample of the series: its entry in known + 1, or CALLEE and one of callees; 0: elsewhere */
	uint32_t n_spots; /* not elsewhere */
};

#define CALLEE 0x80000000u

/* How a register moves from one place to another. */
struct move {
	uint8_t bits; /* of it that are known: 0, 32, 64 */
	int64_t by;
};

void rates_free(struct rates *r)
{
	if (!r)
		return;
	free(r->block);
	free(r->place);
	free(r->known);
	free(r->spots);
	free(r);
}

/* The entry of @insn in r->known, + 1; 0: control does not get there, or there is no memory. */
static uint32_t know(struct rates *r, const struct loops *l, uint32_t insn)
{
	struct consts_pair at;
	struct known *to;

	if (r->place[insn] || !r->block[insn])
		return r->place[insn];
	if (r->n_known == r->cap_known) {
		uint32_t cap = r->cap_known ? 2 * r->cap_known : 64;
		struct known *v = realloc(r->known, cap * sizeof(*v));

		if (!v)
			return 0;
		r->known = v;
		r->cap_known = cap;
	}
	to = &r->known[r->n_known];
	to->block = r->block[insn] - 1;
	consts_at(&l->consts, l->g, l->first, to->block, insn, &at);
	for (int time = 0; time < 2; time++)
		memcpy(to->v[time], at.of[time].v, sizeof(at.of[time].v));
	return r->place[insn] = ++r->n_known;
}

/* The number of @f among what the function calls, MAX_CALLEES: it is none that shows anything. */
static uint32_t callee(struct rates *r, const struct site_function *home,
		       const struct site_function *f)
{
	struct callee c = {.f = f, .called = f, .shown = f->untouched};
	uint32_t k = 0;

	while (k < r->n_callees && r->callees[k].f != f)
		k++;
	if (k < r->n_callees || k == MAX_CALLEES)
		return k;
	for (int depth = 0; depth < DEEPEST && c.shown; depth++) {
		const struct site_function *up = c.called->caller;

		if (c.called->callers_differ || !up)
			break;
		if (up == home) {
			r->callees[r->n_callees] = c;
			return r->n_callees++;
		}
		c.called = up;
		c.shown &= up->untouched;
	}
	return MAX_CALLEES;
}

/* Where each sample of the series is, as seen from the function. */
static void find_spots(struct rates *r, const struct loops *l)
{
	const struct site_function *home = loops_block(l, 0)->f, *last = NULL;
	uint32_t k = MAX_CALLEES;

	for (uint32_t i = 0; i < r->series->n; i++) {
		const struct series_sample *s = &r->series->v[i];

		if (s->f == home) {
			r->spots[i] = know(r, l, s->insn);
		} else {
			if (s->f != last)
				k = callee(r, home, s->f);
			last = s->f;
			r->spots[i] = k < MAX_CALLEES ? CALLEE | k : 0;
		}
		r->n_spots += r->spots[i] != 0;
	}
}

/* Where the function calls what samples of the series are in. */
static void know_calls(struct rates *r, const struct loops *l)
{
	const struct site_function *home = loops_block(l, 0)->f;

	for (uint32_t i = 0; i < home->n && r->n_callees; i++) {
		uint64_t where = home->start + home->b->off[i] +
				 (uint64_t)home->b->insn[i].target;

		for (uint32_t k = 0;
		     home->b->insn[i].flow == DECODE_CALL && k < r->n_callees;
		     k++)
			if (r->callees[k].called->start == where)
				know(r, l, i);
	}
}

struct rates *rates_new(const struct loops *l)
{
	struct site_function *f = loops_block(l, 0)->f;
	uint32_t n = pairs_kept(f->pairs);
	struct rates *r;

	if (!l->n_back || !(r = calloc(1, sizeof(*r))))
		return NULL;
	phases_forget(f);
	r->pairs = f->pairs;
	r->series = l->g->series;
	r->block = calloc(f->n + 1, sizeof(*r->block));
	r->place = calloc(f->n + 1, sizeof(*r->place));
	r->spots = calloc(r->series->n + 1, sizeof(*r->spots));
	if (!r->block || !r->place || !r->spots) {
		rates_free(r);
		return NULL;
	}
	for (uint32_t v = 0; v < l->n; v++)
		for (uint32_t i = loops_block(l, v)->first;
		     i < loops_block(l, v)->end; i++)
			r->block[i] = v + 1;
	for (uint32_t k = 0; k < n; k++) {
		know(r, l, f->pairs->v[k].from);
		know(r, l, f->pairs->v[k].to);
	}
	find_spots(r, l);
	know_calls(r, l);
	return r;
}

/* From @from to @to, both by each of the two sets of made-up numbers. */
static struct move move_of(uint64_t from0, uint64_t to0, uint64_t from1,
			   uint64_t to1)
{
	uint64_t a = to0 - from0, b = to1 - from1;

	if (a == b)
		return (struct move){64, (int64_t)a};
	if ((uint32_t)a == (uint32_t)b)
		return (struct move){32, (int32_t)(uint32_t)a};
	return (struct move){0, 0};
}

/* By how much register @q moves in each round of the loop at @head, by whatever way. */
static struct move step_of(const struct loops *l, uint32_t head, unsigned q)
{
	const struct decode_regs *in = l->consts.in[head].of;
	struct move all = {0, 0};
	bool any = false, warm = false;

	for (uint32_t k = 0; k < l->n_back; k++)
		warm |= l->back[k].head == head && !l->cold[l->back[k].tail];
	for (uint32_t k = 0; k < l->n_back; k++) {
		const struct decode_regs *out =
			l->consts.out[l->back[k].tail].of;
		struct move m;

		if (l->back[k].head != head ||
		    (warm && l->cold[l->back[k].tail]))
			continue;
		m = move_of(in[0].v[q], out[0].v[q], in[1].v[q], out[1].v[q]);
		if (!m.bits || (any && (m.bits != all.bits || m.by != all.by)))
			return (struct move){0, 0};
		all = m;
		any = true;
	}
	return all;
}

/* How far registers are from where they were at the head, at some place in the loop. */
struct spot {
	bool inside;
	struct move from_head[DECODE_REGS];
};

struct counting {
	const struct rates *r;
	const struct loops *l;
	uint32_t head;
	struct move steps[DECODE_REGS]; /* in each round */
	struct spot *known;		/* as r->known */
	struct spot callees[MAX_CALLEES];
};

static void spot_at(const struct counting *c, const struct known *k,
		    struct spot *to)
{
	const struct decode_regs *in = c->l->consts.in[c->head].of;

	to->inside = c->l->member[k->block];
	for (unsigned q = 0; to->inside && q < DECODE_REGS; q++)
		if (c->steps[q].bits)
			to->from_head[q] = move_of(in[0].v[q], k->v[0][q],
						   in[1].v[q], k->v[1][q]);
}

/* All calls that lead to @k are in the loop, and have the same in the registers that it shows. */
static void spot_of_callee(const struct counting *c, const struct callee *k,
			   struct spot *to)
{
	const struct site_function *home = loops_block(c->l, 0)->f;
	bool any = false;

	for (uint32_t i = 0; i < home->n; i++) {
		const struct spot *at;

		if (home->b->insn[i].flow != DECODE_CALL || !c->r->place[i] ||
		    home->start + home->b->off[i] +
				    (uint64_t)home->b->insn[i].target !=
			    k->called->start)
			continue;
		at = &c->known[c->r->place[i] - 1];
		if (!at->inside) {
			to->inside = false;
			return;
		}
		if (!any)
			*to = *at;
		for (unsigned q = 0; q < DECODE_REGS; q++)
			if (!(k->shown >> q & 1) ||
			    to->from_head[q].bits != at->from_head[q].bits ||
			    to->from_head[q].by != at->from_head[q].by)
				to->from_head[q].bits = 0;
		any = true;
	}
}

/* What two samples say of the loop. */
enum telling { TELLS_NOTHING, TELLS_ROUNDS, TELLS_LEFT, TELLS_WRONG };

static enum telling tell(const struct counting *c, const struct spot *from,
			 const struct spot *to, const uint64_t *moved_by,
			 double *rounds)
{
	bool any = false, wrong = false;

	for (unsigned q = 0; q < DECODE_REGS; q++) {
		const struct move *a = &from->from_head[q],
				  *b = &to->from_head[q], *step = &c->steps[q];
		int64_t moved;

		if (!step->bits || !a->bits || !b->bits)
			continue;
		/* From the head before the one to the head before the other. */
		moved = (int64_t)(moved_by[q] - (uint64_t)b->by +
				  (uint64_t)a->by);
		if (step->bits == 32 || a->bits == 32 || b->bits == 32)
			moved = (int32_t)(uint32_t)moved;
		if (!step->by) {
			if (moved)
				return TELLS_LEFT;
			continue;
		}
		if (step->by == -1 && moved == INT64_MIN) {
			wrong = true;
			continue;
		}
		if (moved % step->by) {
			wrong = true;
			continue;
		}
		if (any && *rounds != (double)(moved / step->by))
			return TELLS_LEFT;
		*rounds = (double)(moved / step->by);
		any = true;
	}
	if (wrong || (any && *rounds < 0))
		return TELLS_WRONG;
	return any ? TELLS_ROUNDS : TELLS_NOTHING;
}

struct told {
	uint32_t n, left, wrong; /* pairs */
	uint32_t threads;	 /* of the series */
	double sum, squares;	 /* of rounds */
	double gaps, all_gaps;	 /* of pairs that told, of all, in ns */
	double low[DECODE_REGS],
		high[DECODE_REGS]; /* register by steps, at the head before the second of a pair */
	uint32_t n_at[DECODE_REGS];
};

/* Where the registers that count are. */
static void note_place(const struct counting *c, const struct spot *to,
		       const uint64_t *regs, struct told *t)
{
	for (unsigned q = 0; q < DECODE_REGS; q++) {
		const struct move *b = &to->from_head[q], *step = &c->steps[q];
		uint64_t at = regs[q] - (uint64_t)b->by;
		double x;

		if (!step->bits || !step->by || !b->bits)
			continue;
		x = (step->bits == 32 || b->bits == 32
			     ? (double)(int32_t)(uint32_t)at
			     : (double)(int64_t)at) /
		    (double)step->by;
		if (!t->n_at[q] || x < t->low[q])
			t->low[q] = x;
		if (!t->n_at[q] || x > t->high[q])
			t->high[q] = x;
		t->n_at[q]++;
	}
}

/* Returns the rounds, negative: they are not told. */
static double tell_pair(const struct counting *c, const struct spot *from,
		      const struct spot *to, const uint64_t *moved,
		      const uint64_t *regs, uint64_t gap_ns, struct told *t)
{
	const struct graph *g = c->l->g;
	double ns_cycles =
		g->all_ns > 0 ? g->sample_cycles * g->samples / g->all_ns : 0;
	double least = g->flow.nodes[c->l->first + c->head].cycles / COST_SLACK,
	       rounds = 0;
	enum telling what = tell(c, from, to, moved, &rounds);

	if (what == TELLS_NOTHING)
		return -1;
	note_place(c, to, regs, t);
	if (what == TELLS_ROUNDS &&
	    (rounds - 1) * least > (double)gap_ns * ns_cycles)
		what = TELLS_WRONG;
	t->all_gaps += (double)gap_ns;
	t->left += what == TELLS_LEFT;
	t->wrong += what == TELLS_WRONG;
	if (what != TELLS_ROUNDS)
		return -1;
	t->n++;
	t->gaps += (double)gap_ns;
	t->sum += rounds;
	t->squares += rounds * rounds;
	return rounds;
}

static void tell_pairs(const struct counting *c, struct told *t, struct phases *phases)
{
	const struct rates *r = c->r;

	for (uint32_t k = 0; k < pairs_kept(r->pairs); k++) {
		const struct pair *p = &r->pairs->v[k];
		const struct spot *from, *to;
		double rounds;

		if (!r->place[p->from] || !r->place[p->to])
			continue;
		from = &c->known[r->place[p->from] - 1];
		to = &c->known[r->place[p->to] - 1];
		if (!from->inside || !to->inside)
			continue;
		rounds = tell_pair(c, from, to, p->moved, p->regs, p->gap_ns, t);
		for (uint32_t i = 0; i < p->n_shown; i++)
			phases_note(phases, &p->shown[i], rounds);
	}
}

static bool shows_count(const struct counting *c, const struct spot *s)
{
	for (unsigned q = 0; q < DECODE_REGS; q++)
		if (c->steps[q].bits && c->steps[q].by && s->from_head[q].bits)
			return true;
	return false;
}

/* Samples of the same thread that follow each other in the series, whatever is in between. */
static void tell_series(const struct counting *c, struct told *t)
{
	const struct series_sample *last[SERIES_THREADS] = {NULL};
	const struct spot *at[SERIES_THREADS];

	for (uint32_t i = 0; i < c->r->series->n; i++) {
		const struct series_sample *s = &c->r->series->v[i];
		uint32_t spot = c->r->spots[i], k = s->tid % SERIES_THREADS;
		const struct spot *now = !spot ? NULL
					 : spot & CALLEE
						 ? &c->callees[spot & ~CALLEE]
						 : &c->known[spot - 1];
		uint64_t moved[DECODE_REGS];

		if (!now || !now->inside || !shows_count(c, now))
			continue;
		if (last[k] && last[k]->tid == s->tid &&
		    last[k]->time_ns < s->time_ns) {
			for (unsigned q = 0; q < DECODE_REGS; q++)
				moved[q] = s->regs[q] - last[k]->regs[q];
			tell_pair(c, at[k], now, moved, s->regs,
				  s->time_ns - last[k]->time_ns, t);
		}
		t->threads += !last[k];
		last[k] = s;
		at[k] = now;
	}
}

/* The most rounds that a stay makes: what a register goes through that begins anew in each; 0: not known. */
static double longest_stay(const struct told *t)
{
	double least = 0;

	for (unsigned q = 0; q < DECODE_REGS; q++) {
		double x = t->n_at[q] > 1
				   ? (t->high[q] - t->low[q]) *
					     (t->n_at[q] + 1) / (t->n_at[q] - 1)
				   : 0;

		if (x > 0 && (!(least > 0) || x < least))
			least = x;
	}
	return least;
}

static bool seldom_wrong(const struct told *t)
{
	return t->wrong <= CONTRADICTED * (t->n + t->wrong);
}

/*
 * Stays of so many rounds are left between samples as often as that?  Where a whole stay takes less time than
 * there is between samples, pairs that look like one stay are of two: their
 * rounds say nothing, and there are fewer of them than there would be of one.
 */
static bool is_plausible(const struct told *t)
{
	double all = (double)t->n + t->left + t->wrong, stayed = t->n / all;
	double rounds = longest_stay(t), gaps = rounds * t->n / t->sum,
	       expected = gaps > 1 ? 1 - 1 / gaps : 0;

	if (stayed < FEW_STAYED)
		return false;
	return stayed >= MANY_STAYED ||
	       stayed >= expected - STAYED_SLACK -
				 2 * sqrt(expected * (1 - expected) / all);
}

static double left_sd(const struct told *t)
{
	return LEFT_SD * (t->left + t->wrong) /
	       ((double)t->n + t->left + t->wrong);
}

/* By pairs: so many rounds for each sample in the loop. */
static bool by_pairs(const struct counting *c, struct flow_rate *rate)
{
	struct phases phases = { .n = 0 };
	struct told t = {0};
	double samples = 0, mean, variance;

	tell_pairs(c, &t, &phases);
	if (!seldom_wrong(&t))
		return false;
	phases_apply(&phases, loops_block(c->l, 0)->f);
	for (uint32_t v = 0; v < c->l->n; v++)
		samples +=
			c->l->member[v]
				? c->l->g->flow.nodes[c->l->first + v].samples
				: 0;
	if (t.n < FEWEST || t.sum < FEWEST || !is_plausible(&t))
		return false;
	mean = t.sum / t.n;
	variance = t.squares / t.n - mean * mean;
	rate->runs = mean * samples;
	rate->sd = sqrt((variance > 0 ? variance : 0) / (mean * mean * t.n) +
			1 / samples + 1 / t.sum + RATE_SD * RATE_SD +
			left_sd(&t) * left_sd(&t));
	return true;
}

/* By the series: so many rounds in all that time. */
static bool by_series(const struct counting *c, struct flow_rate *rate)
{
	struct told t = {0};

	if (c->r->n_spots < FEWEST_SPREAD)
		return false;
	tell_series(c, &t);
	if (t.n < FEWEST_SPREAD || t.sum < FEWEST ||
	    t.n < MANY_STAYED * ((double)t.n + t.left + t.wrong))
		return false;
	/* Of each thread, what lies before its first sample and behind its last. */
	rate->runs = t.sum * t.all_gaps / t.gaps * (1 + (double)t.threads / t.n);
	rate->sd = sqrt(1 / t.sum + t.threads / (t.n * (double)t.n) +
			SERIES_SD * SERIES_SD + left_sd(&t) * left_sd(&t));
	return true;
}

int rates_apply(const struct rates *r, struct loops *l, uint32_t head)
{
	struct counting c = {.r = r, .l = l, .head = head};
	struct flow_rate rate = {.node = l->first + head};
	bool any = false, found;

	if (!r || !l->consts.seen[head] || !r->n_known)
		return 0;
	for (unsigned q = 0; q < DECODE_REGS; q++) {
		c.steps[q] = step_of(l, head, q);
		any |= c.steps[q].bits && c.steps[q].by;
	}
	if (!any)
		return 0;
	c.known = calloc(r->n_known, sizeof(*c.known));
	if (!c.known)
		return -ENOMEM;
	for (uint32_t k = 0; k < r->n_known; k++)
		spot_at(&c, &r->known[k], &c.known[k]);
	for (uint32_t k = 0; k < r->n_callees; k++)
		spot_of_callee(&c, &r->callees[k], &c.callees[k]);
	found = by_pairs(&c, &rate);
	found |= by_series(&c, &rate);
	free(c.known);
	return found ? flow_graph_rate(&l->g->flow, &rate) : 0;
}
