/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_sites.h - where objects of the heap were allocated, as rows of a report.
 *
 * Places of one name are one row.  With members apart, so are the offsets in their objects.
 */
#ifndef HEAP_SITES_H
#define HEAP_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/user/stream.h"

struct heap_sites;

/* What is known of a row's objects. */
struct heap_site {
	uint64_t objects, bytes, objects_live, bytes_live;
	uint64_t never_read, never_written;
	uint64_t size_least, size_most; /* of one */
	uint64_t stacks;   /* that have this name */
	uint64_t accesses; /* of the stack that has the most */
	bool mapped;	   /* they are mappings */
	char *text;	   /* its frames, as in struct stream_heap */
	size_t text_len;
};

struct heap_sites *heap_sites_new(void); /* NULL: no memory */
void heap_sites_free(struct heap_sites *s);

/*
 * Take in @h.  The number of its row, above 0, which is the same for all of its name (and, if @mm is not 0, in
 * address space @mm); 0: no memory.
 */
uint32_t heap_sites_take(struct heap_sites *s, const struct stream_heap *h, uint32_t mm);

/* The row of @o in the objects of row @site; likewise. */
uint32_t heap_sites_member(struct heap_sites *s, uint32_t site, const struct stream_heap_offset *o);

/* Row @number: its name; the part of it that it is ("+0x10"), "" for all; its objects. */
const char *heap_sites_name(const struct heap_sites *s, uint32_t number);
const char *heap_sites_part(const struct heap_sites *s, uint32_t number);
const struct heap_site *heap_sites_get(const struct heap_sites *s, uint32_t number);

#endif /* HEAP_SITES_H */
