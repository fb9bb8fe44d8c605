/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode.h - one x86 instruction: what memory it touches, what it does to registers, where it goes.
 *
 * A thin, total wrapper around Zydis: any bytes give an instruction or an
 * error.  Everything is in small numbers, so that a function's code can be kept
 * decoded; nothing points into Zydis.
 *
 * Facts are from the Intel SDM, volumes 1 (flags, addressing) and 2 (instructions).
 */
#ifndef DECODE_H
#define DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers 0..15 are numbered as in an instruction, and as in enum stream_reg. */
enum { DECODE_REGS = 16, DECODE_RIP = 16, DECODE_NONE = 0xff };

enum decode_segment { DECODE_SEG_FLAT, DECODE_SEG_FS, DECODE_SEG_GS };

enum decode_mem_flags {
	DECODE_MEM_READ = 1,  /* as enum hvar_access_flags */
	DECODE_MEM_WRITE = 2,
	DECODE_MEM_REP = 4,   /* RCX times, each time @size bytes further */
	DECODE_MEM_LOST = 8,  /* general registers do not tell the address */
	DECODE_MEM_MAYBE = 16, /* a condition or mask may suppress it */
	DECODE_MEM_STACK = 32, /* implicit: push, pop, call, ret, leave */
};

/*
 * One access: segment base + base + index * scale + disp, cut to @addr_bits before
 * the segment's base.  @base may be DECODE_RIP: then @disp counts from the
 * instruction's first byte.
 */
struct decode_mem {
	uint8_t base, index;   /* register or DECODE_NONE */
	uint8_t scale;
	uint8_t segment;       /* enum decode_segment */
	uint8_t flags;	       /* enum decode_mem_flags */
	uint8_t addr_bits;     /* 16, 32, 64 */
	uint8_t index_bits;    /* low bits of index that count: as addr_bits, 8 for xlat */
	uint8_t elements;      /* accesses that it is: 1, lanes of a gather */
	uint32_t size;	       /* bytes of one access */
	int64_t disp;
};

enum decode_op {
	DECODE_SET,	/* dst = imm; from RIP: dst = address of the instruction + imm */
	DECODE_COPY,	/* dst = src */
	DECODE_ADD,	/* dst += src */
	DECODE_SUB,	/* dst -= src */
	DECODE_XOR,
	DECODE_AND,
	DECODE_OR,
	DECODE_SHL,	/* by imm */
	DECODE_SHR,
	DECODE_SAR,
	DECODE_ROL,
	DECODE_MUL,	/* dst = src * imm, or dst *= src */
	DECODE_NEG,
	DECODE_NOT,
	DECODE_BSWAP,
	DECODE_LEA,	/* dst = base + index * scale + imm */
	DECODE_ZEXT,	/* dst = low src_bits of src */
	DECODE_SEXT,
	DECODE_SWAP,	/* dst <-> src */
	DECODE_CMOV,	/* dst = src if condition imm holds */
	DECODE_STEP,	/* dst += imm, or -= when the direction flag is set; times RCX if rep */
};

/* What happens to one register, exactly.  Effects of one instruction happen in order. */
struct decode_effect {
	uint8_t op;	  /* enum decode_op */
	uint8_t dst, src; /* src DECODE_NONE: imm */
	uint8_t bits;	  /* of the operation: 64, or 32 which clears the upper half */
	uint8_t src_bits; /* ZEXT, SEXT */
	uint8_t base, index, scale;
	int64_t imm;
};

enum decode_flow {
	DECODE_NEXT,
	DECODE_JUMP,
	DECODE_COND,
	DECODE_CALL,
	DECODE_RET,
	DECODE_INDIRECT, /* jump */
	DECODE_INDIRECT_CALL,
	DECODE_SYSCALL,
	DECODE_STOP,	 /* ud2, hlt: nothing follows */
};

/* What an instruction leaves in the flags, as a comparison that can be done again. */
enum decode_flags_op {
	DECODE_FLAGS_KEPT,
	DECODE_FLAGS_LOST,
	DECODE_FLAGS_SUB,   /* cmp, sub: of a - b */
	DECODE_FLAGS_AND,   /* test, and */
	DECODE_FLAGS_ADD,
	DECODE_FLAGS_OR,
	DECODE_FLAGS_XOR,
	DECODE_FLAGS_INC,   /* as ADD and SUB of 1, but CF stays as it was */
	DECODE_FLAGS_DEC,
};

enum { DECODE_MAX_MEM = 3, DECODE_MAX_EFFECTS = 3, DECODE_MAX_LEN = 15 };

struct decode_insn {
	uint8_t len;
	uint8_t flow;	   /* enum decode_flow */
	uint8_t cond;	   /* COND: 0..15 as in Jcc's opcode; DECODE_NONE: jrcxz, loop */
	uint8_t n_mem, n_effects;
	uint8_t flags_op;  /* enum decode_flags_op */
	uint8_t flags_bits, flags_a, flags_b; /* width; registers, b DECODE_NONE: flags_imm */
	bool is_nop;	   /* of any length, also endbr */
	bool is_rep;
	bool sets_direction; /* std, cld, popf: which way strings go is not known across it */
	uint8_t jump_reg;  /* INDIRECT through a register: which; else DECODE_NONE */
	uint8_t moved;	   /* a plain move of all 32 or 64 bits of a register from or to mem[0]: which; else DECODE_NONE */
	uint8_t cycles4;   /* rough cost in quarters of a cycle, by throughput */
	uint8_t latency;   /* rough cycles from inputs to outputs */
	uint32_t written;  /* registers that may change: bit r; those without an effect are lost */
	uint32_t read;	   /* registers it needs, for values or addresses */
	uint32_t call_kept; /* CALL: registers that it keeps beyond the psABI's; 0 until clobbers_find() */
	int64_t target;	   /* JUMP, COND, CALL: of the instruction's first byte */
	int64_t flags_imm;
	struct decode_mem mem[DECODE_MAX_MEM];
	struct decode_effect effects[DECODE_MAX_EFFECTS];
};

/*
 * Decode the instruction in the first bytes of @code (@n of them), 64-bit code
 * or @is32.  Returns 0, -ENODATA if it goes on past @n, or -EINVAL if it is none.
 */
int decode(const uint8_t *code, size_t n, bool is32, struct decode_insn *out);

/* The same, but @out gets its len, flow, cond and target alone, in half the time. */
int decode_flow(const uint8_t *code, size_t n, bool is32, struct decode_insn *out);

#endif /* DECODE_H */
