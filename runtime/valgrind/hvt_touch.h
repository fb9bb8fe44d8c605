/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_touch.h - which pages the program has touched since they were mapped, told once each.
 *
 * Code: when it is translated, which is when it is about to run first.  Data: when its counts are taken
 * out, so at the next tick or before its memory goes; what is left in the counters at the end hotvar sees
 * itself.  What the kernel reads and writes in system calls: at the call.
 */
#ifndef HVT_TOUCH_H
#define HVT_TOUCH_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Ask Valgrind for its call-backs; before the program begins. */
void hvt_touch_init(void);

/* The code of @extents has been translated. */
void hvt_touch_code(const VexGuestExtents *extents);

/* The counter of @addr has been taken out. */
void hvt_touch_data(Addr addr, Bool read, Bool written);

/* [@start, @end) is other memory now; or (@given_back, which is told) the same, and empty. */
void hvt_touch_forget(Addr start, Addr end, Bool given_back);

/* [@start, @end), mapped now, has its pages from the start. */
void hvt_touch_present(Addr start, Addr end);

/* The pages at @from are at @to now; told to hotvar by the move itself. */
void hvt_touch_moved(Addr from, Addr to, SizeT len);

/* A system call has ended, or @failed: some give pages, some take them. */
void hvt_touch_call(UInt number, const UWord *args, UInt n, Bool failed);

/* Is what is mapped with these flags of mmap()'s there from the start? */
Bool hvt_touch_populates(UWord flags);

#endif /* HVT_TOUCH_H */
