/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace.h - how often an engine that waits for samples wakes to see to them.
 *
 * To be woken is dear: the code that then runs is cold.  At the beginning, and as long as something comes that was not
 * there before (processes, mappings, code), and some time after that, the next tick is near, since what is to be named
 * may be gone soon, and what moves is found by looks alone.  Where only samples come, that lie in a ring which has room
 * for them, ticks lie further apart.
 */
#ifndef PACE_H
#define PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
	bool steady;	    /* always the same: somebody watches, or nothing but looks tells what happens */
	uint64_t started_ns; /* the end of the beginning */
	uint64_t next_ns;
	uint64_t apart_ns;  /* the last tick and the next */
	uint64_t news;	    /* that the last tick has seen to */
	uint64_t told_ns, told_news; /* when pace_is_to_tell() last said so, and of what */
	uint64_t fresh_until_ns; /* there has been something new not long ago */
};

/* From @now_ns on. */
void pace_begin(struct pace *p, uint64_t now_ns, bool steady);

/*
 * Awake anyway: is the next tick so near that it may be now, rather than to be woken twice?  @news: how many things have come that
 * were not there before.
 */
bool pace_is_due(const struct pace *p, uint64_t now_ns, uint64_t news);

/* That was a tick, which saw to @news. */
void pace_ticked(struct pace *p, uint64_t now_ns, uint64_t news);

/*
 * At a tick: is what came to be told to who reads it, which wakes him?  What is new at once, since he opens what it names
 * while that is there; samples alone can wait.
 */
bool pace_is_to_tell(struct pace *p, uint64_t now_ns, uint64_t news);

#endif /* PACE_H */
