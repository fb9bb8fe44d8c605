// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * maps_summary.c - add up what each event does to the lists.
 *
 * Not the event's words count but what the list shows before and after it: a mapping over
 * others takes from these, a change of protection takes and gives the same.  What one call did, which may be
 * several events of one time and thread, is one change: so a move is none.
 */
#include "config.h"

#include "maps_summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "spaces.h"
#include "told.h"

struct row {
	uint32_t region;
	char *path; /* no NUL */
	size_t path_len;
	uint64_t maps, unmaps, mapped, unmapped, now, peak;
	int64_t delta; /* of the events at hand */
	bool touched;
};

struct summary {
	struct told_modules told;
	struct spaces *spaces;
	struct row *v;
	size_t n, cap;
	uint32_t *by_module; /* number of the row + 1, by module and region; 0: not known */
	size_t n_by_module;
	uint32_t *touched;
	size_t n_touched;
	uint64_t time_ns; /* of the events at hand, and their thread */
	uint32_t tid;
	bool failed;
};

/* ---- rows ---- */

static size_t find_row(const struct summary *s, uint32_t region, const char *path, size_t len)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->v[i].region == region && s->v[i].path_len == len &&
		    !memcmp(s->v[i].path, path, len))
			break;
	return i;
}

/* What a module is called may be told anew, so a row has a path of its own. */
static bool add_row(struct summary *s, uint32_t region, const char *path, size_t len)
{
	char *own = malloc(len + 1);

	if (own && s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct row *v = realloc(s->v, cap * sizeof(*v));
		uint32_t *touched = v ? realloc(s->touched, cap * sizeof(*touched)) : NULL;

		if (v)
			s->v = v;
		if (touched) {
			s->touched = touched;
			s->cap = cap;
		} else {
			free(own);
			own = NULL;
		}
	}
	if (!own)
		return false;
	memcpy(own, path, len);
	s->v[s->n++] = (struct row){ .region = region, .path = own, .path_len = len };
	return true;
}

static struct row *row_of(struct summary *s, uint32_t region, uint32_t module)
{
	const struct told *m = told_get(&s->told, module);
	size_t at = (size_t)module * HVAR_REGIONS + region, i;
	const char *path = m ? m->path : "";

	if (at < s->n_by_module && s->by_module[at])
		return &s->v[s->by_module[at] - 1];
	i = find_row(s, region, path, m ? m->path_len : 0);
	if (i == s->n && !add_row(s, region, path, m ? m->path_len : 0)) {
		s->failed = true;
		return NULL;
	}
	if (at >= s->n_by_module) {
		size_t n = 2 * ((size_t)module + 1) * HVAR_REGIONS; /* whole modules */
		uint32_t *v = m || !module ? realloc(s->by_module, n * sizeof(*v)) : NULL;

		if (v) {
			memset(v + s->n_by_module, 0, (n - s->n_by_module) * sizeof(*v));
			s->by_module = v;
			s->n_by_module = n;
		}
	}
	if (at < s->n_by_module)
		s->by_module[at] = (uint32_t)i + 1;
	return &s->v[i];
}

/* ---- what an event changes ---- */

/* Add the bytes of @vmas in [@lo, @hi), @sign times. */
static void add(struct summary *s, const struct hvar_vmas *vmas, uint64_t lo, uint64_t hi, int sign)
{
	const struct hvar_vma *v = vmas && lo < hi ? hvar_vmas_next(vmas, lo) : NULL;

	for (; v && v->start < hi; v = hvar_vmas_next(vmas, v->end)) {
		uint64_t from = v->start > lo ? v->start : lo, to = v->end < hi ? v->end : hi;
		struct row *w = row_of(s, v->region, v->module);

		if (!w)
			return;
		if (!w->touched)
			s->touched[s->n_touched++] = (uint32_t)(w - s->v);
		w->touched = true;
		w->delta += sign * (int64_t)(to - from);
	}
}

static void settle(struct summary *s)
{
	while (s->n_touched) {
		struct row *w = &s->v[s->touched[--s->n_touched]];
		uint64_t n = w->delta < 0 ? (uint64_t)-w->delta : (uint64_t)w->delta;

		if (w->delta > 0) {
			w->maps++;
			w->mapped += n;
			w->now += n;
		} else if (w->delta < 0) {
			w->unmaps++;
			w->unmapped += n;
			w->now -= n < w->now ? n : w->now;
		}
		if (w->now > w->peak)
			w->peak = w->now;
		w->delta = 0;
		w->touched = false;
	}
}

static void take_map(struct summary *s, const struct hvar_event *ev)
{
	uint64_t lo = ev->u.map.start, hi = ev->u.map.end;
	uint64_t was = ev->u.map.old_start, was_end = ev->u.map.old_end;

	/* of two ranges that meet, each byte once */
	if (was < was_end && was < hi && lo < was_end) {
		lo = was < lo ? was : lo;
		hi = was_end > hi ? was_end : hi;
		was = was_end = 0;
	}
	add(s, spaces_of(s->spaces, ev), lo, hi, -1);
	add(s, spaces_of(s->spaces, ev), was, was_end, -1);
	spaces_event(s->spaces, ev);
	add(s, spaces_find(s->spaces, ev->mm), lo, hi, 1);
	add(s, spaces_find(s->spaces, ev->mm), was, was_end, 1);
}

