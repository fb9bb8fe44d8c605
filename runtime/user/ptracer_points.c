// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "ptracer_points.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "grow.h"
#include "live.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/image_member.h"
#include "translator-hooks/image_name.h"
#include "watch.h"
#include "watchpoints.h"

enum { MORE_CALLS = 8 }; /* that map the rest of a file, which may have no name */

enum state { SOUGHT, FOUND, REFUSED };

/* A watched variable in one address space. */
struct place {
	enum state state;
	uint64_t start;
	uint32_t size;
};

struct space {
	uint32_t mm;
	pid_t pid;
	unsigned ask; /* so many mapping calls more the variables that are sought may have appeared in */
	bool gone;    /* of a variable: what was there was unmapped */
	struct live *live;
	struct place v[WATCHPOINTS_MAX];
};

struct ptracer_points {
	struct watchpoints *w;
	const struct watchpoints_ask *ask;
	struct space **spaces;
	size_t n, cap;
	bool begun; /* something was found, or the first program was looked at */
	bool said[WATCHPOINTS_MAX];
	uint64_t unset; /* points that could not be set */
	int failed;
	struct err why;
};

/* ---- address spaces ---- */

static struct space *space_of(struct ptracer_points *q, uint32_t mm)
{
	for (size_t i = q->n; i-- > 0;)
		if (q->spaces[i]->mm == mm)
			return q->spaces[i];
	return NULL;
}

static struct space *new_space(struct ptracer_points *q, uint32_t mm, pid_t pid)
{
	struct space *s;

	if (grow_array((void **)&q->spaces, &q->cap, q->n + 1, sizeof(*q->spaces)))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->mm = mm;
	s->pid = pid;
	q->spaces[q->n++] = s;
	return s;
}

static void drop_space(struct ptracer_points *q, uint32_t mm)
{
	for (size_t i = 0; i < q->n; i++) {
		struct space *s = q->spaces[i];

		if (s->mm != mm)
			continue;
		live_free(s->live);
		free(s);
		q->spaces[i] = q->spaces[--q->n];
		return;
	}
}

static bool seeks(const struct ptracer_points *q, const struct space *s)
{
	for (size_t i = 0; i < q->ask->n; i++)
		if (s->v[i].state == SOUGHT)
			return true;
	return false;
}

/* ---- events ---- */

static void tap(void *ctx, const struct hvar_event *ev, uint32_t mm, const struct hvar_vmas *vmas)
{
	struct ptracer *p = ctx;
	struct ptracer_points *q = p->points;
	struct space *s = space_of(q, mm);

	(void)vmas;
	if (!s)
		return;
	if (!ev) {
		drop_space(q, mm);
		return;
	}
	if (!hvar_event_is_map(ev->type))
		return;
	if (ev->module)
		s->ask = MORE_CALLS;
	for (size_t i = 0; i < q->ask->n; i++) {
		struct watch w = { .start = s->v[i].start, .end = s->v[i].start + s->v[i].size };

		if (s->v[i].state != FOUND || !watch_hits(&w, ev))
			continue;
		watchpoints_unset_in(q->w, mm, (uint32_t)i, ev->time_ns);
		s->v[i].state = SOUGHT;
	}
}

/* ---- what cannot be watched ---- */

/* The first program is not to run, or not on, without what was asked for; of others it is said. */
static void refuse(struct ptracer *p, struct space *s, size_t i, int code, const char *text)
{
	struct ptracer_points *q = p->points;

	s->v[i].state = REFUSED;
	if (!q->begun && !q->failed) {
		q->failed = code;
		err_set(&q->why, code, "%s", text);
	} else if (!q->said[i]) {
		char key[32];

		q->said[i] = true;
		snprintf(key, sizeof(key), "watch.%zu.why", i);
		stream_put_meta(p->s->out, key, "process %d: %s", (int)s->pid, text);
		if (p->s->warn)
			p->s->warn(text);
	}
}

/* "table[0].hits": the first part of a variable that can be watched; malloc'd, NULL: none. */
static char *part_of(struct space *s, const char *name, uint64_t start, uint64_t size)
{
	struct image_member m;
	struct hvar_place at;
	const struct hvar_image *img;
	uint32_t why;
	char *whole, *text = NULL;

	live_resolve(s->live, start, &at);
	img = at.symbol == HVAR_IMAGE_NONE ? NULL : live_image(s->live, at.module, &why);
	if (!img || !size)
		return NULL;
	image_member(img, at.symbol, false, at.offset, &m);
	whole = *m.path && !m.rest ? image_name(img, at.symbol) : NULL;
	if (whole && (asprintf(&text, "%s%s", whole, m.path) < 0 || !strcmp(text, name))) {
		free(text);
		text = NULL;
	}
	free(whole);
	return text;
}

