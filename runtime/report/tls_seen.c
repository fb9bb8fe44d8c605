// SPDX-License-Identifier: GPL-2.0-or-later
/* tls_seen.c - the thread-local blocks that were seen in processes, for memory that is reached by its address. */
#include "config.h"

#include "tls_seen.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/user/clock.h"
#include "runtime/user/grow.h"
#include "runtime/user/proc.h"
#include "runtime/user/thread_tls.h"
#include "translator-hooks/tls_slots.h"

/* A recording may claim anything. */
enum { SPACES_MAX = 1 << 20, BLOCKS_MAX = 1 << 20 };

/* What glibc has behind the thread pointer: so much says its _thread_db_sizeof_pthread for x86-64. */
enum { CONTROL = 2368 };

/* Between two looks at a process: doubled each time nothing was found. */
#define PAUSE_NS     ((uint64_t)10 * 1000 * 1000)
#define PAUSE_MAX_NS ((uint64_t)1000 * 1000 * 1000)
/* All looks together may cost this part of the time, and so much at once, for what happens at the start. */
#define COST_PART    100
#define COST_NS	     ((uint64_t)50 * 1000 * 1000)

/* An address space: its blocks by start, none over another. */
struct space {
	uint32_t mm; /* 0: free */
	struct tls_block *v;
	size_t n, cap;
	uint64_t next_ns, pause_ns; /* no look before */
};

struct change {
	uint32_t mm;
	uint64_t size;
	struct tls_block b;
};

struct tls_seen {
	struct space *v; /* open addressing */
	size_t n, cap;
	size_t n_blocks; /* of all */
	uint64_t first_ns, cost_ns; /* when the first look was, and what all cost */
	struct change *fresh;
	size_t n_fresh, next_fresh, cap_fresh;
};

struct tls_seen *tls_seen_new(void)
{
	return calloc(1, sizeof(struct tls_seen));
}

void tls_seen_free(struct tls_seen *t)
{
	size_t i;

	for (i = 0; t && i < t->cap; i++)
		free(t->v[i].v);
	if (t) {
		free(t->v);
		free(t->fresh);
	}
	free(t);
}

/* ---- address spaces ---- */

static struct space *slot(struct space *v, size_t cap, uint32_t mm)
{
	size_t i = (mm * 0x9e3779b97f4a7c15ull) >> 40 & (cap - 1);

	while (v[i].mm && v[i].mm != mm)
		i = (i + 1) & (cap - 1);
	return &v[i];
}

static struct space *find(const struct tls_seen *t, uint32_t mm)
{
	struct space *s = t->cap ? slot(t->v, t->cap, mm) : NULL;

	return s && s->mm ? s : NULL;
}

/* That of @mm, made if need be; NULL: no memory. */
static struct space *entry(struct tls_seen *t, uint32_t mm)
{
	struct space *s = find(t, mm), *v;
	size_t cap, i;

	if (s || !mm || t->n >= SPACES_MAX)
		return s;
	if (2 * (t->n + 1) > t->cap) {
		cap = t->cap ? 2 * t->cap : 16;
		v = calloc(cap, sizeof(*v));
		if (!v)
			return NULL;
		for (i = 0; i < t->cap; i++)
			if (t->v[i].mm)
				*slot(v, cap, t->v[i].mm) = t->v[i];
		free(t->v);
		t->v = v;
		t->cap = cap;
	}
	s = slot(t->v, t->cap, mm);
	s->mm = mm;
	s->pause_ns = PAUSE_NS;
	t->n++;
	return s;
}

/* ---- blocks ---- */

/* How many blocks of @s start at @addr or before. */
static size_t upto(const struct space *s, uint64_t addr)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void changed(struct tls_seen *t, uint32_t mm, const struct tls_block *b, uint64_t size)
{
	if (grow_array((void **)&t->fresh, &t->cap_fresh, t->n_fresh + 1, sizeof(*t->fresh)))
		return;
	t->fresh[t->n_fresh++] = (struct change){ mm, size, *b };
}

static void drop(struct tls_seen *t, struct space *s, size_t i)
{
	memmove(s->v + i, s->v + i + 1, (s->n - i - 1) * sizeof(*s->v));
	s->n--;
	t->n_blocks--;
}

/* Forget what lies in [@start, @end), and the blocks of file @module (0: of none in particular). */
static void forget(struct tls_seen *t, struct space *s, uint64_t start, uint64_t end, uint32_t module)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++) {
		const struct tls_block *b = &s->v[i];

		if ((b->start < end && b->end > start) || (module && b->module == module))
			continue;
		s->v[n++] = *b;
	}
	t->n_blocks -= s->n - n;
	s->n = n;
}

