// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages_view.c - which rows "hotvar pages" makes of the regions that were read.
 *
 * Groups are found by module number, then by kind or class: a short list for each module.
 */
#include "config.h"

#include "pages_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/user/grow.h"

enum { AT_ONCE = 512, FEW = 4096 };

static bool wanted(const struct pages_view *v, const struct pages_where *w)
{
	return !v->module || pages_where_is(w, v->module);
}

int pages_view_regions(const struct pages_view *v, const struct page_regions *r, struct pages_counts *total)
{
	struct pages_walk walk = PAGES_WALK_BEGIN;
	struct pages_where w;
	struct pages_counts c;

	for (size_t i = 0; i < r->n; i++) {
		pages_where(v->live, &walk, &r->v[i].vma, &w);
		if (!wanted(v, &w))
			continue;
		pages_counts_of(r, i, &c);
		v->format->region(v->f, &r->v[i].vma, &w, &c);
		pages_counts_add(total, &c);
	}
	return 0;
}

/* ---- groups ---- */

struct group {
	uint32_t module, kind;
	uint32_t next; /* of the same module, plus 1; 0: none */
	struct pages_group row;
};

struct groups {
	struct group *v;
	size_t n, cap;
	uint32_t *first; /* by module: index plus 1 */
	size_t n_first;
};

static void groups_fini(struct groups *g)
{
	free(g->v);
	free(g->first);
}

static struct pages_counts *group_of(struct groups *g, uint32_t module, uint32_t kind)
{
	size_t had = g->n_first;
	struct group *v;
	uint32_t i;

	if (grow_array((void **)&g->first, &g->n_first, (size_t)module + 1, sizeof(*g->first)))
		return NULL;
	memset(g->first + had, 0, (g->n_first - had) * sizeof(*g->first));
	for (i = g->first[module]; i; i = g->v[i - 1].next)
		if (g->v[i - 1].kind == kind)
			return &g->v[i - 1].row.counts;
	if (grow_array((void **)&g->v, &g->cap, g->n + 1, sizeof(*g->v)))
		return NULL;
	v = &g->v[g->n++];
	memset(v, 0, sizeof(*v));
	v->module = module;
	v->kind = kind;
	v->next = g->first[module];
	g->first[module] = (uint32_t)g->n;
	return &v->row.counts;
}

/* Add each region to the group of its module (or 0) and kind (or class). */
static int gather(const struct pages_view *v, const struct page_regions *r, bool modules, bool classes,
		  struct groups *g, struct pages_counts *total)
{
	struct pages_walk walk = PAGES_WALK_BEGIN;
	struct pages_where w;
	struct pages_counts c, *sum;

	for (size_t i = 0; i < r->n; i++) {
		pages_where(v->live, &walk, &r->v[i].vma, &w);
		if (!wanted(v, &w))
			continue;
		pages_counts_of(r, i, &c);
		sum = group_of(g, modules ? w.module : 0, classes ? (uint32_t)w.code : w.kind);
		if (!sum)
			return -ENOMEM;
		pages_counts_add(sum, &c);
		if (total)
			pages_counts_add(total, &c);
	}
	return 0;
}

int pages_view_groups(const struct pages_view *v, const struct page_regions *r, bool modules,
		      struct pages_counts *total)
{
	struct groups g = { 0 };
	int err = gather(v, r, modules, false, &g, total);

	for (size_t i = 0; i < g.n && !err; i++) {
		g.v[i].row.path = modules ? live_path(v->live, g.v[i].module) : NULL;
		g.v[i].row.kind = hvar_kind_name(g.v[i].kind);
		v->format->group(v->f, &g.v[i].row);
	}
	groups_fini(&g);
	return err;
}

/* ---- moments ---- */

static void meet_peak(struct pages_peak *peak, const struct pages_moment *m)
{
	struct pages_moment *p = &peak->of[m->code];

	/* what was surely touched; then what may have been */
	if (!peak->any || m->counts.touched.least > p->counts.touched.least ||
	    (m->counts.touched.least == p->counts.touched.least &&
	     m->counts.touched.most > p->counts.touched.most))
		*p = *m;
}

