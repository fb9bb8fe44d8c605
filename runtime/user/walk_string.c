// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "walk_string.h"

#include <string.h>

enum {
	RAX = 0,
	RCX = 1,
	RSI = 6,
	RDI = 7,
	MOST = 2048, /* elements by one instruction: some 60 us */
};

/* The flags of a - b, of @width bytes each. */
static uint64_t compare(uint64_t a, uint64_t b, unsigned width)
{
	enum { CF = 1, PF = 4, AF = 0x10, ZF = 0x40, SF = 0x80, OF = 0x800 };
	uint64_t mask = width == 8 ? ~0ull : (1ull << 8 * width) - 1,
		 top = mask ^ mask >> 1, r;

	a &= mask;
	b &= mask;
	r = (a - b) & mask;
	return (a < b ? CF : 0u) | (__builtin_parityll(r & 0xff) ? 0u : PF) |
	       ((a ^ b ^ r) & AF) | (r ? 0u : ZF) | (r & top ? SF : 0u) |
	       ((a ^ b) & (a ^ r) & top ? OF : 0u);
}

struct work {
	struct walk_state *s;
	struct walk_memory *m;
	const struct walk_insn *in;
	int64_t step;
	bool equal;
};

static bool uses_source(const struct walk_insn *in)
{
	return in->cond == WALK_MOVS || in->cond == WALK_LODS ||
	       in->cond == WALK_CMPS;
}

static bool uses_target(const struct walk_insn *in)
{
	return in->cond != WALK_LODS;
}

static void set_low(uint64_t *reg, uint64_t v, unsigned width)
{
	if (width == 4)
		*reg = (uint32_t)v;
	else
		memcpy(reg, &v, width);
}

static enum walk_end one(struct work *w)
{
	struct walk_state *s = w->s;
	unsigned width = w->in->width;
	uint64_t from = 0, to = 0;
	enum walk_memory_result r = WALK_MEMORY_KNOWN, q = WALK_MEMORY_KNOWN;

	if (uses_source(w->in))
		r = walk_memory_read(w->m, s->gpr[RSI], &from, width);
	if (w->in->cond == WALK_SCAS || w->in->cond == WALK_CMPS)
		q = walk_memory_read(w->m, s->gpr[RDI], &to, width);
	if (r == WALK_MEMORY_NONE || q == WALK_MEMORY_NONE)
		return WALK_MEMORY;
	switch (w->in->cond) {
	case WALK_MOVS:
		if (!walk_memory_write(w->m, s->gpr[RDI],
				       r == WALK_MEMORY_KNOWN ? &from : NULL,
				       width))
			return WALK_MEMORY;
		break;
	case WALK_STOS:
		if (!walk_memory_write(w->m, s->gpr[RDI],
				       s->gpr_known & 1u << RAX ? &s->gpr[RAX]
								: NULL,
				       width))
			return WALK_MEMORY;
		break;
	case WALK_LODS:
		set_low(&s->gpr[RAX], from, width);
		if (r == WALK_MEMORY_UNKNOWN)
			s->gpr_known &= ~(1u << RAX);
		else if (width >= 4)
			s->gpr_known |= 1u << RAX;
		break;
	default:
		if (w->in->cond == WALK_SCAS) {
			from = s->gpr[RAX];
			r = s->gpr_known & 1u << RAX ? WALK_MEMORY_KNOWN
						     : WALK_MEMORY_UNKNOWN;
		}
		s->flags_known |= WALK_STATUS;
		if (r == WALK_MEMORY_UNKNOWN || q == WALK_MEMORY_UNKNOWN) {
			s->flags_known &= ~WALK_STATUS;
			return w->in->rep || w->in->repne ? WALK_UNKNOWN
							  : WALK_ENDS;
		}
		s->flags = (s->flags & ~(uint64_t)WALK_STATUS) |
			   compare(from, to, width);
		w->equal = s->flags & 0x40;
	}
	return WALK_ENDS;
}

static void advance(struct work *w)
{
	if (uses_source(w->in))
		w->s->gpr[RSI] += (uint64_t)w->step;
	if (uses_target(w->in))
		w->s->gpr[RDI] += (uint64_t)w->step;
}

enum walk_end walk_string_do(struct walk_state *s, struct walk_memory *m,
			     const struct walk_insn *in)
{
	struct work w = {.s = s,
			 .m = m,
			 .in = in,
			 .step = s->flags & WALK_DF ? -(int64_t)in->width
						    : in->width};
	bool repeated = in->rep || in->repne,
	     compares = in->cond == WALK_SCAS || in->cond == WALK_CMPS;
	uint32_t needs = (uses_source(in) ? 1u << RSI : 0) |
			 (uses_target(in) ? 1u << RDI : 0) |
			 (repeated ? 1u << RCX : 0);
	enum walk_end why = WALK_ENDS;

	if ((needs & ~s->gpr_known) || !(s->flags_known & WALK_DF))
		return WALK_UNKNOWN;
	if (repeated && s->gpr[RCX] > MOST)
		return WALK_ENOUGH;
	if (!repeated) {
		why = one(&w);
		advance(&w);
		return why;
	}
	while (s->gpr[RCX] && why == WALK_ENDS) {
		why = one(&w);
		if (why != WALK_ENDS)
			break;
		advance(&w);
		s->gpr[RCX]--;
		if (compares && w.equal != in->rep)
			break;
	}
	return why;
}
