// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracker_map.c - the maps of the tasks that an engine follows, as they change.
 *
 * What the kernel shows is believed over what a call's arguments and result
 * say: by the ioctl a look at a range costs less than a microsecond.  Looks go
 * by whole areas of the kernel's, whose labels depend on where they begin and end.
 */
#include "config.h"

#include "tracker_space.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "grow.h"
#include "proc.h"

#define USER_END ((uint64_t)1 << 63)
/* Nothing was found at a page: how long to believe it, and how long after reading a whole file. */
#define MISS_NS 5000000u
#define READ_NS 50000000u
#define CLOCKS_DIFFER_NS 1000000u
#define MAP_ANON 0x20 /* MAP_ANONYMOUS and MAP_PRIVATE of x86, whatever the ABI */
#define MAP_PRIV 0x02
#define SEGMENT_AREAS 256 /* to go through for the pieces of a segment */
#define MAP_GROWS 0x100 /* MAP_GROWSDOWN */
#define LOOKS_SPARED 10 /* one in so many is not */

static struct hvar_event map_event(const struct hvar_mm *mm, const struct hvar_task *task,
				   uint32_t cause, uint64_t time_ns)
{
	struct hvar_event e = { .time_ns = time_ns, .type = HVAR_EVENT_MAP, .mm = mm->id,
				.pid = task->pid, .tid = task->tid, .cause = cause };

	return e;
}

/* Look at [@lo, @hi) and tell what differs.  0 or -errno. */
static int look_and_tell(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task,
			 uint64_t lo, uint64_t hi, bool fresh, uint32_t cause,
			 uint64_t time_ns)
{
	struct hvar_event base = map_event(mm, task, cause, time_ns);
	int r = tracker_see(t, mm, (pid_t)task->tid, &lo, &hi, fresh);

	return r ? r : tracker_bring(t, mm, lo, hi, &base);
}

/* Tell how far the area that holds @addr has grown.  False: there is none any more. */
static bool tell_growth(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task,
			uint64_t addr, uint64_t time_ns)
{
	const struct hvar_vma *v;
	uint64_t start, end;
	int r = look_extent(&space_of(mm)->look, addr, &start, &end);

	if (r)
		return r != -ENOENT;
	v = hvar_vmas_find(&mm->vmas, addr);
	if (!v || v->start > start)
		look_and_tell(t, mm, task, start, end, false, HVAR_CAUSE_FAULT, time_ns);
	return true;
}

void tracker_grown(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task,
		   uint64_t time_ns)
{
	struct space *s = space_of(mm);

	if (s->stack)
		tell_growth(t, mm, task, s->stack, time_ns);
	for (size_t i = 0; i < SPACE_GROWING; i++)
		if (s->growing[i] && !tell_growth(t, mm, task, s->growing[i], time_ns))
			s->growing[i] = 0;
}

/* @c has made a mapping that will grow by itself: its lowest page is its own in any case. */
static void note_growing(struct space *s, const struct hvar_call *c)
{
	if (c->cause == HVAR_CAUSE_MMAP && c->args[3] & MAP_GROWS && c->ret > 0)
		s->growing[s->next_growing++ % SPACE_GROWING] = (uint64_t)c->ret;
}

static bool is_labelled(const struct hvar_vma *v)
{
	return v && (v->region == HVAR_REGION_HEAP || v->region == HVAR_REGION_STACK);
}

/*
 * Take in the neighbours whose label may come or go: [heap] and [stack] are where
 * an area touches a certain address, so splitting one unnames a part of it.  The
 * others stay out: one area here may be thousands of the kernel's.
 */
void tracker_take_in_labels(const struct hvar_mm *mm, struct hvar_range *r)
{
	struct hvar_range wide = *r;

	hvar_call_widen(&mm->vmas, &wide);
	if (is_labelled(hvar_vmas_find(&mm->vmas, wide.start)))
		r->start = wide.start;
	if (is_labelled(hvar_vmas_find(&mm->vmas, wide.end - 1)))
		r->end = wide.end;
}

/* Pieces of it may be gone, or cut off from where it was attached: shmdt() of Linux finds those that are left. */
uint64_t tracker_segment_end(const struct tracker *t, const struct hvar_mm *mm, uint64_t at)
{
	const struct hvar_vma *v = hvar_vmas_next(&mm->vmas, at);
	uint32_t module = 0;
	uint64_t end = 0;

	for (int n = 0; v && n < SEGMENT_AREAS; n++, v = hvar_vmas_next(&mm->vmas, v->end)) {
		if (!v->module || (module && v->module != module) || v->pgoff != v->start - at ||
		    strncmp(modules_path(t->modules, v->module), "/SYSV", 5) != 0)
			continue;
		module = v->module;
		end = v->end;
	}
	return end;
}

