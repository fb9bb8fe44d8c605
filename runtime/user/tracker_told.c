// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracker_told.c - calls that returned some time ago: the map is not as they left it any more.
 *
 * News come in the order of time, so arguments, result and list tell what a call did.  Where
 * they do not, the range is in doubt: it is looked at when all news up to then have been told, and
 * what is seen is believed, but for that memory of which newer news were under way: those tell how it is.
 * A call returns after what it did, so that another thread's mapping of the same memory may be told before a call that
 * made room for it: such a range is in doubt too.
 */
#include "config.h"

#include "tracker_space.h"

#include <errno.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "grow.h"
#include "runtime/core/hvar_call_abi.h"

#define CALL_NS	 20000000u  /* a call that takes longer than this is a rare one */
#define QUIET_NS 200000000u /* no news for so long: a look shows what they have told, and nothing newer */
#define LOOK_SHARE 32	    /* one part in so many of the time goes into looking at what is in doubt, */
#define LATE_NS 800000000u  /* but no look waits longer than this */
#define TOUCHED 64	    /* ranges, at first */

/* News of [@lo, @hi): what was seen there before is nothing any more. */
void tracker_touch(struct space *s, uint64_t lo, uint64_t hi)
{
	const struct hvar_vma any = { .region = HVAR_REGION_ANON };

	for (uint32_t i = 0; i < s->ndoubts; i++) {
		struct space_doubt *d = &s->doubt[i];
		bool seen = d->seen && lo < hi && d->lo < hi && d->hi > lo;

		if (seen && !d->touched.mem)
			d->stale |= grow_vmas_init(&d->touched, TOUCHED) != 0;
		if (seen && !d->stale)
			d->stale |= grow_vmas_set(&d->touched, lo, hi, &any) != 0;
	}
}

static void doubt(struct tracker *t, struct space *s, uint64_t lo, uint64_t hi, uint32_t cause,
		  bool changed)
{
	uint32_t i;

	/* What is in doubt from now on is not what was looked at: it is looked at next time. */
	tracker_touch(s, lo, hi);
	t->doubts = true;
	for (i = 0; i < s->ndoubts; i++)
		if (!s->doubt[i].seen && lo <= s->doubt[i].end && hi >= s->doubt[i].start)
			break;
	for (uint32_t j = 0; i == SPACE_DOUBTS && j < SPACE_DOUBTS; j++)
		if (!s->doubt[j].seen)
			i = j;
	if (i == SPACE_DOUBTS)
		i--;
	if (i == s->ndoubts) {
		s->doubt[s->ndoubts++] = (struct space_doubt){
			.start = lo, .end = hi, .cause = cause, .changed = changed
		};
		return;
	}
	s->doubt[i].changed |= changed;
	s->doubt[i].stale = true;
	if (lo < s->doubt[i].start)
		s->doubt[i].start = lo;
	if (hi > s->doubt[i].end)
		s->doubt[i].end = hi;
}

void tracker_doubt(struct tracker *t, struct hvar_mm *mm, uint64_t lo, uint64_t hi, uint32_t cause, bool changed)
{
	doubt(t, space_of(mm), lo, hi, cause, changed);
}

void tracker_doubt_all(struct tracker *t, struct hvar_mm *mm, uint32_t cause)
{
	if (!mm)
		return;
	doubt(t, space_of(mm), 0, UINT64_MAX, cause, false);
}

/*
 * The first mapping of another thread than @tid in [@lo, @hi) that was told while the call of @tid that returned at @time_ns
 * may have been under way: since its own last news, and not very long ago; with @gone what was unmapped counts, too.  NULL: none.
 */
static const struct space_recent *disputed(const struct space *s, pid_t tid, uint64_t lo, uint64_t hi,
					   bool gone, uint64_t time_ns)
{
	const struct space_recent *first = NULL;
	uint32_t slot = (uint32_t)tid % SPACE_RECENT;
	uint64_t since = s->last[slot].tid == tid ? s->last[slot].time_ns : 0;

	for (size_t i = 0; i < SPACE_RECENT; i++) {
		const struct space_recent *r = &s->recent[i];

		if (r->tid && r->tid != tid && (gone || !r->gone) && r->start < hi && r->end > lo &&
		    r->time_ns + CALL_NS > time_ns && r->time_ns > since &&
		    (!first || r->start < first->start))
			first = r;
	}
	return first;
}

