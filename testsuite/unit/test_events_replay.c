// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_events_replay.c - a random stream of task and map events, replayed by the core as any
 * reader of a recording does, against plain arrays of tasks and pages.
 *
 * The arrays are what really happened: something is done to them, and the events tell it as
 * event.h and the interface say.  The core sees nothing but the events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_diff.h"
#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_tasks.h"

enum { TASKS = 40, PAGES = 48, SLOTS = 64 };
#define BASE ((uint64_t)0x7ffff0000000)

static uint64_t rng;

static uint32_t rnd(uint32_t below)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (uint32_t)((rng * 2685821657736338717u) >> 32) % below;
}

/* ---- what really happened ---- */

struct page {
	uint8_t region; /* HVAR_REGION_NONE: a hole */
	uint8_t prot;
	uint32_t module;
	uint64_t pgoff;
};

struct space {
	uint32_t id; /* 0: gone */
	struct page page[PAGES];
};

struct task {
	uint32_t tid, pid; /* tid 0: gone */
	uint64_t start_time;
	struct space *space;
};

static struct world {
	struct task task[TASKS];
	struct space space[TASKS];
	uint32_t spaces; /* numbers given out */
	uint32_t alive;
	uint64_t now_ns;
} real;

static struct task *any_task(void)
{
	uint32_t n = rnd(real.alive);
	struct task *t = real.task;

	for (;; t++)
		if (t->tid && !n--)
			return t;
}

static uint32_t users(const struct space *s)
{
	uint32_t i, n = 0;

	for (i = 0; i < TASKS; i++)
		n += real.task[i].tid && real.task[i].space == s;
	return n;
}

static struct space *new_space(void)
{
	uint32_t i;

	for (i = 0; real.space[i].id; i++)
		;
	memset(&real.space[i], 0, sizeof(real.space[i]));
	real.space[i].id = ++real.spaces;
	return &real.space[i];
}

/* One area with the page before? */
static bool joins(const struct page *a, const struct page *b)
{
	return a->region && a->region == b->region && a->prot == b->prot &&
	       a->module == b->module && (!a->module || a->pgoff + 4096 == b->pgoff);
}

/* ---- the core's reader ---- */

static struct reader {
	struct hvar_tasks t;
	struct hvar_task tasks[TASKS];
	struct hvar_mm mms[TASKS];
	uint32_t slots[SLOTS];
	uint32_t live; /* lists that have memory */
} core;

static void list_new(struct hvar_mm *mm, const struct hvar_vmas *from)
{
	/* Hardly any room at first: it grows, as events come. */
	uint64_t size = from ? from->size : hvar_vmas_bytes(0);
	void *mem = aligned_alloc(64, (size + 63) / 64 * 64);

	assert_non_null(mem);
	core.live++;
	if (!from) {
		hvar_vmas_init(&mm->vmas, mem, size);
		return;
	}
	memcpy(mem, from->mem, size);
	mm->vmas = *from;
	hvar_vmas_moved(&mm->vmas, mem, size);
}

static void list_more(struct hvar_vmas *m)
{
	uint64_t size = hvar_vmas_bytes(m->n + 8) > m->size ? hvar_vmas_bytes(m->n + 8) :
							     m->size + 4096;
	void *mem = aligned_alloc(64, (size + 63) / 64 * 64), *old = m->mem;

	assert_non_null(mem);
	memcpy(mem, old, m->size);
	free(old);
	hvar_vmas_moved(m, mem, size);
}

static void list_gone(const struct hvar_mm *gone)
{
	if (!gone->id)
		return;
	free(gone->vmas.mem);
	core.live--;
}

static void read_event(const struct hvar_event *e)
{
	struct hvar_mm *mm, gone, *from;
	bool born;
	int err;

	assert_true(hvar_event_valid(e));
	switch (e->type) {
	case HVAR_EVENT_FORK:
		assert_int_equal(hvar_tasks_add(&core.t, e->u.task.child, e->u.task.child_pid,
						e->u.task.start_time, e->u.task.child_mm, &mm,
						&born, &gone), 0);
		list_gone(&gone);
		assert_int_equal(born, e->u.task.child_mm != e->mm);
		from = hvar_tasks_mm_by_id(&core.t, e->mm);
		if (born)
			list_new(mm, &from->vmas);
		break;
	case HVAR_EVENT_EXEC:
		assert_int_equal(hvar_tasks_exec(&core.t, e->tid, e->mm, &mm, &gone), 0);
		list_gone(&gone);
		list_new(mm, NULL);
		break;
	case HVAR_EVENT_EXIT:
		assert_int_equal(hvar_tasks_exit(&core.t, e->tid, &gone), 0);
		list_gone(&gone);
		break;
	default:
		mm = hvar_tasks_mm_by_id(&core.t, e->mm);
		assert_non_null(mm);
		while ((err = hvar_apply(&mm->vmas, e)) == -ENOSPC)
			list_more(&mm->vmas);
		assert_int_equal(err, 0);
	}
}

/* ---- telling ---- */

static struct hvar_event event(uint32_t type, const struct task *t)
{
	struct hvar_event e;

