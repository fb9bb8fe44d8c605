// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What was touched at the peak is known only when the next peak has not come.  So nothing is copied at a
 * peak: each page knows as the how-manieth it came, and one that goes is kept in a list
 * if it was there at the last peak.  A new peak makes that list void.  The areas are copied
 * before the first change of the map after a peak.
 */
#include "config.h"

#include "touched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_resolve.h"
#include "runtime/user/grow.h"

enum {
	PAGE_BITS = 36, /* of a key; the address space's number is above */
	SPACE_BITS = 64 - PAGE_BITS,
	FIRST_SLOTS = 4096,
	MOST_PAGES = 1 << 25,
	LOOKS = 64,
	POINTS = 512,
	STEP_NS = 100000, /* between points at first; doubled as they get many */
	TOUCHES = STREAM_TOUCHED_READ | STREAM_TOUCHED_WRITTEN | STREAM_TOUCHED_EXECUTED,
};

struct page {
	uint64_t key; /* 0: free */
	uint64_t born; /* its number among all that came */
	uint32_t what; /* enum stream_touched_what */
	bool shared;
};

struct touched {
	struct images *images;
	const struct spaces *spaces;
	struct page *slots; /* by key: open addressing */
	size_t n, n_slots;
	uint64_t serial, ever, lost, unplaced;
	uint64_t most, left; /* pages in the table; pages of records that are still looked at */
	struct touched_sum now, peak;
	uint64_t now_ns, peak_ns, peak_serial;
	bool fresh; /* the areas of the peak are those of now: not copied yet */
	struct page *gone;
	size_t n_gone, cap_gone;
	struct touched_area *areas;
	size_t n_areas, cap_areas;
	struct touched_point points[POINTS];
	size_t n_points;
	uint64_t step_ns;
	uint32_t leaving; /* an address space that may end with the event */
	struct touched_page *pages; /* of the result */
};

static uint64_t key_of(uint32_t mm, uint64_t addr)
{
	return (uint64_t)mm << PAGE_BITS | (addr >> HVAR_PAGE_SHIFT & (((uint64_t)1 << PAGE_BITS) - 1));
}

/* Has it a key?  Spaces are numbered as they come: a higher one is a damaged recording's. */
static bool has_key(uint32_t mm)
{
	return mm && !(mm >> SPACE_BITS);
}

/* ---- the table ---- */

static size_t home(const struct touched *t, uint64_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (t->n_slots - 1);
}

static struct page *slot_of(const struct touched *t, uint64_t key)
{
	size_t i = home(t, key);

	while (t->slots[i].key && t->slots[i].key != key)
		i = (i + 1) & (t->n_slots - 1);
	return &t->slots[i];
}

static bool make_room(struct touched *t)
{
	struct page *old = t->slots;
	size_t n_old = t->n_slots, i;

	if (2 * (t->n + 1) <= t->n_slots)
		return true;
	if (t->n >= t->most)
		return false;
	t->n_slots = n_old ? 2 * n_old : FIRST_SLOTS;
	t->slots = calloc(t->n_slots, sizeof(*t->slots));
	if (!t->slots) {
		t->slots = old;
		t->n_slots = n_old;
		return false;
	}
	for (i = 0; i < n_old; i++)
		if (old[i].key)
			*slot_of(t, old[i].key) = old[i];
	free(old);
	return true;
}

static void empty_slot(struct touched *t, struct page *p)
{
	size_t hole = (size_t)(p - t->slots), i = hole, mask = t->n_slots - 1;

	for (;;) {
		i = (i + 1) & mask;
		if (!t->slots[i].key)
			break;
		/* May it lie in the hole, which is nearer to its home? */
		if (((i - home(t, t->slots[i].key)) & mask) < ((i - hole) & mask))
			continue;
		t->slots[hole] = t->slots[i];
		hole = i;
	}
	t->slots[hole].key = 0;
	t->n--;
}

/* ---- sums ---- */

static void sum(struct touched_sum *s, const struct page *p, int sign)
{
	uint64_t one = (uint64_t)(int64_t)sign;

	if (!(p->what & TOUCHES)) {
		s->present += one;
		return;
	}
	s->pages += one;
	s->code += p->what & STREAM_TOUCHED_EXECUTED ? one : 0;
	s->shared += p->shared ? one : 0;
}

/* Half as many points, each the larger of two. */
static void thin(struct touched *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->n_points; i += 2) {
		struct touched_point x = t->points[i];

		if (i + 1 < t->n_points && t->points[i + 1].sum.pages >= x.sum.pages)
			x = t->points[i + 1];
		t->points[n++] = x;
	}
	t->n_points = n;
	t->step_ns *= 2;
}

