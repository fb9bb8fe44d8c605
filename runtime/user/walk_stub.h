/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk_stub.h - code that does one instruction on a struct walk_state.
 *
 * Private to the walker.
 */
#ifndef WALK_STUB_H
#define WALK_STUB_H

#include <Zydis/Zydis.h>

#include "walk_insn.h"

/* The general register behind @r, of any width; WALK_NO_REG: it is none. */
uint8_t walk_gpr(ZydisRegister r);

/* in->stub, for what @z is.  0, -ENOSPC, or -EINVAL: it can't be made to fit. */
int walk_stub_make(struct walk_insn *in, const ZydisDecodedInstruction *z,
		   const ZydisDecodedOperand *ops, struct walk_room *room);

#endif /* WALK_STUB_H */
