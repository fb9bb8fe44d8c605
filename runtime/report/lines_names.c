// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lines_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap_names.h"
#include "runtime/core/hvar_resolve.h"
#include "said.h"
#include "tls_seen.h"
#include "translator-hooks/image_member.h"
#include "translator-hooks/image_name.h"

enum { FRAMES = 24 };

/* One byte's place, its image, and the members that have it. */
struct byte {
	struct hvar_place place;
	const struct hvar_image *img;
	uint32_t said; /* the name that the program gave it */
	struct image_member member;
};

static void look(struct byte *b, struct images *images, struct variables *variables, const struct hvar_vmas *vmas,
		 const struct hvar_event *ev, uint64_t addr)
{
	uint64_t until = UINT64_MAX;
	const struct tls_block *block;
	uint32_t why;

	hvar_resolve(vmas, addr, images_of, images, &b->place);
	b->said = said_name_at(variables_said(variables), ev->mm, addr, &until);
	if (!b->place.module && b->place.symbol == HVAR_IMAGE_NONE &&
	    (b->place.vma.region == HVAR_REGION_ANON || b->place.vma.region == HVAR_REGION_HEAP)) {
		block = tls_seen_find(variables_tls_seen(variables), images, ev, vmas, addr, images_live(images));
		b->img = block ? images_of(images, block->module, &why) : NULL;
		if (b->img)
			tls_of_thread_place(block, addr, b->img, &b->place);
	}
	b->img = b->place.module ? images_of(images, b->place.module, &why) : NULL;
	b->member.path[0] = '\0';
	b->member.var = NULL;
	if (b->img && b->place.symbol != HVAR_IMAGE_NONE)
		image_member(b->img, b->place.symbol, b->place.flags & HVAR_PLACE_TLS, b->place.offset, &b->member);
}

/* Are two neighbours of one piece? */
static bool same(const struct byte *a, const struct byte *b)
{
	if (a->said || b->said)
		return a->said == b->said;
	return a->place.module == b->place.module && a->place.symbol == b->place.symbol && a->place.section == b->place.section &&
	       a->place.kind == b->place.kind && (a->place.flags & HVAR_PLACE_TLS) == (b->place.flags & HVAR_PLACE_TLS) &&
	       !strcmp(a->member.path, b->member.path);
}

/* Is it of one piece, as far as debug information tells? */
static bool is_scalar(const struct byte *b)
{
	return b->member.var && b->img->types[b->member.walk.type].kind == HVAR_TYPE_SCALAR;
}

static char *name_of(const struct byte *b, struct images *images, struct variables *variables)
{
	bool tls = b->place.flags & HVAR_PLACE_TLS;
	char *symbol, *name;

	if (b->said)
		return asprintf(&name, "region:%s", said_text(variables_said(variables), b->said)) < 0 ? NULL : name;
	if (!b->img || b->place.symbol == HVAR_IMAGE_NONE)
		return image_place_name(&b->place, b->img, images_path(images, b->place.module), false);
	symbol = tls ? image_name_tls(b->img, b->place.symbol) : image_name(b->img, b->place.symbol);
	if (!symbol || !*b->member.path)
		return symbol;
	if (asprintf(&name, "%s%s", symbol, b->member.path) < 0)
		name = NULL;
	free(symbol);
	return name;
}

static bool add(struct line *line, unsigned at, const struct byte *b, struct images *images, struct variables *variables)
{
	struct line_name *n = &line->names[line->n_names];
	bool symbol = b->img && b->place.symbol != HVAR_IMAGE_NONE && !b->said;

	*n = (struct line_name){
		.start = (uint8_t)at,
		.end = (uint8_t)(at + 1),
		.member = symbol && is_scalar(b),
		.kind = b->place.kind,
		.module = b->place.module,
		.symbol = symbol ? b->place.symbol : HVAR_IMAGE_NONE,
		.offset = symbol ? b->place.offset : 0,
		.size = symbol ? b->place.size : 0,
		.name = name_of(b, images, variables),
		.path = strdup(symbol ? b->member.path : ""),
	};
	if (!n->name || !n->path) {
		free(n->name);
		free(n->path);
		return false;
	}
	line->n_names++;
	return true;
}

