/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_window.h - from one sample's registers to every address they prove.
 *
 * Private to the estimator.  Moves the registers back to the start of the
 * sample's basic block and forward to its end, and on while it is certain where
 * control goes.
 */
#ifndef ESTIMATE_WINDOW_H
#define ESTIMATE_WINDOW_H

#include "decode_regs.h"
#include "estimate_sites.h"

/* What a window tells as it goes, in order of the code. */
struct window_sink {
	void *ctx;
	/* Operand @mem of instruction @i touches @addr (of a thread-local one from the thread pointer), or, if @proven is false, who knows what. @own: in
	 * the sample's own block. @regs: before the instruction. */
	void (*operand)(void *ctx, struct site_function *f, uint32_t i, uint32_t mem,
			bool proven, uint64_t addr, bool own,
			const struct decode_regs *regs);
	/* The jump at @i of the sample's own block is taken, or not. */
	void (*branch)(void *ctx, struct site_function *f, uint32_t i, bool taken);
	/* The indirect jump at @i goes to offset @off from the function's start. */
	void (*jump)(void *ctx, struct site_function *f, uint32_t i, uint64_t off, bool own);
	uint32_t enough; /* 0, or: an operand that so many samples have proven, and no more lost, is not told */
};

/* Is @m, in the code that @ev is a sample of, thread-local by the ABI, wherever that is? */
static inline bool window_is_tls(const struct hvar_event *ev, const struct decode_mem *m)
{
	return m->segment == (ev->u.sample.flags & HVAR_SAMPLE_ABI32 ? DECODE_SEG_GS
								     : DECODE_SEG_FS);
}

/* Where is it, from the thread pointer?  False if a register is not known. */
static inline bool window_tls_offset(const struct decode_regs *regs, const struct decode_mem *m, uint64_t *offset)
{
	struct decode_mem flat = *m;

	flat.segment = DECODE_SEG_FLAT;
	return m->base != DECODE_RIP && decode_regs_address(regs, &flat, 0, 0, 0, offset);
}

/* @insn is the instruction that @s is about to run. */
void window_run(const struct stream_sample *s, struct site_function *f, uint32_t insn,
		const struct window_sink *sink);

#endif /* ESTIMATE_WINDOW_H */