int pages_view_moment(const struct pages_view *v, const struct page_regions *r, double seconds,
		      struct pages_peak *peak)
{
	struct pages_moment all[2] = { { .seconds = seconds }, { .seconds = seconds, .code = true } };
	struct groups g = { 0 };
	int err = gather(v, r, true, true, &g, NULL);

	for (size_t i = 0; i < g.n && !err; i++) {
		struct pages_moment m = {
			.seconds = seconds,
			.path = live_path(v->live, g.v[i].module),
			.code = g.v[i].kind,
			.counts = g.v[i].row.counts,
		};

		v->format->moment(v->f, &m);
		pages_counts_add(&all[m.code].counts, &m.counts);
	}
	for (int i = 0; i < 2 && !err; i++) {
		v->format->moment(v->f, &all[i]);
		meet_peak(peak, &all[i]);
	}
	peak->any = true;
	groups_fini(&g);
	return err;
}

/* ---- pages ---- */

struct rows {
	const struct pages_view *v;
	const struct page_regions *r;
	const struct page_since *since;
	struct page_kernel kernel;
	size_t i;	   /* the region */
	uint64_t at;	   /* what is before it has been written */
	bool absent;
	struct pages_counts *sum; /* of the rows; NULL: of whole regions */
	int dirty;	   /* of all pages of a shared region; -1: by each one's flag; -2: only a set flag is sure */
};

static int written_of(const struct rows *w, uint64_t entry, const struct page_facts *facts, int anon)
{
	bool flag = facts->flags >= 0 && facts->flags >> PAGE_KPF_DIRTY & 1;

	if (!(w->r->v[w->i].vma.prot & HVAR_PROT_SHARED))
		return anon;
	if (!page_present(entry))
		return -1;
	if (w->dirty >= 0)
		return w->dirty;
	if (w->dirty == -1)
		return flag;
	return flag ? 1 : -1;
}

static int zero_of(const struct rows *w, uint64_t entry, const struct page_facts *facts)
{
	if (page_entry_huge_zero(w->r, w->i, entry))
		return 1;
	if (!page_present(entry) || entry & (PAGE_FILES | PAGE_EXCLUSIVE))
		return 0;
	if (w->r->zero)
		return !!(entry & PAGE_ZERO);
	return facts->flags < 0 ? -1 : (int)(facts->flags >> PAGE_KPF_ZERO & 1);
}

static int huge_of(const struct rows *w, uint64_t entry, const struct page_facts *facts)
{
	if (!page_present(entry))
		return 0;
	if (w->r->scan)
		return !!(entry & PAGE_HUGE);
	/* what is in no huge page is mapped by none; one of those that are no hugetlbfs's may be mapped page by page */
	return facts->flags < 0 || facts->flags >> PAGE_KPF_THP & 1 ? -1 : (int)(facts->flags >> PAGE_KPF_HUGETLB & 1);
}

static void add_answer(struct pages_count *c, int answer)
{
	c->n += answer > 0;
	c->unknown |= answer < 0;
}

static void add_row(struct pages_counts *c, const struct pages_page *p)
{
	bool present = page_present(p->entry), exclusive = present && p->entry & PAGE_EXCLUSIVE;
	struct page_range *own = exclusive ? &c->touched_private : &c->touched_shared;

	c->pages++;
	add_answer(&c->present, present);
	add_answer(&c->private, exclusive);
	add_answer(&c->shared, present && !exclusive);
	add_answer(&c->written, present || p->written >= 0 ? p->written : 0);
	add_answer(&c->anon, p->anon);
	add_answer(&c->zero, p->zero);
	add_answer(&c->huge, p->huge);
	add_answer(&c->swapped, page_swapped(p->entry));
	if (!present)
		return;
	c->touched.least += p->touched > 0;
	c->touched.most += p->touched != 0;
	own->least += p->touched > 0;
	own->most += p->touched != 0;
}

