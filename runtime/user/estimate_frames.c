/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_frames.c - who calls a function, and which of the caller's registers it leaves alone.
 */
#include "config.h"

#include "estimate_sites.h"

enum {
	CALLEE_SAVED = 0xf028, /* rbx rbp r12-r15 */
	CALLER_SAVED =
		0x0fc7, /* others are kept where compilers know what a function changes */
};

/* @f has control from @from: by a call, or (NULL) in a way that does not tell from where. */
static void called(struct site_function *f, struct site_function *from)
{
	if (!from || (f->caller && f->caller != from) || f == from)
		f->callers_differ = true;
	f->caller = from;
}

static void calls_of(const struct sites *s, struct site_function *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct decode_insn *in = &f->b->insn[i];
		uint64_t where = f->start + f->b->off[i] + (uint64_t)in->target;
		struct site_function *to;

		f->untouched &= in->flow == DECODE_CALL ||
						in->flow == DECODE_INDIRECT_CALL
					? ~0u
					: ~in->written;
		if (in->flow != DECODE_CALL && in->flow != DECODE_JUMP &&
		    in->flow != DECODE_COND)
			continue;
		if (in->flow != DECODE_CALL && where >= f->start &&
		    where < f->end)
			continue;
		to = sites_at(s, f->module, f->mm, where);
		if (to)
			called(to, in->flow == DECODE_CALL ? f : NULL);
	}
}

void frames_find(struct sites *s)
{
	for (size_t k = 0; k < s->n; k++) {
		s->v[k]->caller = NULL;
		s->v[k]->callers_differ = false;
		s->v[k]->untouched =
			CALLEE_SAVED | (CALLER_SAVED & ~s->v[k]->clobbers);
	}
	for (size_t k = 0; k < s->n; k++)
		if (s->v[k]->b)
			calls_of(s, s->v[k]);
}
