// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvar_vmas.c - the mappings of one address space: looked up, walked, set.
 *
 * hvar_vmas_tree.h says how they lie in the caller's bytes.  The list takes no more areas than
 * what those bytes are enough for however its tree came to be, so no change fails halfway.
 */
#include "hvar_vmas_tree.h"

/* What one event can add, at most, to a list: hvar_apply() wants it to be there. */
#define HVAR_VMAS_SLACK 4

HVAR_API uint64_t hvar_vmas_bytes(uint32_t n)
{
	if (n > HVAR_VMAS_MOST - HVAR_VMAS_SLACK)
		n = HVAR_VMAS_MOST - HVAR_VMAS_SLACK;
	return hvar_vmas_tree_bytes(n + HVAR_VMAS_SLACK);
}

HVAR_API void hvar_vmas_moved(struct hvar_vmas *m, void *mem, uint64_t size)
{
	uint32_t lo = 0, hi = HVAR_VMAS_MOST, mid;

	m->mem = mem;
	m->size = size;
	while (lo < hi) {
		mid = hi - (hi - lo) / 2;
		if (hvar_vmas_tree_bytes(mid) <= size)
			lo = mid;
		else
			hi = mid - 1;
	}
	m->cap = lo;
}

HVAR_API void hvar_vmas_init(struct hvar_vmas *m, void *mem, uint64_t size)
{
	memset(m, 0, sizeof(*m));
	m->root = HVAR_VMAS_NONE;
	m->free_leaf = HVAR_VMAS_NONE;
	m->free_inner = HVAR_VMAS_NONE;
	hvar_vmas_moved(m, mem, size);
}

HVAR_API uint32_t hvar_vmas_room(const struct hvar_vmas *m)
{
	return m->cap - m->n;
}

/* ---- what is an area ---- */

/* May a pgoff be there at all: is the area's memory that of a file? */
static bool hvar_vma_has_pgoff(const struct hvar_vma *v)
{
	if (!v->module || v->flags & HVAR_VMA_NAMED)
		return false;
	return v->region == HVAR_REGION_FILE || v->region == HVAR_REGION_SHM ||
	       v->region == HVAR_REGION_ANON || v->region == HVAR_REGION_JIT;
}

HVAR_API bool hvar_vma_joins(const struct hvar_vma *a, const struct hvar_vma *b)
{
	if (a->end != b->start || a->module != b->module ||
	    a->prot != b->prot || a->region != b->region ||
	    a->flags != b->flags)
		return false;
	return !hvar_vma_has_pgoff(a) ||
	       b->pgoff == a->pgoff + (a->end - a->start);
}

HVAR_API void hvar_vma_at(const struct hvar_vma *v, uint64_t addr,
			  struct hvar_vma *out)
{
	out->pgoff = hvar_vma_has_pgoff(v) ? v->pgoff + (addr - v->start) : 0;
	out->module = v->module;
	out->prot = v->prot;
	out->region = v->region;
	out->flags = v->flags;
}

/* ---- search ---- */

/* The leaf that holds the last area to start at or below @addr, if any does, or the first. */
static const struct hvar_vmas_leaf *hvar_vmas_down(const struct hvar_vmas *m,
						   uint64_t addr)
{
	const struct hvar_vmas_inner *in;
	uint32_t node = m->root, level;

	for (level = m->height; level > 1; level--) {
		in = hvar_vmas_inner(m, node);
		node = in->child[hvar_vmas_rank(in->key, HVAR_VMAS_INNER, addr)];
	}
	return hvar_vmas_leaf(m, node);
}

HVAR_API const struct hvar_vma *hvar_vmas_find(const struct hvar_vmas *m,
					       uint64_t addr)
{
	const struct hvar_vmas_leaf *l;
	const struct hvar_vma *v;

	if (!m->n)
		return NULL;
	l = hvar_vmas_down(m, hvar_vmas_clamp(addr));
	v = &l->area[hvar_vmas_rank(l->key, HVAR_VMAS_LEAF, hvar_vmas_clamp(addr))];
	return v->start <= addr && addr < v->end ? v : NULL;
}

HVAR_API const struct hvar_vma *hvar_vmas_next(const struct hvar_vmas *m,
					       uint64_t addr)
{
	const struct hvar_vmas_leaf *l;
	uint32_t at;

	if (!m->n)
		return NULL;
	l = hvar_vmas_down(m, hvar_vmas_clamp(addr));
	at = hvar_vmas_rank(l->key, HVAR_VMAS_LEAF, hvar_vmas_clamp(addr));
	if (l->area[at].end > addr)
		return &l->area[at];
	if (at + 1 < l->n)
		return &l->area[at + 1];
	return l->next == HVAR_VMAS_NONE ? NULL : hvar_vmas_leaf(m, l->next)->area;
}

HVAR_API const struct hvar_vma *hvar_vmas_prev(const struct hvar_vmas *m,
					       uint64_t addr)
{
	const struct hvar_vmas_leaf *l;
	const struct hvar_vma *v;

	if (!m->n || !addr)
		return NULL;
	l = hvar_vmas_down(m, addr - 1);
	v = &l->area[hvar_vmas_rank(l->key, HVAR_VMAS_LEAF, addr - 1)];
	return v->start < addr ? v : NULL;
}

/* ---- set ---- */

/* One hvar_vmas_set() under way: areas [first, last] touch the range, and become part[]. */
struct hvar_vmas_edit {
	struct hvar_vmas_path path; /* to the first; if there is none, to the one before */
	uint32_t old;		    /* how many there are */
	uint32_t n;		    /* parts */
	struct hvar_vma part[3];
};

