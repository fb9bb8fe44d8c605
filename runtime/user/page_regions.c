// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_regions.c - the areas of a process with what its pages are, added up.
 *
 * What follows from what, for a page that is present:
 *
 *	shared mapping			never anon; written: dirty by smaps
 *	private, entry says file's	not anon, not written
 *	private, the page of zeros	not anon, not written; the huge one's entries say file's
 *	private, neither		anon, so written: it was copied, or made, for this process
 *	[vvar], VmFlags "pf"		frames that are no pages: neither anon nor written
 *
 * TOUCHED SINCE A MOMENT
 *	At the moment all reference bits are cleared.  A page that was there then is touched if
 *	its bit is set now; smaps tells how many.  x86 sets the bit of each new entry, so the bits
 *	of new pages say nothing: but a fault of the process's own was an access.
 *
 *		new pages	= present - old
 *		old and touched	= referenced - new
 *		least		= old and touched + new with a fault
 *		most		= old and touched + new
 *
 *	The page of zeros is in no sum of smaps: an old one may be touched or not, a new one is
 *	counted like any new page.
 */
#include "config.h"

#include "page_regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

/* Areas with less than that between them are read in one go: it costs less than another system call. */
#define NEAR (256 * PAGE_BYTES)
/* For who is thrifty: smaps takes some 15 us for an area, and 40 ns for a page. */
enum { MANY_REGIONS = 4096, MANY_PAGES = 1 << 16, TRIES = 4 };

void page_regions_fini(struct page_regions *r)
{
	free(r->v);
	free(r->smaps);
	memset(r, 0, sizeof(*r));
}

static int take_areas(struct page_regions *r, const struct page_regions_ask *ask)
{
	const struct hvar_vma *v = hvar_vmas_next(ask->vmas, ask->lo);

	for (; v && v->start < ask->hi; v = hvar_vmas_next(ask->vmas, v->end)) {
		if (grow_array((void **)&r->v, &r->cap, r->n + 1, sizeof(*r->v)))
			return -ENOMEM;
		memset(&r->v[r->n], 0, sizeof(r->v[0]));
		r->v[r->n++].vma = *v;
		if (v->end > PAGE_USER_END)
			break;
	}
	return 0;
}

/* ---- the page table ---- */

struct pass {
	struct page_regions *r;
	const struct page_regions_ask *ask;
	struct page_kernel kernel;
	size_t at; /* the region that the next entry may be in */
};

/* Memory that no file is behind. */
static bool no_file(const struct hvar_vma *v)
{
	return !(v->prot & HVAR_PROT_SHARED) &&
	       (v->region == HVAR_REGION_ANON || v->region == HVAR_REGION_HEAP || v->region == HVAR_REGION_STACK ||
		v->region == HVAR_REGION_JIT);
}

/* fs/proc/task_mmu.c, pagemap_pmd_range(): its page is not PageAnon().  Of areas with a name some are the kernel's. */
static bool is_huge_zero(const struct page_regions *r, const struct page_region *v, uint64_t entry)
{
	return page_present(entry) && entry & PAGE_FILES && no_file(&v->vma) &&
	       (r->scan ? !!(entry & PAGE_HUGE) : !(v->vma.flags & HVAR_VMA_NAMED));
}

bool page_entry_huge_zero(const struct page_regions *r, size_t i, uint64_t entry)
{
	return is_huge_zero(r, &r->v[i], entry);
}