/* A space may be gone after it, or a new one there. */
static void take_task(struct summary *s, const struct hvar_event *ev)
{
	uint32_t left = spaces_number(s->spaces, ev->tid);
	uint32_t born = ev->type == HVAR_EVENT_FORK ? ev->u.task.child_mm : ev->mm;
	bool there = spaces_find(s->spaces, born) != NULL;

	if (ev->type != HVAR_EVENT_FORK)
		add(s, spaces_find(s->spaces, left), 0, UINT64_MAX, -1);
	spaces_event(s->spaces, ev);
	if (ev->type != HVAR_EVENT_FORK)
		add(s, spaces_find(s->spaces, left), 0, UINT64_MAX, 1);
	if (!there)
		add(s, spaces_find(s->spaces, born), 0, UINT64_MAX, 1);
}

/* Number @id may be called otherwise now. */
static void forget_row(struct summary *s, uint32_t id)
{
	size_t at = (size_t)id * HVAR_REGIONS;

	if (at < s->n_by_module)
		memset(s->by_module + at, 0, HVAR_REGIONS * sizeof(*s->by_module));
}

/* ---- writing ---- */

static int by_peak(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;
	size_t n = a->path_len < b->path_len ? a->path_len : b->path_len;
	int c;

	if (a->peak != b->peak)
		return a->peak < b->peak ? 1 : -1;
	c = memcmp(a->path, b->path, n);
	if (c || a->path_len != b->path_len)
		return c ? c : a->path_len < b->path_len ? -1 : 1;
	return a->region < b->region ? -1 : a->region > b->region;
}

static void write_text(const struct summary *s, FILE *f)
{
	size_t i;

	fprintf(f, "%14s %14s %14s %14s %8s %8s  %s\n", "peak bytes", "mapped", "unmapped", "left",
		"maps", "unmaps", "what");
	for (i = 0; i < s->n; i++) {
		const struct row *w = &s->v[i];

		fprintf(f, "%14" PRIu64 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64 " %8" PRIu64 " %8" PRIu64 "  %s",
			w->peak, w->mapped, w->unmapped, w->now, w->maps, w->unmaps, maps_region(w->region));
		if (w->path_len) {
			putc(' ', f);
			maps_text_path(f, w->path, w->path_len);
		}
		putc('\n', f);
	}
}

static void write_json(const struct summary *s, FILE *f)
{
	struct json j;
	size_t i;

	json_meta(&j, f, "maps");
	json_end(&j);
	for (i = 0; i < s->n; i++) {
		const struct row *w = &s->v[i];

		json_begin(&j, f, "mapped");
		if (w->path_len)
			json_strn(&j, "path", w->path, w->path_len);
		else
			json_null(&j, "path");
		json_str(&j, "kind", maps_region(w->region));
		json_u64(&j, "peak", w->peak);
		json_u64(&j, "mapped", w->mapped);
		json_u64(&j, "unmapped", w->unmapped);
		json_u64(&j, "left", w->now);
		json_u64(&j, "maps", w->maps);
		json_u64(&j, "unmaps", w->unmaps);
		json_end(&j);
	}
}

static void take(struct summary *s, const struct stream_record *rec, struct maps_totals *out)
{
	const struct stream_module *m = rec->data;
	const struct hvar_event *ev = rec->data;
	const struct stream_loss *loss = rec->data;

	switch (rec->type) {
	case STREAM_MODULE:
		if (told_module(&s->told, m))
			s->failed = true;
		forget_row(s, m->id);
		break;
	case STREAM_EVENT:
		if (ev->time_ns != s->time_ns || ev->tid != s->tid)
			settle(s);
		s->time_ns = ev->time_ns;
		s->tid = ev->tid;
		if (hvar_event_is_map(ev->type))
			take_map(s, ev);
		else if (hvar_event_is_task(ev->type))
			take_task(s, ev);
		break;
	case STREAM_LOSS:
		if (loss->what < STREAM_LOST_WHATS)
			out->lost[loss->what] += loss->count;
		break;
	default:
		break;
	}
}

int maps_summary(struct stream_reader *r, FILE *f, bool json, struct maps_totals *out)
{
	struct summary s = { .spaces = spaces_new() };
	struct stream_record rec;
	size_t i;
	int got = 0;

	memset(out, 0, sizeof(*out));
	while (s.spaces && !s.failed && (got = stream_next(r, &rec)) > 0)
		take(&s, &rec, out);
	settle(&s);
	if (got < 0)
		out->why = stream_reader_why(r);
	if (s.spaces && !s.failed) {
		out->lost[STREAM_LOST_MEMORY] += spaces_lost(s.spaces);
		out->lines = s.n;
		if (s.n)
			qsort(s.v, s.n, sizeof(*s.v), by_peak);
		if (json)
			write_json(&s, f);
		else if (s.n)
			write_text(&s, f);
	}
	for (i = 0; i < s.n; i++)
		free(s.v[i].path);
	free(s.v);
	free(s.touched);
	free(s.by_module);
	told_fini(&s.told);
	i = s.spaces && !s.failed;
	spaces_free(s.spaces);
	return i ? 0 : -ENOMEM;
}
