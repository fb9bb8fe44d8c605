// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "tls_place.h"

#include "runtime/user/tls_of_thread.h"
#include "translator-hooks/tls_slots.h"

/*
 * The program's own block is next to the thread pointer, below it (the ABI's "variant II"), and its code alone has
 * distances in it as numbers ("local exec"): no library's does, since its place is not known when it is linked.
 */
void tls_place(const struct tls_place_of *of, const struct hvar_vmas *vmas, const struct hvar_event *ev, uint32_t module,
	       bool fixed, uint64_t offset, struct hvar_place *p)
{
	const struct hvar_image *img;
	const struct tls_block *b;
	uint64_t distance, addr;
	uint32_t why;

	module = images_canon(of->images, module);
	img = module ? images_of(of->images, module, &why) : NULL;
	if (!img)
		return;
	if (fixed || img->flags & HVAR_IMAGE_PROGRAM) {
		distance = tls_layout_distance(img->tls.memsz, img->tls.vaddr, img->tls.align);
		if (!distance)
			return;
	} else if (!tls_blocks_library(of->tls, of->images, ev, vmas, module, img, &distance)) {
		/* loaded later, its code may still go by the thread pointer (TLS descriptors) */
		b = img->tls.memsz ? tls_seen_relative(of->seen, of->images, ev, vmas, module, offset, vmas, &addr) : NULL;
		if (b)
			tls_of_thread_place(b, addr, img, p);
		else if (tls_blocks_readable(img)) /* but not in time */
			p->reason = HVAR_REASON_NO_ACCESS;
		return;
	}
	offset += distance;
	if (offset >= img->tls.memsz)
		return;
	p->module = module;
	p->flags = HVAR_PLACE_TLS;
	p->symbol = hvar_image_find_tls(img, offset);
	p->reason = img->flags & HVAR_IMAGE_STRIPPED ? HVAR_REASON_STRIPPED : HVAR_REASON_NO_SYMBOL;
	if (p->symbol == HVAR_IMAGE_NONE)
		return;
	p->reason = HVAR_REASON_NONE;
	p->offset = offset - img->tls_syms[p->symbol].vaddr;
	p->size = img->tls_syms[p->symbol].size;
}
