/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_tick.h - counts are sent as time passes, not only at the end.
 *
 * So it is known when a variable was touched, to within the interval, and the counters' memory is that of
 * what was touched since the last tick.  The interval grows with the program's age, from 1 to
 * 100 ms, and with what the last tick had to send: the ticks stay a few percent of the time.
 */
#ifndef HVT_TICK_H
#define HVT_TICK_H

#include "pub_tool_basics.h"

/* The process begins, or (after a fork) begins anew. */
void hvt_tick_init(void);

/* A thread is about to run; called often.  True: all counts were sent just now. */
Bool hvt_tick(void);

/* The time, in CLOCK_MONOTONIC's ns, when it was looked at last. */
ULong hvt_tick_now(void);

#endif /* HVT_TICK_H */
