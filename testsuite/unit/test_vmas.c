// SPDX-License-Identifier: GPL-2.0-or-later
/* test_vmas.c - the VMA list against a table and against one cell for each page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The code itself, with nodes of any size: they are looked at, too. */
#include "runtime/core/hvar_vmas.c"
#include "runtime/core/hvar_vmas_tree.c"

#define TOP HVAR_VMAS_TOP

#ifndef TEST_NAME
#define TEST_NAME "vmas"
#endif

/* xorshift64*: the same numbers everywhere. */
static uint64_t rng = 88172645463325252u;

static uint32_t rnd(uint32_t below)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (uint32_t)((rng * 2685821657736338717u) >> 32) % below;
}

/* A list in storage of its own. */
struct list {
	struct hvar_vmas m;
	void *mem;
	uint64_t size;
};

static void list_new(struct list *l, uint64_t size)
{
	l->size = size;
	l->mem = aligned_alloc(64, (size + 127) / 64 * 64);
	assert_non_null(l->mem);
	memset(l->mem, 0xa5, size);
	hvar_vmas_init(&l->m, l->mem, size);
}

static void list_free(struct list *l)
{
	free(l->mem);
}

/* Go on in other storage; the old one is spoilt. */
static void list_move(struct list *l, uint64_t size)
{
	void *mem = aligned_alloc(64, (size + 127) / 64 * 64);

	assert_non_null(mem);
	assert_true(size >= l->size);
	memset(mem, 0x5a, size);
	memcpy(mem, l->mem, l->size);
	memset(l->mem, 0xff, l->size);
	free(l->mem);
	l->mem = mem;
	l->size = size;
	hvar_vmas_moved(&l->m, mem, size);
}

static struct hvar_vma area(uint32_t module, uint8_t prot, uint64_t pgoff)
{
	struct hvar_vma v;

	memset(&v, 0, sizeof(v));
	v.module = module;
	v.prot = prot;
	v.region = module ? HVAR_REGION_FILE : HVAR_REGION_ANON;
	v.pgoff = pgoff;
	return v;
}

/* What a walk through the nodes finds. */
struct tree {
	const struct hvar_vmas *m;
	uint64_t bytes;
	uint32_t areas, leaf; /* leaf: the one that must come next */
};

/*
 * The node and all below it; returns where its first area starts.  @lo is what its first area
 * may not start below; the next node starts at @hi.
 */
static uint64_t check_node(struct tree *t, uint32_t node, uint32_t level, bool last,
			   uint64_t lo, uint64_t hi)
{
	const struct hvar_vmas_inner *in = hvar_vmas_inner(t->m, node);
	const struct hvar_vmas_leaf *l = hvar_vmas_leaf(t->m, node);
	bool root = node == t->m->root;
	uint64_t first = 0;
	uint32_t i;

	if (level == 1) {
		t->bytes += sizeof(*l);
		assert_int_equal(node, t->leaf);
		t->leaf = l->next;
		assert_true(l->n >= (last || root ? 1 : HVAR_VMAS_LEAF / 2));
		assert_true(l->n <= HVAR_VMAS_LEAF);
		for (i = 0; i + 1 < HVAR_VMAS_LEAF; i++)
			assert_true(l->key[i] == (i + 1 < l->n ? l->area[i + 1].start : TOP));
		assert_true(l->area[0].start >= lo && l->area[l->n - 1].end <= hi);
		t->areas += l->n;
		return l->area[0].start;
	}
	t->bytes += sizeof(*in);
	assert_true(in->n >= (root && level > HVAR_VMAS_HEIGHT ? 2 : last ? 1 : HVAR_VMAS_INNER / 2));
	assert_true(in->n <= HVAR_VMAS_INNER);
	for (i = 0; i < in->n; i++) {
		lo = check_node(t, in->child[i], level - 1, last && i + 1 == in->n, lo,
				i + 1 < in->n ? in->key[i] : hi);
		if (i)
			assert_true(lo == in->key[i - 1]);
		else
			first = lo;
	}
	for (; i < HVAR_VMAS_INNER; i++)
		assert_true(in->key[i - 1] == TOP);
	return first;
}

