// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_regions.c - the large areas of a process over a time.
 */
#include "config.h"

#include "advise_regions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grow.h"
#include "page_map.h"
#include "page_smaps.h"
#include "proc.h"
#include "translator-hooks/image_name.h"

static void region_fini(struct advise_region *r)
{
	free(r->name);
	free(r->code);
	free(r->path);
}

void advise_regions_fini(struct advise_regions *t)
{
	for (size_t i = 0; i < t->n; i++)
		region_fini(&t->v[i]);
	free(t->v);
	memset(t, 0, sizeof(*t));
}

void advise_regions_executed(struct advise_regions *t)
{
	uint64_t reach = t->reach;

	advise_regions_fini(t);
	t->reach = reach;
}

static uint64_t common(const struct hvar_vma *a, const struct hvar_vma *b)
{
	uint64_t lo = a->start > b->start ? a->start : b->start, hi = a->end < b->end ? a->end : b->end;

	return lo < hi ? hi - lo : 0;
}

struct advise_region *advise_regions_of(struct advise_regions *t, const struct hvar_vma *v)
{
	struct advise_region *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct advise_region *r = &t->v[i];
		uint64_t n = common(&r->vma, v);

		if (n > most && r->vma.region == v->region && r->vma.module == v->module &&
		    (r->vma.prot & HVAR_PROT_SHARED) == (v->prot & HVAR_PROT_SHARED)) {
			best = r;
			most = n;
		}
	}
	if (best)
		return best;
	if (t->n >= ADVISE_REGIONS_MAX || grow_array((void **)&t->v, &t->cap, t->n + 1, sizeof(*t->v))) {
		t->lost++;
		return NULL;
	}
	best = &t->v[t->n++];
	memset(best, 0, sizeof(*best));
	best->vma = *v;
	best->kind = HVAR_KIND_ANON;
	return best;
}

/* ---- names ---- */

static char *name_of(struct live *l, uint64_t addr, bool offset, struct hvar_place *p)
{
	uint32_t why;

	live_resolve(l, addr, p);
	if (p->vma.region == HVAR_REGION_NONE)
		return NULL;
	return image_place_name(p, p->module ? live_image(l, p->module, &why) : NULL, live_path(l, p->module), offset);
}

/*
 * malloc(3) of glibc puts before an object that has a mapping of its own: 8 bytes of nothing, then the
 * mapping's size with bit 1 set (malloc/malloc.c, "IS_MMAPPED").
 */
static bool is_malloced(pid_t pid, const struct hvar_vma *v)
{
	uint64_t head[2] = { 0 };
	int fd;

	if (v->region != HVAR_REGION_ANON || v->prot & HVAR_PROT_SHARED)
		return false;
	fd = proc_open(pid, "mem", O_RDONLY);
	if (fd < 0)
		return false;
	if (pread(fd, head, sizeof(head), (off_t)v->start) != (ssize_t)sizeof(head))
		head[1] = 0;
	close(fd);
	/* neighbours that are mapped alike are one area with it */
	return !head[0] && (head[1] & 7) == 2 && (head[1] & ~7ull) >= ADVISE_HUGE && (head[1] & ~7ull) <= v->end - v->start;
}

static void name_region(struct advise_region *r, struct live *l)
{
	uint64_t at = r->jumps.top ? r->jumps.top : r->vma.start;
	struct hvar_place p, code;
	char *name = name_of(l, at, false, &p), *site = r->jumps.top_ip ? name_of(l, r->jumps.top_ip, true, &code) : NULL;
	const char *path = live_path(l, p.module ? p.module : r->vma.module);

	if (p.kind == HVAR_KIND_FILE) { /* its path says it all */
		free(name);
		name = NULL;
		r->kind = p.kind;
	}
	if (name) {
		free(r->name);
		r->name = name;
		r->kind = p.kind;
		r->object = p.symbol != HVAR_IMAGE_NONE ? at - p.offset : 0;
		r->object_size = p.symbol != HVAR_IMAGE_NONE ? p.size : 0;
	}
	if (site) {
		free(r->code);
		r->code = site;
	}
	if (path && *path) {
		free(r->path);
		r->path = strdup(path);
	}
}

