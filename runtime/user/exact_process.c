// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "exact_calls.h"
#include "exact_counts.h"
#include "exact_heap.h"
#include "exact_said.h"
#include "grow.h"
#include "mapstext.h"
#include "modules.h"
#include "runtime/core/hvar_vmas.h"

struct exact_process {
	struct exact_process *next;
	pid_t pid;
	uint32_t own_pid; /* as it knows itself: another number, in a namespace of its own */
	int memfd; /* -1: harvested */
	uint32_t mm;
	struct hvar_vmas vmas;
	uint32_t slots[HVT_SLOTS]; /* whose counters; 0: nobody's */
	uint64_t found;		   /* the page that was looked at last, and how it was touched */
	uint32_t found_what;
	uint32_t *tids;		   /* of threads but the first */
	size_t n_tids, cap_tids;
	struct exact_heap *heap;
	struct exact_said *said;
	struct exact_calls *calls;
};

struct exact {
	struct stream *out;
	struct modules *modules;
	struct exact_process *first;
	struct exact_callers *callers;
	uint32_t last_mm;
	uint64_t accesses, shared_threads;
	uint64_t torn; /* harvests in the middle of a change of the map */
	uint64_t lost; /* for want of memory */
};

/* ---- events ---- */

static struct hvar_event event_of(const struct exact_process *p, uint32_t type, uint32_t tid,
				  uint32_t cause, uint64_t time_ns)
{
	return (struct hvar_event){ .time_ns = time_ns, .type = type, .mm = p->mm, .pid = (uint32_t)p->pid,
				    .tid = tid && tid != p->own_pid ? tid : (uint32_t)p->pid,
				    .cause = cause < HVAR_CAUSES ? cause : 0 };
}

static void put_area(struct exact *x, struct hvar_event ev, const struct hvar_vma *v, uint64_t start,
		     uint64_t end)
{
	struct hvar_vma part;

	hvar_vma_at(v, start, &part);
	ev.module = part.module;
	ev.u.map.start = start;
	ev.u.map.end = end;
	ev.u.map.pgoff = part.pgoff;
	ev.u.map.prot = part.prot;
	ev.u.map.region = part.region;
	ev.u.map.flags = part.flags;
	stream_put_event(x->out, &ev);
}

/* The first part of [@start, @end) in which something is mapped: its area, or NULL. */
static const struct hvar_vma *part_of(const struct exact_process *p, uint64_t *start, uint64_t *end)
{
	const struct hvar_vma *v = *start < *end ? hvar_vmas_next(&p->vmas, *start) : NULL;

	if (!v || v->start >= *end)
		return NULL;
	if (v->start > *start)
		*start = v->start;
	if (v->end < *end)
		*end = v->end;
	return v;
}

static int set_range(struct exact *x, struct exact_process *p, uint64_t start, uint64_t end,
		     const struct hvar_vma *as)
{
	int ret = grow_vmas_set(&p->vmas, start, end, as);

	if (ret == -ENOMEM)
		x->lost++;
	return ret;
}

static int unmap(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t time_ns)
{
	struct hvar_event ev = event_of(p, HVAR_EVENT_UNMAP, m->tid, m->cause, time_ns);
	uint64_t at = m->start, start, end;
	const struct hvar_vma *v;

	while (start = at, end = m->end, (v = part_of(p, &start, &end)) != NULL) {
		put_area(x, ev, v, start, end);
		at = end;
	}
	exact_said_unmapped(p->said, m->start, m->end);
	return set_range(x, p, m->start, m->end, NULL);
}

static int protect(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t time_ns)
{
	struct hvar_event ev = event_of(p, HVAR_EVENT_PROTECT, m->tid, m->cause, time_ns);
	uint64_t at = m->start, start, end;
	const struct hvar_vma *v;

	while (start = at, end = m->end, (v = part_of(p, &start, &end)) != NULL) {
		struct hvar_vma as;
		int ret;

		hvar_vma_at(v, start, &as);
		as.start = start;
		as.end = end;
		as.prot = (uint8_t)((as.prot & HVAR_PROT_SHARED) | (m->prot & 7));
		put_area(x, ev, &as, start, end);
		ret = set_range(x, p, start, end, &as);
		if (ret)
			return ret;
		at = end;
	}
	return 0;
}

