/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * images.h - the modules a stream names, each with its facts, its file and its symbol image.
 *
 * An image comes from the recording itself, else from the very file that was
 * mapped, else from the cache by build-id.  A file at the right path that is not the one that was mapped
 * is never used.
 *
 * Numbers are the stream's.  The same file may have several (two paths, a fact
 * learned late); images_canon() gives the one that counts are kept under.
 */
#ifndef IMAGES_H
#define IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_image.h"
#include "runtime/core/hvar_module.h"
#include "runtime/user/stream.h"

struct images;
struct tls_layout;

/*
 * @live: the processes of the stream are on this machine now, so files are opened as
 * soon as they are mapped, through /proc/PID where that is allowed.
 */
struct images *images_new(bool live); /* NULL: no memory */
void images_free(struct images *s);
bool images_live(const struct images *s);

/* Take in a record, checked by the reader already. */
void images_module(struct images *s, const struct stream_module *m);
void images_image(struct images *s, const struct stream_image *im, size_t len);
/* A map event: while the process is there its file can be opened. */
void images_mapped(struct images *s, const struct hvar_event *ev);

/* An hvar_image_of_fn, @ctx being the struct images; stays good until images_free(). */
const struct hvar_image *images_of(void *ctx, uint32_t id, uint32_t *why);

/*
 * The image whose functions are those of the module's code, or NULL: of a file that was
 * changed after it was mapped it is the file's as it is now, since pages nobody has written to
 * are the file.  Its names are not the module's.
 */
const struct hvar_image *images_code_of(struct images *s, uint32_t id);

/*
 * Where module @id's own thread-local block is told in a process that has it mapped, from its file if that was opened
 * when it was mapped.  Cheaper than its image, and nothing that a recording carries.  *@none: never will be any.
 */
const struct tls_layout *images_tls_layout(struct images *s, uint32_t id, bool *none);

uint32_t images_canon(const struct images *s, uint32_t id);
/* Facts and path of module @id; NULL, "" for a number that no record named. */
const struct hvar_module *images_facts(const struct images *s, uint32_t id);
const char *images_path(const struct images *s, uint32_t id);
/* Had the file no name any more when it was last seen? */
bool images_deleted(const struct images *s, uint32_t id);

/* Up to @n bytes at @offset of the module's file, if it is at hand and the right one. */
size_t images_read(struct images *s, uint32_t id, uint64_t offset, void *buf, size_t n);

/* The descriptor of the module's file, borrowed, if it is at hand and surely the one that was mapped; -1. */
int images_file(struct images *s, uint32_t id);

/*
 * The next image that was opened since the last call and is not from the stream
 * itself: its bytes, for a recording to carry.  False if there is none.
 */
bool images_fresh(struct images *s, uint32_t *id, const void **data, size_t *size);

/* Modules whose image could not be had though it was asked for: how many, and why @i-th. */
size_t images_failed(const struct images *s);
const char *images_failure(const struct images *s, size_t i);

/* One more: of module @id something is not known, as @text says. */
void images_fail(struct images *s, uint32_t id, const char *text);

/* Records that found no memory. */
uint64_t images_lost(const struct images *s);

#endif /* IMAGES_H */
