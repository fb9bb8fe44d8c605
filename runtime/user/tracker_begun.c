// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracker_begun.c - calls told as they begin, in the order in which they held the lock of the map.
 *
 * What a call will return is not known then; but the list is, as it is at that moment, and who holds the lock is alone.
 * So most results can be told from arguments and list: munmap fails for wrong arguments only (or at a limit), a break
 * has moved once its new memory was told.  An mremap is kept until the next change of the same map, or the
 * next look: by then the kernel has told the place that it chose, or it needed none.  What was guessed so is looked at
 * afterwards, and what is not known goes into doubt: tracker_told.c.
 */
#include "config.h"

#include "tracker_space.h"

#include <stdio.h>
#include <string.h>

#include "runtime/core/hvar_call_abi.h"

#define USER_TOP   0x7ffffffff000ull /* no address of a program is above it, but with five levels of page tables */
#define NARROW_TOP 0x100000000ull    /* nor this, for a 32-bit one */
#define OVER_NS	   5000000u	     /* a call that began so long ago has most likely done what it does */
#define HUGE_PAGE  0x200000u	     /* the kernel asks for more, to align what is so large */
#define MREMAP_FLAGS 7u		     /* MAYMOVE, FIXED, DONTUNMAP */

void tracker_calls_begin(struct tracker *t)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	unsigned long most;

	t->news_are_late = t->news_begin = true;
	t->most_areas = 65530;
	if (f && fscanf(f, "%lu", &most) == 1)
		t->most_areas = most;
	if (f)
		fclose(f);
}

static void told(struct tracker *t, pid_t tid, const struct hvar_call *c, int64_t ret, uint64_t time_ns)
{
	struct hvar_call done = *c;

	done.ret = ret;
	tracker_call_told(t, tid, &done, time_ns);
}

/* Would it cut an area in two, in a process that may have no room for one more?  The kernel's areas may be more than are listed. */
static bool may_be_too_many(const struct tracker *t, const struct hvar_mm *mm, uint64_t lo, uint64_t hi)
{
	const struct hvar_vma *v = hvar_vmas_find(&mm->vmas, lo);

	return mm->vmas.n > t->most_areas / 2 && v && v->start < lo && v->end > hi;
}

static void unmap(struct tracker *t, struct hvar_mm *mm, pid_t tid, const struct hvar_call *c, uint64_t time_ns)
{
	uint64_t lo = c->args[0], len = c->args[1], hi;

	if (lo & HVAR_PAGE_MASK || !len)
		return;
	if (len > USER_TOP || lo > USER_TOP - len) {
		tracker_doubt(t, mm, 0, UINT64_MAX, c->cause, len == HVAR_CALL_TOP);
		return;
	}
	hi = HVAR_PAGE_UP(lo + len);
	if (space_of(mm)->sealed || (lo < NARROW_TOP && hi > NARROW_TOP) || may_be_too_many(t, mm, lo, hi))
		tracker_doubt(t, mm, lo, hi, c->cause, true);
	else
		told(t, tid, c, 0, time_ns);
}

static bool all_heap(const struct hvar_mm *mm, uint64_t lo, uint64_t hi)
{
	while (lo < hi) {
		const struct hvar_vma *v = hvar_vmas_find(&mm->vmas, lo);

		if (!v || v->region != HVAR_REGION_HEAP)
			return false;
		lo = v->end;
	}
	return true;
}

static void keep(struct space *s, pid_t tid, const struct hvar_call *c, uint64_t time_ns)
{
	s->begun.call = *c;
	s->begun.tid = tid;
	s->begun.time_ns = time_ns;
	s->begun.places = 0;
	/* It is told later than it happens, and only of a break is it known where. */
	if (c->cause == HVAR_CAUSE_BRK && s->brk)
		tracker_touch(s, HVAR_PAGE_DOWN(s->brk), HVAR_PAGE_UP(c->args[0]));
	else
		tracker_touch_all(s);
}

