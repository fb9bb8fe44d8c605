/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.h - what the kernel's clocks say, in ns.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

uint64_t clock_ns(clockid_t id);

/* The time of events: it never goes back. */
static inline uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* CPU time that the calling thread has used, the kernel's for it too. */
static inline uint64_t clock_own_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif /* CLOCK_H */
