// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image_layout.c - the parts of a symbol image -> its bytes, one table after the other.
 */
#include "config.h"

#include "image_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLES 18

struct layout {
	struct hvar_image_table dir[TABLES];
	uint32_t n;
	uint64_t end;
	uint8_t *base;
};

static void reserve(struct layout *l, uint32_t id, uint32_t entry, uint64_t count)
{
	struct hvar_image_table *t = &l->dir[l->n++];

	t->id = id;
	t->entry = entry;
	t->offset = l->end;
	t->count = count;
	l->end += (entry * count + 7) & ~(uint64_t)7;
}

static void *table(struct layout *l, uint32_t id)
{
	uint32_t i = 0;

	while (l->dir[i].id != id)
		i++;
	return l->base + l->dir[i].offset;
}

static void put_syms(const struct sym_strs *strs, const struct sym_rows *rows,
		     struct hvar_image_sym *out)
{
	uint32_t i;

	for (i = 0; i < rows->n; i++) {
		const struct sym_row *y = &rows->v[i];

		out[i].vaddr = y->vaddr;
		out[i].size = y->size;
		out[i].name = strs->offsets[y->name];
		out[i].file = strs->offsets[y->file];
		out[i].section = y->section;
		out[i].binding = y->binding;
		out[i].type = y->type;
		out[i].flags = y->flags;
		out[i].origin = y->origin;
	}
}

static void put_extents(const struct sym_rows *rows, uint64_t *starts, uint32_t *owners)
{
	uint32_t i;

	for (i = 0; i < rows->n_extents; i++) {
		starts[i] = rows->extents[i].start;
		owners[i] = rows->extents[i].owner;
	}
}

/* As many pages as there are extents, at most, but not fewer than a few. */
static uint64_t plan_pages(const struct sym_rows *rows, struct hvar_image_header *h)
{
	uint64_t span, max = rows->n_extents < 64 ? 64 : rows->n_extents;

	h->page_shift = HVAR_PAGE_SHIFT;
	if (!rows->n_extents)
		return 0;
	h->first_page = HVAR_PAGE_DOWN(rows->extents[0].start);
	span = rows->extents[rows->n_extents - 1].start - h->first_page;
	while (span >> h->page_shift >= max)
		h->page_shift++;
	return (span >> h->page_shift) + 1;
}

static void put_pages(const struct sym_rows *rows, const struct hvar_image_header *h,
		      uint64_t n, uint32_t *pages)
{
	uint32_t i;
	uint64_t k = 0;

	for (i = 0; i < rows->n_extents; i++) {
		uint64_t page = (rows->extents[i].start - h->first_page) >> h->page_shift;

		while (k <= page)
			pages[k++] = i;
	}
	while (k <= n)
		pages[k++] = rows->n_extents;
}

static void put_types(const struct image_parts *p, struct layout *l)
{
	const uint32_t *offsets = p->syms->strs.offsets;
	struct hvar_image_type *types = table(l, HVAR_IMAGE_TYPES);
	struct hvar_image_member *members = table(l, HVAR_IMAGE_MEMBERS);
	uint32_t i;

	for (i = 0; i < p->n_types; i++) {
		types[i] = p->types[i];
		types[i].name = offsets[types[i].name];
	}
	for (i = 0; i < p->n_members; i++) {
		members[i] = p->members[i];
		members[i].name = offsets[members[i].name];
	}
}

static void put_vars(const struct image_parts *p, const struct hvar_image_var *vars, uint32_t n,
		     struct hvar_image_var *out)
{
	const uint32_t *offsets = p->syms->strs.offsets;
	uint32_t i;

	for (i = 0; i < n; i++) {
		out[i] = vars[i];
		out[i].file = offsets[vars[i].file];
		out[i].function = offsets[vars[i].function];
	}
}

