// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_diff.c - what hvar_diff() tells, against a table, and against two page arrays.
 *
 * An event may claim only what the pages say: each page told as gone was there and
 * is gone, each told as new was not, each told as changed is used otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "area_text.h"
#include "runtime/core/hvar_diff.h"

enum { PAGES = 48, ROOM = 64 };
#define S HVAR_PROT_SHARED

static uint64_t rng = 2463534242u;

static uint32_t rnd(uint32_t below)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (uint32_t)((rng * 2685821657736338717u) >> 32) % below;
}

static void tell(void *ctx, const struct hvar_event *e)
{
	struct told *t = ctx;

	assert_true(t->n < sizeof(t->e) / sizeof(t->e[0]));
	t->e[t->n++] = *e;
}

static void list_new(struct hvar_vmas *m, uint32_t cap)
{
	uint64_t size = hvar_vmas_bytes(cap);
	void *mem = aligned_alloc(64, (size + 63) / 64 * 64);

	assert_non_null(mem);
	hvar_vmas_init(m, mem, size);
}

/* Fill @to with what is in @from. */
static int list_fill(struct hvar_vmas *to, const struct hvar_vmas *from)
{
	const struct hvar_vma *v;
	int err = 0;

	for (v = hvar_vmas_next(from, 0); v && !err; v = hvar_vmas_next(from, v->end))
		err = hvar_vmas_set(to, v->start, v->end, v);
	return err;
}

/* A copy of @from in as little room as it fits in; there is more behind. */
static void list_tight(struct hvar_vmas *to, const struct hvar_vmas *from)
{
	uint64_t size = 0;

	list_new(to, ROOM);
	do {
		hvar_vmas_init(to, to->mem, size);
		size += 256;
	} while (list_fill(to, from));
}

static void list_same(const struct hvar_vmas *a, const struct hvar_vmas *b)
{
	const struct hvar_vma *v = hvar_vmas_next(a, 0), *w = hvar_vmas_next(b, 0);

	assert_int_equal(a->n, b->n);
	for (; v && w; v = hvar_vmas_next(a, v->end), w = hvar_vmas_next(b, w->end))
		assert_memory_equal(v, w, sizeof(*v));
	assert_true(!v && !w);
}

