/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_calls.h - which code does which accesses, with --callers: counts by instruction and address.
 *
 * Beside the counters that are always there.  An instruction that accesses a fixed address has one number.  Any
 * other has a leaf of numbers for each page that it accesses, one for each of its size; the leaf of the page
 * that it was at last is at hand.  Both lie in the memfd (hvt_wire.h), so nothing is lost when the process ends.
 */
#ifndef HVT_CALLS_H
#define HVT_CALLS_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Is it asked for?  Set by the command line. */
extern Bool hvt_calls_on;

/* Add to @out: the instruction at @ip has accessed @size bytes at @addr, an atom, if @guard (NULL: surely). */
void hvt_calls_add(IRSB *out, Addr ip, IRExpr *addr, IRExpr *guard, Bool write, UInt size);

/* The number of the instruction at @ip, told to hotvar, without counting it; 0: there is none left. */
UInt hvt_calls_number(Addr ip, Bool write, UInt size);

/* Send what was counted in [@start, @end), and begin there from zero. */
void hvt_calls_take(Addr start, Addr end);
/* The same for all; how many counts there were. */
ULong hvt_calls_take_all(void);

/* The code in [@start, @end) is gone: what comes there is other code. */
void hvt_calls_unmapped(Addr start, Addr end);

/* hotvar is there now: tell what was translated before. */
void hvt_calls_begin(void);

/* After a fork, in the child, whose memfd is new. */
void hvt_calls_forked(void);

#endif /* HVT_CALLS_H */
