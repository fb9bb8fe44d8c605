/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_tasks.c - which address space each thread runs in.
 *
 *	slots  [0, nslots/2)       by tid       -> tasks, chained by next
 *	       [nslots/2, nslots)  by mm number -> mms, chained by next
 *
 * All links are index + 1, 0 ending a chain.  Free entries are chained by next
 * too, from free_task and free_mm.  Always true between calls: an mm has an id
 * exactly while tasks refer to it, and refs says how many.
 */
#include "hvar_tasks.h"

static uint32_t hvar_tasks_slot(const struct hvar_tasks *t, uint32_t tid)
{
	return (tid * 2654435769u >> 7) & (t->nslots / 2 - 1);
}

static uint32_t hvar_tasks_mm_slot(const struct hvar_tasks *t, uint32_t id)
{
	return t->nslots / 2 + (id & (t->nslots / 2 - 1));
}

/* Put entries from @task and @mm on to the free lists, lowest index first out. */
static void hvar_tasks_free_from(struct hvar_tasks *t, uint32_t task, uint32_t mm)
{
	uint32_t i;

	for (i = t->ntasks; i > task; i--) {
		memset(&t->tasks[i - 1], 0, sizeof(*t->tasks));
		t->tasks[i - 1].next = t->free_task;
		t->free_task = i;
	}
	for (i = t->nmms; i > mm; i--) {
		memset(&t->mms[i - 1], 0, sizeof(*t->mms));
		t->mms[i - 1].next = t->free_mm;
		t->free_mm = i;
	}
}

HVAR_API void hvar_tasks_init(struct hvar_tasks *t, struct hvar_task *tasks,
			      uint32_t ntasks, struct hvar_mm *mms, uint32_t nmms,
			      uint32_t *slots, uint32_t nslots)
{
	memset(t, 0, sizeof(*t));
	hvar_tasks_moved(t, tasks, ntasks, mms, nmms, slots, nslots);
}

static void hvar_tasks_link(struct hvar_tasks *t, uint32_t i)
{
	uint32_t *head = &t->slots[hvar_tasks_slot(t, t->tasks[i].tid)];

	t->tasks[i].next = *head;
	*head = i + 1;
}

static void hvar_tasks_link_mm(struct hvar_tasks *t, uint32_t i)
{
	uint32_t *head = &t->slots[hvar_tasks_mm_slot(t, t->mms[i].id)];

	t->mms[i].next = *head;
	*head = i + 1;
}

HVAR_API void hvar_tasks_moved(struct hvar_tasks *t, struct hvar_task *tasks,
			       uint32_t ntasks, struct hvar_mm *mms, uint32_t nmms,
			       uint32_t *slots, uint32_t nslots)
{
	uint32_t old_tasks = t->ntasks, old_mms = t->nmms, i;

	t->tasks = tasks;
	t->ntasks = ntasks;
	t->mms = mms;
	t->nmms = nmms;
	t->slots = slots;
	t->nslots = nslots;
	memset(slots, 0, (size_t)nslots * sizeof(*slots));
	for (i = 0; i < old_tasks; i++) {
		if (tasks[i].tid)
			hvar_tasks_link(t, i);
	}
	for (i = 0; i < old_mms; i++) {
		if (mms[i].id)
			hvar_tasks_link_mm(t, i);
	}
	/* Free entries hold their links in themselves: they came along. */
	hvar_tasks_free_from(t, old_tasks, old_mms);
}

HVAR_API struct hvar_task *hvar_tasks_find(const struct hvar_tasks *t, uint32_t tid)
{
	uint32_t i;

	if (!tid)
		return NULL;
	for (i = t->slots[hvar_tasks_slot(t, tid)]; i; i = t->tasks[i - 1].next) {
		if (t->tasks[i - 1].tid == tid)
			return &t->tasks[i - 1];
	}
	return NULL;
}

HVAR_API struct hvar_mm *hvar_tasks_mm(const struct hvar_tasks *t,
				       const struct hvar_task *task)
{
	return &t->mms[task->mm];
}

HVAR_API struct hvar_mm *hvar_tasks_mm_by_id(const struct hvar_tasks *t, uint32_t id)
{
	uint32_t i;

	if (!id)
		return NULL;
	for (i = t->slots[hvar_tasks_mm_slot(t, id)]; i; i = t->mms[i - 1].next) {
		if (t->mms[i - 1].id == id)
			return &t->mms[i - 1];
	}
	return NULL;
}

/* One task fewer in mm @i.  The last one frees it, leaving a copy in *@gone. */
static void hvar_tasks_put_mm(struct hvar_tasks *t, uint32_t i,
			      struct hvar_mm *gone)
{
	struct hvar_mm *mm = &t->mms[i];
	uint32_t *link;

	if (--mm->refs)
		return;
	link = &t->slots[hvar_tasks_mm_slot(t, mm->id)];
	while (*link != i + 1)
		link = &t->mms[*link - 1].next;
	*link = mm->next;
	*gone = *mm;
	gone->next = 0;
	memset(mm, 0, sizeof(*mm));
	mm->next = t->free_mm;
	t->free_mm = i + 1;
}

