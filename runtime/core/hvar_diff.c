// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvar_diff.c - two views of a range -> events, and events -> the list again.
 *
 * Bytes are the same memory in both views if module, offset and kind agree; then
 * only their use can have changed.  First goes what is not the same memory any
 * more, then, by address, comes what is new and changes what is used otherwise.
 * Each event is one hvar_vmas_set() on the list, done before it is told.
 */
#include "hvar_diff.h"

/* What one event can add to a list: a split at each end of old and of new. */
#define HVAR_APPLY_ROOM 4

/* One hvar_diff() under way. */
struct hvar_diff {
	struct hvar_vmas *m;
	const struct hvar_vma *seen;
	uint64_t lo, hi;
	uint32_t n;
	uint32_t i; /* next of seen */
	const struct hvar_event *base;
	hvar_emit_fn emit;
	void *ctx;
};

/* The next area seen, clipped to the range and joined with its like, into @out. */
static bool hvar_diff_take(struct hvar_diff *d, struct hvar_vma *out)
{
	const struct hvar_vma *v = d->seen + d->i, *stop = d->seen + d->n;

	while (v < stop && v->end <= d->lo)
		v++;
	d->i = v - d->seen;
	if (v == stop || v->start >= d->hi)
		return false;
	out->start = v->start < d->lo ? d->lo : v->start;
	out->end = v->end;
	hvar_vma_at(v, out->start, out);
	for (v++; v < stop && hvar_vma_joins(out, v); v++)
		out->end = v->end;
	d->i = v - d->seen;
	if (out->end > d->hi)
		out->end = d->hi;
	return true;
}

/*
 * Anonymous memory by any name: [heap] and [stack] are where it lies, and the
 * label comes and goes as areas split and merge.
 */
static uint8_t hvar_diff_origin(const struct hvar_vma *v)
{
	switch (v->region) {
	case HVAR_REGION_HEAP:
	case HVAR_REGION_STACK:
	case HVAR_REGION_JIT:
		return HVAR_REGION_ANON;
	}
	return v->region;
}

/* Is the byte at @addr, inside both, the same memory in @a and @b? */
static bool hvar_diff_same(const struct hvar_vma *a, const struct hvar_vma *b,
			   uint64_t addr)
{
	struct hvar_vma x, y;

	hvar_vma_at(a, addr, &x);
	hvar_vma_at(b, addr, &y);
	return x.module == y.module && x.pgoff == y.pgoff &&
	       hvar_diff_origin(&x) == hvar_diff_origin(&y) &&
	       !((x.prot ^ y.prot) & HVAR_PROT_SHARED);
}

/* Is the same memory used alike? */
static bool hvar_diff_alike(const struct hvar_vma *a, const struct hvar_vma *b)
{
	return a->prot == b->prot && a->region == b->region &&
	       a->flags == b->flags;
}

HVAR_API void hvar_diff_event(const struct hvar_event *base, uint32_t type,
			      const struct hvar_vma *v, const struct hvar_vma *old,
			      struct hvar_event *out)
{
	memset(out, 0, sizeof(*out));
	out->time_ns = base->time_ns;
	out->type = type;
	out->mm = base->mm;
	out->pid = base->pid;
	out->tid = base->tid;
	out->cause = base->cause;
	out->module = v->module;
	out->u.map.start = v->start;
	out->u.map.end = v->end;
	out->u.map.pgoff = v->pgoff;
	out->u.map.prot = v->prot;
	out->u.map.region = v->region;
	out->u.map.flags = v->flags;
	if (old) {
		out->u.map.old_start = old->start;
		out->u.map.old_end = old->end;
	}
}

static void hvar_diff_tell(const struct hvar_diff *d, uint32_t type,
			   const struct hvar_vma *v, const struct hvar_vma *old)
{
	struct hvar_event e;

	hvar_diff_event(d->base, type, v, old, &e);
	d->emit(d->ctx, &e);
}