/* What is so now is a point of the time line, if it is not too near to the last one; of two that are the larger stays. */
static void note(struct touched *t)
{
	struct touched_point *last = t->n_points ? &t->points[t->n_points - 1] : NULL;

	if (t->now.pages > t->peak.pages) {
		t->peak = t->now;
		t->peak_ns = t->now_ns;
		t->peak_serial = t->serial;
		t->fresh = true;
	}
	if (last && t->now_ns - last->time_ns < t->step_ns) {
		if (t->now.pages > last->sum.pages)
			*last = (struct touched_point){ t->now_ns, t->now };
		return;
	}
	if (last ? !memcmp(&last->sum, &t->now, sizeof(t->now)) : !t->now.pages && !t->now.present)
		return;
	if (t->n_points == POINTS)
		thin(t);
	t->points[t->n_points++] = (struct touched_point){ t->now_ns, t->now };
}

/* ---- the areas at the peak ---- */

static void copy_areas(void *ctx, uint32_t mm, uint32_t pid, const struct hvar_vmas *vmas)
{
	struct touched *t = ctx;
	const struct hvar_vma *v;

	for (v = hvar_vmas_next(vmas, 0); v; v = hvar_vmas_next(vmas, v->end)) {
		struct touched_area *a;
		struct hvar_place place;

		if (grow_array((void **)&t->areas, &t->cap_areas, t->n_areas + 1, sizeof(*t->areas))) {
			t->lost++;
			return;
		}
		a = &t->areas[t->n_areas++];
		memset(a, 0, sizeof(*a));
		a->mm = mm;
		a->pid = pid;
		a->vma = *v;
		hvar_resolve(vmas, v->start, images_of, t->images, &place);
		if (!(place.flags & HVAR_PLACE_VADDR) || place.kind == HVAR_KIND_FILE) /* its first page may begin with what is no segment's */
			hvar_resolve(vmas, v->end - 1, images_of, t->images, &place);
		a->module = place.module;
		a->kind = place.kind;
		a->has_bias = place.flags & HVAR_PLACE_VADDR;
		a->bias = place.bias;
	}
}

/* Pages may go now. */
static void keep_peak(struct touched *t)
{
	if (!t->fresh)
		return;
	t->fresh = false;
	t->n_gone = t->n_areas = 0;
	spaces_each(t->spaces, copy_areas, t);
}

/* ---- pages come and go ---- */

static void come(struct touched *t, uint64_t key, uint32_t what, bool shared)
{
	struct page *p;

	if (!make_room(t)) {
		t->lost++;
		return;
	}
	p = slot_of(t, key);
	if (p->key) {
		if (!(what & ~p->what))
			return;
		sum(&t->now, p, -1);
		if (!(p->what & TOUCHES) && what & TOUCHES) {
			p->born = ++t->serial;
			t->ever++;
		}
		p->what |= what;
	} else {
		*p = (struct page){ key, ++t->serial, what, shared };
		t->ever += !!(what & TOUCHES);
		t->n++;
	}
	sum(&t->now, p, 1);
}

static void go(struct touched *t, struct page *p)
{
	sum(&t->now, p, -1);
	if (p->born <= t->peak_serial) {
		if (grow_array((void **)&t->gone, &t->cap_gone, t->n_gone + 1, sizeof(*t->gone)))
			t->lost++;
		else
			t->gone[t->n_gone++] = *p;
	}
	empty_slot(t, p);
}

/* Call @fn for each page of [@start, @end) of @mm; it may take that page out of the table. */
static void each(struct touched *t, uint32_t mm, uint64_t start, uint64_t end,
		 void (*fn)(struct touched *t, struct page *p))
{
	uint64_t at, *keys, n = 0;
	size_t i;

	if (!t->n || !has_key(mm))
		return;
	if ((end - start) >> HVAR_PAGE_SHIFT <= t->n) {
		for (at = start; at < end; at += HVAR_PAGE_SIZE) {
			struct page *p = slot_of(t, key_of(mm, at));

			if (p->key)
				fn(t, p);
		}
		return;
	}
	/* What moves up into an emptied slot could be missed: first which, then what. */
	keys = malloc(t->n * sizeof(*keys));
	if (!keys) {
		t->lost++;
		return;
	}
	for (i = 0; i < t->n_slots; i++)
		if (t->slots[i].key >= key_of(mm, start) && t->slots[i].key <= key_of(mm, end - 1))
			keys[n++] = t->slots[i].key;
	for (i = 0; i < n; i++)
		fn(t, slot_of(t, keys[i]));
	free(keys);
}

