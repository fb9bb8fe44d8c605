// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_diff.h"
#include "runtime/core/hvar_tasks.h"

enum { FIRST_TASKS = 64, FIRST_VMAS = 128 };

/* All lists together: a hostile recording may fork a large list for ever. */
#define MOST_BYTES ((uint64_t)2 << 30)

struct spaces {
	struct hvar_tasks t;
	struct hvar_task *tasks;
	struct hvar_mm *mms;
	uint32_t *slots;
	uint64_t bytes; /* of all lists */
	uint64_t lost, misfits;
};

/* ---- memory ---- */

static int grow_tasks(struct spaces *s)
{
	uint32_t old = s->t.ntasks, n = old ? 2 * old : FIRST_TASKS;
	struct hvar_task *tasks;
	struct hvar_mm *mms;
	uint32_t *slots;

	if (n > 1u << 22)
		return -ENOMEM;
	tasks = realloc(s->tasks, n * sizeof(*tasks));
	if (tasks)
		s->tasks = tasks;
	mms = realloc(s->mms, n * sizeof(*mms));
	if (mms)
		s->mms = mms;
	slots = malloc(4 * n * sizeof(*slots));
	if (!tasks || !mms || !slots) {
		/* What did move is used where it lies now. */
		free(slots);
		if (old)
			hvar_tasks_moved(&s->t, s->tasks, old, s->mms, old, s->slots, 4 * old);
		return -ENOMEM;
	}
	free(s->slots);
	s->slots = slots;
	if (old)
		hvar_tasks_moved(&s->t, tasks, n, mms, n, slots, 4 * n);
	else
		hvar_tasks_init(&s->t, tasks, n, mms, n, slots, 4 * n);
	return 0;
}

/* A list's memory of @size bytes, aligned as the core wants it. */
static void *list_memory(struct spaces *s, uint64_t size)
{
	void *mem;

	size = (size + 63) & ~(uint64_t)63;
	if (s->bytes + size > MOST_BYTES)
		return NULL;
	mem = aligned_alloc(64, size);
	if (mem)
		s->bytes += size;
	return mem;
}

static void drop_list(struct spaces *s, struct hvar_mm *gone)
{
	if (!gone->id || !gone->vmas.mem)
		return;
	s->bytes -= (gone->vmas.size + 63) & ~(uint64_t)63;
	free(gone->vmas.mem);
}

static int grow_list(struct spaces *s, struct hvar_vmas *m)
{
	uint64_t size = 2 * m->size;
	void *mem = list_memory(s, size), *old = m->mem;

	if (!mem)
		return -ENOMEM;
	memcpy(mem, old, m->size);
	s->bytes -= (m->size + 63) & ~(uint64_t)63;
	hvar_vmas_moved(m, mem, size);
	free(old);
	return 0;
}

static int first_list(struct spaces *s, struct hvar_mm *mm)
{
	uint64_t size = (hvar_vmas_bytes(FIRST_VMAS) + 63) & ~(uint64_t)63;
	void *mem = list_memory(s, size);

	if (!mem)
		return -ENOMEM;
	hvar_vmas_init(&mm->vmas, mem, size);
	return 0;
}

static int copy_list(struct spaces *s, struct hvar_mm *to, const struct hvar_vmas *from)
{
	void *mem = list_memory(s, from->size);

	if (!mem)
		return -ENOMEM;
	memcpy(mem, from->mem, from->size);
	to->vmas = *from;
	hvar_vmas_moved(&to->vmas, mem, from->size);
	return 0;
}

/* ---- tasks ---- */

static void end_task(struct spaces *s, uint32_t tid)
{
	struct hvar_mm gone;

	if (!hvar_tasks_exit(&s->t, tid, &gone))
		drop_list(s, &gone);
}

/*
 * The address space of number @mm_id, with task @tid in it.  A new one is a copy
 * of number @parent's, or empty if that is 0 or not known.
 */
static struct hvar_mm *enter(struct spaces *s, uint32_t tid, uint32_t pid,
			     uint64_t start_time, uint32_t mm_id, uint32_t parent)
{
	struct hvar_mm *mm = NULL, *from, gone;
	bool born;
	int ret;

	for (;;) {
		ret = hvar_tasks_add(&s->t, tid, pid, start_time, mm_id, &mm, &born, &gone);
		if (ret == -ENOSPC) {
			if (grow_tasks(s))
				return NULL;
			continue;
		}
		drop_list(s, &gone);
		if (ret == -EEXIST && mm->id != mm_id) {
			/* It left its old address space and nobody told. */
			s->misfits++;
			end_task(s, tid);
			continue;
		}
		break;
	}
	if (ret && ret != -EEXIST)
		return NULL;
	if (!born)
		return mm;
	from = parent == mm_id ? NULL : hvar_tasks_mm_by_id(&s->t, parent);
	if (from ? copy_list(s, mm, &from->vmas) : first_list(s, mm)) {
		end_task(s, tid);
		return NULL;
	}
	return mm;
}

/* The address space that @ev happened in, made if it is not known. */
static struct hvar_mm *space_of(struct spaces *s, const struct hvar_event *ev)
{
	struct hvar_task *task = hvar_tasks_find(&s->t, ev->tid);
	struct hvar_mm *mm;