	memset(&e, 0, sizeof(e));
	e.type = type;
	e.time_ns = real.now_ns += rnd(1000);
	e.mm = t->space->id;
	e.pid = t->pid;
	e.tid = t->tid;
	e.cause = rnd(HVAR_CAUSES);
	return e;
}

/* @type of pages [@s, @e) as they are; [@was, @was_end) is what they were, if there is any. */
static void tell(uint32_t type, const struct task *t, uint32_t s, uint32_t e, uint32_t was,
		 uint32_t was_end)
{
	const struct page *p = &t->space->page[s];
	struct hvar_event ev = event(type, t);

	ev.u.map.start = BASE + (uint64_t)s * 4096;
	ev.u.map.end = BASE + (uint64_t)e * 4096;
	if (was < was_end) {
		ev.u.map.old_start = BASE + (uint64_t)was * 4096;
		ev.u.map.old_end = BASE + (uint64_t)was_end * 4096;
	}
	ev.module = p->module;
	ev.u.map.pgoff = p->pgoff;
	ev.u.map.prot = p->prot;
	ev.u.map.region = p->region;
	read_event(&ev);
}

/* ---- doing ---- */

static void fill(struct page *p, uint32_t n)
{
	struct page one = { .prot = rnd(8) };
	uint32_t i;

	one.module = rnd(4);
	one.region = one.module ? HVAR_REGION_FILE : rnd(2) ? HVAR_REGION_ANON : HVAR_REGION_HEAP;
	one.pgoff = one.module ? rnd(4) * 4096 : 0;
	for (i = 0; i < n; i++) {
		p[i] = one;
		if (one.module)
			p[i].pgoff += i * 4096;
	}
}

/* The area around page @at, [*s, *e); false if there is none. */
static bool around(const struct space *o, uint32_t at, uint32_t *s, uint32_t *e)
{
	if (!o->page[at].region)
		return false;
	for (*s = at; *s && joins(&o->page[*s - 1], &o->page[*s]); --*s)
		;
	for (*e = at + 1; *e < PAGES && joins(&o->page[*e - 1], &o->page[*e]); ++*e)
		;
	return true;
}

static void do_map(const struct task *t)
{
	struct page *page = t->space->page, keep[PAGES];
	uint32_t s = rnd(PAGES), e = s + 1 + rnd(PAGES - s < 9 ? PAGES - s : 9), i, as, ae, to, n;

	switch (rnd(6)) {
	case 0: /* mapped, over whatever was there, with or without a word about that */
	case 1:
		if (rnd(2))
			tell(HVAR_EVENT_UNMAP, t, s, e, 0, 0);
		fill(page + s, e - s);
		tell(rnd(4) ? HVAR_EVENT_MAP : HVAR_EVENT_INITIAL, t, s, e, 0, 0);
		break;
	case 2:
		tell(HVAR_EVENT_UNMAP, t, s, e, 0, 0);
		memset(page + s, 0, (e - s) * sizeof(*page));
		break;
	case 3: /* a part of an area protected */
		if (!around(t->space, s, &as, &ae))
			break;
		e = e > ae ? ae : e;
		n = rnd(8);
		for (i = s; i < e; i++)
			page[i].prot = n;
		tell(HVAR_EVENT_PROTECT, t, s, e, 0, 0);
		break;
	case 4: /* one end of an area moved */
		if (!around(t->space, s, &as, &ae))
			break;
		if (rnd(2)) {
			if (s == as)
				break;
			memset(page + s, 0, (ae - s) * sizeof(*page));
			tell(HVAR_EVENT_SHRINK, t, as, s, as, ae);
			break;
		}
		for (e = ae; e < PAGES && e < ae + 3 && !page[e].region; e++) {
			page[e] = page[e - 1];
			if (page[e].module)
				page[e].pgoff += 4096;
		}
		if (e > ae)
			tell(HVAR_EVENT_GROW, t, as, e, as, ae);
		break;
	case 5: /* a part of an area moved, over others, maybe over itself */
		if (!around(t->space, s, &as, &ae))
			break;
		e = e > ae ? ae : e;
		n = e - s;
		to = rnd(PAGES - n + 1);
		memcpy(keep, page + s, n * sizeof(*page));
		memset(page + s, 0, n * sizeof(*page));
		memcpy(page + to, keep, n * sizeof(*page));
		tell(HVAR_EVENT_MOVE, t, to, to + n, s, e);
		break;
	}
}

/* @t ends.  Its space ends with its last task. */
static void do_exit(struct task *t)
{
	struct hvar_event e = event(HVAR_EVENT_EXIT, t);

	e.u.task.status = rnd(65536);
	read_event(&e);
	t->tid = 0;
	real.alive--;
	if (!users(t->space))
		t->space->id = 0;
}