static void count(struct pass *p, struct page_region *v, uint64_t addr, const uint64_t *e, size_t n)
{
	bool shared = v->vma.prot & HVAR_PROT_SHARED;
	uint64_t present = 0, files = 0, zero = 0, exclusive = 0, huge = 0, rare = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t one = e[i] >> 63;

		present += one;
		files += one & e[i] >> 61;
		huge += one & e[i] >> 60;
		zero += one & e[i] >> 59;
		exclusive += one & e[i] >> 56;
		rare |= e[i] & (PAGE_SWAPPED | PAGE_GUARD | PAGE_UFFD_WP | PAGE_SOFT_DIRTY);
	}
	v->present += present;
	v->zero += zero;
	v->exclusive += exclusive;
	v->huge += huge;
	if (!shared)
		v->anon += present - files - zero;
	for (size_t i = 0; files && no_file(&v->vma) && i < n; i++)
		v->huge_zero += is_huge_zero(p->r, v, e[i]);
	if (!shared && !p->r->zero)
		for (size_t i = 0; i < n; i++)
			v->maybe_zero += (e[i] & (PAGE_PRESENT | PAGE_FILES | PAGE_EXCLUSIVE)) == PAGE_PRESENT;
	for (size_t i = 0; rare && i < n; i++) {
		v->swapped += page_swapped(e[i]);
		v->guard += !!(e[i] & PAGE_GUARD);
		v->uffd_wp += !!(e[i] & PAGE_UFFD_WP);
		v->soft_dirty += !!(e[i] & PAGE_SOFT_DIRTY);
	}
	if (!p->ask->before && !p->ask->faults)
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t a = addr + i * PAGE_BYTES;
		bool is_zero = e[i] & PAGE_ZERO || (files && is_huge_zero(p->r, v, e[i]));

		if (!page_present(e[i]))
			continue;
		if (p->ask->before && page_set_has(p->ask->before, a)) {
			v->old++;
			v->old_zero += is_zero;
			continue;
		}
		v->new_zero += is_zero;
		if (p->ask->faults && page_entry_faulted(p->ask->faults, a, e[i]))
			v->faulted++;
	}
}

/* Which of the pages of a shared mapping does the kernel call dirty? */
static void count_dirty(struct pass *p, struct page_region *v, const uint64_t *e, size_t n)
{
	struct page_facts facts[512];

	for (size_t i = 0; i < n; i += 512) {
		size_t some = n - i < 512 ? n - i : 512;

		page_kernel_frames(&p->kernel, e + i, some, facts);
		for (size_t k = 0; k < some; k++)
			v->dirty += facts[k].flags >= 0 && facts[k].flags >> PAGE_KPF_DIRTY & 1;
	}
}

static int take_run(void *ctx, uint64_t start, const uint64_t *e, size_t n)
{
	struct pass *p = ctx;
	struct page_regions *r = p->r;
	uint64_t end = start + n * PAGE_BYTES;

	while (p->at < r->n && r->v[p->at].vma.end <= start)
		p->at++;
	for (size_t i = p->at; i < r->n && r->v[i].vma.start < end; i++) {
		struct page_region *v = &r->v[i];
		uint64_t lo = v->vma.start > start ? v->vma.start : start;
		uint64_t hi = v->vma.end < end ? v->vma.end : end;
		const uint64_t *first = e + ((lo - start) >> PAGE_BITS);
		size_t some = (size_t)((hi - lo) >> PAGE_BITS);

		count(p, v, lo, first, some);
		if (r->flags && v->vma.prot & HVAR_PROT_SHARED)
			count_dirty(p, v, first, some);
	}
	return 0;
}

static int read_pages(struct page_regions *r, const struct page_regions_ask *ask)
{
	struct pass p = { .r = r, .ask = ask };
	struct page_map m;
	size_t i = 0;
	int err = page_map_open(&m, ask->pid);

	if (err)
		return err;
	page_kernel_open(&p.kernel, ask->pid);
	r->scan = m.scan;
	r->zero = m.zero;
	r->flags = p.kernel.flags >= 0 && ask->smaps;
	while (i < r->n && r->v[i].vma.end <= PAGE_USER_END && !err) {
		size_t k = i;

		while (k + 1 < r->n && r->v[k + 1].vma.end <= PAGE_USER_END &&
		       r->v[k + 1].vma.start - r->v[k].vma.end < NEAR)
			k++;
		err = page_map_walk(&m, r->v[i].vma.start, r->v[k].vma.end, take_run, &p);
		i = k + 1;
	}
	for (i = 0; i < r->n; i++)
		r->v[i].zero += r->v[i].huge_zero;
	r->gone = m.gone;
	page_kernel_close(&p.kernel);
	page_map_close(&m);
	return err == -ESRCH && p.at ? 0 : err;
}