/* Bytes of [@start, @start + @size) that can be watched, as many as there are. */
static char *bytes_of(const char *name, uint64_t start, uint64_t size)
{
	uint64_t n, from;
	char *text;

	for (n = 8; n > 1; n /= 2) {
		from = (start + n - 1) & ~(n - 1);
		if (from + n <= start + size)
			break;
	}
	from = (start + n - 1) & ~(n - 1);
	return asprintf(&text, "%s+%" PRIu64 ",%" PRIu64, name, from - start, n) < 0 ? NULL : text;
}

static void refuse_size(struct ptracer *p, struct space *s, size_t i, const struct watch *w)
{
	const char *name = p->points->ask->name[i];
	uint64_t size = w->end - w->start;
	bool crooked = size == 1 || size == 2 || size == 4 || size == 8;
	char *part = crooked ? NULL : part_of(s, name, w->start, size), text[900];

	if (!part)
		part = bytes_of(name, w->start, size);
	if (crooked)
		snprintf(text, sizeof(text), "cannot watch '%.300s', %" PRIu64 " bytes at 0x%" PRIx64 ": a watchpoint of the processor must lie at a multiple of its size: watch a part of it, as in --watch '%.300s'",
			 name, size, w->start, part ? part : name);
	else
		snprintf(text, sizeof(text), "cannot watch '%.300s' of %" PRIu64 " bytes: a watchpoint of the processor covers 1, 2, 4 or 8: watch a part of it, as in --watch '%.300s'",
			 name, size, part ? part : name);
	free(part);
	refuse(p, s, i, EINVAL, text);
}

/* A label of assembler code: there is no telling how much was meant. */
static bool has_size(struct space *s, uint64_t start)
{
	struct hvar_place at;

	live_resolve(s->live, start, &at);
	return at.symbol == HVAR_IMAGE_NONE || at.size;
}

/* ---- finding ---- */

static const char *path_of(void *ctx, uint32_t id)
{
	return live_path(ctx, id);
}

/* "NAME+OFFSET,SIZE" */
static void found_part(struct ptracer *p, struct space *s, size_t i, const struct watch *w)
{
	const struct watchpoints_ask *ask = p->points->ask;
	uint64_t start = w->start + ask->offset[i], end = start + ask->size[i];
	char text[900];

	if (has_size(s, w->start) && end > w->end) {
		snprintf(text, sizeof(text), "cannot watch '%.300s': %.300s has %" PRIu64 " bytes", ask->v[i], w->name, w->end - w->start);
		refuse(p, s, i, EINVAL, text);
	} else if (!watchpoints_fit(start, ask->size[i])) {
		snprintf(text, sizeof(text), "cannot watch '%.300s', which lies at 0x%" PRIx64 ": a watchpoint of the processor must lie at a multiple of its size: watch fewer bytes, or one at a time",
			 ask->v[i], start);
		refuse(p, s, i, EINVAL, text);
	} else {
		s->v[i] = (struct place){ FOUND, start, ask->size[i] };
	}
}

static void found(struct ptracer *p, struct space *s, size_t i, const struct watch *w)
{
	const struct ptracer_points *q = p->points;
	char text[900];

	if (w->ambiguous) {
		snprintf(text, sizeof(text), "'%.200s' is not watched, since there are several: name one of them: %.500s", w->name, w->others);
		refuse(p, s, i, EINVAL, text);
	} else if (q->ask->size[i]) {
		found_part(p, s, i, w);
	} else if (w->name && !has_size(s, w->start)) {
		snprintf(text, sizeof(text), "cannot watch '%.200s', a label without a size: say how many bytes of it, as in --watch '%.200s+0,1'",
			 w->name, w->name);
		refuse(p, s, i, EINVAL, text);
	} else if (!watchpoints_fit(w->start, w->end - w->start)) {
		refuse_size(p, s, i, w);
	} else {
		s->v[i] = (struct place){ FOUND, w->start, (uint32_t)(w->end - w->start) };
	}
}

