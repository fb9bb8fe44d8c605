// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_image.c - any bytes as a symbol image: refused, or every look-up stays inside.
 *
 * The checksum is made good first, or nothing would get past it.  The first byte
 * says whether: odd ones are left as they are.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_image_format.h"
#include "runtime/core/hvar_resolve.h"
#include "runtime/core/hvar_type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct hvar_image *img, uint64_t vaddr)
{
	uint32_t i = hvar_image_find(img, vaddr), n;
	uint64_t start, end;
	struct hvar_place p;

	if (i != HVAR_IMAGE_NONE) {
		const struct hvar_image_sym *y = &img->syms[i];

		if (i >= img->n_syms || vaddr - y->vaddr >= y->size + !y->size)
			abort();
		n = hvar_image_aliases(img, i);
		if (!n || n > img->n_syms - i)
			abort();
		if (strlen(hvar_image_str(img, y->name)) >= img->size ||
		    strlen(hvar_image_str(img, y->file)) >= img->size)
			abort();
	}
	i = hvar_image_find_tls(img, vaddr);
	if (i != HVAR_IMAGE_NONE && i >= img->n_tls_syms)
		abort();
	i = hvar_image_section(img, vaddr);
	if (i != HVAR_IMAGE_NONE && vaddr - img->sections[i].vaddr >= img->sections[i].size)
		abort();
	/* the end may be 2^64 */
	if (hvar_image_function(img, vaddr, &start, &end) && (vaddr < start || vaddr > end - 1))
		abort();
	hvar_resolve_static(img, vaddr, &p);
	if (p.symbol != HVAR_IMAGE_NONE && p.reason != HVAR_REASON_NONE)
		abort();
}

/* Every way into @type at @offset ends, inside. */
static void walk(const struct hvar_image *img, uint32_t type, uint64_t offset)
{
	struct hvar_type_walk w;
	char text[32];
	unsigned left = 50;

	hvar_type_first(img, type, offset, &w);
	do {
		uint32_t n = hvar_type_text(img, &w, text, sizeof(text));

		if (w.type >= img->n_types || strlen(text) != (n < sizeof(text) ? n : sizeof(text) - 1))
			abort();
		if (w.leaf && img->types[w.type].kind != HVAR_TYPE_SCALAR)
			abort();
	} while (hvar_type_next(img, &w) && --left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hvar_image img;
	struct hvar_image_header *h;
	uint8_t *copy;
	uint32_t i;

	if (!size)
		return 0;
	copy = malloc(size - 1 ? size - 1 : 1); /* exactly as large as promised, and aligned */
	memcpy(copy, data + 1, size - 1);
	h = (void *)copy;
	if (size - 1 >= sizeof(*h) && !(data[0] & 1)) {
		h->size = size - 1;
		h->checksum = hvar_image_checksum(copy, size - 1);
	}
	if (!hvar_image_open(&img, copy, size - 1)) {
		look(&img, 0);
		look(&img, UINT64_MAX);
		for (i = 0; i < img.n_syms; i++) {
			look(&img, img.syms[i].vaddr);
			look(&img, img.syms[i].vaddr - 1);
			look(&img, img.syms[i].vaddr + img.syms[i].size);
		}
		for (i = 0; i < img.n_extents; i++)
			look(&img, img.starts[i]);
		for (i = 0; i < img.n_ranges; i++) {
			look(&img, img.ranges[i].start);
			look(&img, img.ranges[i].end);
		}
		for (i = 0; i < img.n_segs; i++)
			look(&img, img.segs[i].vaddr);
		for (i = 0; i < img.n_types && i < 64; i++) {
			walk(&img, i, 0);
			walk(&img, i, img.types[i].size / 2);
			walk(&img, i, img.types[i].size - 1);
			walk(&img, i, UINT64_MAX);
		}
		for (i = 0; i < img.n_members && img.n_types && i < 64; i++)
			walk(&img, img.n_types - 1, img.members[i].offset);
		for (i = 0; i < img.n_vars; i++) {
			const struct hvar_image_var *v = hvar_type_var(&img, img.vars[i].symbol, false);

			if (v != &img.vars[i] || strlen(hvar_image_str(&img, v->file)) >= img.size)
				abort();
		}
	}
	free(copy);
	return 0;
}