static void do_fork(const struct task *parent)
{
	struct hvar_event e = event(HVAR_EVENT_FORK, parent);
	struct task *child = real.task;
	uint32_t tid, i;
	bool thread = rnd(3) == 0, shares = thread || rnd(3) == 0;

	if (real.alive == TASKS)
		return;
	while (child->tid)
		child++;
	/* Numbers come back soon: there are few of them. */
	do {
		tid = 1 + rnd(2 * TASKS);
		for (i = 0; i < TASKS && (real.task[i].tid != tid && real.task[i].pid != tid); i++)
			;
	} while (i < TASKS);
	child->tid = tid;
	child->pid = thread ? parent->pid : tid;
	child->start_time = 1 + real.now_ns;
	child->space = shares ? parent->space : new_space();
	if (!shares)
		memcpy(child->space->page, parent->space->page, sizeof(child->space->page));
	real.alive++;
	e.u.task.child = child->tid;
	e.u.task.child_pid = child->pid;
	e.u.task.child_mm = child->space->id;
	e.u.task.start_time = child->start_time;
	read_event(&e);
}

/* A process executes: its other threads end before, then all is new. */
static void do_exec(struct task *t)
{
	struct space *old = t->space;
	struct hvar_event e;
	uint32_t i;

	if (t->tid != t->pid)
		return;
	for (i = 0; i < TASKS; i++)
		if (real.task[i].tid && &real.task[i] != t && real.task[i].pid == t->pid)
			do_exit(&real.task[i]);
	if (users(old) == 1)
		old->id = 0;
	t->space = new_space();
	e = event(HVAR_EVENT_EXEC, t);
	read_event(&e);
	for (i = rnd(8); i < PAGES; i += 5 + rnd(8)) {
		fill(t->space->page + i, i + 5 < PAGES ? 5 : PAGES - i);
		tell(HVAR_EVENT_INITIAL, t, i, i + 5 < PAGES ? i + 5 : PAGES, 0, 0);
	}
}

/* ---- comparing ---- */

static void check_space(const struct space *o)
{
	const struct hvar_mm *mm = hvar_tasks_mm_by_id(&core.t, o->id);
	const struct hvar_vma *v;
	uint32_t s, e = 0, n = 0;

	assert_non_null(mm);
	assert_int_equal(mm->refs, users(o));
	v = hvar_vmas_next(&mm->vmas, 0);
	for (s = 0; s < PAGES; s = e) {
		uint32_t first;

		e = s + 1;
		if (!around(o, s, &first, &e))
			continue;
		assert_int_equal(first, s);
		assert_non_null(v);
		assert_int_equal(v->start, BASE + (uint64_t)s * 4096);
		assert_int_equal(v->end, BASE + (uint64_t)e * 4096);
		assert_int_equal(v->region, o->page[s].region);
		assert_int_equal(v->prot, o->page[s].prot);
		assert_int_equal(v->module, o->page[s].module);
		assert_int_equal(v->pgoff, o->page[s].pgoff);
		v = hvar_vmas_next(&mm->vmas, v->end);
		n++;
	}
	assert_null(v);
	assert_int_equal(mm->vmas.n, n);
}

static void check(void)
{
	uint32_t i, spaces = 0;

	assert_int_equal(core.t.used, real.alive);
	for (i = 0; i < TASKS; i++) {
		const struct task *t = &real.task[i];
		const struct hvar_task *c;

		if (real.space[i].id) {
			check_space(&real.space[i]);
			spaces++;
		}
		if (!t->tid)
			continue;
		c = hvar_tasks_find(&core.t, t->tid);
		assert_non_null(c);
		assert_int_equal(c->pid, t->pid);
		assert_int_equal(c->start_time, t->start_time);
		assert_int_equal(hvar_tasks_mm(&core.t, c)->id, t->space->id);
	}
	/* No list is left behind. */
	assert_int_equal(core.live, spaces);
}

static void replay(uint64_t seed, uint32_t steps)
{
	struct hvar_mm *mm, gone;
	struct task *t;
	bool born;
	uint32_t i;

	rng = seed;
	memset(&real, 0, sizeof(real));
	memset(&core, 0, sizeof(core));
	hvar_tasks_init(&core.t, core.tasks, TASKS, core.mms, TASKS, core.slots, SLOTS);

	/* The first task is there when it begins. */
	real.alive = 1;
	t = &real.task[0];
	t->tid = t->pid = 1;
	t->start_time = 1;
	t->space = new_space();
	assert_int_equal(hvar_tasks_add(&core.t, 1, 1, 1, t->space->id, &mm, &born, &gone), 0);
	assert_true(born);
	list_new(mm, NULL);
	for (i = 0; i < steps; i++) {
		t = any_task();
		switch (rnd(20)) {
		case 0:
		case 1:
			do_fork(t);
			break;
		case 2:
			do_exec(t);
			break;
		case 3:
			if (real.alive > 1)
				do_exit(t);
			break;
		default:
			do_map(t);
		}
		if (i % 8 == 0)
			check();
	}
	while (real.alive)
		do_exit(any_task());
	check();
	assert_int_equal(core.live, 0);
	assert_int_equal(core.t.lost, 0);
}

static void test_replay(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 40; i++)
		replay(0x853c49e6748fea9b + i * 0x9e3779b9, 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay),
	};

	return cmocka_run_group_tests_name("events_replay", tests, NULL, NULL);
}
