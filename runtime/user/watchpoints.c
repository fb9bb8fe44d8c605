// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "watchpoints.h"

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf_attr.h"
#include "perf_ring.h"
#include "watch.h"

enum {
	BUCKETS = 4096,
	HITS = 1024, /* different ones that are kept before they are put */
	STRIDE = 8,  /* bytes that a string instruction goes on at once, at most */
};

struct point;

/* One CPU's event. */
struct event {
	int fd;
	uint64_t id;
	struct point *point;
	struct event *next; /* of those with ids of one bucket */
};

struct point {
	pid_t pid, tid;
	uint32_t mm, watch, size;
	uint64_t start;
	uint64_t seen; /* hits that had a record */
	struct point *next; /* of those with tids of one bucket */
	struct event events[]; /* one for each CPU */
};

struct hit {
	struct point *point; /* NULL: free */
	struct stream_watched_at at;
};

struct watchpoints {
	struct tracker *t;
	struct stream *out;
	struct perf_rings *rings;
	size_t n_cpus;
	struct point *points[BUCKETS]; /* by tid */
	struct event *events[BUCKETS]; /* by id */
	struct hit hits[HITS];
	size_t n_hits;
	uint64_t time_ns, total;
};

bool watchpoints_fit(uint64_t start, uint64_t size)
{
	return (size == 1 || size == 2 || size == 4 || size == 8) && !(start % size);
}

/* ---- what is asked ---- */

/* "+OFFSET,SIZE" at the end of @text: where it begins; NULL: there is none. */
static const char *take_part(const char *text, uint64_t *offset, uint64_t *size)
{
	const char *plus = strrchr(text, '+');
	char *end;

	if (!plus || plus == text || !isdigit((unsigned char)plus[1]))
		return NULL;
	errno = 0;
	*offset = strtoull(plus + 1, &end, 0);
	if (errno || *end != ',' || !isdigit((unsigned char)end[1]))
		return NULL;
	*size = strtoull(end + 1, &end, 0);
	return errno || *end || *offset > UINT32_MAX ? NULL : plus;
}

int watchpoints_ask_add(struct watchpoints_ask *a, const char *text)
{
	struct watch w = { .start = 0 };
	uint64_t offset = 0, size = 0;
	const char *part = take_part(text, &offset, &size);
	size_t len = part ? (size_t)(part - text) : strlen(text);
	char *name;

	for (size_t i = 0; i < a->n; i++)
		if (!strcmp(a->v[i], text))
			return -EEXIST;
	if (a->n == WATCHPOINTS_MAX)
		return -ENOSPC;
	if (part && !watchpoints_fit(0, size))
		return -ERANGE;
	if (len >= sizeof(a->name[0]))
		return -EINVAL;
	name = a->name[a->n];
	memcpy(name, text, len);
	name[len] = '\0';
	if (!watch_parse(&w, name) || strpbrk(name, "\n\t") || (part && !w.name))
		return -EINVAL;
	if (!w.name && !watchpoints_fit(w.start, w.end - w.start))
		return -ERANGE;
	a->v[a->n] = text;
	a->offset[a->n] = offset;
	a->size[a->n++] = (uint32_t)size;
	return 0;
}

uint64_t watchpoints_hits(const struct watchpoints *w)
{
	return w->total;
}

/* ---- events ---- */

static void attr_of(struct perf_event_attr *a, uint64_t start, uint32_t size)
{
	perf_attr_common(a);
	a->type = PERF_TYPE_BREAKPOINT;
	a->config = 0;
	a->bp_type = HW_BREAKPOINT_RW;
	a->bp_addr = start;
	a->bp_len = size;
	a->sample_period = 1;
	a->sample_type = PERF_RECORD_WATCH_TYPE;
	a->sample_regs_user = PERF_RECORD_WATCH_REGS;
	a->sample_stack_user = PERF_RECORD_WATCH_STACK;
}

int watchpoints_refused(int code, struct err *e)
{
	switch (code) {
	case ENOSPC:
		return err_set(e, code, "cannot watch: all watchpoints of the processor are taken, by a debugger, another hotvar or the program itself: end that, or watch fewer variables");
	case EMFILE:
	case ENFILE:
		return err_set(e, code, "cannot watch: no file descriptors are left: raise the limit with \"ulimit -n\"");
	case ENOENT:
	case ENOSYS:
	case EINVAL:
	case EOPNOTSUPP:
		return err_set(e, code, "cannot watch: this machine has no watchpoints for perf (%s), as some virtual machines: count all accesses, with --exact",
			       strerror(code));
	case EACCES:
	case EPERM:
		return err_set(e, code, "cannot watch: perf_event_open is refused (%s), by kernel.perf_event_paranoid or a seccomp filter: run \"sysctl kernel.perf_event_paranoid=2\" as root, or count all accesses, with --exact",
			       strerror(code));
	default:
		return err_set(e, code, "cannot watch: perf_event_open: %s: count all accesses, with --exact", strerror(code));
	}
}

