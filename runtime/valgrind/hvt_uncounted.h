/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_uncounted.h - what the program asks of the system that keeps it from being counted as it should: told to hotvar.
 *
 * A program that is set-user-ID or has capabilities cannot be executed under Valgrind: the call fails.  A limit of the
 * address space would be one of Valgrind's own memory, too: it is lifted again as far as we may.  /proc/self/exe, executed, is
 * Valgrind's own file, unless Valgrind sees to that, which 3.19 does not.
 */
#ifndef HVT_UNCOUNTED_H
#define HVT_UNCOUNTED_H

#include "pub_tool_basics.h"

/* A system call begins, has ended. */
void hvt_uncounted_before(UInt number, const UWord *args, UInt n);
void hvt_uncounted_after(UInt number, const UWord *args, UInt n, Bool failed);

#endif /* HVT_UNCOUNTED_H */
