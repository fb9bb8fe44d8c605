// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * keys.c - what memory a place of a recording is.
 */
#include "config.h"

#include "keys.h"

struct hvar_key keys_of_place(const struct images *images, const struct hvar_place *p, const struct hvar_event *ev)
{
	bool copied = p->kind == HVAR_KIND_RELRO || (ev->type == HVAR_EVENT_ACCESS && ev->u.access.flags & HVAR_ACCESS_WRITE);
	uint64_t at = p->vma.start;

	if (p->symbol != HVAR_IMAGE_NONE && p->flags & HVAR_PLACE_VADDR)
		at = p->vaddr - p->offset + p->bias;
	return hvar_key_of(&p->vma, images_facts(images, p->vma.module), ev->mm, at,
			   copied ? HVAR_PAGE_COPIED : HVAR_PAGE_UNKNOWN);
}
