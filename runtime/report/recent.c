// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "recent.h"

#include <string.h>

bool recent_find(const struct recent *r, uint32_t mm, uint64_t addr, uint32_t *entry)
{
	for (uint32_t i = 0; i < RECENT_RANGES; i++) {
		const struct recent_range *v = &r->v[i];

		if (addr - v->start < v->end - v->start && v->mm == mm) {
			*entry = v->entry;
			return true;
		}
	}
	return false;
}

/* One that goes on at its end is made longer: looked up from the middle of a variable, only what follows is known. */
void recent_add(struct recent *r, uint32_t mm, uint64_t start, uint64_t end, uint32_t entry)
{
	for (uint32_t i = 0; i < RECENT_RANGES; i++) {
		struct recent_range *v = &r->v[i];

		if (v->start < v->end && v->mm == mm && v->entry == entry && start <= v->end && end >= v->start) {
			v->start = start < v->start ? start : v->start;
			v->end = end > v->end ? end : v->end;
			return;
		}
	}
	r->v[r->turn++ % RECENT_RANGES] = (struct recent_range){ start, end, mm, entry };
}

void recent_forget(struct recent *r)
{
	memset(r, 0, sizeof(*r));
}
