/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_source.h - the code of a stream's programs: what the stream has of it, then what the modules' files have.
 */
#ifndef CODE_SOURCE_H
#define CODE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "images.h"
#include "runtime/user/estimate.h"

struct code_source;

struct code_source *code_source_new(struct images *images); /* borrowed.  NULL: no memory */
void code_source_free(struct code_source *c);

/* A record of @len bytes, checked by the reader. */
void code_source_put(struct code_source *c, const struct stream_code *r, size_t len);

/* As struct estimate_env has code() and function(). */
size_t code_source_get(struct code_source *c, const struct code_site *at, void *buf, size_t len);
bool code_source_function(struct code_source *c, const struct code_site *at, uint64_t *start, uint64_t *end);

/*
 * The next piece of code that was read from a file and is not in the stream: a record's head into *@head, its *@len bytes, good
 * until the next call.  NULL: there is none.
 */
const void *code_source_fresh(struct code_source *c, struct stream_code *head, size_t *len);

/* Pieces that found no memory, and those beyond what a recording is to carry. */
uint64_t code_source_lost(const struct code_source *c);
uint64_t code_source_lost_fresh(const struct code_source *c);

#endif /* CODE_SOURCE_H */
