/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pin.h - keep the tracing thread on its tracee's CPU while stops come fast.
 *
 * A stop is two switches between tracer and tracee; on one CPU they cost a third
 * of what they cost across two, where each must wake an idle CPU.  Only
 * where one task makes nearly all the stops: else all tracees would queue for one CPU.
 */
#ifndef PIN_H
#define PIN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pin {
	pid_t tid;	     /* who makes the stops */
	uint32_t stops;	     /* since the last tick, by it */
	uint32_t others;     /* by others */
	bool pinned, found;  /* found: home holds what we were allowed before */
	cpu_set_t home;
};

/* Task @tid has stopped.  Cheap. */
static inline void pin_note(struct pin *p, pid_t tid)
{
	if (tid == p->tid)
		p->stops++;
	else if (++p->others > p->stops)
		p->tid = tid;
}

/* @ms have passed since the last tick: pin, follow, or let go. */
void pin_tick(struct pin *p, unsigned ms);
void pin_release(struct pin *p);

#endif /* PIN_H */