/* [@start, @end) of the listed area @v is no more. */
static int hvar_diff_gone(const struct hvar_diff *d, const struct hvar_vma *v,
			  uint64_t start, uint64_t end)
{
	struct hvar_vma old = *v, rest = old;
	uint32_t type = HVAR_EVENT_SHRINK;
	int err;

	if (start == old.start && end < old.end) {
		rest.start = end;
		hvar_vma_at(&old, end, &rest);
	} else if (start > old.start && end == old.end) {
		rest.end = start;
	} else {
		/* All of it, or the middle: then two areas remain, both unchanged. */
		type = HVAR_EVENT_UNMAP;
		rest.start = start;
		rest.end = end;
		hvar_vma_at(&old, start, &rest);
	}
	err = hvar_vmas_set(d->m, start, end, NULL);
	if (!err)
		hvar_diff_tell(d, type, &rest,
			       type == HVAR_EVENT_SHRINK ? &old : NULL);
	return err;
}

/* [@start, @end) of @s, an area seen, is new. */
static int hvar_diff_new(const struct hvar_diff *d, const struct hvar_vma *s,
			 uint64_t start, uint64_t end)
{
	struct hvar_vma v, old;
	const struct hvar_vma *p, *grown = NULL;
	uint32_t type = HVAR_EVENT_MAP;
	int err;

	v.start = start;
	v.end = end;
	hvar_vma_at(s, start, &v);
	p = hvar_vmas_prev(d->m, start);
	if (p && hvar_vma_joins(p, &v)) {
		old = *p;
		grown = &old;
	}
	/* What lies above inside the range but not in s is still to change. */
	p = end < s->end || end == d->hi ? hvar_vmas_next(d->m, end) : NULL;
	if (p && hvar_vma_joins(&v, p)) {
		old = *p;
		/* A hole filled between two is an area of its own. */
		grown = grown ? NULL : &old;
	}
	err = hvar_vmas_set(d->m, start, end, &v);
	if (err)
		return err;
	if (d->base->type == HVAR_EVENT_INITIAL) {
		type = HVAR_EVENT_INITIAL;
		grown = NULL;
	} else if (grown) {
		type = HVAR_EVENT_GROW;
		if (grown->start == end) {
			v.end = grown->end;
		} else {
			v.start = grown->start;
			v.pgoff = grown->pgoff;
		}
	}
	hvar_diff_tell(d, type, &v, grown);
	return 0;
}

/* [@start, @end) of @s is the same memory, used otherwise. */
static int hvar_diff_changed(const struct hvar_diff *d, const struct hvar_vma *s,
			     uint64_t start, uint64_t end)
{
	struct hvar_vma v;
	int err;

	v.start = start;
	v.end = end;
	hvar_vma_at(s, start, &v);
	err = hvar_vmas_set(d->m, start, end, &v);
	if (!err)
		hvar_diff_tell(d, HVAR_EVENT_PROTECT, &v, NULL);
	return err;
}

/* Take away what is listed and was not seen, or is other memory now. */
static int hvar_diff_take_away(struct hvar_diff *d)
{
	const struct hvar_vma *p;
	struct hvar_vma v, s;
	uint64_t pos = d->lo, to, run;
	bool have = hvar_diff_take(d, &s);
	int err;

	while (pos < d->hi && (p = hvar_vmas_next(d->m, pos)) != NULL &&
	       p->start < d->hi) {
		v = *p;
		to = v.end < d->hi ? v.end : d->hi;
		if (pos < v.start)
			pos = v.start;
		/* [pos, run) grows while it is not the same memory. */
		for (run = pos; run < to;) {
			while (have && s.end <= run)
				have = hvar_diff_take(d, &s);
			if (!have || s.start >= to)
				run = to;
			else if (s.start > run)
				run = s.start;
			else if (hvar_diff_same(&v, &s, run))
				break;
			else
				run = s.end < to ? s.end : to;
		}
		if (run > pos) {
			err = hvar_diff_gone(d, &v, pos, run);
			if (err)
				return err;
			pos = run;
		} else {
			pos = s.end < to ? s.end : to;
		}
	}
	return 0;
}

