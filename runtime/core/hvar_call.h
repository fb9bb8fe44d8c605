/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_call.h - a mapping system call that has returned: what it touched, what it did.
 *
 * The table behind it knows each call's number on x86-64, i386 and x32, where
 * its range lies in the arguments, and what success looks like.
 *
 * A host that can look should do both, apply and then look at the ranges: only
 * the arguments tell a move from an unmap and a map, and only a look sees what
 * they do not tell.  The look then tells nothing where they agree.
 */
#ifndef HVAR_CALL_H
#define HVAR_CALL_H

#include "hvar_env.h"
#include "hvar_diff.h"
#include "hvar_event.h"

enum hvar_abi { HVAR_ABI_X86_64, HVAR_ABI_I386, HVAR_ABI_X32 };

/* One call, in the form that x86-64 gives the call of that cause: hvar_call_fill(). */
struct hvar_call {
	uint32_t cause;	      /* enum hvar_cause */
	uint32_t personality; /* of the task, as personality(2) has it; 0 is usual */
	uint64_t args[6];     /* at entry */
	int64_t ret;	      /* as the kernel left it: -errno on failure */
};

struct hvar_range {
	uint64_t start, end;
};

/*
 * The cause of system call @nr under @abi, HVAR_CAUSE_NONE if it can change no map.
 * x32 numbers carry their bit 30.  i386's ipc() is SHMAT here: hvar_call_fill() tells
 * what it was.  What else maps or unmaps memory (map_shadow_stack, io_setup,
 * io_destroy) is MMAP or MUNMAP.
 *
 * hvar_call_numbers() lists the numbers to stop at, up to @max of them, into
 * @out, and returns how many there are: for a filter.  madvise has a cause, but changes nothing
 * that the map shows, and is not among them; nor are prctl and arch_prctl, which do so for some first
 * arguments only: hvar_call_some().
 */
HVAR_API uint32_t hvar_call_cause(enum hvar_abi abi, uint64_t nr);
HVAR_API uint32_t hvar_call_numbers(enum hvar_abi abi, uint32_t *out, uint32_t max);

/* Call @nr is to be stopped at if the low 32 bits of its first argument are @first. */
struct hvar_call_some {
	uint32_t nr, first;
};
HVAR_API uint32_t hvar_call_some(enum hvar_abi abi, struct hvar_call_some *out,
				 uint32_t max);

/* Is call @nr, with @first in its first register, one of either? */
HVAR_API bool hvar_call_changes(enum hvar_abi abi, uint64_t nr, uint64_t first);

/*
 * Some i386 calls pass arguments and results through memory: where in the
 * program's, for call @nr with @regs at entry; 0 for the others.  To be read when
 * the call has returned: HVAR_CALL_WORDS words of 32 bits, or as many as can be.
 */
#define HVAR_CALL_WORDS 6
HVAR_API uint64_t hvar_call_words(enum hvar_abi abi, uint64_t nr,
				  const uint64_t regs[6]);

/*
 * Fill @c from call @nr of @abi: its six argument registers at entry, what it
 * returned, and the @nwords words that were read at hvar_call_words() (0: could not be,
 * then nothing narrower than a whole look will do).  Leaves c->personality alone.
 */
HVAR_API void hvar_call_fill(struct hvar_call *c, enum hvar_abi abi, uint64_t nr,
			     const uint64_t regs[6], int64_t ret,
			     const uint32_t *words, uint32_t nwords);

/*
 * The ranges whose areas @c may have changed, page-rounded, up to three (mremap's
 * two and its neighbours' merge are inside), into @out; returns how many, 0 if
 * none could change.  A call that failed may have changed some (munmap and
 * mprotect halfway, what MAP_FIXED was to replace).  Where the arguments do not
 * tell the length (shmat), the range ends at the last address.  @brk is the program
 * break before the call, for BRK; 0: not known, then it is everything.
 */
HVAR_API uint32_t hvar_call_ranges(const struct hvar_call *c, uint64_t brk,
				   struct hvar_range out[3]);

/*
 * Before looking at @r: take in the areas of @m that touch its ends.  Where they merge with
 * what is new, their label may change too ([heap] covers all that is merged).
 */
HVAR_API void hvar_call_widen(const struct hvar_vmas *m, struct hvar_range *r);

/*
 * Apply @c to @m by its arguments and result alone, without looking, and tell
 * each change to @emit as hvar_diff() does, and an mremap to elsewhere as MOVE.
 * @file says what an mmap of a file descriptor maps (module, region, flags) if that is
 * an ordinary file, NULL for anonymous memory.  @brk as above; for other calls it only
 * saves looks.
 *
 * Returns 0, -EOPNOTSUPP if arguments, result and list do not tell (a call that failed
 * half-way, shmat's size, huge pages, what may merge with [heap] or [stack]): look
 * instead, nothing has changed and nothing was told; or -ENOSPC as hvar_diff().
 */
HVAR_API int hvar_call_apply(struct hvar_vmas *m, const struct hvar_call *c,
			     uint64_t brk, const struct hvar_vma *file,
			     const struct hvar_event *base, hvar_emit_fn emit,
			     void *ctx);

#endif /* HVAR_CALL_H */
