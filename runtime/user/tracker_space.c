// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracker_space.c - the tracker's windows on address spaces, and what is seen through them.
 *
 * A window is a file descriptor, so only so many are open: those looked through
 * last.  It shows one address space, but was opened through a task, and a read
 * fails once that task has ended; then another task's opens it again.
 */
#include "config.h"

#include "tracker_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grow.h"
#include "proc.h"

#define FIRST_AREAS 64
#define USER_END ((uint64_t)1 << 63)
#define WINDOWS	 16 /* threads that end one after the other, each as it is looked through */

int space_born(struct hvar_mm *mm, const struct hvar_mm *from)
{
	struct space *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	if (s)
		r = from ? grow_vmas_copy(&mm->vmas, &from->vmas) :
			   grow_vmas_init(&mm->vmas, FIRST_AREAS);
	if (r) {
		free(s);
		return r;
	}
	s->look.fd = s->size_fd = -1;
	if (from) {
		s->brk = space_of(from)->brk;
		s->start_brk = space_of(from)->start_brk;
		s->heap_told = space_of(from)->heap_told;
		s->narrow = space_of(from)->narrow;
		s->program_end = space_of(from)->program_end;
		s->stack = space_of(from)->stack;
		memcpy(s->growing, space_of(from)->growing, sizeof(s->growing));
		s->next_growing = space_of(from)->next_growing;
		s->started_ns = space_of(from)->started_ns;
	}
	mm->host = s;
	return 0;
}

/* "00400000": eight hexadecimal digits, for whoever may trace it. */
uint32_t space_personality(struct space *s, pid_t tid)
{
	char text[16];

	if (s->asked)
		return s->personality;
	s->asked = true;
	if (proc_read(tid, "personality", text, sizeof(text)) > 0)
		s->personality = (uint32_t)strtoul(text, NULL, 16);
	return s->personality;
}

static void close_window(struct tracker *t, struct space *s)
{
	if (s->look.fd < 0)
		return;
	look_close(&s->look);
	if (s->size_fd >= 0)
		close(s->size_fd);
	s->size_fd = -1;
	t->windows--;
}

void space_gone(struct tracker *t, struct hvar_mm *mm)
{
	struct space *s = space_of(mm);

	if (!s)
		return;
	if (t->tap)
		t->tap(t->tap_ctx, NULL, mm->id, &mm->vmas);
	close_window(t, s);
	grow_vmas_fini(&mm->vmas);
	tracker_doubts_gone(t, s);
	space_doubts_fini(s);
	free(s);
	mm->host = NULL;
}

static void close_oldest(struct tracker *t)
{
	struct space *oldest = NULL;

	for (uint32_t i = 0; i < t->tasks.nmms; i++) {
		struct space *s = t->tasks.mms[i].id ? space_of(&t->tasks.mms[i]) : NULL;

		if (s && s->look.fd >= 0 &&
		    (!oldest || t->clock - s->used > t->clock - oldest->used))
			oldest = s;
	}
	if (oldest)
		close_window(t, oldest);
}

/* Open @s's window through @tid. */
static int open_window(struct tracker *t, struct space *s, pid_t tid)
{
	int r;

	if (t->windows >= t->max_windows)
		close_oldest(t);
	r = look_open(&s->look, tid);
	if (!r)
		t->windows++;
	return r;
}

int tracker_window(struct tracker *t, struct hvar_mm *mm, pid_t tid)
{
	struct space *s = space_of(mm);
	int r;

	s->used = ++t->clock;
	if (s->look.fd >= 0)
		return 0;
	if (s->denied)
		return -EACCES;
	r = open_window(t, s, tid);
	for (uint32_t i = 0; r == -ESRCH && i < t->tasks.ntasks; i++) {
		const struct hvar_task *task = &t->tasks.tasks[i];

		if (task->tid && task->tid != (uint32_t)tid &&
		    hvar_tasks_mm(&t->tasks, task) == mm)
			r = open_window(t, s, (pid_t)task->tid);
	}
	s->denied = r == -EACCES || r == -EPERM;
	return r;
}

/*
 * A window opened anew may show what a task has executed meanwhile, of which the
 * news is to come: the stack, placed at random, tells the two apart.  1, 0 or -errno.
 */
static int is_same_space(struct tracker *t, const struct space *s)
{
	int r = s->stack ? look_at(&s->look, s->stack, s->stack + 1, &t->areas) : 0;

	return !s->stack ? 1 :
	       r	 ? r :
			   t->areas.n && t->areas.v[0].v.end == s->stack + HVAR_PAGE_SIZE;
}

