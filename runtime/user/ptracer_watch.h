/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ptracer_watch.h - the range that a session watches, seen from the stops of its tracees.
 *
 * What takes it away is known at the return of the call, with its thread stopped there: then its stack
 * is read.  An exec and an exit leave nothing to read when they are known: there it is read before, at
 * the entry of the exec, and when the thread begins to exit.
 *
 * Each does nothing when nothing is watched, or all is over.
 */
#ifndef PTRACER_WATCH_H
#define PTRACER_WATCH_H

#include "ptracer.h"

/* From now on the tracker's events are looked at. */
void ptracer_watch_begin(struct ptracer *p);

/* Process @pid is followed, or has executed a program: its memory is the one that is watched. */
void ptracer_watch_bind(struct ptracer *p, pid_t pid);

/* @x enters an exec; one has succeeded, of which the tracker is about to hear; @x begins to exit, @last of its process. */
void ptracer_watch_exec(struct ptracer *p, struct tracee *x);
void ptracer_watch_executed(struct ptracer *p);
void ptracer_watch_exit(struct ptracer *p, struct tracee *x, bool last);

/* The call x->args.call of @x has returned: before the tracker hears of it, and after. */
void ptracer_watch_call(struct ptracer *p, struct tracee *x);
void ptracer_watch_called(struct ptracer *p);

/* Has it happened? */
bool ptracer_watch_hit(const struct ptracer *p);

#endif /* PTRACER_WATCH_H */