/* ---- smaps ---- */

struct adding {
	struct page_regions *r;
	size_t at;
};

static void add_smaps(void *ctx, const struct page_smaps *s)
{
	struct adding *a = ctx;
	struct page_smaps *to;

	while (a->at < a->r->n && a->r->v[a->at].vma.end <= s->start)
		a->at++;
	if (a->at == a->r->n || s->start < a->r->v[a->at].vma.start || s->end > a->r->v[a->at].vma.end)
		return; /* the map has changed meanwhile */
	to = &a->r->smaps[a->at];
	if (!to->end)
		to->start = s->start;
	to->end = s->end;
	to->rss += s->rss;
	to->referenced += s->referenced;
	to->shared_dirty += s->shared_dirty;
	to->private_dirty += s->private_dirty;
	to->anon += s->anon;
	to->lazy_free += s->lazy_free;
	to->swap += s->swap;
	to->anon_huge += s->anon_huge;
	to->shmem_huge += s->shmem_huge;
	to->file_huge += s->file_huge;
	to->shared_hugetlb += s->shared_hugetlb;
	to->private_hugetlb += s->private_hugetlb;
	to->kernel_page = s->kernel_page;
	to->pfn_map |= s->pfn_map;
}

/* Only of shared mappings is there something that nobody else tells: which pages are dirty. */
static bool worth_smaps(const struct page_regions *r)
{
	uint64_t present = 0, shared = 0;

	for (size_t i = 0; i < r->n; i++) {
		present += r->v[i].present;
		if (r->v[i].vma.prot & HVAR_PROT_SHARED)
			shared += r->v[i].present;
	}
	return shared && r->n <= MANY_REGIONS && present <= MANY_PAGES;
}

int page_regions_read(struct page_regions *r, const struct page_regions_ask *ask)
{
	struct adding a = { .r = r };
	int err;

	memset(r, 0, sizeof(*r));
	r->since = ask->since;
	r->cleared = ask->cleared;
	err = take_areas(r, ask);
	if (!err)
		err = read_pages(r, ask);
	if (err || !ask->smaps || (ask->thrifty && !worth_smaps(r)))
		return err;
	r->smaps = calloc(r->n + 1, sizeof(*r->smaps));
	if (!r->smaps)
		return -ENOMEM;
	/* A thread through which it is read may end meanwhile, and others go on. */
	for (int i = 0; i < TRIES && (err = page_smaps_read(ask->pid, add_smaps, &a)) == -ESRCH; i++) {
		memset(r->smaps, 0, (r->n + 1) * sizeof(*r->smaps));
		a = (struct adding){ .r = r };
	}
	if (err) {
		free(r->smaps);
		r->smaps = NULL;
	}
	return 0;
}

/* ---- what follows ---- */

bool page_regions_known(const struct page_regions *r, size_t i)
{
	return r->v[i].vma.end <= PAGE_USER_END;
}

static const struct page_smaps *smaps_of(const struct page_regions *r, size_t i)
{
	return r->smaps && r->smaps[i].end ? &r->smaps[i] : NULL;
}

static bool no_pages(const struct page_regions *r, size_t i)
{
	const struct page_smaps *s = smaps_of(r, i);

	return r->v[i].vma.region == HVAR_REGION_VVAR || (s && s->pfn_map);
}

bool page_regions_anon(const struct page_regions *r, size_t i, uint64_t *out)
{
	const struct page_region *v = &r->v[i];

	*out = no_pages(r, i) ? 0 : v->anon;
	if (!(v->vma.prot & HVAR_PROT_SHARED))
		*out += v->swapped;
	return no_pages(r, i) || !v->maybe_zero;
}

