/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_order.h - which threads can run at the same time, whatever the turns that valgrind gives them.
 *
 * What a thread has done comes before all that threads do which it creates after that, and before all that who waited for its
 * end does then.  What no such chain orders can be at the same time on processors of their own, though valgrind runs one after the other.
 *
 * A moment is a number that grows with each thread that is created or waited for: one moment of a thread is wholly before what
 * it creates or waits for next.  Waiting is known by the functions for it (pthread_join() and the like), if they have their names: who
 * has called one, and has not come back when the other ends, has waited for its end.
 * Threads go by hvt_line.h's numbers.
 */
#ifndef HVT_ORDER_H
#define HVT_ORDER_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Before the first thread; and after a fork, in the child. */
void hvt_order_begin(void);

UInt hvt_order_now(void);

/* @who creates @child, which will run as @tid; 0: it was there from the start. */
void hvt_order_creates(UInt who, UInt child, ThreadId tid);

/* @who has its first turn. */
void hvt_order_runs(UInt who);

void hvt_order_ends(UInt who);

/*
 * @who has called, with @sp then, what waits for the thread whose pthread_t is @thread; unless @waits it comes back at once.
 * True: that has ended, and a new moment has begun.
 */
Bool hvt_order_joins(UInt who, Addr thread, Addr sp, Bool waits);

Bool hvt_order_lives(UInt who);

/* The moment since which it has created none, and waited for none. */
UInt hvt_order_since(UInt who);

/* What is asked of next: what @y does at @then. */
void hvt_order_ask(UInt y, UInt then);

/* Is what @x, another one, did at moment @at before that? */
Bool hvt_order_before(UInt x, UInt at);

/* Is all that @who has done before all that any thread will ever do? */
Bool hvt_order_past(UInt who);

/* Add to @out, if the function at @ip waits for a thread, that it does. */
void hvt_order_code(IRSB *out, Addr ip);

#endif /* HVT_ORDER_H */
