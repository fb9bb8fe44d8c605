/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages_counts.h - the numbers of a row: of one region, or of several added up.
 *
 * What is not known of one is not known of a sum with it.
 */
#ifndef PAGES_COUNTS_H
#define PAGES_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/user/page_regions.h"

struct pages_count {
	uint64_t n;
	bool unknown;
};

struct pages_counts {
	uint64_t regions, pages;
	bool kernels; /* a region that is no process's own: in no sum but of regions and pages */
	struct pages_count present, written, anon, zero, private, shared, huge, swapped;
	struct page_range touched, touched_private, touched_shared;
};

/* Of the @i-th region. */
void pages_counts_of(const struct page_regions *r, size_t i, struct pages_counts *out);
void pages_counts_add(struct pages_counts *sum, const struct pages_counts *c);

static inline bool page_range_known(const struct page_range *r)
{
	return r->least == r->most;
}

#endif /* PAGES_COUNTS_H */