static void move_break(struct tracker *t, struct hvar_mm *mm, pid_t tid, const struct hvar_call *c, uint64_t time_ns)
{
	struct space *s = space_of(mm);
	uint64_t was = HVAR_PAGE_UP(s->brk), now = HVAR_PAGE_UP(c->args[0]);

	if (!c->args[0])
		return;
	if (!s->brk || now > was)
		keep(s, tid, c, time_ns);
	else if (!all_heap(mm, now, was))
		tracker_doubt(t, mm, now, was, c->cause, true);
	else
		told(t, tid, c, (int64_t)c->args[0], time_ns);
}

bool tracker_begun_is_break(const struct space *s, pid_t tid, uint64_t end)
{
	const struct hvar_call *c = &s->begun.call;

	return c->cause == HVAR_CAUSE_BRK && s->begun.tid == tid && HVAR_PAGE_UP(c->args[0]) == end;
}

/* Its new memory is mapped: so it has moved.  What was not known before begins with it. */
void tracker_begun_mapped(struct tracker *t, struct hvar_mm *mm, pid_t tid, uint64_t start, uint64_t end,
			  uint64_t time_ns)
{
	struct space *s = space_of(mm);
	struct hvar_call c = s->begun.call;

	if (!tracker_begun_is_break(s, tid, end))
		return;
	s->begun.call.cause = HVAR_CAUSE_NONE;
	if (!s->brk)
		s->brk = start;
	told(t, tid, &c, (int64_t)c.args[0], time_ns);
}

static bool apart(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
	return a + a_len <= b || b + b_len <= a;
}

/* Arguments that mremap refuses whatever is mapped: mm/mremap.c of Linux. */
static bool refused(const struct hvar_call *c, uint64_t old, uint64_t new)
{
	uint64_t from = c->args[0], flags = c->args[3], to = c->args[4];
	bool fixed = flags & HVAR_MREMAP_FIXED, stays = flags & HVAR_MREMAP_DONTUNMAP;

	if (from & HVAR_PAGE_MASK || !new || flags & ~(uint64_t)MREMAP_FLAGS)
		return true;
	if ((fixed || stays) && !(flags & HVAR_MREMAP_MAYMOVE))
		return true;
	if (stays && old != new)
		return true;
	return fixed && (to & HVAR_PAGE_MASK || to > USER_TOP - new || !apart(from, old, to, new));
}

/* Room to grow where it is? */
static bool has_room(const struct hvar_mm *mm, uint64_t from, uint64_t old, uint64_t new)
{
	const struct hvar_vma *v = hvar_vmas_find(&mm->vmas, from);
	const struct hvar_vma *next = hvar_vmas_next(&mm->vmas, from + old);

	return v && v->end == from + old && (!next || next->start >= from + new);
}

static bool is_free(const struct hvar_mm *mm, uint64_t at, uint64_t size)
{
	const struct hvar_vma *next = hvar_vmas_next(&mm->vmas, at);

	return at < USER_TOP - size && (!next || next->start >= at + size);
}

/*
 * Where mremap @c, which is over, has put its memory; -errno if it most likely failed.  False: there is no telling.
 */
static bool result(const struct hvar_mm *mm, const struct hvar_call *c, int64_t *ret)
{
	const struct space *s = space_of(mm);
	uint64_t from = c->args[0], old = HVAR_PAGE_UP(c->args[1]), new = HVAR_PAGE_UP(c->args[2]);
	uint64_t flags = c->args[3], hint = HVAR_PAGE_UP(c->args[4]);

	*ret = -22; /* EINVAL */
	if (refused(c, old, new))
		return true;
	if (s->sealed)
		return false;
	*ret = (int64_t)from;
	if (flags & HVAR_MREMAP_FIXED)
		*ret = (int64_t)c->args[4];
	else if (s->begun.places)
		*ret = (int64_t)s->begun.place;
	else if (flags & HVAR_MREMAP_DONTUNMAP && hint && is_free(mm, hint, new))
		*ret = (int64_t)hint; /* taken without asking, if there is room */
	else if (flags & HVAR_MREMAP_DONTUNMAP || !old || (new > old && !has_room(mm, from, old, new)))
		*ret = -12; /* ENOMEM, or the like: it has not come to ask for a place */
	/* A file's own way to find a place may ask more than once, or for more than it takes. */
	return flags & HVAR_MREMAP_FIXED || s->begun.places < 2 ? s->begun.places < 1 || new < HUGE_PAGE : false;
}

