/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_prefetch_sites.h - prefetch instructions, and loads and stores of what is not there: numbers, counts, what hotvar is told.
 *
 * Counts lie in the memfd.  A site stays where it is, since code has its address; code that comes in another's place gets
 * another one.
 */
#ifndef HVT_PREFETCH_SITES_H
#define HVT_PREFETCH_SITES_H

#include "pub_tool_basics.h"

#include "hvt_wire.h"

enum { HVT_PREFETCH_SIGHTS = 8 }; /* of a site and a kind, told at most */

struct hvt_prefetch_site {
	struct hvt_prefetch_site *next; /* of the same bucket */
	Addr ip;
	UInt number; /* 0: it is that of all that there is no room for */
	Bool dead;
	Bool access; /* no prefetch: a load or store, once it has gone wrong */
	Addr good, used; /* what it asked for last that was mapped, and that was touched */
	UInt n_sights[2];
	Addr sights[2][HVT_PREFETCH_SIGHTS];
};

/* That of the instruction at @ip, told to hotvar when it is new. */
struct hvt_prefetch_site *hvt_prefetch_site(Addr ip, Bool access);

struct hvt_prefetch *hvt_prefetch_counts(const struct hvt_prefetch_site *s);

/*
 * Tell that @addr is bad, as @what (enum hvt_prefetch_bad) says, and that @base was not (0: none was), unless it is near
 * one that was told.
 */
void hvt_prefetch_sight(struct hvt_prefetch_site *s, UInt what, Addr addr, Addr base);

/* Code in [@start, @end) is gone. */
void hvt_prefetch_sites_unmapped(Addr start, Addr end);

/* The process is known to hotvar now: tell of all sites. */
void hvt_prefetch_sites_begin(void);

#endif /* HVT_PREFETCH_SITES_H */
