/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kin.h - the processes that a watched one, and what it has started, have started and that have not ended yet.
 *
 * All zero is none.  What was not told of (a loss) is found out when they are counted.
 */
#ifndef KIN_H
#define KIN_H

#include <stddef.h>
#include <sys/types.h>

#include "session.h"

struct kin {
	pid_t *v;
	size_t n, cap;
};

void kin_fini(struct kin *k);

/* @pid was made, or a thread of it has ended, the last one perhaps.  One that there is no memory for is left out. */
void kin_born(struct kin *k, pid_t pid);
void kin_ended(struct kin *k, pid_t pid);

/* How many of them, @but not among them, run still; *@one is one of these, or 0. */
size_t kin_left(const struct kin *k, pid_t but, pid_t *one);

/* CMD, which was @cmd, has ended: say in the note of @s which of them have not, and were measured up to then. */
void kin_note(const struct kin *k, pid_t cmd, struct session *s);

#endif /* KIN_H */