/* Every node is in the tree or free, and there are no more of them than there may be. */
static void check_tree(const struct hvar_vmas *m)
{
	struct tree t = { m, 0, 0, HVAR_VMAS_NONE };
	uint32_t node, i;

	assert_true(m->n <= m->cap);
	assert_true(m->n ? m->height >= HVAR_VMAS_HEIGHT : !m->height);
	if (m->n) {
		node = m->root;
		for (i = m->height; i > 1; i--)
			node = hvar_vmas_inner(m, node)->child[0];
		t.leaf = node;
		check_node(&t, m->root, m->height, true, 0, TOP);
	}
	assert_int_equal(t.leaf, HVAR_VMAS_NONE);
	assert_int_equal(t.areas, m->n);
	assert_true(t.bytes <= hvar_vmas_tree_bytes(m->n));
	for (node = m->free_leaf; node != HVAR_VMAS_NONE; node = hvar_vmas_leaf(m, node)->next)
		t.bytes += sizeof(struct hvar_vmas_leaf);
	for (node = m->free_inner; node != HVAR_VMAS_NONE; node = hvar_vmas_inner(m, node)->next)
		t.bytes += sizeof(struct hvar_vmas_inner);
	assert_int_equal(t.bytes, (uint64_t)m->used << HVAR_VMAS_LINE_SHIFT);
	assert_true(t.bytes <= m->size);
}

/* The whole list, canonical, walked up and down, and nothing else in it. */
static uint32_t check_form(const struct hvar_vmas *m)
{
	const struct hvar_vma *v, *up;
	struct hvar_vma last;
	uint32_t n = 0;

	check_tree(m);
	memset(&last, 0, sizeof(last));
	for (v = hvar_vmas_next(m, 0); v; v = hvar_vmas_next(m, v->end)) {
		assert_true(v->start < v->end);
		assert_true(!n || last.end <= v->start);
		assert_false(n && hvar_vma_joins(&last, v));
		if (!v->module)
			assert_int_equal(v->pgoff, 0);
		up = hvar_vmas_prev(m, v->start);
		if (!n)
			assert_null(up);
		else
			assert_memory_equal(up, &last, sizeof(last));
		last = *v;
		n++;
	}
	assert_int_equal(n, m->n);
	return n;
}

static void expect(const struct hvar_vmas *m, uint32_t i, uint64_t start,
		   uint64_t end, const struct hvar_vma *as)
{
	const struct hvar_vma *v = hvar_vmas_next(m, 0);

	while (v && i--)
		v = hvar_vmas_next(m, v->end);
	assert_non_null(v);
	assert_int_equal(v->start, start);
	assert_int_equal(v->end, end);
	assert_int_equal(v->module, as->module);
	assert_int_equal(v->prot, as->prot);
	assert_int_equal(v->pgoff, as->pgoff);
	assert_int_equal(v->region, as->region);
	assert_int_equal(v->flags, as->flags);
}

static void test_empty(void **state)
{
	struct list l;
	struct hvar_vma a = area(0, 1, 0);

	(void)state;
	list_new(&l, hvar_vmas_bytes(1));
	assert_null(hvar_vmas_find(&l.m, 0));
	assert_null(hvar_vmas_next(&l.m, 0));
	assert_null(hvar_vmas_prev(&l.m, TOP));
	assert_int_equal(hvar_vmas_set(&l.m, 5, 5, &a), -EINVAL);
	assert_int_equal(hvar_vmas_set(&l.m, 6, 5, &a), -EINVAL);
	assert_int_equal(hvar_vmas_set(&l.m, TOP, 0, NULL), -EINVAL);
	assert_int_equal(hvar_vmas_set(&l.m, 0, TOP, NULL), 0);
	assert_int_equal(l.m.n, 0);
	assert_int_equal(l.m.lost, 0);
	list_free(&l);

	/* No storage at all: everything is refused and counted. */
	hvar_vmas_init(&l.m, NULL, 0);
	assert_int_equal(hvar_vmas_room(&l.m), 0);
	assert_int_equal(hvar_vmas_set(&l.m, 0, 1, &a), -ENOSPC);
	assert_int_equal(hvar_vmas_set(&l.m, 0, 1, NULL), 0);
	assert_int_equal(l.m.lost, 1);
	assert_null(hvar_vmas_find(&l.m, 0));
}

