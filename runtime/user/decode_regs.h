/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode_regs.h - the registers at one point of the code, as far as they are known.
 *
 * Starts from a sample's registers and is moved over instructions, forwards by
 * doing what they do, backwards by undoing it.  What cannot be done or undone
 * exactly becomes unknown; a known bit is always right.
 */
#ifndef DECODE_REGS_H
#define DECODE_REGS_H

#include "decode.h"

struct decode_regs {
	uint64_t v[DECODE_REGS];
	uint8_t known[DECODE_REGS]; /* low bits of v that are known: 0..64 */
	bool flags_known, carry_known, direction_known;
	uint32_t flags;		    /* as RFLAGS: CF 1, PF 4, ZF 0x40, SF 0x80, DF 0x400, OF 0x800 */
};

/* All registers known, from a sample. */
void decode_regs_init(struct decode_regs *s, const uint64_t regs[DECODE_REGS],
		      uint32_t rflags);

/* Does @in leave all registers and flags as they are? */
static inline bool decode_regs_kept(const struct decode_insn *in)
{
	return !in->written && !in->n_effects && in->flags_op == DECODE_FLAGS_KEPT && !in->sets_direction &&
	       in->flow != DECODE_CALL && in->flow != DECODE_INDIRECT_CALL && in->flow != DECODE_SYSCALL;
}

/* Over @in, which stands at address @ip: from before it to after it, and back. */
void decode_regs_forward(struct decode_regs *s, const struct decode_insn *in,
			 uint64_t ip);
void decode_regs_backward(struct decode_regs *s, const struct decode_insn *in,
			  uint64_t ip);

/* Take over from @other, the same point's registers as learned another way, what @s lacks. */
void decode_regs_merge(struct decode_regs *s, const struct decode_regs *other);

/*
 * The address of access @m of the instruction at @ip, before which the
 * registers are @s.  @fs, @gs: segment bases, 0: not known.  False if it cannot
 * be proven.
 */
bool decode_regs_address(const struct decode_regs *s, const struct decode_mem *m,
			 uint64_t ip, uint64_t fs, uint64_t gs, uint64_t *addr);

/* Does condition @cond (0..15) hold?  1 or 0; -1: not known. */
int decode_regs_condition(const struct decode_regs *s, uint8_t cond);

#endif /* DECODE_REGS_H */
