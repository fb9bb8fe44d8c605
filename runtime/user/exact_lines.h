/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_lines.h - the cache lines of a process under the Valgrind tool, with --by cacheline: out of its memfd, to records.
 *
 * Lines that one thread alone has accessed are told where other processes may have the same memory.
 */
#ifndef EXACT_LINES_H
#define EXACT_LINES_H

#include <stdint.h>

#include "exact_calls.h"
#include "exact_heap.h"
#include "runtime/core/hvar_vmas.h"
#include "runtime/valgrind/hvt_line_wire.h"
#include "stream.h"

/* Of a process, all its life: each part and site is in one list, and is read once, parts also for what their threads did in all.  All zero at first. */
struct exact_lines_used {
	uint32_t parts, sites, threads;
};

/* Where to, and whose: all borrowed. */
struct exact_lines_to {
	struct stream *out;
	uint64_t time_ns;
	uint32_t mm, pid, own_pid;
	const struct hvar_vmas *vmas;
	const struct exact_calls *calls;
	const struct exact_heap *heap;
	struct exact_lines_used *used;
	int memfd;
	uint64_t *lost; /* what found no room is added */
};

/*
 * What the program may have written over is believed as far as its counters' file has memory for it: lists that go round, and
 * numbers that are said again and again, end with -EINVAL.
 */

/* An HVT_LINE, from outside: the line with that number, which is mapped still.  Returns 0, -EINVAL, -ENOMEM or -errno. */
int exact_lines_closed(const struct exact_lines_to *to, uint64_t number);

/* What is left.  Returns 0 or -errno: not all could be read. */
int exact_lines_harvest(const struct exact_lines_to *to);

#endif /* EXACT_LINES_H */