/* What /proc/PID/maps does at a split, a merge back and a hole filled again. */
static void test_table(void **state)
{
	struct hvar_vma rw = area(0, HVAR_PROT_READ | HVAR_PROT_WRITE, 0);
	struct hvar_vma r = area(0, HVAR_PROT_READ, 0);
	struct hvar_vma f = area(3, HVAR_PROT_READ, 0x5000);
	struct hvar_vma at;
	struct list l;

	(void)state;
	list_new(&l, hvar_vmas_bytes(8));
	assert_int_equal(hvar_vmas_set(&l.m, 0x1000, 0x7000, &rw), 0);
	assert_int_equal(hvar_vmas_set(&l.m, 0x3000, 0x4000, &r), 0);
	assert_int_equal(check_form(&l.m), 3);
	expect(&l.m, 0, 0x1000, 0x3000, &rw);
	expect(&l.m, 1, 0x3000, 0x4000, &r);
	expect(&l.m, 2, 0x4000, 0x7000, &rw);
	assert_int_equal(hvar_vmas_set(&l.m, 0x3000, 0x4000, &rw), 0);
	assert_int_equal(check_form(&l.m), 1);
	assert_int_equal(hvar_vmas_set(&l.m, 0x3000, 0x4000, NULL), 0);
	assert_int_equal(check_form(&l.m), 2);
	assert_null(hvar_vmas_find(&l.m, 0x3000));
	assert_null(hvar_vmas_find(&l.m, 0x3fff));
	assert_int_equal(hvar_vmas_find(&l.m, 0x4000)->end, 0x7000);
	assert_int_equal(hvar_vmas_set(&l.m, 0x3000, 0x4000, &rw), 0);
	assert_int_equal(check_form(&l.m), 1);
	expect(&l.m, 0, 0x1000, 0x7000, &rw);

	/* A file: pages 5 and 6 join, page 5 again does not. */
	assert_int_equal(hvar_vmas_set(&l.m, 0x10000, 0x11000, &f), 0);
	f.pgoff = 0x6000;
	assert_int_equal(hvar_vmas_set(&l.m, 0x11000, 0x12000, &f), 0);
	assert_int_equal(check_form(&l.m), 2);
	f.pgoff = 0x5000;
	assert_int_equal(hvar_vmas_set(&l.m, 0x12000, 0x13000, &f), 0);
	assert_int_equal(check_form(&l.m), 3);
	expect(&l.m, 1, 0x10000, 0x12000, &f);
	expect(&l.m, 2, 0x12000, 0x13000, &f);
	/* Below it joins too: page 4. */
	f.pgoff = 0x4000;
	assert_int_equal(hvar_vmas_set(&l.m, 0xf000, 0x10000, &f), 0);
	assert_int_equal(check_form(&l.m), 3);
	expect(&l.m, 1, 0xf000, 0x12000, &f);
	/* The middle goes: the rest keeps its own offset. */
	assert_int_equal(hvar_vmas_set(&l.m, 0x10000, 0x11000, NULL), 0);
	expect(&l.m, 1, 0xf000, 0x10000, &f);
	f.pgoff = 0x6000;
	expect(&l.m, 2, 0x11000, 0x12000, &f);
	hvar_vma_at(hvar_vmas_find(&l.m, 0x11800), 0x11800, &at);
	assert_int_equal(at.pgoff, 0x6800);
	assert_int_equal(at.module, 3);

	/* A name is no file: no offset, so its neighbours join. */
	f.flags = HVAR_VMA_NAMED;
	f.region = HVAR_REGION_ANON;
	assert_int_equal(hvar_vmas_set(&l.m, 0x20000, 0x21000, &f), 0);
	assert_int_equal(hvar_vmas_set(&l.m, 0x21000, 0x22000, &f), 0);
	f.pgoff = 0;
	assert_int_equal(check_form(&l.m), 5);
	expect(&l.m, 4, 0x20000, 0x22000, &f);
	/* Nor has [vdso] one. */
	f.flags = 0;
	f.region = HVAR_REGION_VDSO;
	assert_int_equal(hvar_vmas_set(&l.m, 0x30000, 0x32000, &f), 0);
	assert_int_equal(hvar_vmas_set(&l.m, 0x30000, 0x31000, NULL), 0);
	expect(&l.m, 5, 0x31000, 0x32000, &f);
	list_free(&l);
}