/* What the list has at @pos, up to @end: NULL and where the hole ends, or an area. */
static const struct hvar_vma *hvar_diff_at(const struct hvar_diff *d, uint64_t pos,
					   uint64_t end, uint64_t *to)
{
	const struct hvar_vma *p = hvar_vmas_next(d->m, pos);

	if (!p || p->start > pos) {
		*to = p && p->start < end ? p->start : end;
		return NULL;
	}
	*to = p->end < end ? p->end : end;
	return p;
}

/* Add what was seen and is not listed; change what is used otherwise. */
static int hvar_diff_bring(struct hvar_diff *d)
{
	const struct hvar_vma *p;
	struct hvar_vma s;
	uint64_t pos, to, next;
	int err = 0;

	while (!err && hvar_diff_take(d, &s)) {
		for (pos = s.start; !err && pos < s.end; pos = to) {
			p = hvar_diff_at(d, pos, s.end, &to);
			if (!p) {
				err = hvar_diff_new(d, &s, pos, to);
				continue;
			}
			if (hvar_diff_alike(p, &s))
				continue;
			while (to < s.end &&
			       (p = hvar_diff_at(d, to, s.end, &next)) != NULL &&
			       !hvar_diff_alike(p, &s))
				to = next;
			err = hvar_diff_changed(d, &s, pos, to);
		}
	}
	return err;
}

HVAR_API int hvar_diff(struct hvar_vmas *m, uint64_t lo, uint64_t hi,
		       const struct hvar_vma *seen, uint32_t n,
		       const struct hvar_event *base, hvar_emit_fn emit, void *ctx)
{
	struct hvar_diff d;
	uint32_t i;
	int err;

	for (i = 0; i < n; i++)
		if (seen[i].start >= seen[i].end ||
		    (i && seen[i].start < seen[i - 1].end))
			return -EINVAL;
	d.m = m;
	d.lo = lo;
	d.hi = hi;
	d.seen = seen;
	d.n = n;
	d.i = 0;
	d.base = base;
	d.emit = emit;
	d.ctx = ctx;
	err = hvar_diff_take_away(&d);
	if (err)
		return err;
	d.i = 0;
	return hvar_diff_bring(&d);
}

/* Clear what of [@start, @end) is not in [@keep_start, @keep_end). */
static int hvar_apply_clear(struct hvar_vmas *m, uint64_t start, uint64_t end,
			    uint64_t keep_start, uint64_t keep_end)
{
	uint64_t below = end < keep_start ? end : keep_start;
	uint64_t above = start > keep_end ? start : keep_end;
	int err = 0;

	if (start < below)
		err = hvar_vmas_set(m, start, below, NULL);
	if (!err && above < end)
		err = hvar_vmas_set(m, above, end, NULL);
	return err;
}

HVAR_API int hvar_apply(struct hvar_vmas *m, const struct hvar_event *e)
{
	uint64_t start = e->u.map.start, end = e->u.map.end;
	bool had = false;
	struct hvar_vma v;
	int err = 0;

	switch (e->type) {
	case HVAR_EVENT_UNMAP:
		return hvar_vmas_set(m, start, end, NULL);
	case HVAR_EVENT_MOVE:
	case HVAR_EVENT_SHRINK:
	case HVAR_EVENT_GROW:
		had = true;
		break;
	case HVAR_EVENT_INITIAL:
	case HVAR_EVENT_MAP:
	case HVAR_EVENT_PROTECT:
		break;
	default:
		return 0;
	}
	if (start >= end || (had && e->u.map.old_start >= e->u.map.old_end))
		return -EINVAL;
	memset(&v, 0, sizeof(v));
	v.pgoff = e->u.map.pgoff;
	v.module = e->module;
	v.prot = e->u.map.prot;
	v.region = e->u.map.region;
	v.flags = e->u.map.flags;
	if (had) {
		/* Two or three steps, of which none may fail halfway. */
		if (hvar_vmas_room(m) < HVAR_APPLY_ROOM) {
			m->lost++;
			return -ENOSPC;
		}
		err = hvar_apply_clear(m, e->u.map.old_start, e->u.map.old_end,
				       start, end);
	}
	return err ? err : hvar_vmas_set(m, start, end, &v);
}
