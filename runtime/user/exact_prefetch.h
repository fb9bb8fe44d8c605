/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_prefetch.h - what prefetch instructions of a process under the Valgrind tool have asked for, with --prefetches.
 */
#ifndef EXACT_PREFETCH_H
#define EXACT_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#include "exact_heap.h"
#include "runtime/valgrind/hvt_wire.h"
#include "stream.h"

struct exact_prefetch; /* of one process */

/* That of a new process, or of a child of the one that has @from.  NULL: no memory. */
struct exact_prefetch *exact_prefetch_new(const struct exact_prefetch *from);
void exact_prefetch_free(struct exact_prefetch *p);

/* An HVT_PREFETCH, from outside, with @len bytes of @text.  Returns 0, -EINVAL or -ENOMEM. */
int exact_prefetch_site(struct exact_prefetch *p, const struct hvt_message *m, const char *text, size_t len);

/* An HVT_PREFETCH_SEEN with @len bytes at @v: to @out, like @as; @heap has the objects' sites.  Likewise. */
int exact_prefetch_seen(struct exact_prefetch *p, struct stream *out, const struct hvt_message *m, const void *v, size_t len,
			struct exact_heap *heap, const struct stream_prefetch *as);

/* In the end, what is counted in @memfd, likewise.  0, or -errno: not all could be read. */
int exact_prefetch_harvest(const struct exact_prefetch *p, struct stream *out, int memfd, const struct stream_prefetch *as);

#endif /* EXACT_PREFETCH_H */