static void row(struct rows *w, uint64_t addr, uint64_t entry, const struct page_facts *facts)
{
	const struct hvar_vma *vma = &w->r->v[w->i].vma;
	const struct page_set *before = w->since && w->since->attached ? &w->since->before : NULL;
	const struct page_set *faults = w->since && w->since->faults ? &w->since->faulted : NULL;
	struct pages_names names;
	struct pages_page p = { .addr = addr, .entry = entry, .facts = facts };
	struct hvar_key key;
	char text[96];

	p.zero = zero_of(w, entry, facts);
	p.anon = page_entry_anon(w->r, w->i, entry);
	if (p.anon < 0 && p.zero >= 0)
		p.anon = !p.zero;
	p.written = written_of(w, entry, facts, p.anon);
	p.touched = page_entry_touched(w->r, w->i, addr, entry, before, faults);
	p.huge = huge_of(w, entry, facts);
	key = live_key(w->v->live, vma, addr,
		       p.anon < 0 ? HVAR_PAGE_UNKNOWN : p.anon ? HVAR_PAGE_COPIED : HVAR_PAGE_FILES);
	pages_key(&key, text, sizeof(text));
	p.key = text;
	if (w->v->names) {
		pages_names_begin(&names, w->v->live, addr);
		p.names = &names;
	}
	w->v->format->page(w->v->f, &p);
	if (w->sum)
		add_row(w->sum, &p);
}

/* Pages up to @end that were not handed over are not there. */
static void absent_until(struct rows *w, uint64_t end)
{
	struct page_facts none;

	memset(&none, 0xff, sizeof(none));
	for (; w->absent && w->at < end; w->at += PAGE_BYTES)
		row(w, w->at, 0, &none);
}

static int take_run(void *ctx, uint64_t start, const uint64_t *e, size_t n)
{
	struct page_facts facts[AT_ONCE];
	struct rows *w = ctx;

	absent_until(w, start);
	for (size_t i = 0; i < n; i += AT_ONCE) {
		size_t some = n - i < AT_ONCE ? n - i : AT_ONCE, k;

		for (k = 0; k < some && !e[i + k]; k++)
			;
		if (k < some || w->absent)
			page_kernel_get(&w->kernel, start + i * PAGE_BYTES, e + i, some, facts);
		for (k = 0; k < some; k++)
			if (w->absent || page_present(e[i + k]) || page_swapped(e[i + k]) || e[i + k] & PAGE_GUARD)
				row(w, start + (i + k) * PAGE_BYTES, e[i + k], &facts[k]);
	}
	w->at = start + n * PAGE_BYTES;
	return ferror(w->v->f) ? -EIO : 0;
}

/* How the pages of a shared region are told to be written. */
static int dirty_of(const struct page_regions *r, size_t i)
{
	const struct page_region *v = &r->v[i];
	uint64_t n;

	if (!page_regions_written(r, i, &n))
		return r->flags ? -1 : -2;
	if (!n || n == v->present)
		return n > 0;
	return r->flags && v->dirty == n ? -1 : -2;
}

int pages_view_pages(const struct pages_view *v, const struct page_regions *r, const struct page_since *since,
		     struct pages_counts *total)
{
	struct rows w = { .v = v, .r = r, .since = since, .sum = v->absent ? total : NULL };
	struct pages_walk walk = PAGES_WALK_BEGIN;
	struct pages_where where;
	struct pages_counts c;
	struct page_map m;
	int err = page_map_open(&m, v->pid);

	if (err)
		return err;
	page_kernel_open(&w.kernel, v->pid);
	for (size_t i = 0; i < r->n && !err; i++) {
		const struct hvar_vma *vma = &r->v[i].vma;
		uint64_t lo = vma->start > v->lo ? vma->start : v->lo;
		uint64_t hi = vma->end < v->hi ? vma->end : v->hi;

		pages_where(v->live, &walk, vma, &where);
		if (lo >= hi || !page_regions_known(r, i) || !wanted(v, &where))
			continue;
		w.i = i;
		w.at = lo;
		w.absent = v->absent && (hi - lo) / PAGE_BYTES <= FEW;
		w.dirty = dirty_of(r, i);
		err = page_map_walk(&m, lo, hi, take_run, &w);
		if (!err)
			absent_until(&w, hi);
		pages_counts_of(r, i, &c);
		if (w.sum)
			w.sum->regions++;
		else
			pages_counts_add(total, &c);
	}
	if (!r->since && w.sum)
		w.sum->touched = w.sum->touched_private = w.sum->touched_shared =
			(struct page_range){ 0, PAGE_RANGE_ANY };
	page_kernel_close(&w.kernel);
	page_map_close(&m);
	return err == -ESRCH || err == -EIO ? 0 : err; /* gone: what was there is written; cli_close() says the other */
}