/* The highest address that a key can hold. */
#define TOP ((uint64_t)1 << (PAGE_BITS + HVAR_PAGE_SHIFT))

static void move(struct touched *t, const struct stream_touched *r)
{
	uint64_t at;

	keep_peak(t);
	for (at = 0; at < r->end - r->start; at += HVAR_PAGE_SIZE) {
		struct page *p = slot_of(t, key_of(r->mm, r->from + at)), was;

		if (!p->key)
			continue;
		was = *p;
		go(t, p);
		was.key = key_of(r->mm, r->start + at);
		p = slot_of(t, was.key);
		if (p->key)
			go(t, p);
		if (!make_room(t))
			continue;
		*slot_of(t, was.key) = was;
		slot_of(t, was.key)->born = ++t->serial;
		t->n++;
		sum(&t->now, &was, 1);
	}
}

void touched_most(struct touched *t, uint64_t pages)
{
	t->most = pages;
	t->left = pages * LOOKS;
}

void touched_record(struct touched *t, const struct stream_touched *r)
{
	const struct hvar_vmas *vmas = spaces_find(t->spaces, r->mm);
	const struct hvar_vma *v = vmas ? hvar_vmas_find(vmas, r->start) : NULL;
	bool shared = v && v->prot & HVAR_PROT_SHARED;
	uint64_t at;

	t->now_ns = r->time_ns;
	if (r->end > TOP || r->from + (r->end - r->start) > TOP || !has_key(r->mm)) {
		t->lost += r->what & STREAM_TOUCHED_BACK ? 0 : (r->end - r->start) >> HVAR_PAGE_SHIFT;
		return;
	}
	/* One that no program can have touched does not keep us for hours. */
	if (!(r->what & STREAM_TOUCHED_BACK)) {
		if ((r->end - r->start) >> HVAR_PAGE_SHIFT > t->left) {
			t->lost += (r->end - r->start) >> HVAR_PAGE_SHIFT;
			return;
		}
		t->left -= (r->end - r->start) >> HVAR_PAGE_SHIFT;
	}
	if (r->what == STREAM_TOUCHED_MOVED) {
		move(t, r);
	} else if (r->what & STREAM_TOUCHED_BACK) {
		keep_peak(t);
		each(t, r->mm, r->start, r->end, go);
	} else {
		for (at = r->start; at < r->end; at += HVAR_PAGE_SIZE)
			come(t, key_of(r->mm, at), r->what, shared);
	}
	note(t);
}

/* ---- events ---- */

static void unmapped(struct touched *t, uint32_t mm, uint64_t start, uint64_t end)
{
	if (start < end && end <= TOP)
		each(t, mm, start, end, go);
}

/* What has no place at the new one is gone. */
static void moved(struct touched *t, const struct hvar_event *ev)
{
	struct stream_touched r = { .mm = ev->mm, .start = ev->u.map.start, .end = ev->u.map.end, .from = ev->u.map.old_start };
	uint64_t was = ev->u.map.old_end - r.from;

	if (r.end - r.start > was)
		r.end = r.start + was;
	if (r.end > TOP || ev->u.map.old_end > TOP || !t->n || !has_key(ev->mm))
		return;
	if (was >> HVAR_PAGE_SHIFT > t->left) {
		t->lost += was >> HVAR_PAGE_SHIFT;
		return;
	}
	t->left -= was >> HVAR_PAGE_SHIFT;
	move(t, &r);
	unmapped(t, ev->mm, r.from + (r.end - r.start), ev->u.map.old_end);
}

void touched_before(struct touched *t, const struct hvar_event *ev)
{
	t->leaving = 0;
	t->now_ns = ev->time_ns;
	keep_peak(t);
	switch (ev->type) {
	case HVAR_EVENT_UNMAP:
		unmapped(t, ev->mm, ev->u.map.start, ev->u.map.end);
		note(t);
		break;
	case HVAR_EVENT_SHRINK:
		unmapped(t, ev->mm, ev->u.map.old_start, ev->u.map.start);
		unmapped(t, ev->mm, ev->u.map.end, ev->u.map.old_end);
		note(t);
		break;
	case HVAR_EVENT_MOVE:
		moved(t, ev);
		note(t);
		break;
	case HVAR_EVENT_EXEC:
	case HVAR_EVENT_EXIT:
		t->leaving = spaces_number(t->spaces, ev->tid);
		break;
	default:
		break;
	}
}

/* A page of a parent's, which its child has, too. */
struct copies {
	struct page *v;
	size_t n;
};