/* On ourselves, and never enabled. */
static int try_one(struct watchpoints *w, struct err *e)
{
	struct perf_event_attr a;
	int fd;

	attr_of(&a, (uint64_t)(uintptr_t)&w->total, 8);
	fd = perf_rings_open(w->rings, &a, 0, 0);
	if (fd < 0)
		return watchpoints_refused(-fd, e);
	close(fd);
	return 0;
}

struct watchpoints *watchpoints_new(struct tracker *t, struct stream *out, struct err *e)
{
	struct perf_rings_options o = { .watch = true };
	struct watchpoints *w = calloc(1, sizeof(*w));

	if (!w) {
		err_set(e, ENOMEM, "cannot watch: no memory; free some");
		return NULL;
	}
	w->t = t;
	w->out = out;
	w->rings = perf_rings_new(&o, e);
	if (!w->rings || try_one(w, e)) {
		watchpoints_free(w);
		return NULL;
	}
	w->n_cpus = perf_rings_cpus(w->rings);
	return w;
}

static void close_point(struct watchpoints *w, struct point *p)
{
	for (size_t i = 0; i < w->n_cpus; i++) {
		struct event **e = &w->events[p->events[i].id % BUCKETS];

		if (p->events[i].fd < 0)
			continue;
		while (*e && *e != &p->events[i])
			e = &(*e)->next;
		if (*e)
			*e = p->events[i].next;
		close(p->events[i].fd);
	}
	free(p);
}

void watchpoints_free(struct watchpoints *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		while (w->points[i]) {
			struct point *p = w->points[i];

			w->points[i] = p->next;
			close_point(w, p);
		}
	}
	perf_rings_free(w->rings);
	free(w);
}

/* ---- what is put ---- */

static void put(struct watchpoints *w, const struct point *p, uint64_t lost, const struct stream_watched_at *v, size_t n)
{
	struct stream_watched rec = { .time_ns = w->time_ns, .mm = p->mm, .pid = (uint32_t)p->pid, .tid = (uint32_t)p->tid,
				      .watch = p->watch, .start = p->start, .size = p->size, .lost = lost };

	stream_put(w->out, STREAM_WATCHED, &rec, sizeof(rec), v, n * sizeof(*v));
}

static int by_point(const void *pa, const void *pb)
{
	const struct hit *a = pa, *b = pb;

	if (a->point != b->point)
		return a->point < b->point ? -1 : 1;
	return (a->at.ip > b->at.ip) - (a->at.ip < b->at.ip);
}

/* All hits that are kept, those of a point in one record. */
static void flush(struct watchpoints *w)
{
	struct stream_watched_at v[HITS];
	size_t i, n = 0;

	if (!w->n_hits)
		return;
	for (i = 0; i < HITS; i++)
		if (w->hits[i].point)
			w->hits[n++] = w->hits[i];
	qsort(w->hits, n, sizeof(*w->hits), by_point);
	for (i = 0; i < n;) {
		const struct point *p = w->hits[i].point;
		size_t k = 0;

		while (i < n && w->hits[i].point == p)
			v[k++] = w->hits[i++].at;
		put(w, p, 0, v, k);
	}
	memset(w->hits, 0, sizeof(w->hits));
	w->n_hits = 0;
}

/* ---- hits ---- */

/* Is @addr code of task @tid's?  What is not is no address to return to, and need not be kept apart. */
static bool is_code(const struct watchpoints *w, pid_t tid, uint64_t addr)
{
	const struct hvar_vmas *vmas = addr ? tracker_vmas(w->t, tid) : NULL;
	const struct hvar_vma *v = vmas ? hvar_vmas_find(vmas, addr) : NULL;

	return v && v->prot & HVAR_PROT_EXEC;
}

/* Does a string instruction that just accessed the variable leave @reg like this? */
static bool is_near(const struct point *p, uint64_t reg)
{
	return reg - (p->start - 2 * STRIDE) <= p->size + 4 * STRIDE;
}

static void count(struct watchpoints *w, struct point *p, const struct stream_watched_at *at)
{
	uint64_t h = (at->ip ^ at->word * 31 ^ (uint64_t)(uintptr_t)p ^ at->flags) * 0x9e3779b97f4a7c15ull;
	size_t i = (size_t)(h >> 40) % HITS;

	for (; w->hits[i].point; i = (i + 1) % HITS) {
		const struct stream_watched_at *v = &w->hits[i].at;

		if (w->hits[i].point == p && v->ip == at->ip && v->word == at->word && v->flags == at->flags) {
			w->hits[i].at.count++;
			return;
		}
	}
	w->hits[i] = (struct hit){ p, *at };
	if (++w->n_hits > HITS / 4 * 3)
		flush(w);
}