static void hvar_tasks_remove(struct hvar_tasks *t, struct hvar_task *task,
			      struct hvar_mm *gone)
{
	uint32_t i = (uint32_t)(task - t->tasks);
	uint32_t *link = &t->slots[hvar_tasks_slot(t, task->tid)];

	while (*link != i + 1)
		link = &t->tasks[*link - 1].next;
	*link = task->next;
	hvar_tasks_put_mm(t, task->mm, gone);
	memset(task, 0, sizeof(*task));
	task->next = t->free_task;
	t->free_task = i + 1;
	t->used--;
}

/* Take a free mm, of which there is one, for number @id, or the next if 0. */
static struct hvar_mm *hvar_tasks_new_mm(struct hvar_tasks *t, uint32_t id)
{
	uint32_t i = t->free_mm - 1;
	struct hvar_mm *mm = &t->mms[i];

	t->free_mm = mm->next;
	memset(mm, 0, sizeof(*mm));
	mm->id = id ? id : t->last_mm_id + 1;
	if (mm->id > t->last_mm_id)
		t->last_mm_id = mm->id;
	hvar_tasks_link_mm(t, i);
	return mm;
}

/* Is there a number for a new mm?  They are never used twice. */
static bool hvar_tasks_has_id(const struct hvar_tasks *t, uint32_t id)
{
	return id || t->last_mm_id != (uint32_t)-1;
}

static bool hvar_tasks_is(const struct hvar_task *task, uint32_t pid,
			  uint64_t start_time)
{
	return task->pid == pid &&
	       (task->start_time == start_time || !task->start_time ||
		!start_time);
}

HVAR_API int hvar_tasks_add(struct hvar_tasks *t, uint32_t tid, uint32_t pid,
			    uint64_t start_time, uint32_t mm_id,
			    struct hvar_mm **out, bool *born, struct hvar_mm *gone)
{
	struct hvar_task *task = hvar_tasks_find(t, tid);
	struct hvar_mm *mm = hvar_tasks_mm_by_id(t, mm_id);
	uint32_t i;

	*born = false;
	memset(gone, 0, sizeof(*gone));
	if (!tid)
		return -EINVAL;
	if (task && hvar_tasks_is(task, pid, start_time)) {
		if (!task->start_time)
			task->start_time = start_time;
		*out = hvar_tasks_mm(t, task);
		return -EEXIST;
	}
	/* The task that had this number before leaves room, maybe also its mm. */
	if ((!task && !t->free_task) ||
	    (!mm && (!hvar_tasks_has_id(t, mm_id) ||
		     (!t->free_mm &&
		      !(task && hvar_tasks_mm(t, task)->refs == 1))))) {
		t->lost++;
		return -ENOSPC;
	}
	if (mm)
		mm->refs++; /* before the other goes: it may be the last in it */
	if (task)
		hvar_tasks_remove(t, task, gone);
	if (!mm) {
		mm = hvar_tasks_new_mm(t, mm_id);
		mm->refs = 1;
		*born = true;
	}
	i = t->free_task - 1;
	task = &t->tasks[i];
	t->free_task = task->next;
	task->tid = tid;
	task->pid = pid;
	task->start_time = start_time;
	task->mm = (uint32_t)(mm - t->mms);
	hvar_tasks_link(t, i);
	t->used++;
	*out = mm;
	return 0;
}

HVAR_API int hvar_tasks_exec(struct hvar_tasks *t, uint32_t tid, uint32_t mm_id,
			     struct hvar_mm **out, struct hvar_mm *gone)
{
	struct hvar_task *task = hvar_tasks_find(t, tid);
	uint32_t i, threads = 0, old;
	struct hvar_mm *mm;

	memset(gone, 0, sizeof(*gone));
	if (!task)
		return -ESRCH;
	if (hvar_tasks_mm_by_id(t, mm_id))
		return -EINVAL;
	/* Threads of one process are in one mm; what claims otherwise is left alone. */
	for (i = 0; i < t->ntasks; i++) {
		if (t->tasks[i].tid && t->tasks[i].pid == task->pid &&
		    t->tasks[i].mm == task->mm)
			threads++;
	}
	if (!hvar_tasks_has_id(t, mm_id) ||
	    (!t->free_mm && t->mms[task->mm].refs > threads)) {
		t->lost++;
		return -ENOSPC;
	}
	old = task->mm;
	for (i = 0; threads > 1 && i < t->ntasks; i++) {
		struct hvar_task *other = &t->tasks[i];

		if (!other->tid || other == task || other->pid != task->pid ||
		    other->mm != old)
			continue;
		hvar_tasks_remove(t, other, gone); /* not the last: task is in it */
		threads--;
	}
	hvar_tasks_put_mm(t, old, gone);
	mm = hvar_tasks_new_mm(t, mm_id);
	mm->refs = 1;
	task->mm = (uint32_t)(mm - t->mms);
	*out = mm;
	return 0;
}

HVAR_API int hvar_tasks_exit(struct hvar_tasks *t, uint32_t tid,
			     struct hvar_mm *gone)
{
	struct hvar_task *task = hvar_tasks_find(t, tid);

	memset(gone, 0, sizeof(*gone));
	if (!task)
		return -ESRCH;
	hvar_tasks_remove(t, task, gone);
	return 0;
}
