// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "said.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_vmas.h"
#include "runtime/user/grow.h"

enum { MOST_TEXTS = 1 << 20 };

struct space {
	uint32_t mm, phase;
	bool named;
	struct hvar_vmas names; /* an area's module is its name's number */
};

struct said {
	char **texts;
	size_t n_texts, cap_texts;
	struct space **spaces; /* by mm, which count up */
	size_t n_spaces, cap_spaces;
	uint64_t lost;
};

/* The number of @text; 0 without memory. */
static uint32_t intern(struct said *s, const char *text, size_t len)
{
	char *copy;
	size_t i;

	for (i = 0; i < s->n_texts; i++)
		if (!strncmp(s->texts[i], text, len) && !s->texts[i][len])
			return (uint32_t)i + 1;
	copy = strndup(text, len);
	if (!copy || s->n_texts >= MOST_TEXTS ||
	    grow_array((void **)&s->texts, &s->cap_texts, s->n_texts + 1, sizeof(*s->texts))) {
		free(copy);
		s->lost++;
		return 0;
	}
	s->texts[s->n_texts++] = copy;
	return (uint32_t)s->n_texts;
}

/* Where @mm is, or would be. */
static size_t place_of(const struct said *s, uint32_t mm)
{
	size_t lo = 0, hi = s->n_spaces;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->spaces[mid]->mm < mm)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct space *find(const struct said *s, uint32_t mm)
{
	size_t i = place_of(s, mm);

	return i < s->n_spaces && s->spaces[i]->mm == mm ? s->spaces[i] : NULL;
}

static struct space *get(struct said *s, uint32_t mm)
{
	struct space *x = find(s, mm);
	size_t i;

	if (x)
		return x;
	x = calloc(1, sizeof(*x));
	if (!x || grow_array((void **)&s->spaces, &s->cap_spaces, s->n_spaces + 1, sizeof(*s->spaces))) {
		free(x);
		s->lost++;
		return NULL;
	}
	i = place_of(s, mm);
	memmove(&s->spaces[i + 1], &s->spaces[i], (s->n_spaces - i) * sizeof(*s->spaces));
	s->spaces[i] = x;
	s->n_spaces++;
	x->mm = mm;
	return x;
}

static void drop(struct said *s, uint32_t mm)
{
	size_t i = place_of(s, mm);
	struct space *x = find(s, mm);

	if (!x)
		return;
	if (x->named)
		grow_vmas_fini(&x->names);
	free(x);
	s->n_spaces--;
	memmove(&s->spaces[i], &s->spaces[i + 1], (s->n_spaces - i) * sizeof(*s->spaces));
}

void said_name(struct said *s, const struct stream_name *r, size_t len)
{
	struct hvar_vma as = { .start = r->start, .end = r->end, .region = HVAR_REGION_ANON };
	struct space *x;

	len -= sizeof(*r);
	x = len ? get(s, r->mm) : find(s, r->mm);
	as.module = len ? intern(s, r->name, len) : 0;
	if (!x || (len && !as.module) || (!len && !x->named))
		return;
	if (!x->named && grow_vmas_init(&x->names, 16)) {
		s->lost++;
		return;
	}
	x->named = true;
	if (grow_vmas_set(&x->names, r->start, r->end, len ? &as : NULL))
		s->lost++;
}

void said_phase(struct said *s, const struct stream_phase *r, size_t len)
{
	uint32_t phase = len > sizeof(*r) ? intern(s, r->name, len - sizeof(*r)) : 0;
	struct space *x = get(s, r->mm);

	if (x)
		x->phase = phase;
}

static void fork_space(struct said *s, const struct hvar_event *ev)
{
	const struct space *from = find(s, ev->mm);
	struct space *x;

	drop(s, ev->u.task.child_mm);
	if (!from)
		return;
	x = get(s, ev->u.task.child_mm);
	if (!x)
		return;
	x->phase = from->phase;
	if (!from->named)
		return;
	if (grow_vmas_copy(&x->names, &from->names))
		s->lost++;
	else
		x->named = true;
}

void said_event(struct said *s, const struct hvar_event *ev)
{
	struct space *x;

	switch (ev->type) {
	case HVAR_EVENT_UNMAP:
		x = find(s, ev->mm);
		if (x && x->named && grow_vmas_set(&x->names, ev->u.map.start, ev->u.map.end, NULL))
			s->lost++;
		break;
	case HVAR_EVENT_FORK:
		if (ev->u.task.child_mm != ev->mm)
			fork_space(s, ev);
		break;
	case HVAR_EVENT_EXEC:
		drop(s, ev->mm);
		break;
	default:
		break;
	}
}

uint32_t said_name_at(const struct said *s, uint32_t mm, uint64_t addr, uint64_t *until)
{
	const struct space *x = s->n_spaces ? find(s, mm) : NULL;
	const struct hvar_vma *v = x && x->named ? hvar_vmas_next(&x->names, addr) : NULL;
	uint64_t end;

	if (!v)
		return 0;
	end = v->start > addr ? v->start : v->end;
	if (end < *until)
		*until = end;
	return v->start > addr ? 0 : v->module;
}

uint32_t said_phase_of(const struct said *s, uint32_t mm)
{
	const struct space *x = s->n_spaces ? find(s, mm) : NULL;

	return x ? x->phase : 0;
}

const char *said_text(const struct said *s, uint32_t number)
{
	return number && number <= s->n_texts ? s->texts[number - 1] : "";
}

uint64_t said_lost(const struct said *s)
{
	return s->lost;
}

struct said *said_new(void)
{
	return calloc(1, sizeof(struct said));
}

void said_free(struct said *s)
{
	size_t i;

	if (!s)
		return;
	while (s->n_spaces)
		drop(s, s->spaces[s->n_spaces - 1]->mm);
	for (i = 0; i < s->n_texts; i++)
		free(s->texts[i]);
	free(s->texts);
	free(s->spaces);
	free(s);
}
