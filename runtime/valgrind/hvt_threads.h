/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_threads.h - which counters each thread counts in.
 *
 * A thread has a slot of its own as long as there are any: what is counted in it is
 * the thread's.  When they run out, those of threads that are gone are emptied and
 * given out again; if none is gone, the rest share the last one.
 */
#ifndef HVT_THREADS_H
#define HVT_THREADS_H

#include "pub_tool_basics.h"

void hvt_threads_init(void);

/* @tid is about to run: give it counters if it has none. */
void hvt_threads_run(ThreadId tid);

/* It has ended; called in it. */
void hvt_threads_ended(ThreadId tid);

/* After a fork, in the child: the threads of the parent are not here. */
void hvt_threads_forked(void);

#endif /* HVT_THREADS_H */