/* Is what is listed in [@lo, @hi) not known to be there?  After a fork, an exec, or a call that failed, it most likely is. */
static bool in_doubt(const struct space *s, uint64_t lo, uint64_t hi)
{
	for (uint32_t i = 0; i < s->ndoubts; i++)
		if (s->doubt[i].changed && s->doubt[i].start < hi && s->doubt[i].end > lo)
			return true;
	return false;
}

void tracker_touch_all(struct space *s)
{
	for (uint32_t i = 0; i < s->ndoubts; i++)
		s->doubt[i].stale = true;
}

/* A call of @tid that is told later has begun later. */
static void heard_from(struct space *s, pid_t tid, uint64_t time_ns)
{
	uint32_t slot = (uint32_t)tid % SPACE_RECENT;

	s->last[slot].tid = tid;
	s->last[slot].time_ns = time_ns;
}

static void heard_of(struct tracker *t, struct space *s, pid_t tid, uint64_t time_ns)
{
	heard_from(s, tid, time_ns);
	s->news_ns = time_ns;
	s->maybe_changed = s->maybe_mm != 0;
	if (s->maybe_is)
		tracker_doubt_all(t, hvar_tasks_mm_by_id(&t->tasks, s->maybe_mm), HVAR_CAUSE_CLONE);
}

static void note(struct space *s, pid_t tid, uint64_t lo, uint64_t hi, bool gone, uint64_t time_ns)
{
	s->recent[s->next_recent++ % SPACE_RECENT] = (struct space_recent){ lo, hi, time_ns, tid, gone };
}

void tracker_mapped_by(struct tracker *t, struct hvar_mm *mm, pid_t tid, uint64_t lo, uint64_t hi,
		       uint64_t time_ns)
{
	if (!t->news_are_late)
		return;
	note(space_of(mm), tid, lo, hi, false, time_ns);
	tracker_touch(space_of(mm), lo, hi);
	heard_of(t, space_of(mm), tid, time_ns);
}

static void doubt_ranges(struct tracker *t, struct hvar_mm *mm, struct hvar_range *range, uint32_t n,
			 const struct hvar_call *c)
{
	for (uint32_t i = 0; i < n; i++) {
		tracker_take_in_labels(mm, &range[i]);
		doubt(t, space_of(mm), range[i].start, range[i].end, c->cause, !HVAR_CALL_FAILED(c->ret));
	}
}

/* Nothing is mapped in [@lo, @hi) any more. */
static int clear(struct tracker *t, struct hvar_mm *mm, uint64_t lo, uint64_t hi,
		 const struct hvar_event *base)
{
	t->nseen = 0;
	return lo < hi ? tracker_bring(t, mm, lo, hi, base) : 0;
}

/*
 * munmap.  What another thread has mapped there meanwhile most likely came behind it, into the hole: the kernel gives
 * out no address that is taken.
 */
static int unmap(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task,
		 const struct hvar_call *c, uint64_t at, uint64_t end, uint64_t time_ns)
{
	struct hvar_call part = { .cause = HVAR_CAUSE_MUNMAP };
	int r = 0;

	while (!r && at < end) {
		const struct space_recent *other = disputed(space_of(mm), (pid_t)task->tid, at, end, false,
								    time_ns);
		uint64_t until = other ? other->start : end;

		part.args[0] = at;
		part.args[1] = until - at;
		if (at < until)
			r = tracker_apply(t, mm, task, &part, NULL, time_ns);
		if (other)
			doubt(t, space_of(mm), other->start > at ? other->start : at, other->end < end ? other->end : end,
			      c->cause, true);
		at = other ? other->end : end;
	}
	return r;
}

