// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "mm_set.h"

#include <stdlib.h>

static uint32_t *slot_of(uint32_t *v, size_t cap, uint32_t mm)
{
	size_t i = mm & (cap - 1);

	while (v[i] && v[i] != mm)
		i = (i + 1) & (cap - 1);
	return &v[i];
}

void mm_set_add(struct mm_set *s, uint32_t mm)
{
	uint32_t *slot;

	if (!mm)
		return;
	if (2 * (s->n + 1) > s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64, i;
		uint32_t *bigger = calloc(cap, sizeof(*bigger));

		if (!bigger)
			return;
		for (i = 0; i < s->cap; i++)
			if (s->v[i])
				*slot_of(bigger, cap, s->v[i]) = s->v[i];
		free(s->v);
		s->v = bigger;
		s->cap = cap;
	}
	slot = slot_of(s->v, s->cap, mm);
	s->n += !*slot;
	*slot = mm;
}

void mm_set_fini(struct mm_set *s)
{
	free(s->v);
	s->v = NULL;
	s->n = s->cap = 0;
}
