/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_series.c - keeping every so many samples: when there is no more room, half of them go.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "estimate_series.h"
#include "grow.h"

void series_fini(struct series *s)
{
	free(s->v);
	memset(s, 0, sizeof(*s));
}

/* Room for one more; false: no memory. */
static bool make_room(struct series *s)
{
	if (s->n == SERIES_KEPT) {
		for (uint32_t k = 0; 2 * k < s->n; k++)
			s->v[k] = s->v[2 * k];
		s->n = (s->n + 1) / 2;
		s->every *= 2;
	}
	return !grow_array((void **)&s->v, &s->cap, s->n + (size_t)1,
			   sizeof(*s->v));
}

void series_sample(struct series *s, const struct stream_sample *sample,
		   struct site_function *f, uint32_t insn)
{
	struct series_sample *to;

	if (s->every && ++s->skipped < s->every)
		return;
	s->every = s->every ? s->every : 1;
	s->skipped = 0;
	if (!make_room(s))
		return;
	to = &s->v[s->n++];
	to->f = f;
	to->insn = insn;
	to->tid = sample->ev.tid;
	to->time_ns = sample->ev.time_ns;
	memcpy(to->regs, sample->regs, sizeof(to->regs));
}