static void copy_space(struct touched *t, uint32_t mm, uint32_t child_mm)
{
	struct copies c = { has_key(child_mm) ? malloc((t->n + 1) * sizeof(*c.v)) : NULL, 0 };
	size_t i;

	if (!c.v) {
		t->lost++;
		return;
	}
	for (i = 0; i < t->n_slots; i++)
		if (t->slots[i].key >> PAGE_BITS == mm)
			c.v[c.n++] = t->slots[i];
	for (i = 0; i < c.n; i++)
		come(t, key_of(child_mm, 0) | (c.v[i].key & (((uint64_t)1 << PAGE_BITS) - 1)), c.v[i].what, c.v[i].shared);
	free(c.v);
}

void touched_after(struct touched *t, const struct hvar_event *ev)
{
	if (ev->type == HVAR_EVENT_FORK && ev->u.task.child_mm != ev->mm)
		copy_space(t, ev->mm, ev->u.task.child_mm);
	else if (t->leaving && !spaces_find(t->spaces, t->leaving))
		each(t, t->leaving, 0, TOP, go);
	else
		return;
	note(t);
}

/* ---- what came out ---- */

static int by_key(const void *pa, const void *pb)
{
	const struct page *a = pa, *b = pb;

	return (a->key > b->key) - (a->key < b->key);
}

static int by_place(const void *pa, const void *pb)
{
	const struct touched_area *a = pa, *b = pb;

	if (a->mm != b->mm)
		return a->mm < b->mm ? -1 : 1;
	return (a->vma.start > b->vma.start) - (a->vma.start < b->vma.start);
}

static void count(struct touched_area *a, uint32_t what)
{
	if (!(what & TOUCHES)) {
		a->present++;
		return;
	}
	a->touched++;
	a->written += !!(what & STREAM_TOUCHED_WRITTEN);
	a->code += !!(what & STREAM_TOUCHED_EXECUTED);
	a->by_kernel += !!(what & STREAM_TOUCHED_BY_KERNEL);
}

int touched_finish(struct touched *t, struct touched_result *out)
{
	size_t i, k = 0;

	keep_peak(t);
	for (i = 0; i < t->n_slots; i++) {
		if (!t->slots[i].key || t->slots[i].born > t->peak_serial)
			continue;
		if (grow_array((void **)&t->gone, &t->cap_gone, t->n_gone + 1, sizeof(*t->gone)))
			return -ENOMEM;
		t->gone[t->n_gone++] = t->slots[i];
	}
	t->pages = calloc(t->n_gone + 1, sizeof(*t->pages));
	if (!t->pages)
		return -ENOMEM;
	if (t->n_gone)
		qsort(t->gone, t->n_gone, sizeof(*t->gone), by_key);
	if (t->n_areas)
		qsort(t->areas, t->n_areas, sizeof(*t->areas), by_place);
	memset(out, 0, sizeof(*out));
	for (i = 0; i < t->n_gone; i++) {
		uint64_t addr = (t->gone[i].key & (((uint64_t)1 << PAGE_BITS) - 1)) << HVAR_PAGE_SHIFT;
		uint32_t mm = (uint32_t)(t->gone[i].key >> PAGE_BITS);

		while (k < t->n_areas && (t->areas[k].mm < mm || (t->areas[k].mm == mm && t->areas[k].vma.end <= addr)))
			k++;
		if (k == t->n_areas || t->areas[k].mm != mm || addr < t->areas[k].vma.start) {
			t->unplaced++;
			continue;
		}
		t->pages[out->n_pages++] = (struct touched_page){ addr, (uint32_t)k, t->gone[i].what };
		count(&t->areas[k], t->gone[i].what);
	}
	out->peak_ns = t->peak_ns;
	out->peak = t->peak;
	out->ever = t->ever;
	out->points = t->points;
	out->n_points = t->n_points;
	out->areas = t->areas;
	out->n_areas = t->n_areas;
	out->pages = t->pages;
	out->lost = t->lost;
	out->unplaced = t->unplaced;
	return 0;
}

struct touched *touched_new(struct images *images, const struct spaces *spaces)
{
	struct touched *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->images = images;
	t->spaces = spaces;
	t->step_ns = STEP_NS;
	touched_most(t, MOST_PAGES);
	if (!make_room(t)) {
		free(t);
		return NULL;
	}
	return t;
}

void touched_free(struct touched *t)
{
	if (!t)
		return;
	free(t->slots);
	free(t->gone);
	free(t->areas);
	free(t->pages);
	free(t);
}