/* A mapping of [@start, @end) like @as, over whatever was there. */
static int map_as(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t start,
		  uint64_t end, const struct hvar_vma *as, uint64_t time_ns)
{
	uint32_t type = m->flags & HVT_INITIAL ? HVAR_EVENT_INITIAL : HVAR_EVENT_MAP;
	struct hvt_message over = *m;
	struct hvar_vma v = *as;
	int ret;

	over.start = v.start = start;
	over.end = v.end = end;
	ret = unmap(x, p, &over, time_ns);
	if (!ret)
		ret = set_range(x, p, start, end, &v);
	if (!ret)
		put_area(x, event_of(p, type, m->tid, m->cause, time_ns), &v, start, end);
	return ret;
}

static void put_touched(struct exact *x, const struct exact_process *p, uint32_t what, uint64_t start, uint64_t end,
			uint64_t from, uint64_t time_ns)
{
	struct stream_touched rec = { .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid, .what = what,
				      .start = start, .end = end, .from = from };

	stream_put(x->out, STREAM_TOUCHED, &rec, sizeof(rec), NULL, 0);
}

/* What was at m->old_start is at m->start, too. */
static int copy(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t time_ns)
{
	uint64_t len = m->end - m->start, at = m->old_start, start, end;
	const struct hvar_vma *v;

	if (at + len < at || at & HVAR_PAGE_MASK)
		return -EINVAL;
	while (start = at, end = m->old_start + len, (v = part_of(p, &start, &end)) != NULL) {
		struct hvar_vma as;
		int ret;

		hvar_vma_at(v, start, &as);
		ret = map_as(x, p, m, start - m->old_start + m->start, end - m->old_start + m->start, &as, time_ns);
		if (ret)
			return ret;
		put_touched(x, p, STREAM_TOUCHED_MOVED, start - m->old_start + m->start,
			    end - m->old_start + m->start, start, time_ns);
		at = end;
	}
	return 0;
}

/* ---- touched pages ---- */

/* What of [@start, @end) is mapped has been touched so. */
static void touched(struct exact *x, struct exact_process *p, uint32_t what, uint64_t begin, uint64_t stop,
		    uint64_t time_ns)
{
	uint64_t at = begin, start, end;

	while (start = at, end = stop, part_of(p, &start, &end)) {
		put_touched(x, p, what, start, end, 0, time_ns);
		at = end;
	}
}

/* Pages of counters found at the end, which the tool has not told of; only the last one is kept in mind. */
static void found(struct exact *x, struct exact_process *p, uint64_t addr, uint32_t what, uint64_t time_ns)
{
	uint64_t page = HVAR_PAGE_DOWN(addr);

	if (page != p->found || what & ~p->found_what)
		touched(x, p, what, page, page + HVAR_PAGE_SIZE, time_ns);
	p->found_what = page == p->found ? p->found_what | what : what;
	p->found = page;
}

/* ---- files ---- */

static void tell_module(struct exact *x, uint32_t id)
{
	struct stream_module rec = { .id = id };
	const char *path = modules_path(x->modules, id);

	if (!id || !modules_news(x->modules, id))
		return;
	rec.m = *modules_get(x->modules, id);
	rec.m.path = 0;
	rec.path_len = (uint32_t)strlen(path);
	stream_put(x->out, STREAM_MODULE, &rec, sizeof(rec), path, rec.path_len);
	modules_told(x->modules, id);
}

/* The name the kernel's own map has for it. */
static const char *name_of(const struct hvt_message *m, const char *text)
{
	if (m->flags & HVT_STACK)
		return "[stack]";
	if (m->flags & HVT_BREAK)
		return "[heap]";
	if (m->flags & HVT_SYSV)
		return "/SYSV00000000 (deleted)";
	if (m->flags & HVT_ANON)
		return m->flags & HVT_SHARED ? "/dev/zero (deleted)" : "";
	return text;
}