/* munmap and mremap. */
static int change(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task,
		  const struct hvar_call *c, uint64_t time_ns)
{
	struct space *s = space_of(mm);
	struct hvar_range range[3];
	uint32_t n = hvar_call_ranges(c, s->brk, range);
	/* Who holds the lock is alone, however many there are. */
	bool shared = mm->refs > 1 && !t->news_begin, clear_cut = true, good = !HVAR_CALL_FAILED(c->ret);
	uint64_t from = c->args[0], to = (uint64_t)c->ret;
	uint64_t old = HVAR_PAGE_UP(c->args[1]), new = HVAR_PAGE_UP(c->args[2]);
	int r = 0;

	for (uint32_t i = 0; i < n; i++)
		tracker_touch(s, range[i].start, range[i].end);
	/*
	 * Where the kernel chose to move something to was free, whatever is told of it yet.  But a move is told
	 * when the call returns: others may have unmapped before, in the list, what in truth they unmapped behind it.
	 */
	if (n == 2 && good && c->cause == HVAR_CAUSE_MREMAP && !(c->args[3] & HVAR_MREMAP_FIXED))
		n = 1;
	for (uint32_t i = 0; i < n && shared; i++)
		clear_cut &= !disputed(s, (pid_t)task->tid, range[i].start, range[i].end, from != to, time_ns);
	/* What is moved must be known. */
	if (c->cause == HVAR_CAUSE_MREMAP && in_doubt(s, from, from + (old ? old : 1)))
		clear_cut = false;
	if (n && !clear_cut && good && c->cause == HVAR_CAUSE_MUNMAP && c->args[1] < HVAR_CALL_TOP)
		r = unmap(t, mm, task, c, from, from + old, time_ns);
	else if (n && !clear_cut && good && from == to && new < old)
		r = unmap(t, mm, task, c, from + new, from + old, time_ns);
	else if (n)
		r = clear_cut ? tracker_apply(t, mm, task, c, NULL, time_ns) : -EOPNOTSUPP;
	if (shared && good)
		note(s, (pid_t)task->tid, from, from + old, true, time_ns);
	if (shared && good && c->cause == HVAR_CAUSE_MREMAP)
		note(s, (pid_t)task->tid, to, to + new, false, time_ns);
	if (r == -EOPNOTSUPP) {
		doubt_ranges(t, mm, range, hvar_call_ranges(c, s->brk, range), c);
		r = 0;
	}
	return r;
}

/* A break that grew was told as a mapping; one that shrank left a hole, and maybe another label beside it. */
static int move_break(struct tracker *t, struct hvar_mm *mm, const struct hvar_call *c,
		  const struct hvar_event *base)
{
	struct space *s = space_of(mm);
	uint64_t was = HVAR_PAGE_UP(s->brk), now = HVAR_PAGE_UP((uint64_t)c->ret);
	bool moved = c->args[0] && (uint64_t)c->ret == c->args[0];
	const struct hvar_vma *v = now > was ? hvar_vmas_find(&mm->vmas, was) : NULL;
	int r = 0;

	if (c->ret <= 0)
		return 0;
	tracker_touch(s, now < was ? now : was, now < was ? was : now);
	if (moved && !was) {
		doubt(t, s, 0, UINT64_MAX, c->cause, true);
	} else if (moved && now < was) {
		r = clear(t, mm, now, was, base);
		doubt(t, s, now - HVAR_PAGE_SIZE, now, c->cause, false);
		doubt(t, s, was, was + HVAR_PAGE_SIZE, c->cause, false);
	}
	/* perf told the new memory before the break was there: a piece of its own has no label then. */
	if (moved && was && v && v->start == was && v->end >= now && !v->module && v->region == HVAR_REGION_ANON &&
	    !grow_array((void **)&t->seen, &t->seen_cap, 1, sizeof(*t->seen))) {
		t->seen[0] = *v;
		t->seen[0].region = HVAR_REGION_HEAP;
		t->nseen = 1;
		r = tracker_bring(t, mm, was, v->end, base);
	}
	s->brk = (uint64_t)c->ret;
	return r;
}