bool page_regions_swapped(const struct page_regions *r, size_t i, uint64_t *out)
{
	const struct page_smaps *s = smaps_of(r, i);

	*out = r->v[i].swapped;
	/* pages of shm that are out leave no entry behind, but smaps asks the shm object */
	if (s && r->v[i].vma.prot & HVAR_PROT_SHARED && s->swap / PAGE_BYTES > *out)
		*out = s->swap / PAGE_BYTES;
	return true;
}

static uint64_t hugetlb(const struct page_smaps *s)
{
	return s ? s->shared_hugetlb + s->private_hugetlb : 0;
}

bool page_regions_written(const struct page_regions *r, size_t i, uint64_t *out)
{
	const struct page_region *v = &r->v[i];
	const struct page_smaps *s = smaps_of(r, i);

	if (!(v->vma.prot & HVAR_PROT_SHARED))
		return page_regions_anon(r, i, out);
	*out = 0;
	if (!v->present || no_pages(r, i))
		return true;
	if (s && !hugetlb(s)) {
		*out = (s->shared_dirty + s->private_dirty) / PAGE_BYTES;
		if (*out > v->present)
			*out = v->present;
		return true;
	}
	return false;
}

bool page_regions_huge(const struct page_regions *r, size_t i, uint64_t *out)
{
	const struct page_smaps *s = smaps_of(r, i);

	*out = r->v[i].huge;
	if (r->scan)
		return true;
	if (s)
		*out = (s->anon_huge + s->shmem_huge + s->file_huge + hugetlb(s)) / PAGE_BYTES + r->v[i].huge_zero;
	else
		*out = 0;
	return s || r->v[i].present < PAGE_HUGE_PAGES;
}

bool page_regions_touched(const struct page_regions *r, size_t i, struct page_range *out)
{
	const struct page_region *v = &r->v[i];
	const struct page_smaps *s = smaps_of(r, i);
	uint64_t fresh = v->present - v->old - v->new_zero, referenced;

	*out = (struct page_range){ 0, r->since ? v->present : PAGE_RANGE_ANY };
	if (!r->since)
		return false;
	out->least = v->faulted;
	if (!v->old) /* all are new */
		return out->least == out->most;
	if (!r->cleared || !s || hugetlb(s) || no_pages(r, i))
		return false;
	referenced = s->referenced / PAGE_BYTES;
	if (referenced > v->present - v->zero)
		referenced = v->present - v->zero;
	out->most = (referenced > fresh ? referenced : fresh) + v->zero;
	if (referenced > fresh)
		out->least += referenced - fresh;
	if (out->least > out->most)
		out->least = out->most;
	return out->least == out->most;
}

bool page_entry_faulted(const struct page_set *faults, uint64_t addr, uint64_t entry)
{
	/* one fault brings in all of a huge page */
	return entry & PAGE_HUGE ? page_set_near(faults, addr) : page_set_has(faults, addr);
}

int page_entry_touched(const struct page_regions *r, size_t i, uint64_t addr, uint64_t entry,
		       const struct page_set *before, const struct page_set *faults)
{
	struct page_range range;
	bool old = before && page_set_has(before, addr);

	if (!r->since || !page_present(entry))
		return -1;
	if (!old && faults && page_entry_faulted(faults, addr, entry))
		return 1;
	page_regions_touched(r, i, &range);
	return !range.most ? 0 : range.least >= r->v[i].present ? 1 : -1;
}

int page_entry_anon(const struct page_regions *r, size_t i, uint64_t entry)
{
	if (no_pages(r, i) || entry & PAGE_GUARD)
		return 0;
	if (r->v[i].vma.prot & HVAR_PROT_SHARED)
		return 0;
	if (page_swapped(entry))
		return 1;
	if (!page_present(entry) || entry & (PAGE_FILES | PAGE_ZERO))
		return 0;
	return r->zero || entry & PAGE_EXCLUSIVE ? 1 : -1;
}
