/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk_code.h - the instructions that walks have come to, kept from walk to walk.
 *
 * Private to the walker.
 */
#ifndef WALK_CODE_H
#define WALK_CODE_H

#include "walk_insn.h"
#include "walk_memory.h"

enum { WALK_INSNS = 1 << 14, WALK_SLOTS = 1 << 15 /* a power of 2 */ };

struct walk_code {
	struct walk_memory *mem;
	struct walk_room room;
	uint32_t n;
	uint32_t walk; /* counts them */
	uint32_t mm;
	bool no_room;
	uint16_t slots[WALK_SLOTS]; /* by hash: number of the instruction + 1; 0: free */
	struct walk_insn v[WALK_INSNS];
};

struct walk_code *walk_code_new(struct walk_memory *mem); /* NULL, errno set */
void walk_code_free(struct walk_code *c);

/* Another walk, over the code that address space @mm has now; from here on no instruction is moved till the next. */
void walk_code_begin(struct walk_code *c, uint32_t mm);

/* The instruction at @ip; NULL: none that could be done, or, if c->no_room, there is no room till the next walk. */
struct walk_insn *walk_code_at(struct walk_code *c, uint64_t ip);

/* The same; *@kept is the one that was there when last somebody came this way. */
struct walk_insn *walk_code_look(struct walk_code *c, struct walk_insn **kept, uint64_t ip);

/* Which is done for each instruction, mostly of loops that this walk has been through. */
static inline struct walk_insn *walk_code_follow(struct walk_code *c, struct walk_insn **kept, uint64_t ip)
{
	struct walk_insn *in = *kept;

	return in && in->ip == ip && in->checked == c->walk ? in : walk_code_look(c, kept, ip);
}

#endif /* WALK_CODE_H */