/* The segment at the address is gone, as far as it was still as it was attached. */
static int detach(struct tracker *t, struct hvar_mm *mm, const struct hvar_call *c,
		  const struct hvar_event *base)
{
	uint64_t at = c->args[0], end = HVAR_CALL_FAILED(c->ret) ? 0 : tracker_segment_end(t, mm, at);
	const struct hvar_vma *v, *first = end ? hvar_vmas_find(&mm->vmas, end - 1) : NULL;
	uint32_t module = first ? first->module : 0;
	int r = 0;

	tracker_touch(space_of(mm), at, end);
	for (v = hvar_vmas_next(&mm->vmas, at); !r && v && v->start < end;) {
		uint64_t next = v->end;

		if (v->module == module && v->pgoff == v->start - at)
			r = clear(t, mm, v->start, next, base);
		v = hvar_vmas_next(&mm->vmas, next);
	}
	return r;
}

/*
 * A process was made, and by now it may be gone: if it shared this memory, what it changed was told of another.  The
 * flags of clone3 are in memory that may be anything by now.
 */
static void made(struct tracker *t, struct hvar_mm *mm, const struct hvar_call *c)
{
	struct space *s = space_of(mm);
	bool shares = c->cause != HVAR_CAUSE_CLONE ||
		      (c->args[0] & (CLONE_VM | CLONE_THREAD)) == CLONE_VM;
	const struct hvar_task *task = c->ret > 0 ? hvar_tasks_find(&t->tasks, (uint32_t)c->ret) : NULL;
	struct space *child = task ? space_of(hvar_tasks_mm(&t->tasks, task)) : NULL;

	if (!shares || c->ret <= 0)
		return;
	if (s->strangers || (child && child->maybe_mm == mm->id && child->maybe_changed))
		doubt(t, s, 0, UINT64_MAX, c->cause, true);
	s->strangers = 0;
	if (child && child->maybe_mm == mm->id)
		child->maybe_is = true;
}

static int take(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task,
		const struct hvar_call *c, const struct hvar_event *base)
{
	switch (c->cause) {
	case HVAR_CAUSE_MUNMAP:
	case HVAR_CAUSE_MREMAP:
		return change(t, mm, task, c, base->time_ns);
	case HVAR_CAUSE_BRK:
		return move_break(t, mm, c, base);
	case HVAR_CAUSE_SHMDT:
		return detach(t, mm, c, base);
	case HVAR_CAUSE_VFORK:
	case HVAR_CAUSE_CLONE:
	case HVAR_CAUSE_CLONE3:
		made(t, mm, c);
		return 0;
	}
	return 0;
}

/* Does the caller begin with this return?  Then it has changed nothing yet. */
static bool is_born(const struct hvar_call *c)
{
	return !c->ret && (c->cause == HVAR_CAUSE_VFORK || c->cause == HVAR_CAUSE_CLONE || c->cause == HVAR_CAUSE_CLONE3);
}

int tracker_call_told(struct tracker *t, pid_t tid, const struct hvar_call *c, uint64_t time_ns)
{
	const struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)tid);
	struct hvar_event base = { .time_ns = time_ns, .type = HVAR_EVENT_MAP, .cause = c->cause };
	struct hvar_mm *mm;
	int r;

	if (!task)
		return -ESRCH;
	mm = hvar_tasks_mm(&t->tasks, task);
	if (is_born(c)) {
		heard_from(space_of(mm), tid, time_ns);
		return 0;
	}
	base.mm = mm->id;
	base.pid = task->pid;
	base.tid = task->tid;
	r = take(t, mm, task, c, &base);
	heard_of(t, space_of(mm), tid, time_ns);
	return r;
}

void tracker_news_are_late(struct tracker *t)
{
	t->news_are_late = true;
}

static const struct hvar_task *task_in(const struct tracker *t, const struct hvar_mm *mm)
{
	for (uint32_t i = 0; i < t->tasks.ntasks; i++)
		if (t->tasks.tasks[i].tid && hvar_tasks_mm(&t->tasks, &t->tasks.tasks[i]) == mm)
			return &t->tasks.tasks[i];
	return NULL;
}

