/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_chains.c - the longest way through a round from a register to the same register.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "estimate_chains.h"

enum {
	MAX_BLOCKS = 24,
	FEWEST_SAMPLES = 8,
	LOAD_LATENCY =
		4, /* of an instruction that also loads: what the load takes */
};

static const double MOST_LONGER = 8;

/* Cycles until registers are there, counted from the one that a round begins with; negative: they do not wait for it. */
struct ready {
	double at[DECODE_REGS];
};

static uint32_t address_registers(const struct decode_insn *in)
{
	uint32_t regs = 0;

	for (int m = 0; m < in->n_mem; m++) {
		if (in->mem[m].base < DECODE_REGS)
			regs |= 1u << in->mem[m].base;
		if (in->mem[m].index < DECODE_REGS)
			regs |= 1u << in->mem[m].index;
	}
	return regs;
}

static bool loads(const struct decode_insn *in)
{
	return in->n_mem && in->mem[0].flags & DECODE_MEM_READ;
}

static void over(const struct decode_insn *in, struct ready *r)
{
	uint32_t address = loads(in) ? address_registers(in) : 0;
	double value_latency = in->latency - (loads(in) ? LOAD_LATENCY : 0),
	       done = -1;

	for (unsigned q = 0; q < DECODE_REGS; q++) {
		double latency = address >> q & 1 ? in->latency : value_latency;

		if (in->read >> q & 1 && r->at[q] >= 0 &&
		    r->at[q] + latency > done)
			done = r->at[q] + latency;
	}
	for (unsigned q = 0; q < DECODE_REGS; q++)
		if (in->written >> q & 1)
			r->at[q] = done;
}

/* May instruction @in make a chain longer than its registers are many? */
static bool is_slow(const struct decode_insn *in)
{
	return (in->written && loads(in)) || in->latency > 1;
}

/* Registers that something slow writes in the loop; 0 as well if it calls, or is too large. */
static uint32_t slow_registers(const struct loops *l, uint32_t head)
{
	uint32_t regs = 0, n = 0;
	double samples = 0;

	for (uint32_t v = 0; v < l->n; v++) {
		const struct graph_block *b = loops_block(l, v);

		if (!l->member[v])
			continue;
		samples += l->g->flow.nodes[l->first + v].samples;
		for (uint32_t k = 0; v != head && k < l->n_back; k++)
			if (l->back[k].head == v)
				return 0;
		if (++n > MAX_BLOCKS)
			return 0;
		for (uint32_t i = b->first; i < b->end; i++) {
			const struct decode_insn *in = &b->f->b->insn[i];

			if (in->flow == DECODE_CALL ||
			    in->flow == DECODE_INDIRECT_CALL ||
			    in->flow == DECODE_SYSCALL)
				return 0;
			regs |= is_slow(in) ? in->written : 0;
		}
	}
	return samples >= FEWEST_SAMPLES ? regs : 0;
}

/* The least that is at the end of those blocks that lead to @v. */
static bool enter(const struct loops *l, uint32_t v, const struct ready *out,
		  const double *cycles, const uint8_t *slot, struct ready *in,
		  double *before)
{
	bool any = false;

	for (uint32_t k = l->first_in[v]; k < l->first_in[v + 1]; k++) {
		uint32_t from = loops_edge(l, l->in[k])->from - l->first;
		const struct ready *o;

		if (l->is_back[k] || !l->member[from] || !slot[from])
			continue;
		o = &out[slot[from] - 1];
		for (unsigned q = 0; q < DECODE_REGS; q++)
			if (!any || o->at[q] < in->at[q])
				in->at[q] = o->at[q];
		if (!any || cycles[slot[from] - 1] < *before)
			*before = cycles[slot[from] - 1];
		any = true;
	}
	return any;
}

/* The least cycles that pass from @reg at the head to @reg at the next; *@round: of a round by its instructions. */
static double chain_of(const struct loops *l, uint32_t head, unsigned reg,
		       double *round)
{
	struct ready out[MAX_BLOCKS];
	double cycles[MAX_BLOCKS], least = INFINITY;
	uint8_t *slot = l->state;
	uint32_t n = 0;

	memset(slot, 0, l->n);
	*round = INFINITY;
	for (uint32_t k = l->n_order; k-- > 0;) {
		uint32_t v = l->order[k];
		const struct graph_block *b = loops_block(l, v);
		struct ready r;
		double before = 0;

		if (!l->member[v])
			continue;
		for (unsigned q = 0; q < DECODE_REGS; q++)
			r.at[q] = v == head && q == reg ? 0 : -1;
		if (v != head && !enter(l, v, out, cycles, slot, &r, &before))
			continue;
		for (uint32_t i = b->first; i < b->end; i++)
			over(&b->f->b->insn[i], &r);
		slot[v] = (uint8_t)(n + 1);
		out[n] = r;
		cycles[n++] = before + l->g->flow.nodes[l->first + v].cycles;
		for (uint32_t j = 0; j < l->n_back; j++) {
			if (l->back[j].head != head || l->back[j].tail != v)
				continue;
			least = r.at[reg] < least ? r.at[reg] : least;
			*round =
				cycles[n - 1] < *round ? cycles[n - 1] : *round;
		}
	}
	return least;
}

void chains_apply(struct loops *l, uint32_t head)
{
	uint32_t regs = slow_registers(l, head);
	double longest = 0, round = 0;

	for (unsigned q = 0; q < DECODE_REGS; q++) {
		double x = regs >> q & 1 ? chain_of(l, head, q, &round) : 0;

		longest = x > longest && isfinite(x) ? x : longest;
	}
	if (!(longest > round) || !(round > 0))
		return;
	longest = longest > MOST_LONGER * round ? MOST_LONGER : longest / round;
	for (uint32_t v = 0; v < l->n; v++)
		if (l->member[v])
			l->g->flow.nodes[l->first + v].cycles *= longest;
}