/* A window whose task is gone, and another may see still; that one may end, too. */
static int see_areas(struct tracker *t, struct hvar_mm *mm, pid_t tid,
		     uint64_t lo, uint64_t hi)
{
	struct space *s = space_of(mm);
	int r = -ESRCH, same;

	for (int i = 0; i < WINDOWS && r == -ESRCH; i++) {
		r = tracker_window(t, mm, tid);
		if (r)
			return r;
		same = s->gone ? is_same_space(t, s) : 1;
		if (same < 0 && same != -ESRCH)
			return same;
		r = same > 0 ? look_at(&s->look, lo, hi, &t->areas) : -ESRCH;
		s->gone = r == -ESRCH;
		if (s->gone)
			close_window(t, s);
		if (!same)
			return r;
	}
	return r;
}

int tracker_see(struct tracker *t, struct hvar_mm *mm, pid_t tid, uint64_t *lo,
		uint64_t *hi, bool fresh)
{
	struct modules_where where = {
		.pid = tid, .look = &space_of(mm)->look, .mapped_now = fresh,
		.mapped_ns = fresh ? 0 : space_of(mm)->started_ns,
	};
	int r;

	/* A look at a range sees nothing above the middle: what is listed there stays. */
	if ((*lo || *hi != UINT64_MAX) && *hi > USER_END)
		*hi = USER_END;
	r = see_areas(t, mm, tid, *lo, *hi);
	t->lost[STREAM_LOST_MAPS] += t->areas.torn;
	t->areas.torn = 0;
	t->nseen = 0;
	if (!r)
		r = grow_array((void **)&t->seen, &t->seen_cap, t->areas.n,
			       sizeof(*t->seen));
	if (r)
		return r;
	for (size_t i = 0; i < t->areas.n; i++) {
		struct mapstext *a = &t->areas.v[i];
		const struct hvar_vma *old = NULL;

		if (a->ino || a->path_len)
			old = hvar_vmas_find(&mm->vmas, a->v.start);
		if ((!old || !modules_keep(t->modules, a, old->module)) &&
		    modules_number(t->modules, a, &where))
			tracker_count(t, STREAM_LOST_MEMORY);
		t->seen[t->nseen++] = a->v;
	}
	if (t->nseen && t->seen[0].start < *lo)
		*lo = t->seen[0].start;
	if (t->nseen && t->seen[t->nseen - 1].end > *hi)
		*hi = t->seen[t->nseen - 1].end;
	return 0;
}

/* Everything known of module @id, before the first event that names it. */
static void tell_module(struct tracker *t, uint32_t id)
{
	const struct hvar_module *m = modules_get(t->modules, id);
	const char *path = modules_path(t->modules, id);
	struct stream_module rec = { .id = id, .path_len = (uint32_t)strlen(path), .m = *m };

	rec.m.path = 0;
	stream_put(t->out, STREAM_MODULE, &rec, sizeof(rec), path, rec.path_len);
	modules_told(t->modules, id);
}

void tracker_tell_modules(struct tracker *t)
{
	uint32_t id;

	while ((id = modules_changed(t->modules)) != 0)
		tell_module(t, id);
}

void tracker_emit(void *ctx, const struct hvar_event *e)
{
	struct tracker *t = ctx;

	if (modules_news(t->modules, e->module))
		tell_module(t, e->module);
	if (t->tap)
		t->tap(t->tap_ctx, e, e->mm, NULL);
	stream_put_event(t->out, e);
	t->told++;
}

int tracker_bring(struct tracker *t, struct hvar_mm *mm, uint64_t lo, uint64_t hi,
		  const struct hvar_event *base)
{
	int r;

	for (;;) {
		r = hvar_diff(&mm->vmas, lo, hi, t->seen, (uint32_t)t->nseen, base,
			      tracker_emit, t);
		if (r != -ENOSPC)
			break;
		r = grow_vmas_more(&mm->vmas);
		if (r) {
			tracker_count(t, STREAM_LOST_MEMORY);
			break;
		}
	}
	return r;
}

void tracker_landmarks(struct tracker *t, struct hvar_mm *mm, uint64_t start_brk)
{
	struct space *s = space_of(mm);

	s->stack = 0;
	s->brk = start_brk;
	s->heap_told = false;
	for (size_t i = 0; i < t->nseen; i++) {
		if (t->seen[i].region == HVAR_REGION_STACK)
			s->stack = t->seen[i].end - HVAR_PAGE_SIZE;
		if (t->seen[i].region == HVAR_REGION_HEAP)
			s->brk = t->seen[i].end;
		s->heap_told |= t->seen[i].region == HVAR_REGION_HEAP;
	}
}