static int map(struct exact *x, struct exact_process *p, const struct hvt_message *m, char *text,
	       uint64_t time_ns)
{
	struct modules_where where = { .pid = p->pid, .mapped_now = !(m->flags & HVT_INITIAL) };
	struct mapstext a = {
		.v = { .start = m->start, .end = m->end, .pgoff = m->pgoff,
		       .prot = (uint8_t)((m->prot & 7) | (m->flags & HVT_SHARED ? HVAR_PROT_SHARED : 0)) },
		.dev_major = gnu_dev_major(m->dev), .dev_minor = gnu_dev_minor(m->dev), .ino = m->ino,
	};
	const char *name = name_of(m, text);
	char copied[HVT_TEXT_MAX + 32];

	snprintf(copied, sizeof(copied), "%s", name);
	mapstext_name(&a, copied, strlen(copied));
	if (modules_number(x->modules, &a, &where))
		x->lost++;
	tell_module(x, a.v.module);
	return map_as(x, p, m, m->start, m->end, &a.v, time_ns);
}

/* ---- tasks ---- */

static void put_fork(struct exact *x, const struct exact_process *p, uint32_t child, uint32_t child_pid,
		     uint32_t child_mm, uint64_t time_ns)
{
	struct hvar_event ev = event_of(p, HVAR_EVENT_FORK, 0, child_pid == (uint32_t)p->pid ? HVAR_CAUSE_CLONE : HVAR_CAUSE_FORK,
					time_ns);

	ev.u.task.child = child;
	ev.u.task.child_pid = child_pid;
	ev.u.task.child_mm = child_mm;
	stream_put_event(x->out, &ev);
}

static void put_exits(struct exact *x, struct exact_process *p, bool leader, uint64_t time_ns)
{
	struct hvar_event ev;
	size_t i;

	for (i = 0; i < p->n_tids; i++) {
		ev = event_of(p, HVAR_EVENT_EXIT, p->tids[i], HVAR_CAUSE_EXIT, time_ns);
		stream_put_event(x->out, &ev);
	}
	p->n_tids = 0;
	ev = event_of(p, HVAR_EVENT_EXIT, 0, HVAR_CAUSE_EXIT, time_ns);
	if (leader)
		stream_put_event(x->out, &ev);
}

static int thread(struct exact *x, struct exact_process *p, const struct hvt_message *m, uint64_t time_ns)
{
	uint32_t tid = m->tid == p->own_pid ? (uint32_t)p->pid : m->tid;
	size_t i;

	if (m->slot >= HVT_SLOTS || !m->tid)
		return -EINVAL;
	if (m->slot == HVT_SHARED_SLOT)
		x->shared_threads++;
	else
		p->slots[m->slot] = tid;
	if (tid == (uint32_t)p->pid)
		return 0;
	for (i = 0; i < p->n_tids && p->tids[i] != tid; i++)
		;
	if (i == p->n_tids) {
		if (grow_array((void **)&p->tids, &p->cap_tids, p->n_tids + 1, sizeof(*p->tids))) {
			x->lost++;
			return -ENOMEM;
		}
		p->tids[p->n_tids++] = tid;
	}
	put_fork(x, p, tid, (uint32_t)p->pid, p->mm, time_ns);
	return 0;
}

/* ---- counts ---- */

struct counts_to {
	struct exact *x;
	struct exact_process *p;
	uint64_t time_ns;
	bool at_end; /* the process did not take them out itself: some are of objects, which are known now */
};

/* Those of objects are their sites': they are zero in @v then. */
static void count_objects(const struct counts_to *to, uint32_t slot, uint64_t start, struct hvt_count *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!exact_said_named(to->p->said, start + v[i].offset) &&
		    exact_heap_count(to->p->heap, to->p->slots[slot], start + v[i].offset, v[i].reads, v[i].writes))
			v[i].reads = v[i].writes = 0;
}

static void put_counts(void *ctx, uint32_t slot, uint64_t start, struct hvt_count *v, size_t n)
{
	const struct counts_to *to = ctx;
	struct stream_counts rec = { .time_ns = to->time_ns, .mm = to->p->mm, .pid = (uint32_t)to->p->pid,
				     .tid = to->p->slots[slot], .start = start };
	size_t i;

	_Static_assert(sizeof(*v) == sizeof(*rec.v), "both are the same three numbers");
	for (i = 0; to->at_end && i < n; i++)
		found(to->x, to->p, start + v[i].offset, (v[i].reads ? STREAM_TOUCHED_READ : 0) |
		      (v[i].writes ? STREAM_TOUCHED_WRITTEN : 0), to->time_ns);
	if (to->at_end && exact_said_stopped(to->p->said))
		return;
	if (to->at_end)
		count_objects(to, slot, start, v, n);
	for (i = 0; i < n; i++)
		to->x->accesses += (uint64_t)v[i].reads + v[i].writes;
	stream_put(to->x->out, STREAM_COUNTS, &rec, sizeof(rec), v, n * sizeof(*v));
}