static void test_table(void **state)
{
	/* What was, what is seen of pages lo to hi, what is told. */
	static const struct {
		const char *was;
		uint32_t lo, hi;
		const char *seen, *told;
	} cases[] = {
		{ "", 0, 48, "", "" },
		{ "0-4:r", 0, 48, "0-4:r", "" },
		{ "0-4:r", 2, 2, "", "" },
		{ "0-4:r", 4, 8, "", "" },
		/* new, gone */
		{ "", 0, 48, "0-4:r@5 6-8:w", "+0-4:r@5 +6-8:w" },
		{ "0-4:r@5 6-8:w", 0, 48, "", "-0-4:r@5 -6-8:w" },
		{ "0-4:r@5", 1, 3, "", "-1-3:r@6" },
		{ "0-2:r 2-4:w", 1, 3, "", "s0-1:r<0-2 s3-4:w<2-4" },
		{ "0-2:r 2-4:w", 0, 3, "", "-0-2:r s3-4:w<2-4" },
		/* grown, shrunk: one end */
		{ "2-4:r", 0, 48, "2-5:r", "g2-5:r<2-4" },
		{ "2-4:rK", 0, 48, "1-4:rK", "g1-4:rK<2-4" },
		{ "2-4:r@5", 0, 2, "1-2:r@4", "g1-4:r@4<2-4" },
		{ "2-4:r@5", 0, 2, "1-2:r@5", "+1-2:r@5" },
		{ "2-4:r", 0, 48, "1-5:r", "g1-4:r<2-4 g1-5:r<1-4" },
		{ "1-5:r@1", 0, 48, "2-5:r@2", "s2-5:r@2<1-5" },
		{ "1-5:r@1", 0, 48, "1-4:r@1", "s1-4:r@1<1-5" },
		{ "1-5:r@1", 0, 48, "2-4:r@2", "s2-5:r@2<1-5 s2-4:r@2<2-5" },
		/* a hole filled is new; the middle gone is gone */
		{ "0-2:r 4-6:r", 2, 4, "2-4:r", "+2-4:r" },
		{ "0-2:r 4-6:r", 0, 48, "0-6:r", "+2-4:r" },
		{ "0-6:r", 0, 48, "0-2:r 4-6:r", "-2-4:r" },
		/* used otherwise: that part only, once, whatever it was before */
		{ "0-6:r", 0, 48, "0-2:r 2-4:rw 4-6:r", "=2-4:rw" },
		{ "0-2:r 2-4:rw 4-6:r", 0, 48, "0-6:r", "=2-4:r" },
		{ "0-2:r@0 2-4:rw@2 4-6:x@4", 0, 48, "0-6:r@0", "=2-6:r@2" },
		{ "0-2:r 3-4:x", 0, 48, "0-2:rw 3-4:rw", "=0-2:rw =3-4:rw" },
		{ "0-4:rH", 0, 48, "0-2:rH 2-4:r", "=2-4:r" },
		{ "0-4:r@0", 0, 48, "0-4:rD@0", "=0-4:rD@0" },
		{ "0-4:rwx", 0, 48, "0-4:rwxJ", "=0-4:rwxJ" },
		/* other memory in its place is first gone, then new */
		{ "0-4:r@0", 0, 48, "0-4:r@1", "-0-4:r@0 +0-4:r@1" },
		{ "0-4:r@0", 0, 48, "0-4:rb0", "-0-4:r@0 +0-4:rb0" },
		{ "0-4:r@0", 0, 48, "0-4:r", "-0-4:r@0 +0-4:r" },
		{ "0-4:r", 0, 48, "0-4:rs", "-0-4:r +0-4:rs" },
		{ "0-4:r@0", 0, 48, "0-2:r@0 2-4:w", "s0-2:r@0<0-4 +2-4:w" },
		{ "0-6:r@0", 0, 48, "0-2:r@0 2-4:w 4-6:r@4", "-2-4:r@2 +2-4:w" },
		/* the loader's way: all of a file, then a part over it */
		{ "0-8:r@0", 2, 4, "2-4:rx@2", "=2-4:rx@2" },
		{ "0-8:r@0", 6, 8, "6-8:rw@5", "s0-6:r@0<0-8 +6-8:rw@5" },
		/* a neighbour that is to change has not grown */
		{ "4-8:rw", 0, 48, "0-4:rw 4-8:r", "+0-4:rw =4-8:r" },
		{ "4-8:r", 0, 48, "0-8:rw", "+0-4:rw =4-8:rw" },
		{ "0-4:r", 0, 48, "0-8:rw", "=0-4:rw g0-8:rw<0-4" },
		/* seen areas may reach over the ends, and be cut in pieces */
		{ "0-2:r@0", 2, 4, "0-9:r@0", "g0-4:r@0<0-2" },
		{ "", 2, 4, "0-9:r@0", "+2-4:r@2" },
		{ "", 0, 48, "0-1:r 1-2:r 2-3:w", "+0-2:r +2-3:w" },
		{ "", 0, 48, "0-1:r@0 1-2:r@1 2-3:r@0", "+0-2:r@0 +2-3:r@0" },
		{ "6-8:w", 2, 4, "0-1:r 5-6:r", "" },
	};
	struct hvar_event base;
	uint32_t i;

	(void)state;
	memset(&base, 0, sizeof(base));
	base.time_ns = 1234;
	base.mm = 5;
	base.pid = 6;
	base.tid = 7;
	base.cause = HVAR_CAUSE_MMAP;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hvar_vma v[ROOM];
		struct hvar_vmas m, copy;
		struct told told = { .n = 0 };
		char text[512];
		uint32_t n, k;

		list_new(&m, ROOM);
		list_new(&copy, ROOM);
		n = parse(cases[i].was, v);
		for (k = 0; k < n; k++) {
			assert_int_equal(hvar_vmas_set(&m, v[k].start, v[k].end, &v[k]), 0);
			assert_int_equal(hvar_vmas_set(&copy, v[k].start, v[k].end, &v[k]), 0);
		}
		n = parse(cases[i].seen, v);
		assert_int_equal(hvar_diff(&m, addr(cases[i].lo), addr(cases[i].hi), v, n,
					   &base, tell, &told), 0);
		print_told(text, sizeof(text), &told);
		if (strcmp(text, cases[i].told))
			fail_msg("%s, pages %u to %u seen as %s: told %s, not %s",
				 cases[i].was, cases[i].lo, cases[i].hi, cases[i].seen,
				 text, cases[i].told);
		for (k = 0; k < told.n; k++) {
			assert_int_equal(told.e[k].time_ns, 1234);
			assert_int_equal(told.e[k].mm, 5);
			assert_int_equal(told.e[k].pid, 6);
			assert_int_equal(told.e[k].tid, 7);
			assert_int_equal(told.e[k].cause, HVAR_CAUSE_MMAP);
			assert_int_equal(hvar_apply(&copy, &told.e[k]), 0);
		}
		list_same(&m, &copy);

		/* Once more: nothing left to tell. */
		told.n = 0;
		assert_int_equal(hvar_diff(&m, addr(cases[i].lo), addr(cases[i].hi), v, n,
					   &base, tell, &told), 0);
		assert_int_equal(told.n, 0);
		free(m.mem);
		free(copy.mem);
	}
}