/* ---- a look ---- */

struct look {
	struct advise_regions *t;
	struct live *l;
	const struct advise_jumps *j;
	struct page_map map;
	bool have_map, any;
	pid_t pid;
	uint64_t small;
};

static int count_spans(void *ctx, uint64_t start, const uint64_t *entries, size_t n)
{
	advise_spans_add(ctx, start, entries, n);
	return 0;
}

/* Without PAGEMAP_SCAN only smaps tells what is huge, and not where. */
static void mark_huge(struct advise_spans *s, uint64_t huge)
{
	if (huge > s->small)
		huge = s->small;
	s->huge += huge;
	s->small -= huge;
	s->spans_huge += huge / PAGE_HUGE_PAGES;
}

static void walk(struct look *k, struct advise_region *r, uint64_t start, uint64_t end, uint64_t rss, uint64_t huge)
{
	struct advise_spans s;

	advise_spans_begin(&s, start, end);
	if (!k->have_map || page_map_walk(&k->map, start, end, count_spans, &s))
		return;
	if (!k->map.scan)
		mark_huge(&s, huge);
	if (s.small + s.ends + s.huge < r->spans.small + r->spans.ends + r->spans.huge && r->spans_rss)
		return;
	r->spans = s;
	r->spans_rss = rss;
}

static void take_area(void *ctx, const struct page_smaps *s)
{
	struct look *k = ctx;
	uint64_t huge = s->anon_huge + s->shmem_huge + s->file_huge + s->shared_hugetlb + s->private_hugetlb;
	uint64_t touched = (s->referenced > huge ? s->referenced - huge : 0) / PAGE_BYTES;
	uint64_t rss = (s->rss + s->shared_hugetlb + s->private_hugetlb) / PAGE_BYTES;
	const struct hvar_vma *in = hvar_vmas_find(live_vmas(k->l), s->start);
	struct advise_region *r;
	struct hvar_vma v;

	k->any = true;
	if (!in || s->pfn_map || s->end > in->end)
		return; /* the map has changed meanwhile */
	if (rss < k->t->reach || rss * PAGE_BYTES < ADVISE_HUGE || in->region == HVAR_REGION_STACK) {
		k->small += touched;
		return;
	}
	v = *in;
	v.start = s->start;
	v.end = s->end;
	r = advise_regions_of(k->t, &v);
	if (!r)
		return;
	r->seen = true;
	r->smaps = true;
	r->intervals++;
	r->often += touched > k->t->reach;
	if (touched > r->touched)
		r->touched = touched;
	if (rss >= r->rss) {
		r->rss = rss;
		r->vma = v;
		r->asked = s->huge_asked;
		r->refused = s->huge_refused;
		r->eligible = s->eligible;
		r->hugetlb = s->kernel_page > PAGE_BYTES;
	}
	if (k->j)
		advise_jumps_sum(k->j, v.start, v.end, &r->jumps);
	if (r->hugetlb)
		r->spans.huge = rss;
	else if (rss > r->spans_rss)
		walk(k, r, v.start, v.end, rss, huge / PAGE_BYTES);
	if ((!r->name && !r->path) || r->jumps.far)
		name_region(r, k->l);
	if (!r->malloced)
		r->malloced = is_malloced(k->pid, &r->vma);
}

int advise_regions_look(struct advise_regions *t, pid_t pid, struct live *l, const struct advise_jumps *j)
{
	struct look k = { .t = t, .l = l, .j = j, .pid = pid };
	int err;

	k.have_map = !page_map_open(&k.map, pid);
	for (size_t i = 0; i < t->n; i++)
		t->v[i].seen = false;
	err = page_smaps_read(pid, take_area, &k);
	for (size_t i = 0; k.any && i < t->n; i++) /* where there is no area at all, it is ending */
		t->v[i].gone = !t->v[i].seen;
	if (k.small > t->small_touched)
		t->small_touched = k.small;
	if (k.have_map)
		page_map_close(&k.map);
	return err;
}

void advise_regions_sum(struct advise_regions *t, const struct advise_jumps *j)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].gone)
			advise_jumps_sum(j, t->v[i].vma.start, t->v[i].vma.end, &t->v[i].jumps);
}
