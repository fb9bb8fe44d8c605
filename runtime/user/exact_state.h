/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_state.h - what is known of the processes under the Valgrind tool: shared by exact_process.c and exact_map.c alone.
 */
#ifndef EXACT_STATE_H
#define EXACT_STATE_H

#include "exact_calls.h"
#include "exact_heap.h"
#include "exact_lines.h"
#include "exact_prefetch.h"
#include "exact_process.h"
#include "exact_said.h"
#include "exact_uncounted.h"
#include "runtime/core/hvar_vmas.h"

struct exact_process {
	struct exact_process *next;
	pid_t pid;
	uint32_t own_pid; /* as it knows itself: another number, in a namespace of its own */
	int memfd; /* -1: harvested */
	uint32_t mm;
	struct hvar_vmas vmas;
	uint32_t slots[HVT_SLOTS]; /* whose counters; 0: nobody's */
	uint64_t found;		   /* the page that was looked at last, and how it was touched */
	uint32_t found_what;
	uint32_t *tids;		   /* of threads but the first */
	size_t n_tids, cap_tids;
	struct exact_heap *heap;
	struct exact_said *said;
	struct exact_calls *calls;
	struct exact_prefetch *prefetch;
	struct exact_lines_used lines_used;
};

struct exact {
	struct stream *out;
	struct modules *modules;
	struct exact_process *first;
	struct exact_callers *callers;
	struct exact_uncounted uncounted;
	uint32_t last_mm;
	uint64_t accesses, shared_threads;
	uint64_t torn; /* harvests in the middle of a change of the map */
	uint64_t lost; /* for want of memory */
};

#endif /* EXACT_STATE_H */
