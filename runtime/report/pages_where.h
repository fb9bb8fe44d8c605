/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages_where.h - what lies in a region and on a page: module, kind, sections, symbols.
 */
#ifndef PAGES_WHERE_H
#define PAGES_WHERE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/core/hvar_image.h"
#include "runtime/core/hvar_vmas.h"
#include "runtime/user/live.h"

struct pages_where {
	uint32_t kind;	   /* enum hvar_kind: that of the section that fills most of it */
	uint32_t module;   /* 0: none */
	const char *path;  /* of it, or of what is mapped; "" if there is none; of @l, until its next look */
	bool deleted;
	bool code;	   /* it may be executed */
};

/*
 * Regions are asked for one after the other, by address.  Anonymous memory far from any loaded file
 * is nobody's: what is known of the nearest files spares looking for them again and again.
 */
struct pages_walk {
	uint64_t below_end;   /* the loaded file below ends there */
	uint64_t above_start; /* that above begins there, as it is linked, before its first area maybe */
	uint64_t above_at;    /* its first area; both hold below this */
};
#define PAGES_WALK_BEGIN { .below_end = UINT64_MAX }

/* Region @v of @l. */
void pages_where(struct live *l, struct pages_walk *walk, const struct hvar_vma *v, struct pages_where *out);

/* Is @name the path of @w's module, or the last part of it? */
bool pages_where_is(const struct pages_where *w, const char *name);

/* Sections and symbols of one page, one after the other. */
struct pages_names {
	const struct hvar_image *img; /* NULL: none */
	uint64_t vaddr, end;	      /* of the page */
	uint32_t section, extent;     /* the next */
	uint32_t first;		      /* extent of the page */
};

/* What @l has at the page @addr; nothing for [vdso], whose names are in the process's memory alone. */
void pages_names_begin(struct pages_names *n, struct live *l, uint64_t addr);
/* The next section's name; NULL: no more. */
const char *pages_names_section(struct pages_names *n);
/* The next symbol that has a byte in the page, in the order of addresses; HVAR_IMAGE_NONE: no more. */
uint32_t pages_names_symbol(struct pages_names *n);

#endif /* PAGES_WHERE_H */