/* Find the areas that touch [@start, @end): the first into @e, the last to @last. */
static const struct hvar_vma *hvar_vmas_touching(const struct hvar_vmas *m,
						 uint64_t start, uint64_t end,
						 struct hvar_vmas_edit *e)
{
	const struct hvar_vmas_leaf *l;
	const struct hvar_vma *last = NULL;
	uint32_t at;

	e->old = 0;
	if (!m->n)
		return NULL;
	hvar_vmas_tree_way(m, start - (start > 0), &e->path);
	l = hvar_vmas_leaf(m, e->path.node[0]);
	at = e->path.at[0];
	if (l->area[at].end < start) {
		/* Not that one, which ends below: the next, if it touches. */
		if (at + 1 < l->n) {
			at++;
			if (l->area[at].start <= end)
				e->path.at[0] = at;
		} else {
			if (l->next == HVAR_VMAS_NONE)
				return NULL;
			l = hvar_vmas_leaf(m, l->next);
			at = 0;
			if (l->area[0].start <= end)
				hvar_vmas_tree_way(m, l->area[0].start, &e->path);
		}
	}
	while (l->area[at].start <= end) {
		last = &l->area[at];
		e->old++;
		if (++at == l->n) {
			if (l->next == HVAR_VMAS_NONE)
				break;
			l = hvar_vmas_leaf(m, l->next);
			at = 0;
		}
	}
	return last;
}

/* What [@start, @end) and all that touches it become. */
static void hvar_vmas_parts(struct hvar_vmas_edit *e, const struct hvar_vma *first,
			    const struct hvar_vma *last, uint64_t start, uint64_t end,
			    const struct hvar_vma *as)
{
	struct hvar_vma *part = e->part;
	uint32_t k = 0;

	if (first && first->start < start) {
		part[0] = *first;
		if (part[0].end > start)
			part[0].end = start;
		k = 1;
	}
	if (as) {
		part[k] = *as;
		part[k].start = start;
		part[k].end = end;
		hvar_vma_at(&part[k], start, &part[k]);
		if (k && hvar_vma_joins(&part[k - 1], &part[k]))
			part[k - 1].end = end;
		else
			k++;
	}
	if (last && last->end > end) {
		part[k] = *last;
		if (last->start < end) {
			part[k].start = end;
			hvar_vma_at(last, end, &part[k]);
		}
		if (k && hvar_vma_joins(&part[k - 1], &part[k]))
			part[k - 1].end = part[k].end;
		else
			k++;
	}
	e->n = k;
}

/* The area after the one at @p, NULL if it is the last. */
static const struct hvar_vma *hvar_vmas_after(const struct hvar_vmas *m,
					      const struct hvar_vmas_path *p)
{
	const struct hvar_vmas_leaf *l = hvar_vmas_leaf(m, p->node[0]);

	if (p->at[0] + 1 < l->n)
		return &l->area[p->at[0] + 1];
	return l->next == HVAR_VMAS_NONE ? NULL : hvar_vmas_leaf(m, l->next)->area;
}

/*
 *	before  [------ first ----]  [------]  [----- last -----]
 *	              start ^                        ^ end
 *	after   [---part---][--------- part ---------][--part---]
 *
 * The areas that are too many go, from the first on; those that remain become the first
 * parts, in order; then the other parts are new.  Keys stay sorted at each step: a part
 * starts at or below the area it takes the place of, but for the last part, which
 * may start above, as the last area.
 */
HVAR_API int hvar_vmas_set(struct hvar_vmas *m, uint64_t start, uint64_t end,
			   const struct hvar_vma *as)
{
	const struct hvar_vma *first = NULL, *last;
	struct hvar_vmas_leaf *l;
	struct hvar_vmas_edit e;
	uint32_t extra, i, here;
	uint64_t key;

	if (start >= end)
		return -EINVAL;
	last = hvar_vmas_touching(m, start, end, &e);
	if (last)
		first = &hvar_vmas_leaf(m, e.path.node[0])->area[e.path.at[0]];
	hvar_vmas_parts(&e, first, last, start, end, as);
	if (e.n > e.old && e.n - e.old > m->cap - m->n) {
		m->lost++;
		return -ENOSPC;
	}
	for (extra = e.old > e.n ? e.old - e.n : 0; extra; extra -= here) {
		l = hvar_vmas_leaf(m, e.path.node[0]);
		here = l->n - e.path.at[0];
		if (here > extra)
			here = extra;
		/* Where the next one starts, to find it after this. */
		key = e.path.at[0] + here < l->n ? l->area[e.path.at[0] + here].start :
		      l->next != HVAR_VMAS_NONE ? hvar_vmas_leaf(m, l->next)->area[0].start : 0;
		hvar_vmas_tree_erase(m, &e.path, here);
		e.old -= here;
		if (e.old)
			hvar_vmas_tree_way(m, key, &e.path);
	}
	for (i = 0; i < e.n && i < e.old; i++) {
		if (i)
			hvar_vmas_tree_way(m, key, &e.path);
		first = hvar_vmas_after(m, &e.path);
		key = first ? first->start : 0;
		hvar_vmas_tree_store(m, &e.path, &e.part[i]);
	}
	for (; i < e.n; i++) {
		if (i)
			hvar_vmas_tree_way(m, e.part[i].start, &e.path);
		hvar_vmas_tree_insert(m, &e.path, &e.part[i]);
	}
	return 0;
}
