/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_shadow.h - the memory of the counters (hvt_wire.h says how they lie in it).
 *
 * A sparse memfd, mapped at one address in every process, so that instrumented
 * code finds a counter by arithmetic alone.  The kernel gives a page at the first count in it.
 */
#ifndef HVT_SHADOW_H
#define HVT_SHADOW_H

#include "pub_tool_basics.h"

#include "hvt_wire.h"

/* Make and map it; the tool cannot do without it, and ends with a message if this fails. */
void hvt_shadow_init(void);

/* A new one in the place of the parent's: after a fork, in the child. */
void hvt_shadow_renew(void);

/* The memfd; -1 before hvt_shadow_init(). */
Int hvt_shadow_fd(void);

/* The counters of @slot: where that of address 0 would be. */
ULong hvt_shadow_base(UInt slot);

/* From now on @slot is in use. */
void hvt_shadow_use(UInt slot);
/* Those in use: a bit each. */
ULong hvt_shadow_used(void);

/* Where byte @at of the memfd is mapped. */
void *hvt_shadow_at(ULong at);

/* To be called before and after counts are taken out: a reader sees whether they have been in the meantime. */
void hvt_shadow_taking(void);

/* Of [@start, @end) nothing is counted any more: give memory of its counters and marks back. */
void hvt_shadow_give_back(Addr start, Addr end);

/* Send what was counted in [@start, @end), which is about to become other memory, and begin there from zero. */
void hvt_shadow_take(Addr start, Addr end);

/* Send one count that was taken out. */
void hvt_shadow_send(UInt slot, Addr addr, const struct hvt_pair *v);

/* Give back the memory of the whole pages of [@from, @to) of the memfd. */
void hvt_shadow_punch(ULong from, ULong to);

/* Send all that was counted, and begin from zero.  How many counters there were. */
ULong hvt_shadow_take_all(void);

/* Send all that was counted in @slot, whose thread is gone, and begin there from zero. */
void hvt_shadow_take_slot(UInt slot);

/*
 * A counter holds 32 bits.  To be called before it can have overflown: take out those of half
 * that or more.  Returns the largest that is left.
 */
UInt hvt_shadow_relieve(void);

#endif /* HVT_SHADOW_H */
