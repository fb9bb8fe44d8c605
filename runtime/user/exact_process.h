/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_process.h - processes that run under the Valgrind tool, from its messages to events and counts.
 *
 * A process is known by its connection.  Its counters lie in a memfd of its own, which is
 * read when the connection ends: whatever ended the process, all that it did is counted.
 */
#ifndef EXACT_PROCESS_H
#define EXACT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "runtime/valgrind/hvt_wire.h"
#include "stream.h"

struct exact_uncounted;
struct exact;	      /* all processes of a session */
struct exact_process; /* one of them */

/* @out is borrowed.  Returns NULL and @e. */
struct exact *exact_new(struct stream *out, struct err *e);
void exact_free(struct exact *x);

/*
 * Process @pid, whose parent is @parent, has begun, with counters in @memfd, which is taken; by which numbers it knows
 * itself and them @hello says.  One of that number that was known is finished first (it executed a program).
 * NULL: no memory.
 */
struct exact_process *exact_begin(struct exact *x, const struct hvt_message *hello, pid_t pid, pid_t parent, int memfd,
				  uint64_t time_ns);

/* The connected process of number @pid, or NULL. */
struct exact_process *exact_find(struct exact *x, pid_t pid);

/* A message of its, of @len bytes, from outside: nothing in it is believed.  It may be changed.  Returns 0, -EINVAL or -ENOMEM. */
int exact_take(struct exact *x, struct exact_process *p, void *message, size_t len, uint64_t time_ns);

/* Put all that is in its counters to the stream.  Called once. */
void exact_harvest(struct exact *x, struct exact_process *p, uint64_t time_ns);

/* Its connection has ended, and it was harvested: it has ended, or is about to begin anew. */
void exact_end(struct exact *x, struct exact_process *p, uint64_t time_ns);

/* Accesses put so far; threads beyond those that could be told apart; processes known. */
uint64_t exact_accesses(const struct exact *x);
/* Processes that were taking counts out themselves when they were harvested: some are counted twice, or not. */
uint64_t exact_torn(const struct exact *x);
/* What was not counted; hotvar adds what it hears itself. */
struct exact_uncounted *exact_uncounted(struct exact *x);
uint64_t exact_shared_threads(const struct exact *x);
void exact_tell_losses(struct exact *x, uint64_t time_ns);

#endif /* EXACT_PROCESS_H */