void lines_names_make(struct line *line, uint64_t addr, struct images *images, struct variables *variables, const struct hvar_vmas *vmas,
		      const struct hvar_event *ev)
{
	struct byte *now = malloc(2 * sizeof(*now)), *before = now ? now + 1 : NULL, *swap, *both = now;
	bool any = false;
	unsigned i;

	line->names = calloc(LINES_SIZE, sizeof(*line->names));
	for (i = 0; line->names && now && i < LINES_SIZE; i++) {
		look(now, images, variables, vmas, ev, addr + i);
		if (any && same(before, now))
			line->names[line->n_names - 1].end++;
		else if (!add(line, i, now, images, variables))
			break;
		any = true;
		swap = before;
		before = now;
		now = swap;
	}
	free(both);
}

/* ---- objects of the heap ---- */

/* The names from @keep on are moved up by one, so that name @keep is free.  False: there are as many as bytes. */
static bool make_room(struct line *line, uint32_t keep)
{
	if (line->n_names == LINES_SIZE)
		return false;
	memmove(&line->names[keep + 1], &line->names[keep], (line->n_names - keep) * sizeof(*line->names));
	line->n_names++;
	return true;
}

/* Split name @i at byte @at, which is in it.  False: there is no room. */
static bool split(struct line *line, uint32_t i, uint8_t at)
{
	char *name = strdup(line->names[i].name), *path = strdup(line->names[i].path);

	if (!name || !path || !make_room(line, i + 1)) {
		free(name);
		free(path);
		return false;
	}
	line->names[i + 1] = line->names[i];
	line->names[i + 1].name = name;
	line->names[i + 1].path = path;
	line->names[i + 1].start = at;
	line->names[i + 1].offset += line->names[i].object ? (uint64_t)(at - line->names[i].start) : 0;
	line->names[i].end = at;
	return true;
}

/* Bytes [@start, @end) of what no name covers are @name, @offset into it. */
static void put_object(struct line *line, uint8_t start, uint8_t end, const char *name, uint64_t offset, uint64_t size)
{
	uint32_t i;

	for (i = 0; i < line->n_names && line->names[i].start < end; i++) {
		struct line_name *n = &line->names[i];
		char *copy;

		if (n->end <= start || n->object || n->symbol != HVAR_IMAGE_NONE || n->module)
			continue;
		if (n->start < start) { /* what is from there on is next */
			if (!split(line, i, start))
				return;
			continue;
		}
		if (n->end > end && !split(line, i, end))
			return;
		n = &line->names[i];
		copy = strdup(name);
		if (!copy)
			return;
		free(n->name);
		n->name = copy;
		n->object = true;
		n->offset = offset + (uint64_t)(n->start - start);
		n->size = size;
	}
}

void lines_names_objects(struct line *line, const struct stream_line *r)
{
	const struct stream_line_part *p = (const struct stream_line_part *)(r + 1);
	const struct stream_line_site *s = (const struct stream_line_site *)(p + r->n_parts);
	const char *text = (const char *)(s + r->n_sites);
	struct heap_frame frames[FRAMES];
	uint32_t i;

	for (i = 0; i < r->n_parts; text += p[i++].heap_len) {
		uint64_t start = p[i].object, end = p[i].object + p[i].object_size, last = r->addr + LINES_SIZE;
		size_t n;
		char *name;

		if (!p[i].object_size || !p[i].heap_len || end <= r->addr || start >= last)
			continue;
		n = heap_names_frames(text, p[i].heap_len, frames, FRAMES);
		name = heap_names_make(frames, n, p[i].mapped);
		if (!name)
			continue;
		if (start < r->addr)
			start = r->addr;
		if (end > last)
			end = last;
		put_object(line, (uint8_t)(start - r->addr), (uint8_t)(end - r->addr), name, start - p[i].object, p[i].object_size);
		free(name);
	}
}

void lines_names_free(struct line *line)
{
	uint32_t i;

	for (i = 0; i < line->n_names; i++) {
		free(line->names[i].name);
		free(line->names[i].path);
	}
	free(line->names);
}
