// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exact_memfd.h"

enum { RUN = 512 };

#define ADDRESS_MAX ((uint64_t)1 << 47)

static bool all_valid(const struct hvt_stack_count *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!v[i].ip || v[i].ip >= ADDRESS_MAX || v[i].flags & ~HVT_POINT_FLAGS)
			return false;
	return true;
}

static void put(const struct exact_frames_to *to, uint32_t slot, const struct hvt_stack_count *v, size_t n)
{
	struct stream_stack rec = { .time_ns = to->time_ns, .mm = to->mm, .pid = to->pid, .tid = to->slots[slot] };
	size_t i;

	_Static_assert(sizeof(*v) == sizeof(*rec.v) && (int)HVT_POINT_FLAGS == (int)STREAM_STACK_FLAGS, "both are the same");
	if (!to->out)
		return;
	for (i = 0; i < n; i++)
		*to->accesses += v[i].reads + v[i].writes;
	stream_put(to->out, STREAM_STACK, &rec, sizeof(rec), v, n * sizeof(*v));
}

int exact_frames_take(struct exact_frames_to to, const struct hvt_message *m, const void *more, size_t len)
{
	size_t n = len / sizeof(struct hvt_stack_count);

	if (m->slot >= HVT_SLOTS || !n || len % sizeof(struct hvt_stack_count) || !all_valid(more, n))
		return -EINVAL;
	put(&to, m->slot, more, n);
	return 0;
}

struct batch {
	uint32_t slot;
	size_t n;
	struct hvt_stack_count v[HVT_STACK_COUNTS_MAX];
	const struct exact_frames_to *to;
};

static void give(struct batch *b)
{
	if (b->n)
		put(b->to, b->slot, b->v, b->n);
	b->n = 0;
}

static void take(struct batch *b, uint32_t slot, const struct hvt_stack_count *c)
{
	if ((!c->reads && !c->writes) || !all_valid(c, 1))
		return;
	if (b->n == HVT_STACK_COUNTS_MAX || slot != b->slot)
		give(b);
	b->slot = slot;
	b->v[b->n++] = *c;
}

/* Is there memory in [@at, @end)?  From where on in *@from. */
static bool data_at(int fd, uint64_t at, uint64_t end, uint64_t *from)
{
	off_t data = lseek(fd, (off_t)at, SEEK_DATA);

	*from = (uint64_t)data;
	return data >= 0 && (uint64_t)data < end;
}

static int read_points(int fd, struct batch *b)
{
	struct hvt_points head;
	struct hvt_pair v[RUN];
	struct hvt_point *p;
	uint32_t slot, i, k;
	uint64_t from;
	int ret = exact_memfd_read(fd, &head, sizeof(head), HVT_POINTS);

	if (ret || head.n < 2)
		return ret;
	if (head.n > HVT_POINTS_MAX)
		return -EINVAL;
	p = malloc(head.n * sizeof(*p));
	if (!p)
		return -ENOMEM;
	ret = exact_memfd_read(fd, p, head.n * sizeof(*p), HVT_POINTS + sizeof(head));
	for (slot = 0; slot < HVT_SLOTS && !ret; slot++) {
		uint64_t at = HVT_STACK((uint64_t)slot);

		if (!data_at(fd, at, at + head.n * sizeof(*v), &from))
			continue;
		for (i = 0; i < head.n && !ret; i += RUN) {
			uint32_t n = head.n - i < RUN ? head.n - i : RUN;

			ret = exact_memfd_read(fd, v, n * sizeof(*v), at + i * sizeof(*v));
			for (k = 0; k < n && !ret; k++) {
				const struct hvt_point *x = &p[i + k];

				take(b, slot, &(struct hvt_stack_count){ x->ip, x->offset, x->size, x->flags, x->len,
									 v[k].reads, v[k].writes });
			}
		}
	}
	free(p);
	return ret;
}

static int read_owned(int fd, struct batch *b)
{
	uint64_t at = HVT_OWNED, end = at + HVT_OWNED_MAX * sizeof(struct hvt_owned), from;
	struct hvt_owned v[128];
	size_t i;
	int ret;

	_Static_assert(sizeof(v) == 4096, "one page at a time, as memory is given");
	for (; data_at(fd, at, end, &from); at += sizeof(v)) {
		at = from;
		ret = exact_memfd_read(fd, v, sizeof(v), at);
		if (ret)
			return ret;
		for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
			if (v[i].slot < HVT_SLOTS)
				take(b, v[i].slot, &(struct hvt_stack_count){ v[i].ip, v[i].offset, 0, HVT_POINT_OWNED, 0,
									      v[i].reads, v[i].writes });
	}
	return 0;
}