void tracker_may_share(struct tracker *t, pid_t child, pid_t parent)
{
	const struct hvar_task *c = hvar_tasks_find(&t->tasks, (uint32_t)child);
	const struct hvar_task *p = hvar_tasks_find(&t->tasks, (uint32_t)parent);

	if (c && p && hvar_tasks_mm(&t->tasks, c) != hvar_tasks_mm(&t->tasks, p))
		space_of(hvar_tasks_mm(&t->tasks, c))->maybe_mm = hvar_tasks_mm(&t->tasks, p)->id;
}

/* Look at @d, into a list of its own. */
static void look_at_doubt(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task, struct space_doubt *d)
{
	d->lo = d->start;
	d->hi = d->end;
	d->stale = false;
	if (tracker_see(t, mm, (pid_t)task->tid, &d->lo, &d->hi, false))
		return;
	d->seen = malloc((t->nseen + 1) * sizeof(*d->seen));
	d->nseen = t->nseen;
	if (d->seen)
		memcpy(d->seen, t->seen, t->nseen * sizeof(*d->seen));
	else
		tracker_count(t, STREAM_LOST_MEMORY);
}

/* Look at all that @mm, where @task is, has in doubt. */
static void look_at_doubts(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task)
{
	struct space *s = space_of(mm);
	uint64_t begin = clock_own_cpu_ns(), now, apart;

	for (uint32_t d = 0; d < s->ndoubts; d++)
		look_at_doubt(t, mm, task, &s->doubt[d]);
	now = clock_now_ns();
	apart = (clock_own_cpu_ns() - begin) * (LOOK_SHARE - 1);
	s->look_ns = now + (apart < LATE_NS ? apart : LATE_NS);
}

bool tracker_doubts_look(struct tracker *t, bool all)
{
	bool any = false, left = false;
	uint64_t now = t->doubts ? clock_now_ns() : 0;

	for (uint32_t i = 0; t->doubts && i < t->tasks.nmms; i++) {
		struct hvar_mm *mm = &t->tasks.mms[i];
		const struct hvar_task *task = mm->id && space_of(mm)->ndoubts ? task_in(t, mm) : NULL;

		left |= task != NULL;
		/* What a call does that is not told yet would be seen, and told again. */
		if (!task || space_of(mm)->begun.call.cause != HVAR_CAUSE_NONE || (!all && now < space_of(mm)->look_ns))
			continue;
		look_at_doubts(t, mm, task);
		any = true;
	}
	t->doubts = left;
	return any;
}

/* Bring the list in [@lo, @hi) up to what was seen of @d, from its area *@from on, that of the range before. */
static void bring_part(struct tracker *t, struct hvar_mm *mm, const struct space_doubt *d, size_t *from, uint64_t lo,
		       uint64_t hi, const struct hvar_event *base)
{
	size_t i = *from, end;

	while (i < d->nseen && d->seen[i].end <= lo)
		i++;
	for (end = i; end < d->nseen && d->seen[end].start < hi; end++)
		;
	*from = i;
	t->nseen = 0;
	if (grow_array((void **)&t->seen, &t->seen_cap, end - i, sizeof(*t->seen))) {
		tracker_count(t, STREAM_LOST_MEMORY);
		return;
	}
	t->nseen = end - i;
	if (t->nseen)
		memcpy(t->seen, d->seen + i, t->nseen * sizeof(*t->seen));
	tracker_bring(t, mm, lo, hi, base);
}

/* Take what was seen of @d for what is there, but where newer news have told that. */
static void settle(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task,
		   struct space_doubt *d, uint64_t time_ns)
{
	struct hvar_event base = { .time_ns = time_ns, .type = HVAR_EVENT_MAP, .mm = mm->id,
				   .pid = task->pid, .tid = task->tid, .cause = d->cause };
	uint64_t told = t->told, at = d->lo;
	size_t from = 0;

	while (at < d->hi) {
		const struct hvar_vma *v = d->touched.mem ? hvar_vmas_next(&d->touched, at) : NULL;
		uint64_t end = v && v->start < d->hi ? v->start : d->hi;

		if (at < end)
			bring_part(t, mm, d, &from, at, end, &base);
		at = v ? v->end : d->hi;
	}
	/* What a fork left out and an exec did not say comes late, no more. */
	if (d->changed || d->end != UINT64_MAX || d->cause == HVAR_CAUSE_NONE)
		t->lost[STREAM_LOST_MAPS] += t->told - told;
}