/* A segment's length is in no argument: the areas tell it. */
static void bound_shm(const struct tracker *t, const struct hvar_mm *mm, const struct hvar_call *c,
		      struct hvar_range *r)
{
	uint64_t end;

	if (c->cause != HVAR_CAUSE_SHMAT && c->cause != HVAR_CAUSE_SHMDT)
		return;
	/* Another thread may have cut off its start by now, which told its length. */
	if (c->cause == HVAR_CAUSE_SHMAT && mm->refs > 1) {
		*r = (struct hvar_range){ 0, UINT64_MAX };
		return;
	}
	end = c->cause == HVAR_CAUSE_SHMDT ? tracker_segment_end(t, mm, r->start) : 0;
	r->end = end ? end : r->start + HVAR_PAGE_SIZE;
}

/* Do the arguments of @c leave open what is mapped: a file, or shared memory with an inode? */
static bool maps_object(const struct hvar_call *c)
{
	return c->cause == HVAR_CAUSE_MMAP &&
	       (c->args[3] & (MAP_ANON | MAP_PRIV)) != (MAP_ANON | MAP_PRIV);
}

int tracker_apply(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task,
		  const struct hvar_call *c, const struct hvar_vma *file, uint64_t time_ns)
{
	struct hvar_event base = map_event(mm, task, c->cause, time_ns);
	struct hvar_call call = *c;
	int r;

	call.personality = space_personality(space_of(mm), (pid_t)task->tid);
	while ((r = hvar_call_apply(&mm->vmas, &call, space_of(mm)->brk, file, &base,
				    tracker_emit, t)) == -ENOSPC) {
		r = grow_vmas_more(&mm->vmas);
		if (r) {
			tracker_count(t, STREAM_LOST_MEMORY);
			return r;
		}
	}
	return r;
}

/* Nothing can be looked at: what @c maps has no name then. */
static int apply_blindly(struct tracker *t, struct hvar_mm *mm,
			 const struct hvar_task *task, const struct hvar_call *c,
			 uint64_t time_ns)
{
	struct hvar_vma file = { .region = HVAR_REGION_FILE };
	int r;

	r = tracker_apply(t, mm, task, c, maps_object(c) ? &file : NULL, time_ns);
	if (r)
		tracker_count(t, STREAM_LOST_MAPS);
	return r == -EOPNOTSUPP ? 0 : r;
}

static int look_at_ranges(struct tracker *t, struct hvar_mm *mm,
			  const struct hvar_task *task, const struct hvar_call *c,
			  struct hvar_range *range, uint32_t n, uint64_t time_ns)
{
	for (uint32_t i = 0; i < n; i++) {
		int r;

		bound_shm(t, mm, c, &range[i]);
		tracker_take_in_labels(mm, &range[i]);
		r = look_and_tell(t, mm, task, range[i].start, range[i].end,
				  c->cause == HVAR_CAUSE_MMAP, c->cause, time_ns);
		if (r)
			return r;
	}
	return 0;
}

int tracker_call(struct tracker *t, pid_t tid, const struct hvar_call *c, uint64_t time_ns)
{
	const struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)tid);
	struct hvar_range range[3];
	struct hvar_mm *mm;
	struct space *s;
	uint32_t n;
	int r;

	if (!task)
		return -ESRCH;
	mm = hvar_tasks_mm(&t->tasks, task);
	s = space_of(mm);
	n = hvar_call_ranges(c, s->brk, range);
	if (n) {
		r = tracker_window(t, mm, tid);
		if (!r)
			tracker_grown(t, mm, task, time_ns);
		if (r == -ESRCH)
			return r;
		if (r) {
			r = apply_blindly(t, mm, task, c, time_ns);
		} else if (look_is_cheap(&s->look)) {
			/* A look alone would not know the old place from a new one. */
			if (c->cause == HVAR_CAUSE_MREMAP)
				tracker_apply(t, mm, task, c, NULL, time_ns);
			r = look_at_ranges(t, mm, task, c, range, n, time_ns);
		} else {
			r = maps_object(c) ? -EOPNOTSUPP :
					     tracker_apply(t, mm, task, c, NULL, time_ns);
			if (r == -EOPNOTSUPP)
				r = look_at_ranges(t, mm, task, c, range, n, time_ns);
		}
		if (r && r != -ESRCH)
			tracker_count(t, STREAM_LOST_MAPS);
	} else {
		r = 0;
	}
	note_growing(s, c);
	if (c->cause == HVAR_CAUSE_BRK && c->ret > 0)
		s->brk = (uint64_t)c->ret;
	if (!r && !s->denied && c->cause == HVAR_CAUSE_PRCTL && n && !range[0].start && range[0].end == UINT64_MAX) {
		/* PR_SET_MM: the stack may be said to be elsewhere, and the break is where nobody told. */
		tracker_landmarks(t, mm, 0);
		s->brk = s->start_brk = 0;
	}
	return r;
}

