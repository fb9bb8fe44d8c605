/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu_events.h - the PMU's events of each task that is followed, beside perf_ring.c's own, which tell the map.
 *
 * All write to the rings of their CPU, in the form PERF_FORM_ACCESS.  Used by one thread.
 */
#ifndef PMU_EVENTS_H
#define PMU_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "err.h"
#include "pmu_detect.h"

struct perf_rings;
struct pmu_events;

/*
 * By what is in @devices (PMU_DEVICES), about @hz samples a second of each event; 0: each access is one, for those that are rare.  The way is gone once: the events are opened for this very
 * thread, which then accesses memory, and the records must tell of it.  Returns NULL and @e: what failed, and what to do.
 */
struct pmu_events *pmu_events_new(const char *devices, unsigned hz, struct err *e);
void pmu_events_free(struct pmu_events *p);
const struct pmu_plan *pmu_events_plan(const struct pmu_events *p);

/* Open those of @tid; with @on_exec they begin when it executes a program.  Returns 0 or -errno with none opened. */
int pmu_events_add(struct pmu_events *p, struct perf_rings *r, pid_t tid, bool on_exec);
void pmu_events_stop(struct pmu_events *p);
/* Which event of the plan's the record with @id is of; 0 if it is none. */
uint32_t pmu_events_kind(const struct pmu_events *p, uint64_t id);

/* How event @ev is opened. */
void pmu_events_attr(const struct pmu_event *ev, unsigned hz, bool on_exec, struct perf_event_attr *a);

#endif /* PMU_EVENTS_H */