/* The highest addresses there are. */
static void test_top(void **state)
{
	struct hvar_vma x = area(0, HVAR_PROT_EXEC, 0), r = area(0, HVAR_PROT_READ, 0);
	const uint64_t vsyscall = 0xffffffffff600000u;
	struct list l;

	(void)state;
	list_new(&l, hvar_vmas_bytes(4));
	x.region = HVAR_REGION_VSYSCALL;
	assert_int_equal(hvar_vmas_set(&l.m, vsyscall, vsyscall + 0x1000, &x), 0);
	assert_int_equal(hvar_vmas_find(&l.m, vsyscall)->start, vsyscall);
	assert_int_equal(hvar_vmas_find(&l.m, vsyscall + 0xfff)->start, vsyscall);
	assert_null(hvar_vmas_find(&l.m, vsyscall + 0x1000));
	assert_null(hvar_vmas_find(&l.m, vsyscall - 1));
	assert_null(hvar_vmas_find(&l.m, TOP));
	assert_null(hvar_vmas_next(&l.m, vsyscall + 0x1000));
	assert_int_equal(hvar_vmas_prev(&l.m, TOP)->start, vsyscall);
	assert_int_equal(hvar_vmas_set(&l.m, 0, (uint64_t)-4096, &r), 0);
	assert_int_equal(check_form(&l.m), 1);
	expect(&l.m, 0, 0, (uint64_t)-4096, &r);
	assert_int_equal(hvar_vmas_set(&l.m, (uint64_t)-4096, TOP, &x), 0);
	assert_int_equal(check_form(&l.m), 2);
	assert_int_equal(hvar_vmas_find(&l.m, TOP - 1)->end, TOP);
	assert_null(hvar_vmas_find(&l.m, TOP));
	assert_null(hvar_vmas_next(&l.m, TOP));
	assert_int_equal(hvar_vmas_set(&l.m, 0, TOP, &x), 0);
	assert_int_equal(check_form(&l.m), 1);
	expect(&l.m, 0, 0, TOP, &x);
	assert_int_equal(hvar_vmas_set(&l.m, 0, TOP, NULL), 0);
	assert_int_equal(l.m.n, 0);
	list_free(&l);
}

/* The model: @pages cells of @unit bytes from @base. */
struct model {
	struct hvar_vma *cell; /* module, prot, ... of its first byte; region 0: hole */
	uint32_t pages;
	uint64_t base, unit;
};

static uint64_t model_addr(const struct model *o, uint32_t page)
{
	return o->base + page * o->unit;
}

static void model_set(struct model *o, uint32_t s, uint32_t e,
		      const struct hvar_vma *as)
{
	uint32_t i;

	for (i = s; i < e; i++) {
		memset(&o->cell[i], 0, sizeof(o->cell[i]));
		if (!as)
			continue;
		o->cell[i] = *as;
		o->cell[i].pgoff = as->module ? as->pgoff + (i - s) * o->unit : 0;
	}
}

/* One area with the cell before? */
static bool model_joins(const struct model *o, uint32_t i)
{
	const struct hvar_vma *a = &o->cell[i - 1], *b = &o->cell[i];

	return a->region == b->region && a->module == b->module &&
	       a->prot == b->prot && a->flags == b->flags &&
	       (!a->module || a->pgoff + o->unit == b->pgoff);
}

/* The areas of the model, into @out; returns how many. */
static uint32_t model_areas(const struct model *o, struct hvar_vma *out)
{
	uint32_t i, n = 0;

	for (i = 0; i < o->pages; i++) {
		if (!o->cell[i].region)
			continue;
		if (i && model_joins(o, i)) {
			out[n - 1].end += o->unit;
			continue;
		}
		out[n] = o->cell[i];
		out[n].start = model_addr(o, i);
		out[n++].end = model_addr(o, i + 1);
	}
	return n;
}