	if (task) {
		mm = hvar_tasks_mm(&s->t, task);
		if (mm->id == ev->mm)
			return mm;
	}
	mm = hvar_tasks_mm_by_id(&s->t, ev->mm);
	if (mm && (task || !ev->tid))
		return mm; /* another process's news, told by this thread */
	if (!ev->tid)
		return NULL;
	return enter(s, ev->tid, ev->pid, 0, ev->mm, 0);
}

static void exec(struct spaces *s, const struct hvar_event *ev)
{
	struct hvar_mm *mm, gone;
	int ret = hvar_tasks_exec(&s->t, ev->tid, ev->mm, &mm, &gone);

	if (ret == -ENOSPC && !grow_tasks(s))
		ret = hvar_tasks_exec(&s->t, ev->tid, ev->mm, &mm, &gone);
	if (ret == -ESRCH) {
		if (!enter(s, ev->tid, ev->pid, ev->u.task.start_time, ev->mm, 0))
			s->lost++;
		return;
	}
	if (ret == -EINVAL) {
		s->misfits++; /* the number was used before */
		return;
	}
	if (ret) {
		s->lost++;
		return;
	}
	drop_list(s, &gone);
	if (first_list(s, mm)) {
		s->lost++;
		end_task(s, ev->tid);
	}
}

static void fork_task(struct spaces *s, const struct hvar_event *ev)
{
	space_of(s, ev); /* the parent may be new to us */
	if (!enter(s, ev->u.task.child, ev->u.task.child_pid, ev->u.task.start_time,
		   ev->u.task.child_mm, ev->mm))
		s->lost++;
}

static void change_map(struct spaces *s, const struct hvar_event *ev)
{
	struct hvar_mm *mm = space_of(s, ev);
	int ret;

	if (!mm) {
		s->lost++;
		return;
	}
	while ((ret = hvar_apply(&mm->vmas, ev)) == -ENOSPC && !grow_list(s, &mm->vmas))
		;
	if (ret == -EINVAL)
		s->misfits++;
	else if (ret)
		s->lost++;
}

void spaces_event(struct spaces *s, const struct hvar_event *ev)
{
	if (hvar_event_is_map(ev->type))
		change_map(s, ev);
	switch (ev->type) {
	case HVAR_EVENT_EXEC:
		exec(s, ev);
		break;
	case HVAR_EVENT_FORK:
		fork_task(s, ev);
		break;
	case HVAR_EVENT_EXIT:
		end_task(s, ev->tid);
		break;
	}
}

const struct hvar_vmas *spaces_of(struct spaces *s, const struct hvar_event *ev)
{
	struct hvar_mm *mm;

	if (!hvar_tasks_mm_by_id(&s->t, ev->mm))
		return NULL;
	mm = space_of(s, ev);
	return mm ? &mm->vmas : NULL;
}

const struct hvar_vmas *spaces_find(const struct spaces *s, uint32_t mm)
{
	const struct hvar_mm *m = hvar_tasks_mm_by_id(&s->t, mm);

	return m && m->vmas.mem ? &m->vmas : NULL;
}

uint32_t spaces_number(const struct spaces *s, uint32_t tid)
{
	const struct hvar_task *task = hvar_tasks_find(&s->t, tid);

	return task ? hvar_tasks_mm(&s->t, task)->id : 0;
}

/* The lowest process number of those that live in the space at @index. */
static uint32_t first_pid(const struct spaces *s, uint32_t index)
{
	uint32_t i, pid = 0;

	for (i = 0; i < s->t.ntasks; i++)
		if (s->t.tasks[i].tid && s->t.tasks[i].mm == index &&
		    (!pid || s->t.tasks[i].pid < pid))
			pid = s->t.tasks[i].pid;
	return pid;
}

void spaces_each(const struct spaces *s,
		 void (*fn)(void *ctx, uint32_t mm, uint32_t pid, const struct hvar_vmas *vmas), void *ctx)
{
	uint32_t i, last = 0, next;

	for (;;) { /* numbers are few; the table has them in no order */
		next = UINT32_MAX;
		for (i = 0; i < s->t.nmms; i++)
			if (s->t.mms[i].id > last && (next == UINT32_MAX || s->t.mms[i].id < s->t.mms[next].id))
				next = i;
		if (next == UINT32_MAX)
			return;
		last = s->t.mms[next].id;
		if (s->t.mms[next].vmas.mem)
			fn(ctx, last, first_pid(s, next), &s->t.mms[next].vmas);
	}
}

uint64_t spaces_lost(const struct spaces *s)
{
	return s->lost;
}

uint64_t spaces_misfits(const struct spaces *s)
{
	return s->misfits;
}

struct spaces *spaces_new(void)
{
	struct spaces *s = calloc(1, sizeof(*s));

	if (s && grow_tasks(s)) {
		spaces_free(s);
		return NULL;
	}
	return s;
}

void spaces_free(struct spaces *s)
{
	uint32_t i;

	if (!s)
		return;
	for (i = 0; i < s->t.nmms; i++)
		drop_list(s, &s->mms[i]);
	free(s->tasks);
	free(s->mms);
	free(s->slots);
	free(s);
}
