// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "code_source.h"

#include <stdlib.h>

#include "codes.h"
#include "runtime/core/hvar_image.h"
#include "runtime/user/grow.h"
#include "runtime/user/page_set.h"

enum {
	PAGE = HVAR_PAGE_SIZE,
	NEEDED_MAX = 1 << 16,
	MUCH = 4 * PAGE,   /* of this only what is asked for is read, and not kept: somebody looks through it */
	OFFSET_BITS = 44,  /* of files */
};

/* A page of a module's file that the stream does not have. */
struct needed_code {
	uint64_t where;
	uint32_t module;
};

struct code_source {
	struct images *images;
	struct codes *codes;	  /* the stream's */
	struct codes *file_codes; /* read from the modules' files */
	struct page_set is_needed; /* by module and offset */
	struct needed_code *needed;
	size_t n_needed, cap_needed, next_needed;
	uint64_t lost, lost_fresh;
	uint8_t page[PAGE];
};

void code_source_put(struct code_source *c, const struct stream_code *r, size_t len)
{
	uint32_t module = images_canon(c->images, r->module);

	if (codes_put(c->codes, module, module ? 0 : r->mm, r->where, r->bytes, len - sizeof(*r)))
		c->lost++;
}

/* Note that the stream lacks the page at @where of @module's file. */
static void need_code(struct code_source *c, uint32_t module, uint64_t where)
{
	uint64_t key = (uint64_t)module << OFFSET_BITS | where;

	if (page_set_has(&c->is_needed, key))
		return;
	if (c->n_needed >= NEEDED_MAX) {
		c->lost_fresh++;
		return;
	}
	if (page_set_add(&c->is_needed, key) ||
	    grow_array((void **)&c->needed, &c->cap_needed, c->n_needed + 1, sizeof(*c->needed))) {
		c->lost++;
		return;
	}
	c->needed[c->n_needed++] = (struct needed_code){ where, module };
}

/* Of the page that @at lies in: at most @len bytes of what it has from there on. */
static size_t get_page(struct code_source *c, const struct code_site *at, void *to, size_t len)
{
	uint64_t start = at->where & ~(uint64_t)(PAGE - 1);
	size_t left = PAGE - (at->where - start), got;

	len = left < len ? left : len;
	got = codes_get(c->file_codes, at->module, 0, at->where, to, len);
	if (got)
		return got;
	got = images_read(c->images, at->module, start, c->page, PAGE);
	if (got <= at->where - start || codes_put(c->file_codes, at->module, 0, start, c->page, got))
		return 0;
	need_code(c, at->module, start);
	return codes_get(c->file_codes, at->module, 0, at->where, to, len);
}

/* The same of all the pages until there is one that the stream has. */
static size_t get_pages(struct code_source *c, const struct code_site *at, uint8_t *to, size_t len)
{
	uint64_t start = at->where & ~(uint64_t)(PAGE - 1), end = start + PAGE;
	size_t got;

	while (end - at->where < len && !codes_get(c->codes, at->module, at->mm, end, to, 1))
		end += PAGE;
	got = images_read(c->images, at->module, at->where, to, end - at->where < len ? end - at->where : len);
	for (; start < at->where + got; start += PAGE)
		need_code(c, at->module, start);
	return got;
}

size_t code_source_get(struct code_source *c, const struct code_site *at, void *buf, size_t len)
{
	uint8_t *to = buf;
	size_t n = 0, got;

	while (n < len) {
		struct code_site here = { at->module, at->mm, at->where + n };

		got = codes_get(c->codes, here.module, here.mm, here.where, to + n, len - n);
		n += got;
		if (got)
			continue;
		if (!here.module || here.where >> OFFSET_BITS)
			break;
		/* Not past the end of a page that the stream has a part of: in the next one it comes first again. */
		got = len - n < MUCH ? get_page(c, &here, to + n, len - n) : get_pages(c, &here, to + n, len - n);
		n += got;
		if (!got)
			break;
	}
	return n;
}

/* The executable segment whose file range holds @offset. */
static const struct hvar_image_seg *code_segment(const struct hvar_image *img, uint64_t offset)
{
	uint32_t i;

	for (i = 0; i < img->n_segs; i++) {
		const struct hvar_image_seg *s = &img->segs[i];

		if ((s->prot & HVAR_PROT_EXEC) && offset >= s->offset &&
		    offset - s->offset < s->filesz)
			return s;
	}
	return NULL;
}

bool code_source_function(struct code_source *c, const struct code_site *at, uint64_t *start, uint64_t *end)
{
	const struct hvar_image *img;
	const struct hvar_image_seg *seg;
	uint64_t first, last;

	if (!at->module)
		return false;
	img = images_code_of(c->images, at->module);
	seg = img ? code_segment(img, at->where) : NULL;
	if (!seg || !hvar_image_function(img, at->where - seg->offset + seg->vaddr, &first, &last) ||
	    first < seg->vaddr)
		return false;
	last -= seg->vaddr;
	*start = first - seg->vaddr + seg->offset;
	*end = (last < seg->filesz ? last : seg->filesz) + seg->offset;
	return *start < *end;
}

const void *code_source_fresh(struct code_source *c, struct stream_code *head, size_t *len)
{
	while (c->next_needed < c->n_needed) {
		const struct needed_code *n = &c->needed[c->next_needed++];

		*len = images_read(c->images, n->module, n->where, c->page, PAGE);
		*head = (struct stream_code){ .module = n->module, .where = n->where };
		if (*len)
			return c->page;
	}
	return NULL;
}

uint64_t code_source_lost(const struct code_source *c)
{
	return c->lost;
}

uint64_t code_source_lost_fresh(const struct code_source *c)
{
	return c->lost_fresh;
}

struct code_source *code_source_new(struct images *images)
{
	struct code_source *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->images = images;
	c->codes = codes_new();
	c->file_codes = codes_new();
	if (!c->codes || !c->file_codes) {
		code_source_free(c);
		return NULL;
	}
	return c;
}

void code_source_free(struct code_source *c)
{
	if (!c)
		return;
	codes_free(c->codes);
	codes_free(c->file_codes);
	page_set_fini(&c->is_needed);
	free(c->needed);
	free(c);
}