/* "VARIABLE.MEMBER" of a variable that is there. */
static void refuse_part(struct ptracer *p, struct space *s, size_t i, const struct watch *w)
{
	char *part = bytes_of(w->no_part, w->no_part_start, w->no_part_size ? w->no_part_size : 1), text[1400];

	snprintf(text, sizeof(text), "cannot watch '%.300s': there is '%.300s', %s: watch 1, 2, 4 or 8 bytes of it by their offset, '%.300s+OFFSET,SIZE', as in --watch '%.300s'",
		 w->name, w->no_part,
		 w->no_part_size > WATCH_MEMBERS_MAX ? "whose parts are not known by name, since it has more than 1 MiB" :
						       "which has no such part, or no debug information tells of it",
		 w->no_part, part ? part : w->no_part);
	free(part);
	refuse(p, s, i, EINVAL, text);
}

static void seek_one(struct ptracer *p, struct space *s, size_t i)
{
	struct watch w = { .start = 0 };
	char text[400];
	int err;

	if (!watch_parse(&w, p->points->ask->name[i]))
		return;
	if (!w.name) {
		if (watch_mapped(&w, live_vmas(s->live)))
			found(p, s, i, &w);
		return;
	}
	err = watch_find(&w, live_vmas(s->live), live_image, path_of, s->live);
	if (!err) {
		found(p, s, i, &w);
	} else if (err == -EXDEV) {
		snprintf(text, sizeof(text), "cannot watch '%.200s': it is thread-local, each thread has its own: count all accesses, with --exact", w.name);
		refuse(p, s, i, EINVAL, text);
	} else if (w.no_member) {
		snprintf(text, sizeof(text), "cannot watch '%.100s': there is no such member; there is %.240s", w.name, w.no_member);
		refuse(p, s, i, EINVAL, text);
	} else if (w.no_part) {
		refuse_part(p, s, i, &w);
	}
	watch_fini(&w);
}

static int set_all(struct ptracer *p, const struct space *s, pid_t pid, pid_t tid, uint64_t now)
{
	struct ptracer_points *q = p->points;
	int err, first = 0;

	for (size_t i = 0; i < q->ask->n; i++) {
		if (s->v[i].state != FOUND)
			continue;
		err = watchpoints_set(q->w, pid, tid, s->mm, (uint32_t)i, s->v[i].start, s->v[i].size, now);
		if (err && err != -ESRCH && !first)
			first = err;
	}
	return first;
}

/* Of all tasks in @s. */
static void set_everywhere(struct ptracer *p, struct space *s, uint64_t now)
{
	struct ptracer_points *q = p->points;
	const struct tracee *x;
	struct err why = { 0, "" };
	size_t k = 0;

	while ((x = tracees_next(&p->tasks, &k)) != NULL) {
		uint32_t mm;
		pid_t pid;
		int err;

		if (!tracker_knows(p->tracker, x->tid, &pid, &mm) || mm != s->mm)
			continue;
		err = set_all(p, s, pid, x->tid, now);
		if (!err)
			continue;
		q->unset++;
		watchpoints_refused(-err, &why);
		if (!q->begun && !q->failed) {
			q->failed = -err;
			q->why = why;
		}
	}
}

/* Look for what is sought in @s, whose map has changed, and watch what is there now. */
static void seek(struct ptracer *p, struct space *s)
{
	uint64_t now = clock_now_ns();
	size_t i;

	if (s->live)
		live_look(s->live, true);
	else
		s->live = live_open(s->pid, NULL);
	if (!s->live)
		return;
	for (i = 0; i < p->points->ask->n; i++)
		if (s->v[i].state == SOUGHT)
			seek_one(p, s, i);
	set_everywhere(p, s, now);
	if (!seeks(p->points, s)) {
		live_free(s->live);
		s->live = NULL;
	}
}

/* ---- tasks ---- */

void ptracer_points_born(struct ptracer *p, pid_t parent, pid_t tid)
{
	struct ptracer_points *q = p->points;
	struct space *s, *from = NULL;
	uint32_t mm, its_mm;
	pid_t pid, its_pid;
	int err;

	if (!q || !p->measuring || !tracker_knows(p->tracker, tid, &pid, &mm))
		return;
	if (parent && tracker_knows(p->tracker, parent, &its_pid, &its_mm))
		from = space_of(q, its_mm);
	s = space_of(q, mm);
	if (!s) {
		s = new_space(q, mm, pid);
		if (s && from)
			memcpy(s->v, from->v, sizeof(s->v));
		else if (s)
			seek(p, s);
	}
	err = s ? set_all(p, s, pid, tid, clock_now_ns()) : -ENOMEM;
	q->unset += err != 0;
}

