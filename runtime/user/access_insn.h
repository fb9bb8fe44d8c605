/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access_insn.h - which instruction has done an access that the processor told of, and whether it read or wrote.
 *
 * A page fault tells of the instruction itself and the exact address.  A watchpoint tells of memory that was accessed, and
 * where control went next: the instruction is the one before that, unless it was a jump or a call through memory, or one that
 * repeats and is not done.  Who it was is told where only one fits; else only what is true of all that fit.
 */
#ifndef ACCESS_INSN_H
#define ACCESS_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

/* What is asked of the one who has the code; addresses are the process's. */
struct access_code {
	void *ctx;
	/* Up to @len bytes of code at @addr into @buf; returns how many there are. */
	size_t (*read)(void *ctx, uint64_t addr, void *buf, size_t len);
	/* Where the function that holds @addr begins; false: not known. */
	bool (*function)(void *ctx, uint64_t addr, uint64_t *start);
	bool is32;
};

struct access_insn {
	uint64_t ip;	/* the instruction, 0: not known */
	uint32_t flags; /* enum hvar_access_flags; 0: not told */
};

/*
 * A fault at @addr of the instruction at @ip, which had the registers @regs (NULL: not known).  EXEC: the instruction itself was
 * not there yet.  One that reads and writes is told as a write, as the processor does.
 */
uint32_t access_insn_fault(const struct access_code *code, uint64_t ip, const uint64_t regs[STREAM_REGS], uint64_t fs,
			   uint64_t gs, uint64_t addr);

/* Some byte of [@start, @start + @size) was accessed before control came to @at->ip. */
void access_insn_before(const struct access_code *code, const struct stream_watched_at *at, uint64_t start, uint32_t size,
			struct access_insn *out);

#endif /* ACCESS_INSN_H */
