/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ptracer.h - what engine_ptrace knows, and what it does at each stop.
 *
 * A tracee is told to go on as soon as its stop is dealt with.  It is left
 * stopped in two cases only: parked, a newborn whose parent's event has not
 * come; and listening, in a group-stop that is not ours to end.
 *
 * All calls from the thread that traces.  Any tracee may be killed at any moment, so
 * ESRCH from any call means only that its end will be reported.
 */
#ifndef PTRACER_H
#define PTRACER_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "launch.h"
#include "pin.h"
#include "relook.h"
#include "samples.h"
#include "session.h"
#include "stop_wait.h"
#include "tracees.h"
#include "tracker.h"

struct ptracer_points;

struct ptracer {
	struct session *s;	/* borrowed */
	struct tracker *tracker;
	struct samples *samples; /* NULL: the map alone */
	struct ptracer_points *points; /* variables that are watched: ptracer_points.h; NULL: none */
	struct relook *look;	 /* tracees stop at no call: maps are read now and then; else NULL */
	struct tracees tasks;
	struct launch launch;
	struct stop_wait wait;
	struct pin pin;
	pid_t cmd;	    /* launched process, 0: attached, or it has ended */
	bool launched;
	bool gated;	    /* tracees stop at mapping calls by the filter, else at every call */
	bool executed;	    /* CMD's execve has succeeded: measuring has begun */
	bool measuring;	    /* else stops are only answered */
	bool detaching;	    /* tracees are let go at their next stop */
	unsigned settling;  /* attached tasks whose first stop has not come */
	unsigned idle_ticks; /* since the last of those came */
	uint64_t start_ns;  /* when measuring began, 0: not yet */
	uint64_t lost_tasks; /* not yet told to the stream */
	uint64_t lost_memory;
};

/* Trace @tid from now on without stopping it; @options are PTRACE_O_* beyond the usual.  0 or -errno. */
int ptracer_seize(pid_t tid, unsigned long options);

/* Deal with what waitpid(2) said of @tid. */
void ptracer_handle(struct ptracer *p, pid_t tid, int status);

/* A moment has passed: newborns whose parents died before they could tell are taken in. */
void ptracer_tick(struct ptracer *p);

/* Read the maps of what was sampled, where no call tells of changes. */
void ptracer_look(struct ptracer *p);

/* Send @sig to every process that has a tracee. */
void ptracer_signal_all(struct ptracer *p, int sig);

/* Everything attached is under way: read the maps of all tracees. */
void ptracer_snapshot(struct ptracer *p);

/*
 * Attach to every thread of process @pid, also to those that are born meanwhile,
 * and have each stop once, so that it goes on with system call stops.  When the
 * last has, ptracer_snapshot() is due.  Returns 0 or -errno and @e.
 */
int ptracer_attach(struct ptracer *p, pid_t pid, struct err *e);

/* Why tracing @tid (0: anything) is refused with @code, as text for a person. */
int ptracer_refused(pid_t tid, int code, struct err *e);

/*
 * Let go of all tracees: each goes on, or stays stopped if it was, without a
 * signal lost or added.  Takes until each has stopped once more; one that cannot (in an
 * uninterruptible wait) is let go by the kernel when the thread that traces ends.
 */
void ptracer_detach(struct ptracer *p);

/* Put to the stream what was lost since the last call. */
void ptracer_tell_losses(struct ptracer *p);

#endif /* PTRACER_H */
