/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk_kind.h - which way of doing an instruction is the right one.
 *
 * Private to the walker.  Only what is known to be harmless in another process is done by a stub.
 */
#ifndef WALK_KIND_H
#define WALK_KIND_H

#include <Zydis/Zydis.h>

#include "walk_insn.h"

/* Fills in the rest of a string instruction, too. */
enum walk_kind walk_kind_of(struct walk_insn *in, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops);

#endif /* WALK_KIND_H */
