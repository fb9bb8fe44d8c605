/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_refused.h - why the kernel refuses an event for perf, and what mends it.
 */
#ifndef PERF_REFUSED_H
#define PERF_REFUSED_H

#include "err.h"

/* perf_event_open() has failed with @code: puts that to @e.  Returns -@code. */
int perf_refused(int code, struct err *e);

#endif /* PERF_REFUSED_H */