static void model_check(const struct model *o, const struct hvar_vmas *m,
			struct hvar_vma *want)
{
	uint32_t n = model_areas(o, want), i;
	const struct hvar_vma *v = hvar_vmas_next(m, 0);

	assert_int_equal(m->n, n);
	for (i = 0; i < n; i++) {
		assert_non_null(v);
		assert_memory_equal(v, &want[i], sizeof(*v));
		assert_ptr_equal(hvar_vmas_find(m, v->start), v);
		assert_ptr_equal(hvar_vmas_find(m, v->end - 1), v);
		assert_ptr_equal(hvar_vmas_prev(m, v->end), v);
		assert_ptr_equal(hvar_vmas_prev(m, v->start + 1), v);
		assert_ptr_equal(hvar_vmas_next(m, v->start), v);
		assert_ptr_equal(hvar_vmas_next(m, i ? want[i - 1].end : 0), v);
		if (i)
			assert_memory_equal(hvar_vmas_prev(m, v->start),
					    &want[i - 1], sizeof(*v));
		else
			assert_null(hvar_vmas_prev(m, v->start));
		if (!i || want[i - 1].end < v->start)
			assert_null(hvar_vmas_find(m, v->start - 1));
		if (i + 1 == n || want[i + 1].start > v->end)
			assert_null(hvar_vmas_find(m, v->end));
		v = hvar_vmas_next(m, v->end);
	}
	assert_null(v);
}

struct round {
	uint32_t pages, ops, longest, cap, check_every;
	uint64_t base, unit;
	uint32_t modules, holes; /* of ten */
};

/*
 * Random changes in room for @cap areas.  A change that would end with no more
 * areas than that must be done; one refused must change nothing but the count.
 */
static void play(const struct round *r)
{
	struct model o = { NULL, r->pages, r->base, r->unit };
	struct hvar_vma *want = calloc(r->pages + 4, sizeof(*want));
	struct hvar_vma *undo = calloc(r->pages + 4, sizeof(*undo));
	struct hvar_vmas before;
	uint64_t refused = 0;
	uint32_t i, cap = r->cap;
	struct list l;
	void *was;

	o.cell = calloc(r->pages, sizeof(*o.cell));
	assert_true(o.cell && want && undo);
	list_new(&l, hvar_vmas_bytes(cap));
	was = malloc(l.size);
	for (i = 0; i < r->ops; i++) {
		uint32_t s = rnd(r->pages), e = s + 1 + rnd(r->longest), n;
		struct hvar_vma as = area(rnd(r->modules), rnd(3), (s + rnd(2)) * r->unit);
		bool hole = rnd(10) < r->holes;
		int err;

		/* Now and then: everything, or storage elsewhere. */
		if (rnd(5000) == 0) {
			s = 0;
			e = r->pages;
		}
		if (rnd(3000) == 0) {
			if (rnd(2))
				cap += rnd(8);
			list_move(&l, hvar_vmas_bytes(cap) > l.size ?
					      hvar_vmas_bytes(cap) : l.size);
			was = realloc(was, l.size);
			assert_non_null(was);
		}
		if (e > r->pages)
			e = r->pages;
		if (!as.module && rnd(4) == 0)
			as.region = HVAR_REGION_HEAP;
		if (rnd(4) == 0)
			as.flags = HVAR_VMA_DELETED;
		memcpy(undo, o.cell + s, (e - s) * sizeof(*undo));
		if (cap < r->pages) {
			before = l.m;
			memcpy(was, l.mem, l.size);
		}
		model_set(&o, s, e, hole ? NULL : &as);
		err = hvar_vmas_set(&l.m, model_addr(&o, s), model_addr(&o, e),
				    hole ? NULL : &as);
		if (err) {
			assert_int_equal(err, -ENOSPC);
			n = model_areas(&o, want);
			assert_true(n > cap);
			refused++;
			assert_int_equal(l.m.lost, before.lost + 1);
			before.lost++;
			assert_memory_equal(&before, &l.m, sizeof(before));
			assert_memory_equal(was, l.mem, l.size);
			memcpy(o.cell + s, undo, (e - s) * sizeof(*undo));
		}
		if (i % r->check_every == 0) {
			model_check(&o, &l.m, want);
			check_form(&l.m);
			if (l.m.n <= cap)
				assert_true(hvar_vmas_room(&l.m) >= cap - l.m.n);
		}
	}
	assert_int_equal(l.m.lost, refused);
	if (cap < r->pages / 4)
		assert_true(refused);
	list_free(&l);
	free(was);
	free(o.cell);
	free(want);
	free(undo);
}

