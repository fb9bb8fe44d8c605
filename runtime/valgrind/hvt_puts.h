/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_puts.h - registers that are written again before anybody reads them: those writes are taken out.
 *
 * Valgrind does that before a tool sees the code, and with the register goes the load that was for it: the access is
 * lost.  So it is told to leave every write in (AllregsAtEachInsn), and what it would have taken out goes here, when the loads
 * are still there to be counted.  Kept are all registers at each exit of the block, at locked instructions and before
 * Valgrind's helpers; the stack pointer, the frame pointer and the instruction's address at each access to memory.
 */
#ifndef HVT_PUTS_H
#define HVT_PUTS_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Have Valgrind leave all writes of registers in; before the program begins. */
void hvt_puts_init(void);

/* Take out of @block what nobody reads. */
void hvt_puts(IRSB *block, const VexGuestLayout *layout);

#endif /* HVT_PUTS_H */