int image_layout(struct image_parts *p, void **data, size_t *size)
{
	const struct sym_table *t = p->syms;
	struct hvar_image_header *h = &p->head;
	struct hvar_image_section *sections;
	struct layout l = { .end = sizeof(*h) + sizeof(l.dir) };
	uint64_t pages = plan_pages(&t->syms, h);
	uint32_t i;

	reserve(&l, HVAR_IMAGE_SEGS, sizeof(*p->segs), p->n_segs);
	reserve(&l, HVAR_IMAGE_SECTIONS, sizeof(*p->sections), p->n_sections);
	reserve(&l, HVAR_IMAGE_SYMS, sizeof(struct hvar_image_sym), t->syms.n);
	reserve(&l, HVAR_IMAGE_TLS_SYMS, sizeof(struct hvar_image_sym), t->tls.n);
	reserve(&l, HVAR_IMAGE_STARTS, 8, t->syms.n_extents);
	reserve(&l, HVAR_IMAGE_OWNERS, 4, t->syms.n_extents);
	reserve(&l, HVAR_IMAGE_PAGES, 4, pages ? pages + 1 : 0);
	reserve(&l, HVAR_IMAGE_TLS_STARTS, 8, t->tls.n_extents);
	reserve(&l, HVAR_IMAGE_TLS_OWNERS, 4, t->tls.n_extents);
	reserve(&l, HVAR_IMAGE_STRS, 1, t->strs.used);
	reserve(&l, HVAR_IMAGE_RANGES, sizeof(*p->ranges), p->n_ranges);
	reserve(&l, HVAR_IMAGE_TYPES, sizeof(*p->types), p->n_types);
	reserve(&l, HVAR_IMAGE_MEMBERS, sizeof(*p->members), p->n_members);
	reserve(&l, HVAR_IMAGE_VARS, sizeof(*p->vars), p->n_vars);
	reserve(&l, HVAR_IMAGE_TLS_VARS, sizeof(*p->tls_vars), p->n_tls_vars);
	reserve(&l, HVAR_IMAGE_TLS_SLOTS, sizeof(*p->tls_slots), p->n_tls_slots);
	reserve(&l, HVAR_IMAGE_DEBUG, sizeof(*p->debug), p->debug ? 1 : 0);
	reserve(&l, HVAR_IMAGE_SOURCE, sizeof(struct hvar_image_source), 1);

	l.base = calloc(1, l.end);
	if (!l.base)
		return -ENOMEM;
	memcpy(l.base + sizeof(*h), l.dir, sizeof(l.dir));
	if (p->n_ranges)
		memcpy(table(&l, HVAR_IMAGE_RANGES), p->ranges, p->n_ranges * sizeof(*p->ranges));
	if (p->n_segs)
		memcpy(table(&l, HVAR_IMAGE_SEGS), p->segs, p->n_segs * sizeof(*p->segs));
	sections = table(&l, HVAR_IMAGE_SECTIONS);
	for (i = 0; i < p->n_sections; i++) {
		sections[i] = p->sections[i];
		sections[i].name = t->strs.offsets[p->sections[i].name];
	}
	put_syms(&t->strs, &t->syms, table(&l, HVAR_IMAGE_SYMS));
	put_syms(&t->strs, &t->tls, table(&l, HVAR_IMAGE_TLS_SYMS));
	put_extents(&t->syms, table(&l, HVAR_IMAGE_STARTS), table(&l, HVAR_IMAGE_OWNERS));
	put_extents(&t->tls, table(&l, HVAR_IMAGE_TLS_STARTS),
		    table(&l, HVAR_IMAGE_TLS_OWNERS));
	put_types(p, &l);
	put_vars(p, p->vars, p->n_vars, table(&l, HVAR_IMAGE_VARS));
	put_vars(p, p->tls_vars, p->n_tls_vars, table(&l, HVAR_IMAGE_TLS_VARS));
	memcpy(table(&l, HVAR_IMAGE_TLS_SLOTS), p->tls_slots, p->n_tls_slots * sizeof(*p->tls_slots));
	if (p->debug)
		memcpy(table(&l, HVAR_IMAGE_DEBUG), p->debug, sizeof(*p->debug));
	if (pages)
		put_pages(&t->syms, h, pages, table(&l, HVAR_IMAGE_PAGES));
	memcpy(table(&l, HVAR_IMAGE_STRS), t->strs.bytes, t->strs.used);

	memcpy(h->magic, HVAR_IMAGE_MAGIC, sizeof(h->magic));
	h->version = HVAR_IMAGE_VERSION;
	h->n_tables = TABLES;
	h->size = l.end;
	h->rules = IMAGE_RULES;
	memcpy(l.base, h, sizeof(*h));
	h->checksum = hvar_image_checksum(l.base, l.end);
	memcpy(l.base, h, sizeof(*h));
	*data = l.base;
	*size = l.end;
	return 0;
}

void image_layout_source(void *data, const struct hvar_image_source *src)
{
	struct hvar_image_header *h = data;
	const struct hvar_image_table *t = (const void *)(h + 1);
	uint32_t i;

	for (i = 0; i < h->n_tables; i++)
		if (t[i].id == HVAR_IMAGE_SOURCE && t[i].count)
			memcpy((uint8_t *)data + t[i].offset, src, sizeof(*src));
	h->checksum = hvar_image_checksum(data, h->size);
}