bool tracker_is_as_large(struct tracker *t, pid_t pid)
{
	const struct hvar_task *task = tracker_task_of(t, pid);
	struct space *s = task ? space_of(hvar_tasks_mm(&t->tasks, task)) : NULL;
	uint64_t was, now = 0;
	char text[96];
	ssize_t n;

	if (!s || s->look.fd < 0)
		return false;
	/* Those who share it may part: each is asked itself. */
	if (s->size_fd >= 0 && s->size_pid != pid) {
		close(s->size_fd);
		s->size_fd = -1;
		s->pages = 0;
	}
	if (s->size_fd < 0)
		s->size_fd = proc_open(pid, "statm", O_RDONLY | O_CLOEXEC);
	if (s->size_fd < 0)
		return false;
	s->size_pid = pid;
	/* "size resident ...", in pages; all zero of what has no memory any more */
	n = pread(s->size_fd, text, sizeof(text) - 1, 0);
	if (n > 0) {
		text[n] = '\0';
		now = strtoull(text, NULL, 10);
	}
	was = s->pages;
	s->pages = now;
	s->as_large = now && now == was ? s->as_large + 1 : 0;
	return s->as_large % LOOKS_SPARED;
}

int tracker_look(struct tracker *t, pid_t pid, uint64_t lo, uint64_t hi, uint32_t cause,
		 uint64_t time_ns)
{
	const struct hvar_task *task = tracker_task_of(t, pid);
	uint64_t told = t->told;
	struct hvar_mm *mm;
	bool denied;
	int r;

	if (!task)
		return -ESRCH;
	mm = hvar_tasks_mm(&t->tasks, task);
	denied = space_of(mm)->denied;
	r = look_and_tell(t, mm, task, lo, hi, false, cause, time_ns);
	if (t->late_is_usual && !denied && space_of(mm)->denied) /* and nothing else tells of it */
		tracker_count(t, STREAM_LOST_MAPS);
	if (cause == HVAR_CAUSE_NONE && !t->late_is_usual)
		t->lost[STREAM_LOST_MAPS] += t->told - told;
	if (!r && !lo && hi == UINT64_MAX && !space_of(mm)->stack)
		tracker_landmarks(t, mm, space_of(mm)->brk);
	if (!r && !lo && hi == UINT64_MAX && !t->news_are_late)
		tracker_heap_seen(t, mm);
	return r;
}

/*
 * What wall clocks showed at event time @ns, and a bit: events come late, and a file that was
 * written over meanwhile is not the one that was mapped.  The bit is for clocks being set right.
 */
static uint64_t realtime_of(uint64_t ns)
{
	uint64_t now = clock_now_ns(), real = clock_ns(CLOCK_REALTIME);
	uint64_t age = now > ns ? now - ns : 0;

	return (real > age ? real - age : 0) + CLOCKS_DIFFER_NS;
}

/*
 * A new program's stack, before it comes to its place: it ends where user memory does, with four or five levels of page tables,
 * and has no name yet.  The same with its name, where it stays there, is told next.
 */
static bool is_unplaced_stack(const struct hvar_mm *mm, const struct tracker_mmap *m)
{
	return !mm->vmas.n && (m->end == 0x7ffffffff000 || m->end == 0xfffffffffff000) && !strcmp(m->name, "//anon");
}