static void test_initial(void **state)
{
	struct hvar_vma v[ROOM];
	struct told told = { .n = 0 };
	struct hvar_event base;
	struct hvar_vmas m;
	char text[256];
	uint32_t n;

	(void)state;
	memset(&base, 0, sizeof(base));
	base.type = HVAR_EVENT_INITIAL;
	list_new(&m, ROOM);
	n = parse("0-2:r@0 2-3:w 9-12:wK", v);
	assert_int_equal(hvar_diff(&m, 0, ~(uint64_t)0, v, n, &base, tell, &told), 0);
	n = parse("0-3:r@0 3-4:w 8-12:wK", v);
	assert_int_equal(hvar_diff(&m, 0, ~(uint64_t)0, v, n, &base, tell, &told), 0);
	print_told(text, sizeof(text), &told);
	assert_string_equal(text, "i0-2:r@0 i2-3:w i9-12:wK "
				  "-2-3:w i2-3:r@2 i3-4:w i8-9:wK");
	free(m.mem);
}

static void test_bad(void **state)
{
	static const char *const bad[] = { "3-3:r", "4-3:r", "0-4:r 3-5:r", "3-5:r 0-2:r",
					   "0-2:r 2-2:r" };
	struct hvar_event base, e;
	struct told told = { .n = 0 };
	struct hvar_vma v[ROOM];
	struct hvar_vmas m;
	uint32_t i, n;

	(void)state;
	memset(&base, 0, sizeof(base));
	list_new(&m, ROOM);
	n = parse("20-30:r", v);
	assert_int_equal(hvar_vmas_set(&m, v[0].start, v[0].end, &v[0]), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		n = parse(bad[i], v);
		assert_int_equal(hvar_diff(&m, 0, ~(uint64_t)0, v, n, &base, tell, &told),
				 -EINVAL);
	}
	assert_int_equal(told.n, 0);
	assert_int_equal(m.n, 1);

	/* Events that cannot be, or are not for a list. */
	for (i = 0; i < HVAR_EVENT_TYPES; i++) {
		bool map = i >= HVAR_EVENT_INITIAL && i <= HVAR_EVENT_SHRINK;

		memset(&e, 0, sizeof(e));
		e.type = i;
		e.u.map.start = addr(2);
		e.u.map.end = addr(2);
		e.u.map.old_start = addr(20);
		e.u.map.old_end = addr(22);
		assert_int_equal(hvar_apply(&m, &e), map ? -EINVAL : 0);
		if (i < HVAR_EVENT_MOVE || i > HVAR_EVENT_SHRINK)
			continue;
		e.u.map.end = addr(3);
		e.u.map.old_end = addr(20);
		assert_int_equal(hvar_apply(&m, &e), -EINVAL);
	}
	assert_int_equal(m.n, 1);
	assert_int_equal(hvar_vmas_next(&m, 0)->start, addr(20));
	assert_int_equal(hvar_vmas_next(&m, 0)->end, addr(30));
	free(m.mem);
}

/* An area moves: within itself, over others, apart. */
static void test_move(void **state)
{
	static const struct {
		const char *was;
		uint32_t old_start, old_end;
		const char *now, *left;
	} cases[] = {
		{ "0-9:r@0", 2, 4, "20-22:r@2", "0-2:r@0 4-9:r@4 20-22:r@2" },
		{ "0-9:r@0", 2, 4, "3-5:r@2", "0-2:r@0 3-5:r@2 5-9:r@5" },
		{ "0-9:r@0", 2, 4, "1-3:r@2", "0-1:r@0 1-3:r@2 4-9:r@4" },
		{ "0-2:r 4-6:w 8-9:r", 4, 6, "0-9:w", "0-9:w" },
		{ "0-2:r 4-6:w 8-9:r", 0, 2, "4-8:r", "4-9:r" },
		{ "0-2:r 4-6:w", 10, 12, "7-9:w", "0-2:r 4-6:w 7-9:w" },
	};
	struct hvar_vma v[ROOM];
	struct hvar_vmas m;
	uint32_t i, k, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hvar_vma *p;
		struct hvar_event e;

		list_new(&m, ROOM);
		n = parse(cases[i].was, v);
		for (k = 0; k < n; k++)
			assert_int_equal(hvar_vmas_set(&m, v[k].start, v[k].end, &v[k]), 0);
		parse(cases[i].now, v);
		memset(&e, 0, sizeof(e));
		e.type = HVAR_EVENT_MOVE;
		e.module = v[0].module;
		e.u.map.start = v[0].start;
		e.u.map.end = v[0].end;
		e.u.map.pgoff = v[0].pgoff;
		e.u.map.prot = v[0].prot;
		e.u.map.region = v[0].region;
		e.u.map.old_start = addr(cases[i].old_start);
		e.u.map.old_end = addr(cases[i].old_end);
		assert_int_equal(hvar_apply(&m, &e), 0);
		n = parse(cases[i].left, v);
		assert_int_equal(m.n, n);
		for (k = 0, p = hvar_vmas_next(&m, 0); k < n; k++) {
			assert_memory_equal(p, &v[k], sizeof(*p));
			p = hvar_vmas_next(&m, p->end);
		}
		free(m.mem);
	}
}

