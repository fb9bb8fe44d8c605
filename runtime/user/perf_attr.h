/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_attr.h - how the events of perf_ring.c are opened.
 *
 * All records have one form: perf_record.h.
 */
#ifndef PERF_ATTR_H
#define PERF_ATTR_H

#include "perf_ring.h"

/* What all have in common: an event that counts nothing, is not enabled, and wakes us when a ring is half full. */
void perf_attr_common(struct perf_event_attr *a);
/* The carrier of a ring: with options.wide it is also the event that takes in what there is. */
void perf_attr_carrier(struct perf_event_attr *a, const struct perf_rings_options *o);
/* A read of it is of two numbers, the second of what its ring had no room for: Linux 6.0; -EINVAL before. */
void perf_attr_counts_lost(struct perf_event_attr *a);
/* The event of one task. */
void perf_attr_task(struct perf_event_attr *a, const struct perf_rings_options *o);
/* With options.faults and options.calls_id: its other event, whose samples are the returns of calls.  @a: the first one's. */
void perf_attr_calls(struct perf_event_attr *a, const struct perf_rings_options *o);

#endif /* PERF_ATTR_H */
