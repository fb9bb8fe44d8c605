/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk_string.h - movs, stos, lods, scas and cmps, repeated or not, as a walk does them.
 *
 * Private to the walker.
 */
#ifndef WALK_STRING_H
#define WALK_STRING_H

#include "walk_insn.h"
#include "walk_memory.h"
#include "walker.h"

/* WALK_ENDS: done; else why the walk is over. */
enum walk_end walk_string_do(struct walk_state *s, struct walk_memory *m,
			     const struct walk_insn *in);

#endif /* WALK_STRING_H */
