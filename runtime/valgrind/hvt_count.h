/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_count.h - a block of translated code with a counter's increment after each access.
 *
 * An access is counted at the address it begins at, once it has happened: one that
 * faults is not counted until it is done again.  A compare-and-swap is one read and one write,
 * as is a helper's access that does both.
 */
#ifndef HVT_COUNT_H
#define HVT_COUNT_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/*
 * A copy of @in that counts.  Where the thread's counters are is read from the first
 * shadow area of its guest state, at hvt_count_base().
 */
IRSB *hvt_count_block(IRSB *in, const VexGuestLayout *layout);

/* Offset in a guest state's shadow area of the address of the thread's counters, 8 bytes. */
Int hvt_count_base(void);

/* No run of a block made so far has raised one counter by more. */
UInt hvt_count_most(void);

#endif /* HVT_COUNT_H */
