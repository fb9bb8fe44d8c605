/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * standstill.h - a thread that stands still right at a sampled instruction, as long as we do not give its CPU back.
 *
 * We are on the CPU that the thread runs on, and sleep until a timer of the thread's own fires.  The kernel writes a
 * sample and lets us run in place of the thread, on that CPU.  The thread has nothing to notice: no signal comes, nobody traces it, and
 * if we are killed it just goes on.  Another CPU may take it over meanwhile: standstill_holds() tells.
 * Used by one thread, which is the one that is moved.
 */
#ifndef STANDSTILL_H
#define STANDSTILL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "perf_record.h"

enum { STANDSTILL_CPUS = 8192 }; /* the most that a kernel for x86-64 may have */

/* Where we may run, as it was before we went to a CPU. */
struct standstill_cpus {
	unsigned long was[STANDSTILL_CPUS / (8 * sizeof(long))];
	int cpu; /* where we are; -1: wherever the kernel likes */
};

/* 0 or -errno; nothing has to be undone then. */
int standstill_cpus_init(struct standstill_cpus *c);

/*
 * To @cpu, and stay there.  0, -EPERM: we may not be there, by what was before or since (a cpuset); or -errno.  Whatever it
 * returns, standstill_leave() puts everything right.
 */
int standstill_go(struct standstill_cpus *c, int cpu);
void standstill_leave(struct standstill_cpus *c);

/* The timer of one thread, set again and again; zeroed by who owns it. */
struct standstill {
	void *base; /* of its ring; NULL: there is none, and the rest means nothing */
	struct perf_ring ring;
	int fd;
	int turns; /* descriptor of turns_open() */
	pid_t pid, tid;
	uint64_t count_ns; /* of the timer, when the thread stood still */
	uint64_t slices;
};

enum { STANDSTILL_LEAST_NS = 50000, STANDSTILL_MOST_NS = 400000 }; /* until the timer fires */

/*
 * Wait until thread @tid of @pid has run @in_ns more, on the CPU where we are: then it stands still, and *@at is its sample.  0;
 * -ETIME: it did not run; -EBUSY: it went on before we came; -EALREADY: we had to wait for its CPU for long; -EINTR: a signal has come; -ESRCH: it has ended; else it was refused.
 */
int standstill_begin(struct standstill *s, pid_t pid, pid_t tid, uint64_t in_ns, struct perf_record *at);

/* Has it stood still until now?  Ends what standstill_begin() began, if that returned 0. */
bool standstill_held(struct standstill *s);

void standstill_close(struct standstill *s);

#endif /* STANDSTILL_H */
