// SPDX-License-Identifier: GPL-2.0-or-later
/* hvar_vmas.c - the mappings of one address space, in one sorted array. */
#include "hvar_vmas.h"

/* What one set() may add at most to a list, and what an apply of one event may. */
#define HVAR_VMAS_SLACK 4

static struct hvar_vma *hvar_vmas_array(const struct hvar_vmas *m)
{
	return m->mem;
}

HVAR_API void hvar_vmas_init(struct hvar_vmas *m, void *mem, uint64_t size)
{
	memset(m, 0, sizeof(*m));
	m->mem = mem;
	m->size = size;
}

HVAR_API void hvar_vmas_moved(struct hvar_vmas *m, void *mem, uint64_t size)
{
	m->mem = mem;
	m->size = size;
}

HVAR_API uint64_t hvar_vmas_bytes(uint32_t n)
{
	return ((uint64_t)n + HVAR_VMAS_SLACK) * sizeof(struct hvar_vma);
}

HVAR_API uint32_t hvar_vmas_room(const struct hvar_vmas *m)
{
	uint32_t lo = 0, hi = 1u << 30;

	/* How many fit, without a 64-bit division. */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo + 1) / 2;

		if ((uint64_t)mid * sizeof(struct hvar_vma) <= m->size)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo > m->n ? lo - m->n : 0;
}

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

/* Index of the first entry that ends above @addr, m->n if none does. */
static uint32_t hvar_vmas_lower(const struct hvar_vmas *m, uint64_t addr)
{
	const struct hvar_vma *v = hvar_vmas_array(m);
	uint32_t lo = 0, hi = m->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

HVAR_API const struct hvar_vma *hvar_vmas_find(const struct hvar_vmas *m,
					       uint64_t addr)
{
	const struct hvar_vma *v = hvar_vmas_next(m, addr);

	return v && v->start <= addr ? v : NULL;
}

HVAR_API const struct hvar_vma *hvar_vmas_next(const struct hvar_vmas *m,
					       uint64_t addr)
{
	uint32_t i = hvar_vmas_lower(m, addr);

	return i < m->n ? hvar_vmas_array(m) + i : NULL;
}

HVAR_API const struct hvar_vma *hvar_vmas_prev(const struct hvar_vmas *m,
					       uint64_t addr)
{
	const struct hvar_vma *v = hvar_vmas_array(m);
	uint32_t i = hvar_vmas_lower(m, addr);

	if (i < m->n && v[i].start < addr)
		return v + i;
	return i ? v + i - 1 : NULL;
}

/*
 *	before  [------ i ------]  [- i+1 -]  [----- j-1 -----]
 *	            start ^                           ^ end
 *	after   [-head---][----------- as -----------][-tail--]
 *
 * What joins is made one, with the neighbours outside too.
 */
HVAR_API int hvar_vmas_set(struct hvar_vmas *m, uint64_t start, uint64_t end,
			   const struct hvar_vma *as)
{
	struct hvar_vma *v = hvar_vmas_array(m);
	struct hvar_vma part[3];
	uint32_t i, j, k = 0, d;

	if (start >= end)
		return -EINVAL;
	i = hvar_vmas_lower(m, start);
	if (i && v[i - 1].end == start)
		i--;
	j = i;
	while (j < m->n && v[j].start <= end)
		j++;
	if (i < j && v[i].start < start) {
		part[k] = v[i];
		if (part[k].end > start)
			part[k].end = start;
		k++;
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
	if (i < j && v[j - 1].end > end) {
		d = k;
		hvar_vma_at(&v[j - 1], v[j - 1].start < end ? end : v[j - 1].start,
			    &part[d]);
		part[d].start = v[j - 1].start < end ? end : v[j - 1].start;
		part[d].end = v[j - 1].end;
		if (k && hvar_vma_joins(&part[k - 1], &part[d]))
			part[k - 1].end = part[d].end;
		else
			k++;
	}
	if (((uint64_t)m->n - (j - i) + k) * sizeof(*v) > m->size) {
		m->lost++;
		return -ENOSPC;
	}
	if (j < m->n)
		memmove(v + i + k, v + j, (uint64_t)(m->n - j) * sizeof(*v));
	if (k)
		memcpy(v + i, part, k * sizeof(*part));
	m->n = m->n - (j - i) + k;
	return 0;
}
