// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lines_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_resolve.h"
#include "said.h"
#include "tls_seen.h"
#include "translator-hooks/image_member.h"
#include "translator-hooks/image_name.h"

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

void lines_names_free(struct line *line)
{
	uint32_t i;

	for (i = 0; i < line->n_names; i++) {
		free(line->names[i].name);
		free(line->names[i].path);
	}
	free(line->names);
}