/* Returns whether @b was not known, or is another thread's now. */
static bool note(struct tls_seen *t, struct space *s, const struct tls_block *b)
{
	struct tls_block *v;
	size_t i = upto(s, b->start);

	if (i && s->v[i - 1].start == b->start && s->v[i - 1].end == b->end && s->v[i - 1].module == b->module) {
		struct tls_block was = s->v[i - 1];

		s->v[i - 1] = *b;
		return was.tid != b->tid || was.ended != b->ended || was.stack != b->stack || was.guard != b->guard;
	}
	if (b->end <= b->start || t->n_blocks >= BLOCKS_MAX)
		return false;
	/* what was there before is no more */
	if ((i && s->v[i - 1].end > b->start) || (i < s->n && s->v[i].start < b->end))
		forget(t, s, b->start, b->end, 0);
	if (grow_array((void **)&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
		return false;
	v = s->v;
	i = upto(s, b->start);
	memmove(v + i + 1, v + i, (s->n - i) * sizeof(*v));
	v[i] = *b;
	s->n++;
	t->n_blocks++;
	return true;
}

static void thread_ended(struct space *s, uint32_t tid)
{
	size_t i;

	for (i = 0; tid && i < s->n; i++)
		s->v[i].ended |= s->v[i].tid == tid;
}

void tls_seen_event(struct tls_seen *t, const struct hvar_event *ev)
{
	struct tls_block b;
	const struct space *parent;
	struct space *s = find(t, ev->mm);
	size_t i;

	if (!s)
		return;
	switch (ev->type) {
	case HVAR_EVENT_MAP:
		forget(t, s, ev->u.map.start, ev->u.map.end, 0);
		s->next_ns = 0; /* a library that comes, a thread's stack */
		break;
	case HVAR_EVENT_UNMAP:
		forget(t, s, ev->u.map.start, ev->u.map.end, ev->module);
		break;
	case HVAR_EVENT_MOVE:
	case HVAR_EVENT_SHRINK:
		forget(t, s, ev->u.map.old_start, ev->u.map.old_end, 0);
		forget(t, s, ev->u.map.start, ev->u.map.end, 0);
		break;
	case HVAR_EVENT_FORK:
		if (ev->u.task.child_mm == ev->mm || !s->n || !entry(t, ev->u.task.child_mm))
			break;
		/* that may have moved it */
		parent = find(t, ev->mm);
		s = find(t, ev->u.task.child_mm);
		for (i = 0; parent && i < parent->n; i++) {
			b = parent->v[i];
			b.tid = 0;
			note(t, s, &b);
		}
		break;
	case HVAR_EVENT_EXIT:
		thread_ended(s, ev->tid);
		break;
	}
}

/* ---- looking ---- */

/* tls_module_fn, by what a file's layout says; its one executable area tells where it is loaded. */
static bool by_layout(void *ctx, const struct hvar_vmas *vmas, const struct hvar_vma *v, struct tls_module *out)
{
	const struct tls_layout *l;
	uint64_t page;
	bool none;

	(void)vmas;
	l = v->prot & HVAR_PROT_EXEC ? images_tls_layout(ctx, v->module, &none) : NULL;
	if (!l)
		return false;
	page = HVAR_PAGE_DOWN(l->code_offset);
	if (v->pgoff < page || v->pgoff - page >= l->code_size)
		return false;
	*out = (struct tls_module){ .memsz = l->memsz, .distance = l->distance, .slots = l->slots, .n_slots = l->n_slots,
				    .bias = v->start - v->pgoff + l->code_offset - l->code_vaddr };
	return true;
}

/*
 * Whose is @b now?  The kernel's list of threads must have the number too: in a container the C library knows others.  Else a number
 * that is not 0 only says that the thread lives.
 */
static void ask_thread(pid_t pid, struct tls_block *b)
{
	uint32_t tid;
	char task[32];
	int fd = -1;

	if (!tls_of_thread_ask(pid, b, &tid))
		return;
	if (tid) {
		snprintf(task, sizeof(task), "task/%u", tid);
		fd = proc_open(pid, task, O_PATH | O_DIRECTORY);
	}
	b->ended = !tid;
	b->tid = fd >= 0 ? tid : 0;
	if (fd >= 0)
		close(fd);
}

/* Is anything of @found, in process @pid, new? */
static bool take(struct tls_seen *t, struct space *s, const struct images *images, pid_t pid, const struct tls_of_thread *found)
{
	bool any = false;
	size_t i;

	for (i = 0; i < found->n; i++) {
		struct tls_block b = found->v[i];

		b.module = images_canon(images, b.module);
		if (b.doubtful)
			continue;
		ask_thread(pid, &b);
		if (!note(t, s, &b))
			continue;
		changed(t, s->mm, &b, b.end - b.start);
		any = true;
	}
	return any;
}

static void look(struct tls_seen *t, struct space *s, struct images *images, const struct hvar_event *ev,
		 const struct hvar_vmas *vmas)
{
	uint64_t start = clock_own_cpu_ns();
	struct thread_tls *finder;

	if (!t->first_ns)
		t->first_ns = ev->time_ns;
	if (ev->time_ns < t->first_ns || t->cost_ns > COST_NS + (ev->time_ns - t->first_ns) / COST_PART)
		return;
	finder = thread_tls_new((pid_t)ev->pid);
	if (!finder)
		return;
	thread_tls_look(finder, vmas, by_layout, images);
	if (take(t, s, images, (pid_t)ev->pid, thread_tls_blocks(finder)))
		s->pause_ns = PAUSE_NS;
	else if (s->pause_ns < PAUSE_MAX_NS)
		s->pause_ns *= 2;
	thread_tls_free(finder);
	t->cost_ns += clock_own_cpu_ns() - start;
	s->next_ns = ev->time_ns + s->pause_ns;
}

static const struct tls_block *at(const struct space *s, uint64_t addr)
{
	size_t i = upto(s, addr);

	return i && addr < s->v[i - 1].end ? &s->v[i - 1] : NULL;
}

static const struct tls_block *relative(const struct space *s, uint32_t module, uint64_t offset, uint64_t *addr)
{
	const struct tls_block *found = NULL;
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct tls_block *b = &s->v[i];
		uint64_t at = b->thread + offset;

		if (b->module != module || at < b->start || at >= b->end)
			continue;
		if (found && at - b->start != *addr - found->start)
			return NULL;
		found = b;
		*addr = at;
	}
	return found;
}

/* What is looked for: an address; or, with @found, a distance from the thread pointer into @module, whose address is to be there. */
struct wanted {
	uint64_t at;
	uint32_t module;
	uint64_t *found;
};

static const struct tls_block *met(const struct space *s, const struct wanted *w)
{
	return w->found ? relative(s, w->module, w->at, w->found) : at(s, w->at);
}

/* A block that was seen is believed only while its thread still has it. */
static const struct tls_block *seen(struct tls_seen *t, struct images *images, const struct hvar_event *ev,
				    const struct hvar_vmas *vmas, bool live, const struct wanted *w)
{
	struct space *s = live ? entry(t, ev->mm) : find(t, ev->mm);
	const struct tls_block *b = s ? met(s, w) : NULL;

	if (!s || !live)
		return b;
	if (b && !tls_of_thread_holds((pid_t)ev->pid, b)) {
		changed(t, s->mm, b, 0);
		drop(t, s, (size_t)(b - s->v));
		b = NULL;
	}
	if (!b && ev->time_ns >= s->next_ns) {
		look(t, s, images, ev, vmas);
		b = met(s, w);
	}
	return b;
}

const struct tls_block *tls_seen_find(struct tls_seen *t, struct images *images, const struct hvar_event *ev,
				      const struct hvar_vmas *vmas, uint64_t addr, bool live)
{
	return seen(t, images, ev, vmas, live, &(struct wanted){ .at = addr });
}

const struct tls_block *tls_seen_relative(struct tls_seen *t, struct images *images, const struct hvar_event *ev,
					  const struct hvar_vmas *vmas, uint32_t module, uint64_t offset, bool live,
					  uint64_t *addr)
{
	return seen(t, images, ev, vmas, live, &(struct wanted){ offset, module, addr });
}

bool tls_seen_within(const struct tls_seen *t, uint32_t mm, uint64_t start, uint64_t end)
{
	const struct space *s = find(t, mm);
	size_t i = s && end ? upto(s, end - 1) : 0;

	return i && s->v[i - 1].end > start;
}

/*
 * Does block @i of @s belong to a thread that there is?  Events come late: until the thread's end is told it was there, whatever its
 * memory says by now; and what was an ended thread's may be another's, in the same place.
 */
static bool of_thread(struct tls_seen *t, struct space *s, size_t i, pid_t pid, bool live)
{
	struct tls_block b = s->v[i];

	if (!live || (b.tid && !b.ended && tls_of_thread_holds(pid, &b)))
		return !b.ended;
	if (!tls_of_thread_holds(pid, &b)) {
		changed(t, s->mm, &b, 0);
		drop(t, s, i);
		return false;
	}
	ask_thread(pid, &b);
	if (b.tid && b.tid == s->v[i].tid)
		b.ended = true; /* not cleared yet */
	if (note(t, s, &b))
		changed(t, s->mm, &b, b.end - b.start);
	return !b.ended;
}

/* Is @v what has no access below the stack that begins at @stack, and in which @area only begins? */
static bool is_guard(const struct hvar_vma *v, const struct hvar_vma *area, uint64_t stack)
{
	return v && v->end == area->start && v->start <= stack && v->region == HVAR_REGION_ANON &&
	       !(v->prot & (HVAR_PROT_READ | HVAR_PROT_WRITE | HVAR_PROT_EXEC));
}

bool tls_seen_is_stack(struct tls_seen *t, const struct hvar_event *ev, const struct hvar_vmas *vmas, const struct hvar_vma *area,
		       uint64_t addr, bool live)
{
	struct space *s = find(t, ev->mm);
	size_t i = s ? upto(s, addr) : 0;
	const struct tls_block *b;

	if (!s || i == s->n || area->region != HVAR_REGION_ANON || s->v[i].start >= area->end)
		return false;
	b = &s->v[i];
	if (b->thread < b->end || b->thread >= area->end)
		return false; /* what was loaded later has its block anywhere */
	/* other memory in one piece with it is before a stack, or between one and the first thread's block */
	if (!b->stack || addr < b->stack)
		return false;
	/* the C library may leave nothing without access below, or what no map shows */
	if (b->stack < area->start) {
		if (!is_guard(hvar_vmas_prev(vmas, area->start), area, b->stack))
			return false;
		/* what the C library has mapped for it stays a stack, for threads to come */
		if (b->guard && b->guard == area->start - b->stack)
			return true;
	}
	return of_thread(t, s, i, (pid_t)ev->pid, live);
}

bool tls_seen_is_control(struct tls_seen *t, const struct hvar_event *ev, const struct hvar_vma *area, uint64_t addr, bool live)
{
	struct space *s = find(t, ev->mm);
	size_t i = s ? upto(s, addr) : 0;
	uint64_t thread;

	if (!i)
		return false;
	thread = s->v[i - 1].thread;
	return thread >= area->start && thread <= addr && addr - thread < CONTROL && s->v[i - 1].start >= area->start &&
	       of_thread(t, s, i - 1, (pid_t)ev->pid, live);
}

/* ---- recordings ---- */

bool tls_seen_fresh(struct tls_seen *t, char *text, size_t n)
{
	const struct change *c;
	int len;

	if (t->next_fresh == t->n_fresh) {
		t->next_fresh = t->n_fresh = 0;
		return false;
	}
	c = &t->fresh[t->next_fresh++];
	len = snprintf(text, n, "%u.%u=%llx+%llu@%llx", c->mm, c->b.module, (unsigned long long)c->b.start,
		       (unsigned long long)c->size, (unsigned long long)c->b.thread);
	if (c->b.tid || c->b.ended)
		len += snprintf(text + len, n - (size_t)len, ":%u", c->b.ended ? 0 : c->b.tid);
	if (c->b.stack)
		len += snprintf(text + len, n - (size_t)len, "/%llx", (unsigned long long)c->b.stack);
	if (c->b.stack && c->b.guard)
		snprintf(text + len, n - (size_t)len, "+%llu", (unsigned long long)c->b.guard);
	return true;
}

void tls_seen_told(struct tls_seen *t, const struct images *images, const char *key, const char *value)
{
	struct tls_block b = { 0 };
	struct space *s;
	uint32_t mm;
	char *end;
	size_t i;

	mm = (uint32_t)strtoul(key, &end, 10);
	if (*end++ != '.')
		return;
	b.module = images_canon(images, (uint32_t)strtoul(end, &end, 10));
	b.start = strtoull(value, &end, 16);
	if (*end++ != '+')
		return;
	b.end = strtoull(end, &end, 10);
	b.thread = *end == '@' ? strtoull(end + 1, &end, 16) : 0;
	if (*end == ':') {
		b.tid = (uint32_t)strtoul(end + 1, &end, 10);
		b.ended = !b.tid;
	}
	b.stack = *end == '/' ? strtoull(end + 1, &end, 16) : 0;
	b.guard = b.stack && *end == '+' ? strtoull(end + 1, NULL, 10) : 0;
	s = entry(t, mm);
	if (!s || __builtin_add_overflow(b.start, b.end, &b.end))
		return;
	i = upto(s, b.start);
	if (b.end != b.start)
		note(t, s, &b);
	else if (i && s->v[i - 1].start == b.start)
		drop(t, s, i - 1);
}
