/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_heap.h - the heap of a process under the Valgrind tool: its sites, and its objects when it is read.
 *
 * What the process says, in messages and in its memfd, is foreign: numbers out of bounds are
 * left out, and no more memory is used than what is there asks for.
 */
#ifndef EXACT_HEAP_H
#define EXACT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/valgrind/hvt_wire.h"
#include "stream.h"

struct exact_heap;

struct exact_heap *exact_heap_new(void);			 /* NULL: no memory */
struct exact_heap *exact_heap_copy(const struct exact_heap *from); /* a child's: the same sites; NULL: no memory */
void exact_heap_free(struct exact_heap *h);

/* Site @number has come up; @maps: of mappings; the @len bytes at @text are its stack.  0, -EINVAL or -ENOMEM. */
int exact_heap_site(struct exact_heap *h, uint64_t number, bool maps, const char *text, size_t len);

/* The stack of site @number, *@len bytes that are the heap's, and is it one of mappings?  NULL: it is not known. */
const char *exact_heap_stack(const struct exact_heap *h, uint64_t number, size_t *len, bool *maps);

/* Thread @tid, whose counts are taken out, has accessed objects of the @n sites at @v.  Likewise. */
int exact_heap_threads(struct exact_heap *h, uint32_t tid, const void *v, size_t n);

/*
 * Read what sites have counted, and which objects there are, out of @memfd; @tids are the threads of its slots.  0 or
 * -errno: not all could be read.
 */
int exact_heap_open(struct exact_heap *h, int memfd, const uint32_t tids[HVT_SLOTS]);

/* After that: counts of @addr.  False: no object is there. */
bool exact_heap_count(struct exact_heap *h, uint32_t tid, uint64_t addr, uint32_t reads, uint32_t writes);

/* Is an object at @addr? */
bool exact_heap_has(struct exact_heap *h, uint64_t addr);

/*
 * In the end: put a record for each site to @out, like @as; *@accesses grows by those that they tell of.  0, or -EINVAL:
 * not all could be put.
 */
int exact_heap_put(struct exact_heap *h, struct stream *out, const struct stream_heap *as, uint64_t *accesses);

#endif /* EXACT_HEAP_H */
