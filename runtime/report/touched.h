/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * touched.h - how many pages of memory are touched, as time passes, and which they were when they were the most.
 *
 * A page is touched from its first access since it was mapped until it is unmapped or
 * given back.  Each address space has its own; a child begins with what its parent has touched.
 */
#ifndef TOUCHED_H
#define TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "images.h"
#include "runtime/user/stream.h"
#include "spaces.h"

struct touched;

/* Both are borrowed.  NULL: no memory. */
struct touched *touched_new(struct images *images, const struct spaces *spaces);
void touched_free(struct touched *t);

/* So many at a time at most, and some times as many in all records: the rest is lost.  Without it: 32 million. */
void touched_most(struct touched *t, uint64_t pages);

/* A map or task event: before, and after, @spaces has it. */
void touched_before(struct touched *t, const struct hvar_event *ev);
void touched_after(struct touched *t, const struct hvar_event *ev);

void touched_record(struct touched *t, const struct stream_touched *r);

/* Pages touched at one moment. */
struct touched_sum {
	uint64_t pages;	       /* code and data, private and shared */
	uint64_t code;	       /* executed */
	uint64_t shared;       /* of MAP_SHARED */
	uint64_t present;      /* besides these: there from the start, and not touched */
};

struct touched_point {
	uint64_t time_ns;
	struct touched_sum sum;
};

/* A page at the peak; how it was touched, enum stream_touched_what. */
struct touched_page {
	uint64_t addr;
	uint32_t area, what;
};

/* An area of the map at the peak, and its pages then. */
struct touched_area {
	uint32_t mm, pid;
	struct hvar_vma vma;
	uint32_t module; /* that it belongs to, also if it maps no file; 0: none */
	uint32_t kind;	 /* enum hvar_kind */
	uint64_t bias;	 /* of its addresses above the module's own */
	bool has_bias;
	uint64_t touched, written, code, by_kernel, present;
};

struct touched_result {
	uint64_t peak_ns;
	struct touched_sum peak;
	uint64_t ever; /* pages that came to be touched; one that was given back and touched again is two */
	const struct touched_point *points; /* the peak is one of them */
	size_t n_points;
	const struct touched_area *areas; /* all that were mapped, by address space and address */
	size_t n_areas;
	const struct touched_page *pages; /* touched or present, in the same order */
	size_t n_pages;
	uint64_t lost; /* pages for which there was no memory */
	uint64_t unplaced; /* pages at the peak in memory of whose mapping nothing had been told then: in no area */
};

/* To be called once, when all is taken in; good until touched_free().  Returns 0 or -ENOMEM. */
int touched_finish(struct touched *t, struct touched_result *out);

#endif /* TOUCHED_H */
