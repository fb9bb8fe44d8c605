/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samples.h - timer samples of a session that traces: from perf, else by stops.
 *
 * Where perf_event_open() is refused, threads that run are stopped now and then
 * (stops.h): dearer, so the rate is bounded, and said in the note.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "session.h"
#include "tracees.h"
#include "tracker.h"

struct samples;

/*
 * As @s asks; @s, @t and s->out are borrowed, s->note says when perf was
 * refused.  Returns NULL and @e.
 */
struct samples *samples_new(struct session *s, struct tracker *t, struct err *e);
void samples_free(struct samples *x);

/* Are they taken by stops? */
bool samples_by_stops(const struct samples *x);

/* How often samples_tick() wants to be called, in Hz; 0: no wish. */
unsigned samples_tick_hz(const struct samples *x);

/*
 * Sample @t, and what it makes from now on; a launched one once it executes a
 * program.  0, -ESRCH, or -errno and @e.
 */
int samples_add(struct samples *x, struct tracee *t, struct err *e);

/* @t is at the end of an exec: it may have cost it its events. */
void samples_executed(struct samples *x, struct tracee *t);

/*
 * Put what there is to the stream: at each tick, and before each map event, so that
 * the stream is in order.
 */
void samples_drain(struct samples *x);

/* Ask the threads of @tasks that ran since the last tick to stop. */
void samples_tick(struct samples *x, struct tracees *tasks);

/* @t, which was asked to, has stopped: take its sample. */
void samples_take(struct samples *x, struct tracee *t, uint64_t time_ns);

/* No more samples; what is in the rings has been drained. */
void samples_stop(struct samples *x);

void samples_tell_losses(struct samples *x, uint64_t time_ns);

#endif /* SAMPLES_H */
