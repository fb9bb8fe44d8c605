/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_ears.h - to be woken by each sample of the timers that tasks have anyway, on one CPU at a time.
 *
 * An event that is inherited writes to one ring, whichever thread it is of: that of the event which was opened.  For a while that is
 * a ring which wakes its reader with each record.  The threads have no event more than before, and take over each other's
 * timers as before.  To change the ring takes the kernel some 10 ms, and on a machine with too much to do it has taken seconds: longer
 * than rings hold.  So a thread of its own waits for that, or we do where none can be had.  Nothing is lost meanwhile: what comes goes
 * to the ring that it went to before, and is handed over by perf_rings_drain() as ever.  Used by one thread, which may do with @r
 * what it likes but free it.
 */
#ifndef PERF_EARS_H
#define PERF_EARS_H

#include <stdbool.h>
#include <stdint.h>

#include "perf_record.h"
#include "perf_ring.h"

struct perf_ears;

/* @r is borrowed, and outlived by no ears.  NULL: no memory. */
struct perf_ears *perf_ears_new(struct perf_rings *r);
void perf_ears_free(struct perf_ears *e);

/*
 * From now on samples on @cpu wake who waits here.  0, -ENODEV: no such CPU; -EPERM: more than one task is followed; -EINPROGRESS: a
 * change of rings takes long, and none will be open when it is done; or -errno.
 */
int perf_ears_open(struct perf_ears *e, int cpu);
/* No more.  0, -EINPROGRESS: soon; or -errno: samples still come to the ear's ring, where nothing is lost; to be tried again. */
int perf_ears_close(struct perf_ears *e);
/* The same, and wait for it. */
int perf_ears_stop(struct perf_ears *e);

/* CPU time of the threads that waited, of which clock_own_cpu_ns() does not tell. */
uint64_t perf_ears_own_ns(const struct perf_ears *e);

/* Do they do harm here: did a change of rings take so long that a ring might have been full, or has one been, since the first was opened? */
bool perf_ears_harm(const struct perf_ears *e);

/* Wait @ns at most for a sample to come: *@out.  0, -ETIME: none came; -EAGAIN: something else came; or -errno. */
int perf_ears_wait(struct perf_ears *e, uint64_t ns, struct perf_record *out);

#endif /* PERF_EARS_H */
