/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * follow.h - the thread beside an engine that makes the report while it measures.
 *
 * The engine only ever appends to a queue, so it waits neither for the building of an
 * image nor for a slow disk.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdint.h>

#include "analysis.h"
#include "runtime/user/err.h"
#include "runtime/user/stream.h"

struct follow;

/*
 * Feed all that comes through @queue to @a, and to the recording @file, if that is
 * not NULL, with what it needs to be read anywhere.  All three are borrowed; @a and @file
 * are the thread's until follow_join().  NULL and @e.
 */
struct follow *follow_start(struct stream *queue, struct analysis *a, struct stream *file,
			    struct err *e);

/* After stream_close() of the queue: wait until all of it is taken in. */
void follow_join(struct follow *f);

#endif /* FOLLOW_H */