int exact_frames_put(const struct exact_frames_to *to, int memfd)
{
	struct batch *b = calloc(1, sizeof(*b));
	int ret, error;

	if (!b)
		return -ENOMEM;
	b->to = to;
	ret = read_owned(memfd, b);
	error = read_points(memfd, b);
	give(b);
	free(b);
	return ret ? ret : error;
}

/* ---- frames that are there ---- */

/* Those that the thread of one slot is in. */
struct live {
	struct hvt_frame *v; /* the innermost first */
	size_t n;
	uint64_t lo, hi;     /* its stack */
	const struct exact_frames_to *to;
	exact_counts_fn *rest;
	void *ctx;
};

static int add(struct live *l, size_t *cap, const struct hvt_frame *f)
{
	if (l->n == *cap) {
		size_t more = *cap ? 2 * *cap : 64;
		struct hvt_frame *v = realloc(l->v, more * sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		*cap = more;
	}
	l->v[l->n++] = *f;
	return 0;
}

static int read_live(int memfd, uint32_t slot, struct live *out)
{
	const uint64_t all = HVT_ACTIVE_MAX * sizeof(struct hvt_frame);
	uint64_t part = HVT_STACK((uint64_t)slot), top, i, from;
	struct hvt_stack_head head;
	size_t cap = 0;
	int ret;

	if (!data_at(memfd, part + HVT_STACK_HEAD, part + HVT_STACK_HEAD + sizeof(head), &from))
		return 0;
	ret = exact_memfd_read(memfd, &head, sizeof(head), part + HVT_STACK_HEAD);
	if (ret)
		return ret;
	if (head.top % sizeof(struct hvt_frame) || head.top >= all || head.lo > head.hi)
		return -EINVAL;
	out->lo = head.lo;
	out->hi = head.hi;
	for (i = 0, top = head.top; i < HVT_ACTIVE_MAX; i++, top = (top - sizeof(struct hvt_frame)) % all) {
		struct hvt_frame f;

		ret = exact_memfd_read(memfd, &f, sizeof(f), part + HVT_FRAME_FIRST + top);
		if (ret)
			return ret;
		/* the first, which is none; or what has no order is no stack of frames any more */
		if (f.cfa == ~(uint64_t)0 || (out->n && f.cfa <= out->v[out->n - 1].cfa))
			return 0;
		ret = add(out, &cap, &f);
		if (ret)
			return ret;
	}
	return 0;
}

/* Was @addr accessed through a pointer into one of the frames?  Then @c says in which, and where in it. */
static bool owner(const struct live *l, uint64_t addr, struct hvt_stack_count *c)
{
	size_t lo = 0, hi = l->n;

	if (addr < l->lo || addr >= l->hi)
		return false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->v[mid].cfa <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* one whose CFA is far away is not this frame's */
	if (lo == l->n || !l->v[lo].ip || addr < l->v[lo].low || l->v[lo].cfa - addr > INT32_MAX)
		return false;
	*c = (struct hvt_stack_count){ .ip = l->v[lo].ip, .offset = -(int32_t)(l->v[lo].cfa - addr), .flags = HVT_POINT_OWNED };
	return all_valid(c, 1);
}

/* An exact_counts_fn: parts what is in the frames from the rest. */
static void part(void *ctx, uint32_t slot, uint64_t start, struct hvt_count *v, size_t n)
{
	const struct live *l = ctx;
	struct hvt_stack_count owned[64];
	struct hvt_count others[64];
	size_t n_owned = 0, n_others = 0, i;

	for (i = 0; i < n; i++) {
		if (owner(l, start + v[i].offset, &owned[n_owned])) {
			owned[n_owned].reads = v[i].reads;
			owned[n_owned++].writes = v[i].writes;
		} else {
			others[n_others++] = v[i];
		}
		if (n_owned == 64 || (i + 1 == n && n_owned)) {
			put(l->to, slot, owned, n_owned);
			n_owned = 0;
		}
		if (n_others == 64 || (i + 1 == n && n_others)) {
			l->rest(l->ctx, slot, start, others, n_others);
			n_others = 0;
		}
	}
}

int exact_frames_read(const struct exact_frames_to *to, int memfd, uint32_t slot, exact_counts_fn *fn, void *ctx)
{
	struct live l = { .to = to, .rest = fn, .ctx = ctx };
	int error = read_live(memfd, slot, &l), ret = exact_counts_read(memfd, slot, part, &l);

	free(l.v);
	return ret ? ret : error;
}
