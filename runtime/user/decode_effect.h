/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode_effect.h - the part of decode.c that says what happens to registers and flags.
 *
 * Private to decode.c: the only other file that knows Zydis.
 */
#ifndef DECODE_EFFECT_H
#define DECODE_EFFECT_H

#include <Zydis/Zydis.h>

#include "decode.h"

/* The general register behind @r (of any width), DECODE_NONE if it is none. */
uint8_t decode_gpr(ZydisRegister r);

/* Fill in out->written, read, effects and flags of @in. */
void decode_registers(const ZydisDecodedInstruction *in,
		      const ZydisDecodedOperand *ops, bool is32,
		      struct decode_insn *out);

#endif /* DECODE_EFFECT_H */
