// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "code_source.h"

#include <stdlib.h>

#include "codes.h"
#include "runtime/core/hvar_image.h"
#include "runtime/user/grow.h"

enum { PAGE = HVAR_PAGE_SIZE, NEEDED_MAX = 1 << 16 };

/* A page of a module's file that the stream does not have. */
struct needed_code {
	uint64_t where;
	uint32_t module;
	uint32_t len;
};

struct code_source {
	struct images *images;
	struct codes *codes;	  /* the stream's */
	struct codes *file_codes; /* read from the modules' files */
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

/* Note that the stream lacks the @len bytes at @where of @module's file. */
static void need_code(struct code_source *c, uint32_t module, uint64_t where, uint32_t len)
{
	if (c->n_needed >= NEEDED_MAX) {
		c->lost_fresh++;
		return;
	}
	if (grow_array((void **)&c->needed, &c->cap_needed, c->n_needed + 1, sizeof(*c->needed))) {
		c->lost++;
		return;
	}
	c->needed[c->n_needed++] = (struct needed_code){ where, module, len };
}

size_t code_source_get(struct code_source *c, const struct code_site *at, void *buf, size_t len)
{
	uint8_t *to = buf;
	size_t n = 0, got;

	while (n < len) {
		uint64_t where = at->where + n, start = where & ~(uint64_t)(PAGE - 1);

		got = codes_get(c->codes, at->module, at->mm, where, to + n, len - n);
		n += got;
		if (got)
			continue;
		if (!at->module)
			break;
		/* Not past this page: in the next one the stream comes first again. */
		got = PAGE - (where - start);
		got = codes_get(c->file_codes, at->module, 0, where, to + n,
				got < len - n ? got : len - n);
		n += got;
		if (got)
			continue;
		got = images_read(c->images, at->module, start, c->page, PAGE);
		if (got <= where - start ||
		    codes_put(c->file_codes, at->module, 0, start, c->page, got))
			break;
		need_code(c, at->module, start, (uint32_t)got);
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

		if (codes_get(c->file_codes, n->module, 0, n->where, c->page, n->len) != n->len)
			continue;
		*head = (struct stream_code){ .module = n->module, .where = n->where };
		*len = n->len;
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
	free(c->needed);
	free(c);
}
