// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * estimate_clobbers.c - the registers that calls of known functions change.
 */
#include "config.h"

#include "estimate_sites.h"

enum {
	CALLER_SAVED = 0x0fc7, /* rax rcx rdx rsi rdi r8-r11 */
	ROUNDS = 8,	       /* chains of calls; longer ones keep what the psABI says */
};

static struct site_function *callee(const struct sites *s, const struct site_function *f, uint32_t i)
{
	struct site_function *to = sites_at(s, f->module, f->mm, f->start + f->b->off[i] + (uint64_t)f->b->insn[i].target);

	return to && to->b && to->b->bounded && !to->b->n_bad ? to : NULL;
}

/* Does the jump at @i stay inside the function? */
static bool stays(const struct site_function *f, uint32_t i)
{
	return blocks_find(f->b, f->b->off[i] + (uint64_t)f->b->insn[i].target) != BLOCKS_NONE;
}

static uint32_t changed_by(const struct sites *s, const struct site_function *f)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct decode_insn *in = &f->b->insn[i];
		const struct site_function *to = NULL;

		switch (in->flow) {
		case DECODE_JUMP:
		case DECODE_COND:
			if (stays(f, i))
				break;
			/* fall through */
		case DECODE_CALL:
			to = callee(s, f, i);
			all |= to ? to->clobbers : CALLER_SAVED;
			break;
		case DECODE_INDIRECT:
			if (!blocks_switch_of(f->b, i) || !blocks_switch_of(f->b, i)->closed)
				all |= CALLER_SAVED;
			break;
		case DECODE_INDIRECT_CALL:
		case DECODE_SYSCALL:
			all |= CALLER_SAVED;
			break;
		default:
			break;
		}
		if (in->flow != DECODE_CALL)
			all |= in->written & CALLER_SAVED;
	}
	return all;
}

void clobbers_find(struct sites *s)
{
	bool changed = true;

	for (size_t k = 0; k < s->n; k++)
		s->v[k]->clobbers = 0;
	for (int round = 0; changed && round <= ROUNDS; round++) {
		changed = false;
		for (size_t k = 0; k < s->n; k++) {
			struct site_function *f = s->v[k];
			uint32_t now;

			if (!f->b)
				continue;
			/* Not settled by now: what still changes may change all. */
			now = changed_by(s, f);
			if (now != f->clobbers && round == ROUNDS)
				now = CALLER_SAVED;
			changed |= now != f->clobbers;
			f->clobbers = now;
		}
	}
	for (size_t k = 0; k < s->n; k++) {
		const struct site_function *f = s->v[k];

		for (uint32_t i = 0; f->b && i < f->n; i++) {
			const struct site_function *to;

			if (f->b->insn[i].flow != DECODE_CALL)
				continue;
			to = changed ? NULL : callee(s, f, i);
			f->b->insn[i].call_kept = to ? CALLER_SAVED & ~to->clobbers : 0;
		}
	}
}
