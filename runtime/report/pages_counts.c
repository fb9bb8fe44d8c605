// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages_counts.c - the numbers of a row: of one region, or of several added up.
 *
 * Which of a region's pages were touched may not be known when their number is: of @t touched
 * pages among @present, of which @own are private, between t - (present - own) and own are.
 */
#include "config.h"

#include "pages_counts.h"

#include <string.h>

static struct page_range part(const struct page_range *touched, uint64_t present, uint64_t own)
{
	uint64_t others = present - own;

	if (touched->most == PAGE_RANGE_ANY)
		return *touched;
	return (struct page_range){ touched->least > others ? touched->least - others : 0,
				    touched->most < own ? touched->most : own };
}

void pages_counts_of(const struct page_regions *r, size_t i, struct pages_counts *out)
{
	const struct page_region *v = &r->v[i];

	memset(out, 0, sizeof(*out));
	out->regions = 1;
	out->pages = (v->vma.end - v->vma.start) / PAGE_BYTES;
	out->present.n = v->present;
	out->private.n = v->exclusive;
	out->shared.n = v->present - v->exclusive;
	out->zero.n = v->zero;
	out->zero.unknown = !r->zero && v->maybe_zero;
	out->written.unknown = !page_regions_written(r, i, &out->written.n);
	out->anon.unknown = !page_regions_anon(r, i, &out->anon.n);
	out->huge.unknown = !page_regions_huge(r, i, &out->huge.n);
	out->swapped.unknown = !page_regions_swapped(r, i, &out->swapped.n);
	page_regions_touched(r, i, &out->touched);
	out->touched_private = part(&out->touched, v->present, v->exclusive);
	out->touched_shared = part(&out->touched, v->present, v->present - v->exclusive);
	if (page_regions_known(r, i))
		return;
	out->kernels = true;
	out->present.unknown = out->private.unknown = out->shared.unknown = true;
	out->zero.unknown = out->written.unknown = out->anon.unknown = true;
	out->huge.unknown = out->swapped.unknown = true;
	out->touched = out->touched_private = out->touched_shared = (struct page_range){ 0, PAGE_RANGE_ANY };
}

static void add(struct pages_count *sum, const struct pages_count *c)
{
	sum->n += c->n;
	sum->unknown |= c->unknown;
}

static void add_range(struct page_range *sum, const struct page_range *r)
{
	sum->least += r->least;
	if (sum->most != PAGE_RANGE_ANY)
		sum->most = r->most == PAGE_RANGE_ANY ? PAGE_RANGE_ANY : sum->most + r->most;
}

static void add_all(struct pages_counts *sum, const struct pages_counts *c)
{
	add(&sum->present, &c->present);
	add(&sum->written, &c->written);
	add(&sum->anon, &c->anon);
	add(&sum->zero, &c->zero);
	add(&sum->private, &c->private);
	add(&sum->shared, &c->shared);
	add(&sum->huge, &c->huge);
	add(&sum->swapped, &c->swapped);
	add_range(&sum->touched, &c->touched);
	add_range(&sum->touched_private, &c->touched_private);
	add_range(&sum->touched_shared, &c->touched_shared);
}

void pages_counts_add(struct pages_counts *sum, const struct pages_counts *c)
{
	uint64_t regions = sum->regions + c->regions, pages = sum->pages + c->pages;

	if (!sum->regions || (sum->kernels && !c->kernels))
		*sum = *c;
	else if (!c->kernels)
		add_all(sum, c);
	sum->regions = regions;
	sum->pages = pages;
}