void tracker_doubts_gone(struct tracker *t, const struct space *s)
{
	struct hvar_mm *other = s->maybe_changed ? hvar_tasks_mm_by_id(&t->tasks, s->maybe_mm) : NULL;

	if (other)
		space_of(other)->strangers++;
	for (uint32_t i = 0; i < s->ndoubts; i++)
		t->lost[STREAM_LOST_MAPS] += s->doubt[i].changed;
}

/* What was seen of @d is nothing any more. */
static void unsee(struct space_doubt *d)
{
	free(d->seen);
	d->seen = NULL;
	if (d->touched.mem)
		grow_vmas_fini(&d->touched);
}

void space_doubts_fini(struct space *s)
{
	for (uint32_t i = 0; i < s->ndoubts; i++)
		unsee(&s->doubt[i]);
	unsee(&s->quiet);
}

/* Those that were looked at; the others wait for the next time. */
static void settle_what_holds(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task, uint64_t time_ns)
{
	struct space *s = space_of(mm);
	uint32_t left = 0;

	for (uint32_t i = 0; i < s->ndoubts; i++) {
		struct space_doubt *d = &s->doubt[i];
		bool holds = d->seen && !d->stale;

		if (holds)
			settle(t, mm, task, d, time_ns);
		unsee(d);
		if (!holds)
			s->doubt[left++] = *d;
	}
	s->ndoubts = left;
}

void tracker_doubts_settle(struct tracker *t, uint64_t time_ns)
{
	bool any = false;

	for (uint32_t i = 0; t->doubts && i < t->tasks.nmms; i++) {
		struct hvar_mm *mm = &t->tasks.mms[i];
		const struct hvar_task *task = mm->id && space_of(mm)->ndoubts ? task_in(t, mm) : NULL;

		if (!task)
			continue;
		settle_what_holds(t, mm, task, time_ns);
		any |= space_of(mm)->ndoubts > 0;
	}
	t->doubts = any;
}

void tracker_each_quiet(struct tracker *t, uint64_t now_ns, void (*fn)(void *ctx, pid_t pid), void *ctx)
{
	for (uint32_t i = 0; i < t->tasks.ntasks; i++) {
		const struct hvar_task *task = &t->tasks.tasks[i];
		struct space *s = task->tid ? space_of(hvar_tasks_mm(&t->tasks, task)) : NULL;

		if (!s || !s->news_ns || s->news_ns + QUIET_NS > now_ns)
			continue;
		s->news_ns = 0;
		fn(ctx, (pid_t)task->pid);
	}
}

bool tracker_quiet_look(struct tracker *t, pid_t pid)
{
	const struct hvar_task *task = tracker_task_of(t, pid);
	struct hvar_mm *mm = task ? hvar_tasks_mm(&t->tasks, task) : NULL;
	struct space *s = mm ? space_of(mm) : NULL;

	/* With news it is quiet no more, and will be found so again. */
	if (!s || s->news_ns || s->quiet.seen)
		return false;
	s->quiet = (struct space_doubt){ .end = UINT64_MAX, .cause = HVAR_CAUSE_NONE };
	look_at_doubt(t, mm, task, &s->quiet);
	return s->quiet.seen != NULL;
}

void tracker_quiet_settle(struct tracker *t, uint64_t time_ns)
{
	for (uint32_t i = 0; i < t->tasks.nmms; i++) {
		struct hvar_mm *mm = &t->tasks.mms[i];
		struct space *s = mm->id ? space_of(mm) : NULL;
		const struct hvar_task *task = s && s->quiet.seen ? task_in(t, mm) : NULL;

		if (task && !s->news_ns) {
			settle(t, mm, task, &s->quiet, time_ns);
			if (!s->stack)
				tracker_landmarks(t, mm, s->brk);
		}
		if (s)
			unsee(&s->quiet);
	}
}
