/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_calls.h - the returns of mapping system calls, as the kernel's tracepoint tells them.
 *
 * perf's own records tell what is mapped, not what goes.  raw_syscalls:sys_exit, with a filter for
 * the calls of hvar_call_numbers(), tells the rest: the number and the result are in its data,
 * the arguments are still in the registers.  It takes the right to read tracefs and kernel events
 * (root), and puts every system call of the whole machine on the kernel's slower way as long as it is open.
 *
 * i386's brk is left out, which has the number of a call that busy 64-bit programs make: a break of theirs that shrinks is
 * found by looking.
 */
#ifndef PERF_CALLS_H
#define PERF_CALLS_H

#include "err.h"
#include "perf_record.h"
#include "runtime/core/hvar_call.h"

/* The tracepoint's number for perf_event_open(2), or -errno and @e. */
long perf_calls_id(struct err *e);

/* The kernel's filter for it: static text.  @pages: also calls that change no map, or that perf tells of, but take pages away. */
const char *perf_calls_filter(bool pages);

/*
 * What call @c, which has returned, did to pages that were touched: gave them back, also those that were where it has mapped
 * something, or moved them.  @told: a change of the map tells what it moved.  False: nothing that is not told.
 */
bool perf_calls_touched(const struct hvar_call *c, bool told, struct stream_touched *out);

/*
 * What call @r, of kind PERF_IS_CALL or PERF_IS_LOCK, was or is (0 for its result); false if it can change no map, or if that is
 * told as a mapping: its cause says which.
 */
bool perf_calls_fill(const struct perf_record *r, struct hvar_call *out);

#endif /* PERF_CALLS_H */