/* What is moved is one area, and there: unless a limit is reached, the call has not failed, nor half-way. */
static bool is_one_area(const struct hvar_mm *mm, uint64_t from, uint64_t old)
{
	const struct hvar_vma *v = hvar_vmas_find(&mm->vmas, from);

	return v && v->end >= from + old;
}

static void finish(struct tracker *t, struct hvar_mm *mm, uint64_t time_ns)
{
	struct space *s = space_of(mm);
	struct hvar_call c = s->begun.call;
	uint64_t from = c.args[0], old = HVAR_PAGE_UP(c.args[1]), new = HVAR_PAGE_UP(c.args[2]);
	uint64_t slack = new >= HUGE_PAGE ? HUGE_PAGE : 0;
	int64_t ret = 0;
	bool known, sure;

	s->begun.call.cause = HVAR_CAUSE_NONE;
	if (c.cause == HVAR_CAUSE_BRK) { /* it has not moved up; where it was may not be known */
		if (!s->brk)
			tracker_doubt(t, mm, 0, UINT64_MAX, c.cause, true);
		return;
	}
	known = result(mm, &c, &ret);
	if (known && ret == -22)
		return;
	sure = known && is_one_area(mm, from, old);
	if (known)
		told(t, s->begun.tid, &c, ret, time_ns);
	tracker_doubt(t, mm, HVAR_PAGE_DOWN(from), HVAR_PAGE_DOWN(from) + (old > new ? old : new), c.cause, !sure);
	if (ret > 0 && (uint64_t)ret != from)
		tracker_doubt(t, mm, HVAR_PAGE_DOWN((uint64_t)ret), HVAR_PAGE_DOWN((uint64_t)ret) + new + slack, c.cause, !sure);
	if (c.args[3] & HVAR_MREMAP_FIXED && !known)
		tracker_doubt(t, mm, HVAR_PAGE_DOWN(c.args[4]), HVAR_PAGE_DOWN(c.args[4]) + new, c.cause, true);
}

void tracker_begun_finish(struct tracker *t, struct hvar_mm *mm, uint64_t time_ns)
{
	if (mm && space_of(mm)->begun.call.cause != HVAR_CAUSE_NONE)
		finish(t, mm, time_ns);
}

void tracker_begun_settle(struct tracker *t, uint64_t time_ns)
{
	for (uint32_t i = 0; i < t->tasks.nmms; i++) {
		struct hvar_mm *mm = &t->tasks.mms[i];

		if (mm->id && space_of(mm)->begun.call.cause != HVAR_CAUSE_NONE &&
		    space_of(mm)->begun.time_ns + OVER_NS < time_ns)
			finish(t, mm, time_ns);
	}
}

static struct hvar_mm *mm_of(const struct tracker *t, pid_t tid)
{
	const struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)tid);

	return task ? hvar_tasks_mm(&t->tasks, task) : NULL;
}

int tracker_call_begun(struct tracker *t, pid_t tid, const struct hvar_call *c, uint64_t time_ns)
{
	struct hvar_mm *mm = mm_of(t, tid);

	if (!mm)
		return -ESRCH;
	tracker_begun_finish(t, mm, time_ns);
	switch (c->cause) {
	case HVAR_CAUSE_MUNMAP:
		unmap(t, mm, tid, c, time_ns);
		break;
	case HVAR_CAUSE_MREMAP:
		keep(space_of(mm), tid, c, time_ns);
		break;
	case HVAR_CAUSE_BRK:
		move_break(t, mm, tid, c, time_ns);
		break;
	case HVAR_CAUSE_SHMDT:
		told(t, tid, c, 0, time_ns);
		break;
	}
	return 0;
}

void tracker_place_begun(struct tracker *t, pid_t tid, int64_t place)
{
	struct hvar_mm *mm = mm_of(t, tid);
	struct space *s = mm ? space_of(mm) : NULL;

	if (!s || s->begun.call.cause != HVAR_CAUSE_MREMAP || s->begun.tid != tid || place <= 0)
		return;
	s->begun.place = (uint64_t)place;
	s->begun.places += s->begun.places < 2;
}

void tracker_sealed(struct tracker *t, pid_t tid)
{
	struct hvar_mm *mm = mm_of(t, tid);

	if (mm)
		space_of(mm)->sealed = true;
}
