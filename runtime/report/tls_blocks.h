/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tls_blocks.h - how far below the thread pointer a loaded file's thread-local block is, in each process.
 *
 *	library's block          program's block      thread pointer
 *	[....................]...[................]--|
 *	|<------------- distance ---------------->|
 *
 * The program's own distance follows from its file (the ABI's "variant II").  A library's is what the dynamic linker has
 * written into the library's memory (tls_slots.h), and is read there while the process lives: from when the library is
 * mapped on, with each record of the stream until it is found, since the process may be gone when the first sample of
 * the library's code comes.  It is the same for all threads, and stays.  What was loaded later may have blocks anywhere: it has no distance.
 */
#ifndef TLS_BLOCKS_H
#define TLS_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "images.h"
#include "runtime/core/hvar_resolve.h"
#include "spaces.h"

struct tls_blocks;

struct tls_blocks *tls_blocks_new(void); /* NULL: no memory */
void tls_blocks_free(struct tls_blocks *t);

/* Event @ev, of a mapping, of a process that lives: the distance of the library is wanted, for when it is asked for. */
void tls_blocks_mapped(struct tls_blocks *t, const struct images *images, const struct hvar_event *ev);
/* A fork: the child's memory is a copy, so what was found in its parent is true of it too. */
void tls_blocks_fork(struct tls_blocks *t, uint32_t mm, uint32_t child_mm);
/* Read those that are wanted and can be had now; cheap if there is nothing to do yet.  Called with each record. */
void tls_blocks_poll(struct tls_blocks *t, struct images *images, const struct spaces *spaces);
/* Can the distance of the library with @img be known at all, given that its memory is read in time? */
bool tls_blocks_readable(const struct hvar_image *img);

/*
 * That of module @id, whose image is @img, in the process of @ev, whose areas @vmas are (NULL: it does not live, what is
 * not known already is not to be had).  What was found is kept, also that there was nothing to be found.
 */
bool tls_blocks_library(struct tls_blocks *t, struct images *images, const struct hvar_event *ev,
			const struct hvar_vmas *vmas, uint32_t id, const struct hvar_image *img, uint64_t *out);

/* One that was found in a process since the last call, for a recording to carry; false: none. */
struct tls_distance {
	uint32_t mm, module;
	uint64_t distance;
};
bool tls_blocks_fresh(struct tls_blocks *t, struct tls_distance *out);
/* A recording has it. */
void tls_blocks_told(struct tls_blocks *t, const struct tls_distance *d);

#endif /* TLS_BLOCKS_H */
