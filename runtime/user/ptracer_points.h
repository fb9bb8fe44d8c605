/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ptracer_points.h - the variables that a session watches, found and watched at the stops of its tracees.
 *
 * A launched CMD stops when it maps a file, and its tasks when they are born or execute a program: each variable is watched
 * before any code can access it.  What is attached is not stopped at its calls, and a library that it loads is
 * found at the next look at its map.
 *
 * Each does nothing when nothing is watched.
 */
#ifndef PTRACER_POINTS_H
#define PTRACER_POINTS_H

#include "ptracer.h"

/* As p->s->points asks.  Returns 0, or -errno and @e. */
int ptracer_points_begin(struct ptracer *p, struct err *e);
void ptracer_points_free(struct ptracer *p);

/* All tasks that there were at the beginning are watched. */
void ptracer_points_begun(struct ptracer *p);

/* What came so far is put: before the tracker is told of anything. */
void ptracer_points_drain(struct ptracer *p, uint64_t now);

/* @tid is followed from now on; @parent made it, 0: is not known. */
void ptracer_points_born(struct ptracer *p, pid_t parent, pid_t tid);

/* Process @pid has executed a program, from its thread @old, as the tracker knows already. */
void ptracer_points_executed(struct ptracer *p, pid_t pid, pid_t old);

/* Something may have been mapped or unmapped in the process of @tid, as the tracker knows already. */
void ptracer_points_mapped(struct ptracer *p, pid_t tid);
/* The same of all. */
void ptracer_points_look(struct ptracer *p);

/* It is gone, or over. */
void ptracer_points_gone(struct ptracer *p, pid_t tid);
void ptracer_points_end(struct ptracer *p);

/* What cannot be watched is there in the first program: nothing is to run any more.  -errno and @e, or 0. */
int ptracer_points_failed(const struct ptracer *p, struct err *e);

#endif /* PTRACER_POINTS_H */
