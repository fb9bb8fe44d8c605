/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk_insn.h - one instruction as a walk does it, and the state that it is done on.
 *
 * Private to the walker.  Most instructions are done by a stub: it loads the registers that the instruction names from the
 * state, does that very instruction with its memory operand in state.slot and with another register for RSP, and stores
 * them.  What goes somewhere else, and what uses the stack, is done by walker.c.
 */
#ifndef WALK_INSN_H
#define WALK_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WALK_GPRS = 16, WALK_VECS = 32, WALK_KS = 8, WALK_SLOT = 64 };

/* RFLAGS: CF PF AF ZF SF OF, and DF. */
#define WALK_STATUS 0x8d5u
#define WALK_DF	    0x400u

struct walk_state {
	uint8_t slot[WALK_SLOT]; /* the memory operand */
	uint8_t vec[WALK_VECS][64];
	uint64_t gpr[WALK_GPRS];
	uint64_t k[WALK_KS];
	uint64_t flags;
	/* What of it is known. */
	uint32_t gpr_known, k_known; /* a bit for each */
	uint32_t flags_known;
	uint8_t vec_known[WALK_VECS]; /* so many of the lowest bytes */
} __attribute__((aligned(64)));

enum walk_kind {
	WALK_STUB,
	WALK_NOTHING, /* nop, endbr, prefetch ... */
	WALK_OPAQUE,  /* what comes of it is not known */
	WALK_LEA,
	WALK_JUMP,
	WALK_JCC,
	WALK_LOOP, /* loop, loope, loopne, jrcxz */
	WALK_CALL,
	WALK_JUMP_TO, /* through a register or memory */
	WALK_CALL_TO,
	WALK_RET,
	WALK_PUSH,
	WALK_POP,
	WALK_LEAVE,
	WALK_STRING,
	WALK_DIVIDE, /* a stub, where it does not fault */
	WALK_VZEROUPPER,
	WALK_SYSTEM_CALL,
	WALK_PAUSE, /* waits for another thread */
	WALK_NOT_DONE,
};

enum walk_string { WALK_MOVS, WALK_STOS, WALK_LODS, WALK_SCAS, WALK_CMPS };

struct walk_vec_use {
	uint8_t reg;
	uint8_t bytes; /* read: that many must be known; written: that many are known then */
	bool rest; /* written: those behind stay as they were */
};

enum { WALK_VEC_USES = 4, WALK_NO_REG = 0xff, WALK_CODE = 15 };

/* Address of the memory operand: segment base + base + index * scale + disp; base WALK_NO_REG: none. */
struct walk_mem {
	uint8_t base, index, scale;
	uint8_t size;	 /* bytes; 0: there is none */
	uint8_t segment; /* 0, 'f', 'g' */
	bool read, write, short_address;
	int64_t disp; /* of RIP: with it */
};

struct walk_insn {
	uint64_t ip;
	uint32_t mm;
	uint8_t len;
	uint8_t kind; /* enum walk_kind */
	uint8_t cond; /* JCC: as in the opcode; LOOP: the opcode; STRING: enum walk_string */
	uint8_t reg; /* PUSH, POP, LEA, JUMP_TO, CALL_TO, DIVIDE: register, or WALK_NO_REG: memory or an immediate */
	uint8_t width;	 /* bytes that LEA, PUSH, POP, STRING, DIVIDE work on */
	bool rep, repne; /* STRING */
	bool is_signed;	 /* DIVIDE */
	bool hides; /* a load that overwrites a register of its own address */
	bool same; /* compares with, or takes away, the stack protector's word: there is no difference */
	bool zeroes_above; /* vector registers that it writes are 0 behind what it writes */
	uint16_t gpr_read, gpr_written,
		gpr_merged; /* merged: only a part is written */
	uint8_t k_read, k_written;
	uint32_t flags_read, flags_written;
	uint8_t n_vec_read, n_vec_written;
	struct walk_vec_use vec_read[WALK_VEC_USES], vec_written[WALK_VEC_USES];
	struct walk_mem mem;
	int64_t imm; /* PUSH: the value; RET: bytes that it takes off the stack */
	uint64_t target; /* JUMP, JCC, LOOP, CALL */
	void (*stub)(struct walk_state *s);
	struct walk_insn *next, *taken; /* as they were found: NULL: not yet */
	uint32_t
		checked; /* the walk in which its bytes were last compared with what is in memory */
	uint8_t code[WALK_CODE];
};

/* Room for stubs, that can be written at one address and executed at another. */
struct walk_room {
	uint8_t *write, *execute;
	size_t size, used;
};

int walk_room_init(
	struct walk_room *r,
	size_t size); /* 0 or -errno: executable memory may be forbidden */
void walk_room_fini(struct walk_room *r);

/*
 * What the instruction in @code[@n], which stands at @ip, is; its stub into @room.  0, -ENODATA if it goes on behind @n,
 * -EINVAL if it is none, -ENOSPC if there is no room.
 */
int walk_insn_make(struct walk_insn *in, const uint8_t *code, size_t n,
		   uint64_t ip, struct walk_room *room);

#endif /* WALK_INSN_H */