void ptracer_points_executed(struct ptracer *p, pid_t pid, pid_t old)
{
	struct ptracer_points *q = p->points;
	struct space *s;
	uint32_t mm;
	pid_t its;

	if (!q)
		return;
	watchpoints_unset(q->w, old, clock_now_ns());
	watchpoints_unset(q->w, pid, clock_now_ns());
	if (!tracker_knows(p->tracker, pid, &its, &mm))
		return;
	s = space_of(q, mm) ? space_of(q, mm) : new_space(q, mm, pid);
	if (!s) {
		q->unset++;
		return;
	}
	s->ask = 0;
	seek(p, s);
	q->begun = true;
}

static void mapped(struct ptracer *p, struct space *s)
{
	if (!s->ask)
		return;
	s->ask--;
	if (seeks(p->points, s))
		seek(p, s);
}

void ptracer_points_mapped(struct ptracer *p, pid_t tid)
{
	struct space *s;
	uint32_t mm;
	pid_t pid;

	if (!p->points || !tracker_knows(p->tracker, tid, &pid, &mm))
		return;
	s = space_of(p->points, mm);
	if (s)
		mapped(p, s);
}

void ptracer_points_look(struct ptracer *p)
{
	struct ptracer_points *q = p->points;

	for (size_t i = 0; q && i < q->n; i++) {
		if (p->look)
			relook_active(p->look, q->spaces[i]->pid, false);
		mapped(p, q->spaces[i]);
	}
}

void ptracer_points_gone(struct ptracer *p, pid_t tid)
{
	if (p->points)
		watchpoints_unset(p->points->w, tid, clock_now_ns());
}

/* ---- all of it ---- */

/* No note for the report, which has its own word for what was never found. */
static void say_missing(const struct ptracer *p, const char *name)
{
	char text[400];

	snprintf(text, sizeof(text), "there is no variable '%.200s' in process %d now: it is watched once a library that has it is seen",
		 name, (int)p->s->pid);
	if (p->s->warn)
		p->s->warn(text);
}

void ptracer_points_begun(struct ptracer *p)
{
	struct ptracer_points *q = p->points;

	if (!q)
		return;
	q->begun = true;
	for (size_t i = 0; i < q->ask->n; i++) {
		size_t k = 0;

		while (k < q->n && q->spaces[k]->v[i].state != FOUND)
			k++;
		if (k == q->n && !q->said[i] && !q->failed)
			say_missing(p, q->ask->v[i]);
	}
}

void ptracer_points_drain(struct ptracer *p, uint64_t now)
{
	if (!p->points)
		return;
	watchpoints_drain(p->points->w, now);
	p->s->accesses = watchpoints_hits(p->points->w);
}

int ptracer_points_begin(struct ptracer *p, struct err *e)
{
	const struct watchpoints_ask *ask = p->s->points;
	struct ptracer_points *q;
	size_t i;

	if (!ask)
		return 0;
	q = calloc(1, sizeof(*q));
	if (!q)
		return err_set(e, ENOMEM, "cannot watch: no memory; free some");
	p->points = q;
	q->ask = ask;
	q->w = watchpoints_new(p->tracker, p->s->out, e);
	if (!q->w)
		return -EACCES;
	stream_put_meta(p->s->out, "source", "watch");
	for (i = 0; i < ask->n; i++) {
		char key[32];

		snprintf(key, sizeof(key), "watch.%zu", i);
		stream_put_meta(p->s->out, key, "%s", ask->v[i]);
		if (strpbrk(ask->v[i], ".["))
			image_build_debug(IMAGE_BUILD_DEBUG_ALL); /* members: worth some waiting */
	}
	tracker_tap(p->tracker, tap, p);
	return 0;
}

void ptracer_points_end(struct ptracer *p)
{
	struct ptracer_points *q = p->points;
	uint64_t now = clock_now_ns();
	const struct tracee *x;
	size_t k = 0;

	if (!q)
		return;
	while ((x = tracees_next(&p->tasks, &k)) != NULL)
		watchpoints_unset(q->w, x->tid, now);
	ptracer_points_drain(p, now);
	if (q->unset)
		session_note(p->s, "%" PRIu64 " tasks were not watched: the processor's watchpoints were taken, by a debugger or the program itself, or file descriptors ran out",
			     q->unset);
	tracker_tap(p->tracker, NULL, NULL);
	ptracer_points_free(p);
}

void ptracer_points_free(struct ptracer *p)
{
	struct ptracer_points *q = p->points;

	if (!q)
		return;
	while (q->n)
		drop_space(q, q->spaces[0]->mm);
	free(q->spaces);
	watchpoints_free(q->w);
	free(q);
	p->points = NULL;
}

int ptracer_points_failed(const struct ptracer *p, struct err *e)
{
	if (!p->points || !p->points->failed)
		return 0;
	if (e)
		*e = p->points->why;
	return -p->points->failed;
}
