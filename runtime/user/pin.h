/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pin.h - keep tracer and tracee on one CPU while stops come fast.
 *
 * A stop is two switches between the two.  Left alone, the scheduler wakes each
 * on another, idle CPU, which costs four times as much (measured: 14 against 60 us for
 * the entry and exit stops of one call).  Only where one task makes nearly all the stops, and
 * only a launched one: it ends with us, so it cannot be left pinned.
 *
 * The program must not notice: what it makes gets the mask that it would have
 * inherited, and before any traced task asks for or sets a mask the pin is taken out.
 */
#ifndef PIN_H
#define PIN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pin {
	pid_t tid;	 /* who makes the stops */
	uint32_t stops;	 /* since the last tick, by it */
	uint32_t others; /* by others */
	pid_t held;	 /* task that is pinned with us, 0: none */
	unsigned ticks;	 /* that it is */
	cpu_set_t at;	 /* where */
	cpu_set_t home, own; /* what it, and this thread, were allowed before */
};

/* Task @tid has stopped.  Cheap. */
static inline void pin_note(struct pin *p, pid_t tid)
{
	if (tid == p->tid)
		p->stops++;
	else if (++p->others > p->stops)
		p->tid = tid;
}

/* @ms have passed since the last tick: pin, or let go, for a moment also of one that is pinned long. */
void pin_tick(struct pin *p, unsigned ms);
/* Let go. */
void pin_release(struct pin *p);
/* @tid, which is stopped, has made the task @child. */
void pin_born(const struct pin *p, pid_t tid, pid_t child);
/* Task @old goes on under the number @tid. */
void pin_renamed(struct pin *p, pid_t old, pid_t tid);

#endif /* PIN_H */