/* Pages, each with what an area says at its first byte; region 0: a hole. */
struct view {
	struct hvar_vma page[PAGES];
};

static void view_random(struct view *o)
{
	uint32_t at, n = rnd(20);

	while (n--) {
		uint32_t s = rnd(PAGES), e = s + 1 + rnd(12);
		struct hvar_vma v;

		memset(&v, 0, sizeof(v));
		v.region = rnd(4) ? HVAR_REGION_ANON : HVAR_REGION_NONE;
		v.prot = rnd(4);
		if (rnd(2) && v.region) {
			v.module = 1 + rnd(2);
			v.region = HVAR_REGION_FILE;
			v.pgoff = (s + rnd(2)) * 4096;
			v.flags = rnd(6) == 0 ? HVAR_VMA_DELETED : 0;
		} else if (v.region) {
			v.region = rnd(5) ? HVAR_REGION_ANON : HVAR_REGION_HEAP;
			v.prot |= rnd(5) ? 0 : S;
		}
		for (at = s; at < e && at < PAGES; at++) {
			o->page[at] = v;
			if (v.module)
				o->page[at].pgoff += (at - s) * 4096;
		}
	}
}

static bool page_same(const struct hvar_vma *a, const struct hvar_vma *b)
{
	return a->region && b->region && a->module == b->module && a->pgoff == b->pgoff &&
	       (a->region == HVAR_REGION_FILE) == (b->region == HVAR_REGION_FILE) &&
	       (a->prot & S) == (b->prot & S);
}

