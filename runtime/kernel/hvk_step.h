/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvk_step.h - the next data access that a program will make, from its registers now.
 *
 * A timer stops a program at any instruction; most access nothing.  Those up to the next access are
 * followed here, as far as what they do is certain: registers are kept where the result is exact and forgotten
 * where not, branches are taken where their flags are known.  An access whose address needs what was
 * forgotten is not told, and nothing behind it either.
 *
 * Callable from any probe; bounded by HVK_STEPS instructions.
 */
#ifndef HVK_STEP_H
#define HVK_STEP_H

#include "hvk_insn.h"

#define HVK_STEPS 24

/*
 * The next access from @regs on goes to @out; the number of its addresses is returned.  Else -EINVAL:
 * no user registers; -ENOSYS, -EFAULT, -EILSEQ as hvk_insn_read(); -EDOM: its address is not known; -ENODATA: none
 * that can be told within HVK_STEPS, or before a branch that is not known, or a system call.
 */
HVK_API int hvk_step_next(struct pt_regs *regs, struct hvk_accesses *out);

#endif /* HVK_STEP_H */
