/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walker.h - where a thread that does not run right now will go next, told by doing in here what its code does.
 *
 * From the registers and the memory of a thread that stands still, its instructions are done one after the other: each is
 * put into a stub of code that does the very same on copies of the registers and of memory.  What is not known (vector
 * registers at the start, what a counter of time would say) stays unknown, and spreads; the walk ends where a branch or a
 * write depends on it, at a system call, or at what is not to be done in here.  So what it tells is true, if nobody else
 * writes meanwhile what it reads, and if numbers are rounded as usual: nobody tells the thread's MXCSR.  Nothing of the process is changed; its memory is read by process_vm_readv(2).
 *
 * Used by one thread.
 */
#ifndef WALKER_H
#define WALKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "stream.h"

enum { WALK_BITS = 4096, WALK_TARGETS = 512, WALK_LOADS = 96 };

enum walk_end {
	WALK_ENOUGH, /* as many instructions, or as much time, as asked for; or no room for more */
	WALK_SYSCALL,
	WALK_UNKNOWN, /* a branch, or where something is written, depends on what is not known */
	WALK_INSTRUCTION, /* one that is not done here */
	WALK_MEMORY, /* there is none where it reads, writes or goes; or an instruction would fault */
	WALK_ENDS
};

/*
 * The way that was gone.  It begins at regs[STREAM_RIP].  Each conditional jump (jrcxz and loop among them) has a bit, in
 * order, set: taken.  Each jump and call through a register or memory, and each return, has a target.  Loads are some of those that overwrite the registers of their own address.
 */
struct walk_path {
	uint32_t
		insns; /* that were done; a repeated string instruction is one */
	uint32_t n_bits, n_targets, n_loads;
	enum walk_end end;
	uint8_t bits[WALK_BITS / 8];
	uint64_t targets[WALK_TARGETS];
	struct stream_walk_load loads[WALK_LOADS];
};

struct walk_start {
	pid_t pid;
	uint32_t mm; /* the number of its address space: code is kept by that */
	uint64_t regs[STREAM_REGS];
	uint64_t fs_base, gs_base; /* 0: not known */
	uint32_t most_insns;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
};

struct walker;

/* NULL, errno set: no memory, or none that may be executed (EACCES, EPERM). */
struct walker *walker_new(void);
void walker_free(struct walker *w);

void walker_walk(struct walker *w, const struct walk_start *at,
		 struct walk_path *out);

#endif /* WALKER_H */