static bool page_equal(const struct hvar_vma *a, const struct hvar_vma *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static bool page_joins(const struct hvar_vma *a, const struct hvar_vma *b)
{
	return a->region && a->region == b->region && a->module == b->module &&
	       a->prot == b->prot && a->flags == b->flags &&
	       (!a->module || a->pgoff + 4096 == b->pgoff);
}

/* The view's areas, cut where a line of maps may be cut though it need not. */
static uint32_t view_areas(const struct view *o, struct hvar_vma *out, uint32_t cuts)
{
	uint32_t i, n = 0;

	for (i = 0; i < PAGES; i++) {
		if (!o->page[i].region)
			continue;
		if (i && page_joins(&o->page[i - 1], &o->page[i]) && !(cuts && rnd(cuts) == 0)) {
			out[n - 1].end += 4096;
			continue;
		}
		out[n] = o->page[i];
		out[n].start = addr(i);
		out[n++].end = addr(i + 1);
	}
	return n;
}

static void list_is_view(const struct hvar_vmas *m, const struct view *o)
{
	struct hvar_vma want[PAGES];
	uint32_t n = view_areas(o, want, 0), i;
	const struct hvar_vma *v = hvar_vmas_next(m, 0);

	assert_int_equal(m->n, n);
	for (i = 0; i < n; i++, v = hvar_vmas_next(m, v->end))
		assert_memory_equal(v, &want[i], sizeof(*v));
	assert_null(v);
}

static uint32_t page_of(uint64_t a)
{
	assert_true(a >= BASE && a <= addr(PAGES) && !(a & 4095));
	return (uint32_t)((a - BASE) / 4096);
}

/* Each page that an event claims is in @from and @to as claimed; each is claimed once. */
static void check_claims(const struct told *t, const struct view *from,
			 const struct view *to)
{
	uint8_t gone[PAGES] = { 0 }, fresh[PAGES] = { 0 }, changed[PAGES] = { 0 };
	uint32_t last = 0, i, p;
	bool adding = false;

	for (i = 0; i < t->n; i++) {
		const struct hvar_event *e = &t->e[i];
		uint32_t s = page_of(e->u.map.start), f = page_of(e->u.map.end);
		uint32_t os = s, of = s, at = s;

		assert_true(s < f);
		if (e->type == HVAR_EVENT_GROW || e->type == HVAR_EVENT_SHRINK) {
			os = page_of(e->u.map.old_start);
			of = page_of(e->u.map.old_end);
			/* One end moved, outwards or inwards. */
			assert_true((os == s) != (of == f));
			if (e->type == HVAR_EVENT_GROW)
				assert_true(os >= s && of <= f);
			else
				assert_true(os <= s && of >= f);
			at = os < s ? os : os > s ? s : of < f ? of : f;
		} else {
			assert_true(!e->u.map.old_start && !e->u.map.old_end);
		}
		switch (e->type) {
		case HVAR_EVENT_UNMAP:
			for (p = s; p < f; p++)
				gone[p]++;
			break;
		case HVAR_EVENT_SHRINK:
			for (p = os; p < s; p++)
				gone[p]++;
			for (p = f; p < of; p++)
				gone[p]++;
			break;
		case HVAR_EVENT_MAP:
			for (p = s; p < f; p++)
				fresh[p]++;
			break;
		case HVAR_EVENT_GROW:
			for (p = s; p < os; p++)
				fresh[p]++;
			for (p = of; p < f; p++)
				fresh[p]++;
			break;
		case HVAR_EVENT_PROTECT:
			for (p = s; p < f; p++)
				changed[p]++;
			break;
		default:
			fail_msg("type %u told", e->type);
		}
		/* Gone first, then the others, each by address. */
		if (e->type == HVAR_EVENT_UNMAP || e->type == HVAR_EVENT_SHRINK) {
			assert_false(adding);
		} else {
			if (!adding)
				last = 0;
			adding = true;
		}
		assert_true(at >= last);
		last = at;
	}
	for (p = 0; p < PAGES; p++) {
		const struct hvar_vma *a = &from->page[p], *b = &to->page[p];
		bool same = page_same(a, b);

		assert_int_equal(gone[p], a->region && !same);
		assert_int_equal(fresh[p], b->region && !same);
		assert_int_equal(changed[p], same && !page_equal(a, b));
	}
}

static void test_random(void **state)
{
	struct view now, next, full;
	struct hvar_vma seen[PAGES];
	struct hvar_vmas m, copy;
	struct hvar_event base;
	uint32_t round, i, n, refused = 0;

	(void)state;
	memset(&base, 0, sizeof(base));
	memset(&now, 0, sizeof(now));
	list_new(&m, ROOM);
	list_new(&copy, ROOM);
	for (round = 0; round < 60000; round++) {
		uint32_t lo = rnd(PAGES), hi = lo + rnd(PAGES - lo + 1);
		struct told told = { .n = 0 };
		bool all = rnd(4) == 0;
		int err;

		if (all) {
			lo = 0;
			hi = PAGES;
		}
		full = now;
		view_random(&full);
		n = view_areas(&full, seen, rnd(3) * 3);
		/* Only the range changes; what was seen outside is not looked at. */
		next = now;
		for (i = lo; i < hi; i++)
			next.page[i] = full.page[i];
		if (round % 8 == 0) {
			/* Short of room: what was told is done; then the rest. */
			struct hvar_vmas small;

			list_tight(&small, &m);
			n = view_areas(&full, seen, 0);
			err = hvar_diff(&small, addr(lo), addr(hi), seen, n, &base, tell, &told);
			if (err) {
				assert_int_equal(err, -ENOSPC);
				assert_int_equal(small.lost, 1);
				refused++;
			}
			for (i = 0; i < told.n; i++)
				assert_int_equal(hvar_apply(&copy, &told.e[i]), 0);
			list_same(&small, &copy);
			hvar_vmas_moved(&small, small.mem, hvar_vmas_bytes(ROOM));
			assert_int_equal(hvar_diff(&small, addr(lo), addr(hi), seen, n, &base,
						   tell, &told), 0);
			check_claims(&told, &now, &next);
			list_is_view(&small, &next);
			free(m.mem);
			m = small;
		} else {
			err = hvar_diff(&m, all ? 0 : addr(lo), all ? ~(uint64_t)0 : addr(hi),
					seen, n, &base, tell, &told);
			assert_int_equal(err, 0);
			check_claims(&told, &now, &next);
			i = 0;
			list_is_view(&m, &next);
		}
		for (; i < told.n; i++)
			assert_int_equal(hvar_apply(&copy, &told.e[i]), 0);
		list_same(&m, &copy);
		now = next;
	}
	assert_true(refused > 100);
	free(m.mem);
	free(copy.mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_initial),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
