// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * maps_moment.c - replay a recording up to one moment or two, and write what is mapped then.
 */
#include "config.h"

#include "maps_moment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "spaces.h"
#include "told.h"

struct area {
	uint32_t mm, pid;
	struct hvar_vma v;
};

/* All areas of all address spaces at one time: by number of the space, then by address. */
struct moment {
	struct area *v;
	size_t n, cap;
	bool failed;
};

static void add_space(void *ctx, uint32_t mm, uint32_t pid, const struct hvar_vmas *vmas)
{
	struct moment *m = ctx;
	const struct hvar_vma *v;

	for (v = hvar_vmas_next(vmas, 0); v && !m->failed; v = hvar_vmas_next(vmas, v->end)) {
		if (m->n == m->cap) {
			size_t cap = m->cap ? 2 * m->cap : 256;
			struct area *more = realloc(m->v, cap * sizeof(*more));

			if (!more) {
				m->failed = true;
				return;
			}
			m->v = more;
			m->cap = cap;
		}
		m->v[m->n++] = (struct area){ mm, pid, *v };
	}
}

bool maps_time_parse(const char *text, struct maps_time *out)
{
	uint64_t secs = 0, part = 0;
	int digits = 0, whole = 0;

	for (; *text >= '0' && *text <= '9'; text++, whole++)
		if (secs < 1000000000)
			secs = secs * 10 + (uint64_t)(*text - '0');
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9' && digits < 9; text++, digits++)
			part = part * 10 + (uint64_t)(*text - '0');
	if (*text || !(whole + digits) || secs >= 1000000000)
		return false;
	out->exact = digits > 6;
	for (; digits < 9; digits++)
		part *= 10;
	out->ns = secs * 1000000000 + part;
	return true;
}

static bool has_happened(const struct maps_time *at, uint64_t since_ns)
{
	return at->exact ? since_ns <= at->ns : since_ns / 1000 <= at->ns / 1000;
}

/* ---- writing ---- */

struct out {
	FILE *f;
	bool json;
	const struct told_modules *told;
	struct maps_totals *totals;
	uint32_t mm; /* whose heading was written last */
};

/* @sign: '+', '-' or 0. */
static void write_area(struct out *o, const struct area *a, char sign)
{
	struct hvar_event ev = { .type = HVAR_EVENT_MAP, .mm = a->mm, .module = a->v.module };
	const struct told *m = told_get(o->told, a->v.module);
	struct maps_line l = { .ev = &ev };
	struct json j;

	ev.u.map.start = a->v.start;
	ev.u.map.end = a->v.end;
	ev.u.map.pgoff = a->v.pgoff;
	ev.u.map.prot = a->v.prot;
	ev.u.map.region = a->v.region;
	ev.u.map.flags = a->v.flags;
	if (m) {
		l.m = &m->m;
		l.path = m->path;
		l.path_len = m->path_len;
	}
	o->totals->lines++;
	if (o->json) {
		json_begin(&j, o->f, "area");
		json_u64(&j, "mm", a->mm);
		json_u64(&j, "pid", a->pid);
		if (sign)
			json_str(&j, "change", sign == '+' ? "added" : "removed");
		maps_json_area(&j, &l);
		json_end(&j);
		return;
	}
	if (o->mm != a->mm)
		fprintf(o->f, "%saddress space #%" PRIu32 ", process %" PRIu32 "\n",
			o->mm ? "\n" : "", a->mm, a->pid);
	o->mm = a->mm;
	if (sign)
		fprintf(o->f, "%c ", sign);
	maps_text_area(o->f, &l);
	putc('\n', o->f);
}

static int compare(const struct area *a, const struct area *b)
{
	if (a->mm != b->mm)
		return a->mm < b->mm ? -1 : 1;
	return a->v.start < b->v.start ? -1 : a->v.start > b->v.start;
}

static bool same(const struct hvar_vma *a, const struct hvar_vma *b)
{
	return a->start == b->start && a->end == b->end && a->pgoff == b->pgoff &&
	       a->module == b->module && a->prot == b->prot && a->region == b->region &&
	       a->flags == b->flags;
}

static void write_difference(struct out *o, const struct moment *was, const struct moment *now)
{
	size_t i = 0, k = 0;

	while (i < was->n || k < now->n) {
		int c = i == was->n ? 1 : k == now->n ? -1 : compare(&was->v[i], &now->v[k]);

		if (!c && same(&was->v[i].v, &now->v[k].v)) {
			i++;
			k++;
			continue;
		}
		if (c <= 0)
			write_area(o, &was->v[i++], '-');
		if (c >= 0)
			write_area(o, &now->v[k++], '+');
	}
}

static void write_all(struct out *o, const struct moment m[2], int n)
{
	size_t i;

	if (n == 2)
		write_difference(o, &m[0], &m[1]);
	for (i = 0; n == 1 && i < m[0].n; i++)
		write_area(o, &m[0].v[i], 0);
}

static void begin(FILE *f, bool json)
{
	struct json j;

	if (!json)
		return;
	json_meta(&j, f, "maps");
	json_end(&j);
}

int maps_moment(struct stream_reader *r, FILE *f, bool json, const struct maps_time at[2], int n,
		struct maps_totals *out)
{
	struct told_modules told = { 0 };
	struct spaces *spaces = spaces_new();
	struct moment m[2] = { { 0 } };
	struct out o = { f, json, &told, out, 0 };
	const struct hvar_event *ev;
	struct stream_record rec;
	uint64_t first_ns = 0;
	int got = 1, err = 0, done = 0;
	bool begun = false;

	memset(out, 0, sizeof(*out));
	while (spaces && !err && (got = stream_next(r, &rec)) > 0) {
		if (rec.type == STREAM_MODULE)
			err = told_module(&told, rec.data);
		ev = rec.data;
		if (rec.type != STREAM_EVENT ||
		    (!hvar_event_is_map(ev->type) && !hvar_event_is_task(ev->type)))
			continue;
		if (!begun)
			first_ns = ev->time_ns;
		begun = true;
		while (done < n && !has_happened(&at[done], ev->time_ns - first_ns))
			spaces_each(spaces, add_space, &m[done++]);
		if (done == n)
			break;
		spaces_event(spaces, ev);
	}
	while (spaces && done < n) /* moments behind the last change */
		spaces_each(spaces, add_space, &m[done++]);
	if (!spaces || m[0].failed || m[1].failed)
		err = -ENOMEM;
	if (got < 0)
		out->why = stream_reader_why(r);
	if (!err) {
		begin(f, json);
		write_all(&o, m, n);
		if (spaces_lost(spaces))
			out->lost[STREAM_LOST_MEMORY] = spaces_lost(spaces);
	}
	free(m[0].v);
	free(m[1].v);
	told_fini(&told);
	spaces_free(spaces);
	return err;
}
