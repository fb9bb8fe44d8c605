/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_call.h - a mapping system call that has returned: what it touched, what it did.
 *
 * The table behind it knows each call's number on x86-64, i386 and x32, where
 * its range lies in the arguments, and what success looks like.
 */
#ifndef HVAR_CALL_H
#define HVAR_CALL_H

#include "hvar_env.h"
#include "hvar_diff.h"
#include "hvar_event.h"

enum hvar_abi { HVAR_ABI_X86_64, HVAR_ABI_I386, HVAR_ABI_X32 };

struct hvar_call {
	uint32_t cause;	  /* enum hvar_cause */
	uint64_t args[6]; /* at entry */
	int64_t ret;	  /* as the kernel left it: -errno on failure */
};

struct hvar_range {
	uint64_t start, end;
};

/*
 * The cause of system call @nr under @abi, HVAR_CAUSE_NONE if it can change no map.
 * hvar_call_numbers() lists the numbers to stop at, up to @max of them, into
 * @out, and returns how many there are: for a filter.
 */
HVAR_API uint32_t hvar_call_cause(enum hvar_abi abi, uint64_t nr);
HVAR_API uint32_t hvar_call_numbers(enum hvar_abi abi, uint32_t *out, uint32_t max);

/*
 * The ranges whose areas @c may have changed, page-rounded, up to three (mremap's
 * two and its neighbours' merge are inside), into @out; returns how many, 0 if
 * none could change (a failed mmap; a failed munmap or mprotect may have changed
 * some).  @brk is the program break before the call, for BRK; 0: not known, then
 * the whole of [heap] is affected and the range is up to the new break.
 */
HVAR_API uint32_t hvar_call_ranges(const struct hvar_call *c, uint64_t brk,
				   struct hvar_range out[3]);

/*
 * Apply @c to @m by its arguments and result alone, without looking, and tell
 * each change to @emit as hvar_diff() does.  @file says what an mmap of a file
 * descriptor maps (module, region, flags), NULL for anonymous memory.
 *
 * Returns 0, -EOPNOTSUPP if arguments and result do not tell (a call that failed
 * half-way, shmat's size): look instead; or -ENOSPC as hvar_diff().
 */
HVAR_API int hvar_call_apply(struct hvar_vmas *m, const struct hvar_call *c,
			     uint64_t brk, const struct hvar_vma *file,
			     const struct hvar_event *base, hvar_emit_fn emit,
			     void *ctx);

#endif /* HVAR_CALL_H */
