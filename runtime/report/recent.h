/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recent.h - the ranges of memory that were looked up last, with what is there.
 *
 * Programs touch the same few variables again and again: most look-ups of samples end here.  What is in here is right
 * until a map changes, which it must be told.
 */
#ifndef RECENT_H
#define RECENT_H

#include <stdbool.h>
#include <stdint.h>

enum { RECENT_RANGES = 16 };

struct recent_range {
	uint64_t start, end; /* equal: none */
	uint32_t mm;
	uint32_t entry;
};

/* All zero is empty. */
struct recent {
	struct recent_range v[RECENT_RANGES];
	uint32_t turn; /* the one that goes next */
};

/* What is at @addr of @mm into *@entry; false if that is not known here. */
bool recent_find(const struct recent *r, uint32_t mm, uint64_t addr, uint32_t *entry);

/* All of [@start, @end) of @mm is @entry. */
void recent_add(struct recent *r, uint32_t mm, uint64_t start, uint64_t end, uint32_t entry);

void recent_forget(struct recent *r);

#endif /* RECENT_H */