static void take(void *ctx, const struct perf_record *r)
{
	struct watchpoints *w = ctx;
	struct stream_watched_at at = { .ip = r->u.sample.ip, .count = 1 };
	struct event *e;

	if (r->what != PERF_IS_SAMPLE)
		return; /* what is lost is in the events' own counts */
	for (e = w->events[r->id % BUCKETS]; e && e->id != r->id; e = e->next)
		;
	if (!e || !at.ip)
		return;
	e->point->seen++;
	if (is_code(w, e->point->tid, r->u.sample.word))
		at.word = r->u.sample.word;
	if (r->u.sample.flags & HVAR_SAMPLE_ABI32)
		at.flags |= STREAM_WATCHED_32;
	if (is_near(e->point, r->u.sample.regs[STREAM_RSI]))
		at.flags |= STREAM_WATCHED_SI;
	if (is_near(e->point, r->u.sample.regs[STREAM_RDI]))
		at.flags |= STREAM_WATCHED_DI;
	w->total++;
	count(w, e->point, &at);
}

void watchpoints_drain(struct watchpoints *w, uint64_t time_ns)
{
	w->time_ns = time_ns;
	perf_rings_drain(w->rings, ~0ull, take, w);
	flush(w);
}

/* ---- setting ---- */

static struct point **find(struct watchpoints *w, pid_t tid, uint32_t watch)
{
	struct point **p = &w->points[(uint32_t)tid % BUCKETS];

	while (*p && ((*p)->tid != tid || (*p)->watch != watch))
		p = &(*p)->next;
	return p;
}

static int open_event(struct watchpoints *w, struct point *p, size_t cpu)
{
	struct event *e = &p->events[cpu];
	struct perf_event_attr a;

	attr_of(&a, p->start, p->size);
	e->point = p;
	e->fd = perf_rings_open(w->rings, &a, p->tid, cpu);
	if (e->fd < 0)
		return e->fd == -ENODEV ? 0 : e->fd;
	if (ioctl(e->fd, PERF_EVENT_IOC_ID, &e->id))
		return -errno;
	e->next = w->events[e->id % BUCKETS];
	w->events[e->id % BUCKETS] = e;
	return 0;
}

int watchpoints_set(struct watchpoints *w, pid_t pid, pid_t tid, uint32_t mm, uint32_t watch, uint64_t start, uint32_t size,
		    uint64_t time_ns)
{
	struct point **slot = find(w, tid, watch), *p;
	int err = 0;
	size_t i;

	if (*slot)
		return 0;
	p = calloc(1, sizeof(*p) + w->n_cpus * sizeof(p->events[0]));
	if (!p)
		return -ENOMEM;
	p->pid = pid;
	p->tid = tid;
	p->mm = mm;
	p->watch = watch;
	p->start = start;
	p->size = size;
	for (i = 0; i < w->n_cpus; i++)
		p->events[i].fd = -1;
	for (i = 0; !err && i < w->n_cpus; i++)
		err = open_event(w, p, i);
	for (i = 0; !err && i < w->n_cpus; i++)
		if (p->events[i].fd >= 0 && ioctl(p->events[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			err = -errno;
	if (err) {
		close_point(w, p);
		return err;
	}
	p->next = *slot;
	*slot = p;
	w->time_ns = time_ns;
	put(w, p, 0, NULL, 0);
	return 0;
}

/* What the kernel has counted: all CPUs together. */
static uint64_t counted(const struct watchpoints *w, const struct point *p)
{
	uint64_t sum = 0, n;

	for (size_t i = 0; i < w->n_cpus; i++)
		if (p->events[i].fd >= 0 && read(p->events[i].fd, &n, sizeof(n)) == sizeof(n))
			sum += n;
	return sum;
}

/* The point at *@slot, whose hits have been put. */
static void unset(struct watchpoints *w, struct point **slot)
{
	struct point *p = *slot;
	uint64_t n;

	for (size_t i = 0; i < w->n_cpus; i++)
		if (p->events[i].fd >= 0)
			ioctl(p->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	watchpoints_drain(w, w->time_ns);
	n = counted(w, p);
	if (n > p->seen) {
		w->total += n - p->seen;
		put(w, p, n - p->seen, NULL, 0);
	}
	*slot = p->next;
	close_point(w, p);
}

void watchpoints_unset(struct watchpoints *w, pid_t tid, uint64_t time_ns)
{
	struct point **p = &w->points[(uint32_t)tid % BUCKETS];

	w->time_ns = time_ns;
	while (*p) {
		if ((*p)->tid == tid)
			unset(w, p);
		else
			p = &(*p)->next;
	}
}

void watchpoints_unset_in(struct watchpoints *w, uint32_t mm, uint32_t watch, uint64_t time_ns)
{
	w->time_ns = time_ns;
	for (size_t i = 0; i < BUCKETS; i++) {
		struct point **p = &w->points[i];

		while (*p) {
			if ((*p)->mm == mm && (*p)->watch == watch)
				unset(w, p);
			else
				p = &(*p)->next;
		}
	}
}
