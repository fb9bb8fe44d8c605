// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exact_counts.h"
#include "exact_frames.h"
#include "exact_lines.h"
#include "exact_map.h"
#include "exact_state.h"
#include "grow.h"
#include "modules.h"

/* ---- tasks ---- */

static void put_fork(struct exact *x, const struct exact_process *p, uint32_t child, uint32_t child_pid,
		     uint32_t child_mm, uint64_t time_ns)
{
	struct hvar_event ev = exact_event(p, HVAR_EVENT_FORK, 0, child_pid == (uint32_t)p->pid ? HVAR_CAUSE_CLONE : HVAR_CAUSE_FORK,
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
		ev = exact_event(p, HVAR_EVENT_EXIT, p->tids[i], HVAR_CAUSE_EXIT, time_ns);
		stream_put_event(x->out, &ev);
	}
	p->n_tids = 0;
	ev = exact_event(p, HVAR_EVENT_EXIT, 0, HVAR_CAUSE_EXIT, time_ns);
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
		exact_map_found(to->x, to->p, start + v[i].offset, (v[i].reads ? STREAM_TOUCHED_READ : 0) |
		      (v[i].writes ? STREAM_TOUCHED_WRITTEN : 0), to->time_ns);
	if (to->at_end && exact_said_stopped(to->p->said))
		return;
	if (to->at_end)
		count_objects(to, slot, start, v, n);
	for (i = 0; i < n; i++)
		to->x->accesses += (uint64_t)v[i].reads + v[i].writes;
	stream_put(to->x->out, STREAM_COUNTS, &rec, sizeof(rec), v, n * sizeof(*v));
}

static struct exact_frames_to stack_to(struct exact *x, const struct exact_process *p, uint64_t time_ns)
{
	return (struct exact_frames_to){ .out = exact_said_stopped(p->said) ? NULL : x->out, .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid,
					 .slots = p->slots, .accesses = &x->accesses };
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

static struct exact_lines_to lines_to(struct exact *x, struct exact_process *p, uint64_t time_ns)
{
	return (struct exact_lines_to){ .out = x->out, .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid,
					.own_pid = p->own_pid, .vmas = &p->vmas, .calls = p->calls, .heap = p->heap, .memfd = p->memfd,
					.used = &p->lines_used, .lost = &x->lost };
}

void exact_harvest(struct exact *x, struct exact_process *p, uint64_t time_ns)
{
	struct counts_to to = { x, p, time_ns, true };
	const struct stream_heap as = { .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid };
	const struct exact_frames_to stack = stack_to(x, p, time_ns);
	const struct exact_lines_to lines = lines_to(x, p, time_ns);
	uint32_t slot, before;

	if (p->memfd < 0)
		return;
	before = taking(p);
	if (exact_heap_open(p->heap, p->memfd, p->slots))
		x->lost++;
	if (exact_frames_put(&stack, p->memfd))
		x->lost++;
	for (slot = 0; slot < HVT_SLOTS; slot++)
		if (exact_frames_read(&stack, p->memfd, slot, put_counts, &to))
			x->lost++;
	if (exact_calls_harvest(p->calls, x->out, p->memfd,
				&(struct stream_calls){ .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid }, skip_call, p))
		x->lost++;
	if (exact_lines_harvest(&lines))
		x->lost++;
	if (exact_prefetch_harvest(p->prefetch, x->out, p->memfd,
				   &(struct stream_prefetch){ .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid }))
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
	exact_prefetch_free(p->prefetch);
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
		p->prefetch = exact_prefetch_new(from ? from->prefetch : NULL);
	}
	if (!p || !p->heap || !p->said || !p->calls || !p->prefetch || (from ? grow_vmas_copy(&p->vmas, &from->vmas) : grow_vmas_init(&p->vmas, 64))) {
		x->lost++;
		if (p) {
			exact_heap_free(p->heap);
			exact_said_free(p->said);
			exact_calls_free(p->calls);
			exact_prefetch_free(p->prefetch);
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
		struct hvar_event ev = exact_event(p, HVAR_EVENT_EXEC, 0, HVAR_CAUSE_EXECVE, time_ns);

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
		return exact_map_map(x, p, m, text, time_ns);
	case HVT_UNMAP:
		return exact_map_unmap(x, p, m, time_ns);
	case HVT_PROTECT:
		return exact_map_protect(x, p, m, time_ns);
	case HVT_COPY:
		return exact_map_copy(x, p, m, time_ns);
	case HVT_THREAD:
		return thread(x, p, m, time_ns);
	case HVT_THREAD_END:
		return 0; /* what it counted may come later: it ends with its process */
	case HVT_COUNTS:
		return counts(x, p, m, more, len, time_ns);
	case HVT_STACK_COUNTS:
		return exact_frames_take(stack_to(x, p, time_ns), m, more, len);
	case HVT_SITE:
		return exact_heap_site(p->heap, m->start, m->flags & HVT_ANON, more, len);
	case HVT_SITES_OF:
		return m->slot < HVT_SLOTS && !(len % sizeof(uint32_t)) ?
			       exact_heap_threads(p->heap, p->slots[m->slot], more, len / sizeof(uint32_t)) : -EINVAL;
	case HVT_TOUCHED:
		if (!m->flags || m->flags >= 2 * HVT_GIVEN_BACK)
			return -EINVAL;
		exact_map_touched(x, p, m->flags, m->start, m->end, time_ns);
		return 0;
	case HVT_CALLER:
		return exact_calls_site(p->calls, x->callers, x->out, m, more, len);
	case HVT_CALLED: {
		const struct stream_calls as = { .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid };

		return exact_calls_take(p->calls, x->out, more, len, &as);
	}
	case HVT_LINE: {
		const struct exact_lines_to lines = lines_to(x, p, time_ns);

		return exact_lines_closed(&lines, m->start);
	}
	case HVT_PREFETCH:
		return exact_prefetch_site(p->prefetch, m, more, len);
	case HVT_PREFETCH_SEEN: {
		const struct stream_prefetch as = { .time_ns = time_ns, .mm = p->mm, .pid = (uint32_t)p->pid };

		return exact_said_stopped(p->said) ? 0 : exact_prefetch_seen(p->prefetch, x->out, m, more, len, p->heap, &as);
	}
	case HVT_UNCOUNTED:
		return exact_uncounted_take(&x->uncounted, m, more, len);
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

struct exact_uncounted *exact_uncounted(struct exact *x)
{
	return &x->uncounted;
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
