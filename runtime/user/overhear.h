/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * overhear.h - a thread that stands still at a sample of the timer that it has anyway.
 *
 * As in standstill.h we are on the CPU that it runs on, and sleep; but what wakes us is the next sample there (perf_ears.h), of
 * whichever thread.  So no thread needs an event of its own, which would be dear for those that take turns all the time.
 */
#ifndef OVERHEAR_H
#define OVERHEAR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "perf_ears.h"
#include "perf_record.h"

struct overheard {
	pid_t pid, tid;
	uint64_t slices;
};

/*
 * Wait @ns at most for a sample on the CPU where we are, which @e listens to: then its thread *@o stands still, and *@at is the sample.
 * 0; -ETIME: none came; -EBUSY: the thread went on before we came; -EALREADY: we had to wait for the CPU for long; -EINTR: a signal
 * has come; -ENOTSUP: this kernel does not tell.
 */
int overhear_begin(struct perf_ears *e, uint64_t ns, struct perf_record *at, struct overheard *o);

/* Has it stood still until now? */
bool overhear_held(const struct overheard *o);

#endif /* OVERHEAR_H */
