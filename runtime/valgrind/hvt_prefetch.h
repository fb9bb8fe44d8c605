/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_prefetch.h - what becomes of the lines that prefetch instructions ask for, with --prefetches.
 *
 * A line is 64 bytes.  When a line is touched is known as two numbers, of a few lines and of many (hvt_prefetch_lines):
 * in use already	it was touched, or asked for, less than so few distinct lines ago, or it was asked for and not touched since
 * unused		at least so many distinct lines were touched or asked for since, and it was not; or its memory is gone
 * Both are surely so; a line between the two is neither.  Counts lie in the memfd (struct hvt_prefetch).
 * Loads and stores of what is not there are counted, too: whether there is memory is asked when a line is touched first in an
 * epoch.
 */
#ifndef HVT_PREFETCH_H
#define HVT_PREFETCH_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* The many lines; 0: nothing of all this is done.  From the command line. */
extern UInt hvt_prefetch_lines;

/* Before the program begins; valgrind keeps the program's registers as each instruction finds them, then. */
void hvt_prefetch_init(void);

/* The process is known to hotvar now: tell it of what came up before. */
void hvt_prefetch_begin(void);

/* The instruction of @len bytes at @ip comes next: if it is a prefetch, add to @out what counts it. */
void hvt_prefetch_add(IRSB *out, Addr ip, UInt len);

/* Add to @out: the instruction at @ip accesses @size bytes at @addr, an atom, next, if @guard (NULL: always). */
void hvt_prefetch_access(IRSB *out, Addr ip, IRExpr *addr, IRExpr *guard, UInt size);

/* [@start, @end) can or cannot be read now as before. */
void hvt_prefetch_protected(Addr start, Addr end);

/* The kernel has accessed [@start, @end) for the program. */
void hvt_prefetch_kernel(Addr start, Addr end);

/* [@start, @end) is unmapped, or mapped anew: what was asked for there comes to nothing, what code is there is another. */
void hvt_prefetch_unmapped(Addr start, Addr end);

/* After a fork, in the child: what its parent has asked for is its parent's. */
void hvt_prefetch_forked(void);

#endif /* HVT_PREFETCH_H */
