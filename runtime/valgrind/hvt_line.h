/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_line.h - which threads access each cache line, and which of them after which, with --by cacheline.
 *
 * Beside the counters that are always there; how it lies in the memfd is in hvt_line_wire.h, so nothing is lost when the
 * process ends.  A thread that has ended hands nothing over: memory that it alone has
 * accessed is new to who comes after it, if nobody is left who could have been there at the same time.
 */
#ifndef HVT_LINE_H
#define HVT_LINE_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Is it asked for?  Set by the command line. */
extern Bool hvt_line_on;

/* Add to @out: the instruction at @ip has accessed @size bytes at @addr, an atom, if @guard (NULL: surely). */
void hvt_line_add(IRSB *out, Addr ip, IRExpr *addr, IRExpr *guard, Bool write, UInt size);

/* @parent creates @child; @tid is new; it is its turn; it has ended. */
void hvt_line_thread_created(ThreadId parent, ThreadId child);
void hvt_line_thread(ThreadId tid);
void hvt_line_run(ThreadId tid);
void hvt_line_thread_ended(ThreadId tid);

/* The one whose turn it is has called what waits for a thread: as hvt_order_joins() has it. */
void hvt_line_joins(Addr thread, Addr sp, Bool waits);

/* There is a new object of the heap; or a new thread on a stack that another one had. */
void hvt_line_object(Addr start, SizeT size);

/* Nothing is to be counted from here on; or it is again. */
void hvt_line_stop(Bool stopped);

/* [@start, @end), whole pages, is memory that other processes may have, too. */
void hvt_line_mapped_shared(Addr start, Addr end);

/* [@start, @end), whole pages, is about to be other memory, or none: tell of its lines, and forget them. */
void hvt_line_take(Addr start, Addr end);

/* @len bytes, whole pages, are about to go from @from to @to: the lines of both are told of, and forgotten. */
void hvt_line_move(Addr from, Addr to, SizeT len);

/* After a fork, in the child, whose memfd is new. */
void hvt_line_forked(void);

#endif /* HVT_LINE_H */
