/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_frame.h - who on the stack is accessed: points, frames and what pointers do in them (hvt_frame_wire.h).
 *
 * A pointer into a frame can only come from the stack or frame pointer while the function runs.  Where code makes
 * one it marks its frame, and a marked frame's counters are put to its account when it ends, before another frame
 * has the same addresses.  A thread's frames are noted by its calls and returns; what calls no function and still leaves
 * or enters one (longjmp, signals) is noticed by the order of the CFAs.
 */
#ifndef HVT_FRAME_H
#define HVT_FRAME_H

#include "pub_tool_basics.h"

#include "hvt_frame_wire.h"

/* At the beginning, and in a child after a fork, when the counters are new. */
void hvt_frame_init(void);

/* Thread @tid counts in @slot from now on. */
void hvt_frame_thread(ThreadId tid, UInt slot);
/* It has ended: its frames, too. */
void hvt_frame_thread_ended(UInt slot);

/* Before the counters of a forked child are made anew, and when @tid, its only thread, has a slot again. */
void hvt_frame_forking(ThreadId tid);
void hvt_frame_forked(ThreadId tid);

/* A signal is about to be delivered to @tid; @tid runs on. */
void hvt_frame_signal(ThreadId tid, Int signal, Bool on_other_stack);
void hvt_frame_resume(ThreadId tid);

/* The number of point @s; 0: there is no room for more. */
UInt hvt_frame_point(const struct hvt_point *s);

/* Where the function begins that the instruction at @ip is in; what is not known is a function of its own. */
Addr hvt_frame_function(Addr ip);

/* The code in [@start, @end) goes away: send what its points have counted. */
void hvt_frame_take(Addr start, Addr end);
/* Send all that was counted.  How many counters there were. */
ULong hvt_frame_take_all(void);
/* Send all that was counted in @slot. */
void hvt_frame_take_slot(UInt slot);
/* What is counted by address in [@start, @end) is about to be taken out: put what is frames' to their account before. */
void hvt_frame_settle(Addr start, Addr end);
/* As hvt_shadow_relieve(). */
UInt hvt_frame_relieve(void);

/* ---- called by instrumented code; @part is where HVT_STACK() of the thread's slot is ---- */

/* A pointer may lead so far below the stack pointer. */
#define HVT_FRAME_BELOW 65536

/* Code at @ip of function @id has made the pointer @v into its frame. */
void hvt_frame_mark(ULong part, ULong sp, ULong v, ULong id, ULong ip);
/* A function was called; what its caller had below @cfa is not the caller's any more, or frames there were left. */
void hvt_frame_called(ULong part, ULong cfa);
/* A function returned, or @sp shows that some were left. */
void hvt_frame_left(ULong part, ULong sp);

#endif /* HVT_FRAME_H */
