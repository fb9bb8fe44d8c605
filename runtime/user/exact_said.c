// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_said.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "runtime/core/hvar_vmas.h"

struct exact_said {
	bool stopped;
	struct hvar_vmas names; /* areas that have one */
};

static int name(struct exact_said *s, struct stream *out, const struct hvt_message *m, const char *text, size_t len,
		const struct stream_name *as)
{
	const struct hvar_vma named = { .start = m->start, .end = m->end, .region = HVAR_REGION_ANON };
	struct stream_name rec = *as;
	int ret;

	if (m->start >= m->end || m->end > HVT_PLANE_SIZE)
		return -EINVAL;
	ret = grow_vmas_set(&s->names, m->start, m->end, len ? &named : NULL);
	rec.start = m->start;
	rec.end = m->end;
	stream_put(out, STREAM_NAME, &rec, sizeof(rec), text, len);
	return ret;
}

int exact_said_take(struct exact_said *s, struct stream *out, const struct hvt_message *m, const char *text, size_t len,
		    const struct stream_name *as)
{
	struct stream_phase phase = { .time_ns = as->time_ns, .mm = as->mm, .pid = as->pid };

	if (len > STREAM_SAID_MAX || memchr(text, 0, len))
		return -EINVAL;
	switch (m->type) {
	case HVT_NAME:
		return name(s, out, m, text, len, as);
	case HVT_PHASE:
		stream_put(out, STREAM_PHASE, &phase, sizeof(phase), text, len);
		return 0;
	case HVT_COUNTING:
		s->stopped = !m->flags;
		return 0;
	default:
		return -EINVAL;
	}
}

void exact_said_unmapped(struct exact_said *s, uint64_t start, uint64_t end)
{
	grow_vmas_set(&s->names, start, end, NULL);
}

bool exact_said_stopped(const struct exact_said *s)
{
	return s->stopped;
}

bool exact_said_named(const struct exact_said *s, uint64_t addr)
{
	return hvar_vmas_find(&s->names, addr);
}

struct exact_said *exact_said_new(const struct exact_said *from)
{
	struct exact_said *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (from ? grow_vmas_copy(&s->names, &from->names) : grow_vmas_init(&s->names, 1)) {
		free(s);
		return NULL;
	}
	s->stopped = from && from->stopped;
	return s;
}

void exact_said_free(struct exact_said *s)
{
	if (!s)
		return;
	grow_vmas_fini(&s->names);
	free(s);
}
