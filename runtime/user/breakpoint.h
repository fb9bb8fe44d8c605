/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * breakpoint.h - an execution breakpoint of one thread, that is set again and again.
 *
 * What the kernel has made for it is kept if hits did not end it, and moved to another instruction of the same thread, which
 * costs a fifth of making it.  Meanwhile one of the CPU's four is taken for that thread.  Its ring is kept as long as the thread is the same.
 * Used by one thread.
 */
#ifndef BREAKPOINT_H
#define BREAKPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "perf_record.h"

/* The most hits that one setting may ask for: they fit into a ring. */
enum { BREAKPOINT_MOST = 56 };

struct breakpoint {
	void *base; /* the ring; NULL: there is none, and the rest means nothing */
	int ring_fd;
	int fd; /* -1: hits have ended it */
	pid_t tid;
	uint32_t hits; /* it ends by itself after so many */
	uint32_t left; /* of the setting before, which the kernel still remembers */
	uint64_t tail; /* of the ring, read so far */
	uint64_t ran_ns; /* of the program, before this setting */
};

/* On at @addr of @tid, for @hits of them, or what is left from before if that is more.  False: refused. */
bool breakpoint_set(struct breakpoint *b, pid_t tid, uint64_t addr, uint32_t hits);

/* No more hits from here on. */
void breakpoint_off(struct breakpoint *b);

bool breakpoint_was_hit(const struct breakpoint *b);

/* Have all hits come that it was set for?  Then it has ended by itself: breakpoint_off() has nothing to do. */
bool breakpoint_has_ended(const struct breakpoint *b);

/* How long the program has run since it was set, and before it ended by itself; 0: not known. */
uint64_t breakpoint_ran_ns(const struct breakpoint *b);

/*
 * Call it when it is off: @fn gets all hits, in time order, and of each how long the program had run since the
 * breakpoint was set.  Returns for how many there was no room, or that @fn refused by false.
 */
uint64_t breakpoint_read(struct breakpoint *b, bool (*fn)(void *ctx, const struct perf_record *hit, uint64_t ran_ns),
			 void *ctx);

void breakpoint_close(struct breakpoint *b);

#endif /* BREAKPOINT_H */
