/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvk_insn.h - what data one instruction is about to access, by the user registers before it runs.
 *
 * The kernel's own decoder (insn_decode(), arch/x86/lib/insn.c) takes the bytes apart; which operand
 * is read and which is written is ours, after the opcode maps of the Intel SDM, volume 2.  Nothing is guessed: an
 * instruction whose accesses are not known for certain (gather and masked forms, compressed displacements of
 * EVEX, 16-bit addressing, far calls, a segment that is not flat) has none.
 *
 * Callable from any probe, NMI included: reads user memory without faulting, takes no lock.
 */
#ifndef HVK_INSN_H
#define HVK_INSN_H

#include "hvk_host.h"

#define HVK_READ	 1
#define HVK_WRITE	 2
#define HVK_MAX_ACCESSES 2

struct hvk_access {
	u64 addr;
	u32 span; /* it is not more bytes than these */
	u32 what; /* HVK_READ | HVK_WRITE */
};

/* What one instruction accesses, in the order in which it does. */
struct hvk_accesses {
	u64 ip; /* of the instruction */
	u32 n;
	u32 steps; /* instructions between the registers and it: hvk_step.h */
	struct hvk_access v[HVK_MAX_ACCESSES];
};

/* Registers, a user's but for hvk_cpu_init_kernel(), as far as they are known. */
struct hvk_cpu {
	u64 r[16]; /* by number: ax cx dx bx sp bp si di r8 ... */
	u64 ip, flags;
	u32 known; /* bit n: r[n] is */
	bool flags_known;
	bool wide; /* runs 64-bit code */
	bool kernel; /* these are registers of the kernel, which accesses memory for its user */
	struct pt_regs *regs;
};

/* One instruction, taken apart. */
struct hvk_insn {
	struct insn in;
	u8 map; /* 1: one byte; 2: 0f; 3: 0f 38; 4: 0f 3a; 5, 6: EVEX 5 and 6 */
	u8 op;
	u8 pp; /* mandatory prefix: 0, 1: 66, 2: f3, 3: f2 */
	u8 mod, reg, rm; /* of ModRM; reg and rm as registers, with their extension */
	u8 seg; /* prefix 64 or 65, or 0 */
	u8 segs; /* how many prefixes name a segment */
	bool modrm, vex, evex, rep;
	bool narrow; /* prefix 66, and no REX.W: operands of 16 bits where there is a choice */
};

/*
 * From probe begin: find the kernel's decoder.  Returns 0 or -ENOENT: then everything
 * else answers -ENOSYS.
 */
HVK_API int hvk_insn_begin(void);

/* Fill @c from the user registers @regs; -EINVAL if that is no code that is known here. */
HVK_API int hvk_cpu_init(struct hvk_cpu *c, struct pt_regs *regs);

/* The same from registers of the kernel. */
HVK_API int hvk_cpu_init_kernel(struct hvk_cpu *c, struct pt_regs *regs);

/* Take the instruction at @c apart: 0, -ENOSYS, -EFAULT if it cannot be read, -EILSEQ if it is none. */
HVK_API int hvk_insn_read(const struct hvk_cpu *c, struct hvk_insn *i);

/*
 * What @i at @c accesses goes to @out; its number is returned, 0 for none.  -EDOM: it may access
 * memory, but where is not known.
 */
HVK_API int hvk_insn_accesses(const struct hvk_cpu *c, const struct hvk_insn *i, struct hvk_accesses *out);

/*
 * Role of the memory operand that @i's ModRM names, in 64-bit code if @wide: r read, w written, b both,
 * x not to be told, - not accessed, or there is none.
 */
HVK_API char hvk_role(bool wide, const struct hvk_insn *i);

/* The address that @i's ModRM stands for into @ea, without a segment's base; -EDOM if not known. */
HVK_API int hvk_insn_ea(const struct hvk_cpu *c, const struct hvk_insn *i, u64 *ea);

#endif /* HVK_INSN_H */
