/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_sites.h - where memory is allocated: stacks, their numbers, and what was done with the objects made there.
 *
 * Sites are told to hotvar when they come up; what is counted for them lies in the
 * memfd, so that it is there however the process ends.  Number 1 is for
 * all that come when there is no room for more.
 */
#ifndef HVT_SITES_H
#define HVT_SITES_H

#include "pub_tool_basics.h"

#include "hvt_wire.h"

/*
 * The number of the place that @tid is at, which asks for an object, or (@maps) for a mapping.  0: it is the dynamic
 * linker, whose mappings are the modules'.
 */
UInt hvt_sites_here(ThreadId tid, Bool maps);

/* What is counted for number @n. */
struct hvt_site *hvt_sites_get(UInt n);

/* An access of an object of @site was taken out. */
void hvt_sites_count(struct hvt_site *site, UInt slot, ULong offset, UInt reads, UInt writes);

/* Objects of site @n may have as many bytes: there will be room for their offsets. */
void hvt_sites_room(struct hvt_site *site, ULong size);

/* The code in [@start, @end) is gone: what comes there is another. */
void hvt_sites_unmapped(Addr start, Addr end);

/* The thread of @slot, whose counts have been taken out, is gone. */
void hvt_sites_thread_gone(UInt slot);

/* After a fork, in the child, whose memfd is new; @from is the parent's. */
void hvt_sites_forked(Int from);

#endif /* HVT_SITES_H */