static int counts(struct exact *x, struct exact_process *p, const struct hvt_message *m, char *more,
		  size_t len, uint64_t time_ns)
{
	struct counts_to to = { x, p, time_ns, false };
	size_t n = len / sizeof(struct hvt_count);

	if (m->slot >= HVT_SLOTS || !n || len % sizeof(struct hvt_count) || m->start >= HVT_PLANE_SIZE)
		return -EINVAL;
	put_counts(&to, m->slot, m->start, (struct hvt_count *)more, n);
	return 0;
}

static uint32_t taking(const struct exact_process *p)
{
	uint32_t n = 0;

	if (pread(p->memfd, &n, sizeof(n), (off_t)HVT_TAKING) != (ssize_t)sizeof(n))
		return 1;
	return n;
}

/* Of an object's accesses nobody is told who did them. */
static bool skip_call(void *ctx, uint64_t addr)
{
	const struct exact_process *p = ctx;

	return exact_said_stopped(p->said) || (!exact_said_named(p->said, addr) && exact_heap_has(p->heap, addr));
}

void exact_harvest(struct exact *x, struct exact_process *p, uint64_t time_ns)
{
	struct counts_to to = { x, p, time_ns, true };
	const struct stream_heap as = { .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid };
	uint32_t slot, before;

	if (p->memfd < 0)
		return;
	before = taking(p);
	if (exact_heap_open(p->heap, p->memfd, p->slots))
		x->lost++;
	for (slot = 0; slot < HVT_SLOTS; slot++)
		if (exact_counts_read(p->memfd, slot, put_counts, &to))
			x->lost++;
	if (exact_calls_harvest(p->calls, x->out, p->memfd,
				&(struct stream_calls){ .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid }, skip_call, p))
		x->lost++;
	if (exact_heap_put(p->heap, x->out, &as, &x->accesses))
		x->lost++;
	if (before % 2 || taking(p) != before)
		x->torn++;
	close(p->memfd);
	p->memfd = -1;
}

/* ---- processes ---- */

static void free_process(struct exact_process *p)
{
	if (p->memfd >= 0)
		close(p->memfd);
	grow_vmas_fini(&p->vmas);
	exact_heap_free(p->heap);
	exact_said_free(p->said);
	exact_calls_free(p->calls);
	free(p->tids);
	free(p);
}

static void forget(struct exact *x, struct exact_process *p)
{
	struct exact_process **at;

	for (at = &x->first; *at; at = &(*at)->next) {
		if (*at == p) {
			*at = p->next;
			free_process(p);
			return;
		}
	}
}

struct exact_process *exact_find(struct exact *x, pid_t pid)
{
	struct exact_process *p;

	for (p = x->first; p; p = p->next)
		if (p->pid == pid)
			return p;
	return NULL;
}

struct exact_process *exact_begin(struct exact *x, const struct hvt_message *hello, pid_t pid, pid_t parent,
				  int memfd, uint64_t time_ns)
{
	struct exact_process *was = exact_find(x, pid), *from = NULL;
	struct exact_process *p = calloc(1, sizeof(*p));

	if (was) {
		put_exits(x, was, hello->ppid != 0, time_ns);
		forget(x, was);
	}
	if (hello->ppid)
		from = exact_find(x, parent);
	if (hello->ppid && !from) /* it has got another parent since */
		from = exact_find(x, (pid_t)hello->ppid);
	if (p) {
		p->heap = from ? exact_heap_copy(from->heap) : exact_heap_new();
		p->said = exact_said_new(from ? from->said : NULL);
		p->calls = exact_calls_new(from ? from->calls : NULL);
	}
	if (!p || !p->heap || !p->said || !p->calls || (from ? grow_vmas_copy(&p->vmas, &from->vmas) : grow_vmas_init(&p->vmas, 64))) {
		x->lost++;
		if (p) {
			exact_heap_free(p->heap);
			exact_said_free(p->said);
			exact_calls_free(p->calls);
		}
		free(p);
		close(memfd);
		return NULL;
	}
	p->pid = pid;
	p->own_pid = hello->pid;
	p->memfd = memfd;
	p->mm = ++x->last_mm;
	p->next = x->first;
	x->first = p;
	if (from) {
		put_fork(x, from, (uint32_t)pid, (uint32_t)pid, p->mm, time_ns);
	} else {
		struct hvar_event ev = event_of(p, HVAR_EVENT_EXEC, 0, HVAR_CAUSE_EXECVE, time_ns);

		stream_put_event(x->out, &ev);
	}
	return p;
}

