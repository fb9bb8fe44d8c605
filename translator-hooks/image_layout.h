/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_layout.h - the parts of a symbol image -> its bytes.
 */
#ifndef IMAGE_LAYOUT_H
#define IMAGE_LAYOUT_H

#include <stddef.h>

#include "runtime/core/hvar_image_format.h"
#include "runtime/core/hvar_type.h"
#include "sym_table.h"

/*
 * Number of the rules, of naming and else, by which images are built.  Raise it when the same file would
 * give another image: cached ones are then made anew.
 */
#define IMAGE_RULES 10

struct image_parts {
	/* flags, tls, relro, build_id are the caller's; the rest is filled in */
	struct hvar_image_header head;
	struct hvar_image_seg *segs;	     /* by vaddr, disjoint */
	struct hvar_image_section *sections; /* in the image's order; names are numbers of sym_strs */
	struct hvar_image_range *ranges;     /* ascending, disjoint */
	uint32_t n_segs, n_sections, n_ranges;
	struct sym_table *syms;		     /* settled; its strings become the image */
	const struct hvar_image_source *source; /* NULL: not known */
	/* of debug information; names are numbers of sym_strs; NULL where there is none */
	const struct hvar_image_type *types;
	const struct hvar_image_member *members;
	struct hvar_image_var *vars, *tls_vars; /* by symbol */
	uint32_t n_types, n_members, n_vars, n_tls_vars;
	const struct hvar_image_debug *debug;
	struct hvar_image_tls_slot tls_slots[2];
	uint32_t n_tls_slots;
};

/* *@data is malloc'd, *@size bytes.  Returns 0, -ENOMEM, or -EFBIG past 4 GiB of names. */
int image_layout(struct image_parts *p, void **data, size_t *size);

/* Put @src into the image at @data and renew its checksum. */
void image_layout_source(void *data, const struct hvar_image_source *src);

#endif /* IMAGE_LAYOUT_H */
