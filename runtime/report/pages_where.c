// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages_where.c - what lies in a region and on a page: module, kind, sections, symbols.
 */
#include "config.h"

#include "pages_where.h"

#include <string.h>

#include "runtime/user/page_map.h"

/* Bytes that [@a, @a_end) and [@b, @b + @size) have in common. */
static uint64_t common(uint64_t a, uint64_t a_end, uint64_t b, uint64_t size)
{
	uint64_t lo = a > b ? a : b, hi = a_end < b + size ? a_end : b + size;

	return lo < hi ? hi - lo : 0;
}

/* The kind of the section that fills most of [@vaddr, @end); @kind if there is none. */
static uint32_t main_kind(const struct hvar_image *img, uint64_t vaddr, uint64_t end, uint32_t kind)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < img->n_mem_sections; i++) {
		const struct hvar_image_section *s = &img->sections[i];
		uint64_t n = common(vaddr, end, s->vaddr, s->size);

		if (n > most) {
			most = n;
			kind = s->kind;
		}
	}
	return kind;
}

/* From where to where is the file of area @v loaded?  Nowhere if it is not. */
static void span_of(struct live *l, const struct hvar_vma *v, uint64_t *start, uint64_t *end)
{
	const struct hvar_image *img = NULL;
	const struct hvar_image_seg *last;
	struct hvar_place p;
	uint32_t why;

	*start = UINT64_MAX;
	*end = 0;
	live_resolve(l, v->start, &p);
	if (p.module && p.flags & HVAR_PLACE_VADDR)
		img = live_image(l, p.module, &why);
	if (!img || !img->n_segs)
		return;
	last = &img->segs[img->n_segs - 1];
	*start = (p.bias + img->segs[0].vaddr) & ~(PAGE_BYTES - 1);
	*end = (p.bias + last->vaddr + last->memsz + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

/* May anonymous @v, where the walk has come to, be a part of a loaded file? */
static bool near_file(struct live *l, struct pages_walk *walk, const struct hvar_vma *v)
{
	if (walk->above_at <= v->start) {
		const struct hvar_vma *next = v;
		uint64_t end;

		while (next && next->region != HVAR_REGION_FILE)
			next = hvar_vmas_next(live_vmas(l), next->end);
		walk->above_start = walk->above_at = UINT64_MAX;
		if (next) {
			walk->above_at = next->start;
			span_of(l, next, &walk->above_start, &end);
		}
	}
	return v->start < walk->below_end || v->end > walk->above_start;
}

void pages_where(struct live *l, struct pages_walk *walk, const struct hvar_vma *v, struct pages_where *out)
{
	struct hvar_place p = { .kind = HVAR_KIND_ANON };
	const struct hvar_module *m;
	uint64_t start;
	uint32_t why;

	switch (v->region) {
	case HVAR_REGION_VDSO: /* to read the names in it would bring its pages in */
		p.kind = HVAR_KIND_VDSO;
		break;
	case HVAR_REGION_ANON:
		if (near_file(l, walk, v))
			live_resolve(l, v->start, &p);
		break;
	case HVAR_REGION_FILE:
		span_of(l, v, &start, &walk->below_end);
		live_resolve(l, v->start, &p);
		break;
	default:
		live_resolve(l, v->start, &p);
	}
	out->kind = p.kind;
	out->module = p.module ? p.module : v->module;
	out->path = live_path(l, out->module);
	m = v->module ? NULL : live_module(l, out->module); /* .bss does not show it itself */
	out->deleted = v->flags & HVAR_VMA_DELETED || (m && m->flags & HVAR_MODULE_DELETED);
	out->code = v->prot & HVAR_PROT_EXEC;
	if (p.module && p.flags & HVAR_PLACE_VADDR) {
		const struct hvar_image *img = live_image(l, p.module, &why);

		/* anonymous memory may go on behind the module's */
		if (img && v->region == HVAR_REGION_FILE)
			out->kind = main_kind(img, p.vaddr, p.vaddr + (v->end - v->start), p.kind);
	}
}

bool pages_where_is(const struct pages_where *w, const char *name)
{
	const char *last = strrchr(w->path, '/');

	return !strcmp(w->path, name) || (last && !strcmp(last + 1, name));
}

/* The number of the first of @img's extents that starts above @vaddr. */
static uint32_t extents_upto(const struct hvar_image *img, uint64_t vaddr)
{
	uint32_t lo = 0, hi = img->n_extents;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (img->starts[mid] <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void pages_names_begin(struct pages_names *n, struct live *l, uint64_t addr)
{
	const struct hvar_vma *v = hvar_vmas_find(live_vmas(l), addr);
	struct hvar_place p;
	uint32_t why;

	memset(n, 0, sizeof(*n));
	if (!v || v->region == HVAR_REGION_VDSO)
		return;
	live_resolve(l, addr, &p);
	if (!p.module || !(p.flags & HVAR_PLACE_VADDR))
		return;
	n->img = live_image(l, p.module, &why);
	if (!n->img)
		return;
	n->vaddr = p.vaddr;
	n->end = p.vaddr + PAGE_BYTES;
	n->extent = extents_upto(n->img, n->vaddr);
	if (n->extent)
		n->extent--; /* it may reach into the page */
	n->first = n->extent;
}

const char *pages_names_section(struct pages_names *n)
{
	while (n->img && n->section < n->img->n_mem_sections) {
		const struct hvar_image_section *s = &n->img->sections[n->section++];

		if (common(n->vaddr, n->end, s->vaddr, s->size))
			return hvar_image_str(n->img, s->name);
	}
	return NULL;
}

uint32_t pages_names_symbol(struct pages_names *n)
{
	while (n->img && n->extent < n->img->n_extents && n->img->starts[n->extent] < n->end) {
		uint32_t k = n->extent++, owner = n->img->owners[k];
		const struct hvar_image_sym *y;
		bool seen = false;

		if (owner == HVAR_IMAGE_NONE)
			continue;
		y = &n->img->syms[owner];
		if (!common(n->vaddr, n->end, y->vaddr, y->size ? y->size : 1))
			continue;
		/* an inner one parts the outer one's extent: that begins again behind it */
		for (uint32_t i = n->first; i < k && !seen; i++)
			seen = n->img->owners[i] == owner;
		if (!seen)
			return owner;
	}
	return HVAR_IMAGE_NONE;
}