int exact_take(struct exact *x, struct exact_process *p, void *message, size_t len, uint64_t time_ns)
{
	const struct hvt_message *m = message;
	char *more = (char *)message + sizeof(*m);
	char text[HVT_TEXT_MAX + 1];

	if (len < sizeof(*m) || m->version != HVT_VERSION)
		return -EINVAL;
	len -= sizeof(*m);
	if (((m->type >= HVT_MAP && m->type <= HVT_COPY) || m->type == HVT_TOUCHED) && (m->start >= m->end || (m->start | m->end) & 0xfff))
		return -EINVAL;
	switch (m->type) {
	case HVT_MAP:
		if (len > HVT_TEXT_MAX)
			return -EINVAL;
		memcpy(text, more, len);
		text[len] = '\0';
		return map(x, p, m, text, time_ns);
	case HVT_UNMAP:
		return unmap(x, p, m, time_ns);
	case HVT_PROTECT:
		return protect(x, p, m, time_ns);
	case HVT_COPY:
		return copy(x, p, m, time_ns);
	case HVT_THREAD:
		return thread(x, p, m, time_ns);
	case HVT_THREAD_END:
		return 0; /* what it counted may come later: it ends with its process */
	case HVT_COUNTS:
		return counts(x, p, m, more, len, time_ns);
	case HVT_SITE:
		return exact_heap_site(p->heap, m->start, m->flags & HVT_ANON, more, len);
	case HVT_SITES_OF:
		return m->slot < HVT_SLOTS && !(len % sizeof(uint32_t)) ?
			       exact_heap_threads(p->heap, p->slots[m->slot], more, len / sizeof(uint32_t)) : -EINVAL;
	case HVT_TOUCHED:
		if (!m->flags || m->flags >= 2 * HVT_GIVEN_BACK)
			return -EINVAL;
		touched(x, p, m->flags, m->start, m->end, time_ns);
		return 0;
	case HVT_CALLER:
		return exact_calls_site(p->calls, x->callers, x->out, m, more, len);
	case HVT_CALLED: {
		const struct stream_calls as = { .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid };

		return exact_calls_take(p->calls, x->out, more, len, &as);
	}
	case HVT_NAME:
	case HVT_PHASE:
	case HVT_COUNTING: {
		const struct stream_name as = { .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid };

		return exact_said_take(p->said, x->out, m, more, len, &as);
	}
	default:
		return -EINVAL;
	}
}

void exact_end(struct exact *x, struct exact_process *p, uint64_t time_ns)
{
	put_exits(x, p, true, time_ns);
	forget(x, p);
}

/* ---- all ---- */

uint64_t exact_accesses(const struct exact *x)
{
	return x->accesses;
}

uint64_t exact_torn(const struct exact *x)
{
	return x->torn;
}

uint64_t exact_shared_threads(const struct exact *x)
{
	return x->shared_threads;
}

void exact_tell_losses(struct exact *x, uint64_t time_ns)
{
	struct stream_loss loss = { .time_ns = time_ns, .what = STREAM_LOST_MEMORY, .count = x->lost };

	if (x->lost)
		stream_put(x->out, STREAM_LOSS, &loss, sizeof(loss), NULL, 0);
	x->lost = 0;
}

struct exact *exact_new(struct stream *out, struct err *e)
{
	struct exact *x = calloc(1, sizeof(*x));

	if (x) {
		x->out = out;
		x->modules = modules_new();
		x->callers = exact_callers_new();
	}
	if (!x || !x->modules || !x->callers) {
		if (x) {
			modules_free(x->modules);
			exact_callers_free(x->callers);
		}
		free(x);
		err_set(e, ENOMEM, "cannot count: no memory: free some");
		return NULL;
	}
	return x;
}

void exact_free(struct exact *x)
{
	if (!x)
		return;
	while (x->first)
		forget(x, x->first);
	modules_free(x->modules);
	exact_callers_free(x->callers);
	free(x);
}
