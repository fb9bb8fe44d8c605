/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_regions.h - the large areas of a process over a time, with the evidence for and against huge pages.
 *
 * At each look smaps tells what was touched since the look before.  An area is kept with the most
 * that was ever seen of it, also when it is gone by the end.  Areas of which less is in
 * memory than the processor's TLB reaches are added up only: there is nothing to advise.
 */
#ifndef ADVISE_REGIONS_H
#define ADVISE_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "advise_jumps.h"
#include "advise_spans.h"
#include "live.h"
#include "runtime/core/hvar_vmas.h"

#define ADVISE_REGIONS_MAX 1024

struct advise_region {
	struct hvar_vma vma;	/* a copy, with the largest range seen */
	char *name;		/* owned: of the variable that is jumped about in, "[heap]", "[anon]"; NULL: not known */
	char *code;		/* owned: where in the code that is done; NULL: not known */
	char *path;		/* owned: of the file; NULL: none */
	uint32_t kind;		/* enum hvar_kind */
	uint64_t object, object_size; /* of the variable; size 0: there is none */
	uint64_t rss;		/* pages in memory, at the most */
	uint64_t touched;	/* pages of 4 KiB within one interval, at the most, or as far as samples tell */
	unsigned intervals, often; /* looked at; of them, with more touched than the TLB reaches */
	struct advise_spans spans; /* when most was in memory */
	uint64_t spans_rss;	/* rss then; 0: not counted */
	struct advise_jumps_sum jumps;
	bool asked, refused, eligible, hugetlb; /* page_smaps.h */
	bool smaps;		/* those, rss and intervals are known */
	bool malloced;		/* glibc's malloc has mapped it for one object */
	bool gone;
	bool seen;		/* at the look that goes on */
};

struct advise_regions {
	struct advise_region *v; /* owned, in the order first seen */
	size_t n, cap;
	uint64_t reach;		/* pages that the TLB reaches */
	uint64_t small_touched;	/* pages, of all smaller areas together, in one interval at the most */
	uint64_t lost;		/* areas that there was no room for */
};

void advise_regions_fini(struct advise_regions *t);

/*
 * Look at process @pid, as @l has just seen it.  Jumps since the last look are in @j, or NULL.  0 or
 * -errno: -ESRCH, it is gone; what was seen stays.
 */
int advise_regions_look(struct advise_regions *t, pid_t pid, struct live *l, const struct advise_jumps *j);

/* Add up the jumps of what is gone, too. */
void advise_regions_sum(struct advise_regions *t, const struct advise_jumps *j);

/* Nothing of it is there any more: another program was executed. */
void advise_regions_executed(struct advise_regions *t);

/* The region for @v, made if need be: the one that it overlaps most and is like; NULL: no room. */
struct advise_region *advise_regions_of(struct advise_regions *t, const struct hvar_vma *v);

#endif /* ADVISE_REGIONS_H */
