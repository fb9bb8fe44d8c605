// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image_layout.c - the parts of a symbol image -> its bytes, one table after the other.
 */
#include "config.h"

#include "image_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "big_alloc.h"

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

static const struct hvar_image_table *entry_of(const struct layout *l, uint32_t id)
{
	uint32_t i = 0;

	while (l->dir[i].id != id)
		i++;
	return &l->dir[i];
}

static void *table(const struct layout *l, uint32_t id)
{
	return l->base + entry_of(l, id)->offset;
}

static void put(struct layout *l, uint32_t id, const void *from)
{
	const struct hvar_image_table *t = entry_of(l, id);

	if (t->count)
		memcpy(l->base + t->offset, from, t->entry * t->count);
}

static void put_syms(const struct sym_rows *rows, struct hvar_image_sym *out)
{
	uint32_t i;

	for (i = 0; i < rows->n; i++) {
		const struct sym_row *y = &rows->v[i];

		out[i] = (struct hvar_image_sym){ .vaddr = y->vaddr, .size = y->size, .name = y->name, .file = y->file,
						  .section = y->section, .binding = y->binding, .type = y->type,
						  .flags = y->flags, .origin = y->origin };
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

/* Half as many pages as there are extents, at most, but not fewer than a few. */
static uint64_t plan_pages(const struct sym_rows *rows, struct hvar_image_header *h)
{
	uint64_t span, max = rows->n_extents < 128 ? 64 : rows->n_extents / 2;

	h->page_shift = HVAR_IMAGE_PAGE_SHIFT;
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

/* Between tables nothing is left of what was in this memory before. */
static void clear_rests(struct layout *l)
{
	uint32_t i;

	for (i = 0; i < l->n; i++) {
		uint64_t n = l->dir[i].entry * l->dir[i].count;

		memset(l->base + l->dir[i].offset + n, 0, -n & 7);
	}
}

/* The strings come first: they stand where they will be, once the rest has room behind them. */
static void reserve_all(struct layout *l, const struct image_parts *p, uint64_t pages)
{
	const struct sym_table *t = p->syms;

	l->end = SYM_STRS_HEAD;
	reserve(l, HVAR_IMAGE_STRS, 1, t->strs.used);
	reserve(l, HVAR_IMAGE_SEGS, sizeof(*p->segs), p->n_segs);
	reserve(l, HVAR_IMAGE_SECTIONS, sizeof(*p->sections), p->n_sections);
	reserve(l, HVAR_IMAGE_SYMS, sizeof(struct hvar_image_sym), t->syms.n);
	reserve(l, HVAR_IMAGE_TLS_SYMS, sizeof(struct hvar_image_sym), t->tls.n);
	reserve(l, HVAR_IMAGE_STARTS, 8, t->syms.n_extents);
	reserve(l, HVAR_IMAGE_OWNERS, 4, t->syms.n_extents);
	reserve(l, HVAR_IMAGE_PAGES, 4, pages ? pages + 1 : 0);
	reserve(l, HVAR_IMAGE_TLS_STARTS, 8, t->tls.n_extents);
	reserve(l, HVAR_IMAGE_TLS_OWNERS, 4, t->tls.n_extents);
	reserve(l, HVAR_IMAGE_RANGES, sizeof(*p->ranges), p->n_ranges);
	reserve(l, HVAR_IMAGE_TYPES, sizeof(*p->types), p->n_types);
	reserve(l, HVAR_IMAGE_MEMBERS, sizeof(*p->members), p->n_members);
	reserve(l, HVAR_IMAGE_VARS, sizeof(*p->vars), p->n_vars);
	reserve(l, HVAR_IMAGE_TLS_VARS, sizeof(*p->tls_vars), p->n_tls_vars);
	reserve(l, HVAR_IMAGE_TLS_SLOTS, sizeof(*p->tls_slots), p->n_tls_slots);
	reserve(l, HVAR_IMAGE_DEBUG, sizeof(*p->debug), p->debug ? 1 : 0);
	reserve(l, HVAR_IMAGE_SOURCE, sizeof(struct hvar_image_source), 1);
}

int image_layout(struct image_parts *p, void **data, size_t *size)
{
	static const struct hvar_image_source unknown;
	struct sym_table *t = p->syms;
	struct hvar_image_header *h = &p->head;
	struct layout l = { .n = 0 };
	uint64_t pages = plan_pages(&t->syms, h);

	_Static_assert(sizeof(*h) + sizeof(l.dir) <= SYM_STRS_HEAD, "header and directory have room before the strings");
	reserve_all(&l, p, pages);
	l.base = big_realloc(t->strs.buf, l.end);
	if (!l.base)
		return -ENOMEM;
	t->strs.buf = NULL; /* it is the image now */
	t->strs.used = t->strs.cap = 0;
	clear_rests(&l);
	put(&l, HVAR_IMAGE_SEGS, p->segs);
	put(&l, HVAR_IMAGE_SECTIONS, p->sections);
	put_syms(&t->syms, table(&l, HVAR_IMAGE_SYMS));
	put_syms(&t->tls, table(&l, HVAR_IMAGE_TLS_SYMS));
	put_extents(&t->syms, table(&l, HVAR_IMAGE_STARTS), table(&l, HVAR_IMAGE_OWNERS));
	put_extents(&t->tls, table(&l, HVAR_IMAGE_TLS_STARTS), table(&l, HVAR_IMAGE_TLS_OWNERS));
	if (pages)
		put_pages(&t->syms, h, pages, table(&l, HVAR_IMAGE_PAGES));
	put(&l, HVAR_IMAGE_RANGES, p->ranges);
	put(&l, HVAR_IMAGE_TYPES, p->types);
	put(&l, HVAR_IMAGE_MEMBERS, p->members);
	put(&l, HVAR_IMAGE_VARS, p->vars);
	put(&l, HVAR_IMAGE_TLS_VARS, p->tls_vars);
	put(&l, HVAR_IMAGE_TLS_SLOTS, p->tls_slots);
	put(&l, HVAR_IMAGE_DEBUG, p->debug);
	put(&l, HVAR_IMAGE_SOURCE, p->source ? p->source : &unknown);

	memcpy(h->magic, HVAR_IMAGE_MAGIC, sizeof(h->magic));
	h->version = HVAR_IMAGE_VERSION;
	h->n_tables = TABLES;
	h->size = l.end;
	h->rules = IMAGE_RULES;
	memset(l.base, 0, SYM_STRS_HEAD);
	memcpy(l.base, h, sizeof(*h));
	memcpy(l.base + sizeof(*h), l.dir, sizeof(l.dir));
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
