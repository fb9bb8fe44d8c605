/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_unseen.h - threads on a cache line that can run at the same time, though valgrind has let one come after the other.
 *
 * A moment of a thread (hvt_order.h) on a line is met with all that others did there before, as far as no order leads from that to
 * it.  Bytes of the heap that another object has got since do not count.
 */
#ifndef HVT_UNSEEN_H
#define HVT_UNSEEN_H

#include "pub_tool_basics.h"

#include "hvt_line_wire.h"

/* Who is at @l, which is @s, does what another one may be in the way of: note who is, unless that is known. */
void hvt_unseen_meet(const struct hvt_line *l, struct hvt_line_shared *s);

/* The moment that @l's thread is in, or its stretch, is over; all that it has counted is in its part. */
void hvt_unseen_over(struct hvt_line *l, struct hvt_line_shared *s);

/* The same for a line without a number. */
void hvt_unseen_over_alone(struct hvt_line *l);

/* @l, which had none, is @s now, and the part of its thread is @p. */
void hvt_unseen_begin(struct hvt_line *l, struct hvt_line_shared *s, struct hvt_line_part *p);

/* Bytes @bytes of @l, whose moment is over, are a new object's. */
void hvt_unseen_renew(struct hvt_line *l, ULong bytes);

#endif /* HVT_UNSEEN_H */