static void test_random(void **state)
{
	static const struct round rounds[] = {
		/* pages  ops  longest  cap  check  base  unit  modules holes */
		{ 64, 100000, 24, 64, 7, 0, 4096, 3, 3 },
		{ 64, 100000, 24, 64, 7, 0x7f0000000000, 4096, 1, 5 },
		{ 64, 50000, 8, 64, 7, (uint64_t)-65 * 4096, 4096, 9, 3 },
		{ 64, 50000, 8, 64, 7, (uint64_t)-65, 1, 9, 3 },
		{ 64, 50000, 24, 64, 7, 0, (uint64_t)1 << 57, 3, 3 },
		{ 64, 20000, 3, 0, 3, 4096, 4096, 9, 3 },
		{ 64, 20000, 3, 1, 3, 4096, 4096, 9, 3 },
		{ 64, 50000, 3, 7, 7, 4096, 4096, 9, 3 },
		{ 400, 50000, 5, 60, 50, 4096, 4096, 9, 3 },
		{ 3000, 100000, 4, 300, 300, 4096, 4096, 9, 3 },
		{ 3000, 100000, 4, 3000, 500, 4096, 4096, 9, 2 },
		{ 20000, 200000, 3, 20000, 5000, 0x555500000000, 4096, 9, 1 },
		{ 20000, 100000, 300, 20000, 5000, 0x555500000000, 4096, 9, 1 },
	};
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++)
		play(&rounds[i]);
}

/* Areas that never join: one file each, of one page, two pages apart. */
static struct hvar_vma lone(uint32_t i)
{
	struct hvar_vma v = area(1 + (i & 1), 1, 0);

	v.start = 0x10000 + (uint64_t)i * 0x2000;
	v.end = v.start + 0x1000;
	return v;
}

static void put(struct hvar_vmas *m, uint32_t i, bool there)
{
	struct hvar_vma v = lone(i);

	assert_int_equal(hvar_vmas_set(m, v.start, v.end, there ? &v : NULL), 0);
}

/* Filled and emptied in each order, in just the room that is said to be enough. */
static void test_sweep(void **state)
{
	enum { N = 20000 };
	static const uint32_t step[] = { 1, N - 1, 7, N / 2 + 1, 1234567 % N | 1 };
	struct hvar_vma v;
	struct list l;
	uint32_t in, out, i, at;

	(void)state;
	for (in = 0; in < sizeof(step) / sizeof(step[0]); in++) {
		for (out = 0; out < sizeof(step) / sizeof(step[0]); out++) {
			list_new(&l, hvar_vmas_bytes(N));
			for (i = 0, at = 0; i < N; i++, at = (at + step[in]) % N)
				put(&l.m, at, true);
			assert_int_equal(check_form(&l.m), N);
			for (i = 0, at = 0; i < N; i++, at = (at + step[out]) % N) {
				put(&l.m, at, false);
				if (i % 4999 == 0 || i + 100 > N)
					check_form(&l.m);
			}
			assert_int_equal(l.m.n, 0);
			/* The nodes are all there again: once more, the ends at last. */
			for (i = 0; i < N; i++)
				put(&l.m, N / 2 + (i & 1 ? i / 2 : -1 - i / 2), true);
			assert_int_equal(check_form(&l.m), N);
			/* All but both ends at once. */
			v = lone(N - 1);
			assert_int_equal(hvar_vmas_set(&l.m, lone(0).end, v.start, NULL), 0);
			assert_int_equal(check_form(&l.m), 2);
			assert_int_equal(hvar_vmas_set(&l.m, 0, TOP, &v), 0);
			assert_int_equal(check_form(&l.m), 1);
			assert_int_equal(l.m.lost, 0);
			list_free(&l);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, NULL, NULL);
}