int tracker_map(struct tracker *t, pid_t pid, const struct tracker_mmap *m,
		uint64_t time_ns)
{
	const struct hvar_task *by, *task = tracker_task_of(t, pid);
	char name[PATH_MAX + sizeof(" (deleted)")];
	struct mapstext a = { .v = { .start = m->start, .end = m->end, .pgoff = m->pgoff,
				     .prot = (uint8_t)m->prot },
			      .dev_major = m->dev_major, .dev_minor = m->dev_minor,
			      .ino = m->ino };
	struct modules_where where = { .pid = pid, .mapped_now = true,
				       .mapped_ns = realtime_of(time_ns) };
	size_t len = strlen(m->name);
	const struct hvar_vma *old;
	struct hvar_event base;
	struct hvar_mm *mm;
	int r;

	if (!task)
		return -ESRCH;
	if (m->start >= m->end)
		return -EINVAL;
	mm = hvar_tasks_mm(&t->tasks, task);
	by = hvar_tasks_find(&t->tasks, (uint32_t)m->tid);
	if (by && hvar_tasks_mm(&t->tasks, by) == mm)
		task = by;
	base = map_event(mm, task, HVAR_CAUSE_NONE, time_ns);
	if (is_unplaced_stack(mm, m))
		return 0;
	if (!strcmp(m->name, "//anon"))
		len = 0;
	/* A name that perf could not tell, or a build-id in the place of device and inode; the first SysV segment's is 0. */
	else if (len >= PATH_MAX || (m->name[0] == '/' && (m->name[1] == '/' || (!m->ino && strncmp(m->name, "/SYSV", 5))))) {
		tracker_mapped_by(t, mm, m->tid, m->start, m->end, time_ns);
		space_of(mm)->executed = false; /* it may be of the program */
		return tracker_look(t, pid, m->start, m->end, HVAR_CAUSE_MMAP, time_ns);
	}
	memcpy(name, m->name, len);
	name[len] = '\0';
	mapstext_name(&a, name, len);
	if (a.ino && !tracker_window(t, mm, pid))
		where.look = &space_of(mm)->look;
	/* Nothing is told as a mapping while an mremap is under way. */
	if (space_of(mm)->begun.call.cause == HVAR_CAUSE_MREMAP)
		tracker_begun_finish(t, mm, time_ns);
	old = hvar_vmas_find(&mm->vmas, m->start);
	/* The first memory of a break is told before the break is known to be there, without its name. */
	if (tracker_begun_is_break(space_of(mm), m->tid, m->end)) {
		base.cause = HVAR_CAUSE_BRK;
		if (a.v.region == HVAR_REGION_ANON && !a.ino)
			a.v.region = HVAR_REGION_HEAP;
	}
	if ((!old || !modules_keep(t->modules, &a, old->module)) &&
	    modules_number(t->modules, &a, &where))
		tracker_count(t, STREAM_LOST_MEMORY);
	if (a.v.region == HVAR_REGION_STACK)
		space_of(mm)->stack = m->end - HVAR_PAGE_SIZE;
	if (a.v.region == HVAR_REGION_ANON && !len && !a.ino)
		tracker_name_anon(t, mm, pid, m, &a.v);
	if (a.v.region == HVAR_REGION_HEAP)
		tracker_heap_told(space_of(mm), m);
	tracker_mapped_by(t, mm, m->tid, m->start, m->end, time_ns);
	t->nseen = 0;
	if (grow_array((void **)&t->seen, &t->seen_cap, 1, sizeof(*t->seen))) {
		tracker_count(t, STREAM_LOST_MEMORY);
		return -ENOMEM;
	}
	t->seen[t->nseen++] = a.v;
	r = tracker_bring(t, mm, m->start, m->end, &base);
	tracker_program_told(t, mm, &a.v, &base);
	tracker_begun_mapped(t, mm, m->tid, m->start, m->end, time_ns);
	return r;
}

bool tracker_has_mapped(const struct tracker *t, pid_t pid, const struct tracker_mmap *m)
{
	const struct hvar_task *task = tracker_task_of(t, pid);
	const struct hvar_mm *mm = task ? hvar_tasks_mm(&t->tasks, task) : NULL;
	uint64_t at = m->start;

	while (mm && at < m->end) {
		const struct hvar_vma *v = hvar_vmas_find(&mm->vmas, at);

		if (!v || v->prot != m->prot)
			return false;
		at = v->end;
	}
	return mm != NULL;
}

const struct hvar_vma *tracker_find(struct tracker *t, pid_t tid, uint64_t addr,
				    uint64_t time_ns)
{
	const struct hvar_task *task = hvar_tasks_find(&t->tasks, (uint32_t)tid);
	uint64_t page = HVAR_PAGE_DOWN(addr), told;
	const struct hvar_vma *v;
	struct hvar_mm *mm;
	struct space *s;
	uint32_t slot;
	int r;

	if (!task)
		return NULL;
	mm = hvar_tasks_mm(&t->tasks, task);
	v = hvar_vmas_find(&mm->vmas, addr);
	if (v || addr >= USER_END)
		return v;
	s = space_of(mm);
	slot = (uint32_t)(page >> HVAR_PAGE_SHIFT) & (SPACE_MISSES - 1);
	if (s->miss[slot].time_ns && s->miss[slot].page == page &&
	    time_ns - s->miss[slot].time_ns < MISS_NS)
		return NULL;
	s->miss[slot].page = page;
	s->miss[slot].time_ns = time_ns;
	if (tracker_window(t, mm, tid))
		return NULL;
	if (!look_is_cheap(&s->look)) {
		if (s->read_ns && time_ns - s->read_ns < READ_NS)
			return NULL;
		s->read_ns = time_ns;
	}
	tracker_grown(t, mm, task, time_ns);
	v = hvar_vmas_find(&mm->vmas, addr);
	if (v)
		return v;
	told = t->told;
	r = look_and_tell(t, mm, task, page, page + HVAR_PAGE_SIZE, false, HVAR_CAUSE_NONE,
			  time_ns);
	if (!t->late_is_usual)
		t->lost[STREAM_LOST_MAPS] += t->told - told;
	return r ? NULL : hvar_vmas_find(&mm->vmas, addr);
}
