/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_calls.h - which code of a process under the Valgrind tool did which accesses, with --callers.
 *
 * Sites are numbers of the process's; callers, of one function and line each, are numbers of the recording's.
 */
#ifndef EXACT_CALLS_H
#define EXACT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/valgrind/hvt_wire.h"
#include "stream.h"

struct exact_callers; /* of all processes */
struct exact_calls;   /* of one */

struct exact_callers *exact_callers_new(void); /* NULL: no memory */
void exact_callers_free(struct exact_callers *c);

/* That of a new process, or of a child of the one that has @from.  NULL: no memory. */
struct exact_calls *exact_calls_new(const struct exact_calls *from);
void exact_calls_free(struct exact_calls *c);

/* An HVT_CALLER, from outside, with @len bytes of @text.  Returns 0, -EINVAL or -ENOMEM. */
int exact_calls_site(struct exact_calls *c, struct exact_callers *all, struct stream *out, const struct hvt_message *m,
		     const char *text, size_t len);

/* The caller of site @site and what it does (HVAR_ACCESS_READ, _WRITE); false: it has not been told. */
bool exact_calls_of(const struct exact_calls *c, uint32_t site, uint32_t *caller, uint32_t *flags);

/* Of what is in this memory nothing is to be told. */
typedef bool exact_calls_skip_fn(void *ctx, uint64_t addr);

/* An HVT_CALLED with @len bytes at @v, for the time and numbers of @as: to @out.  Returns 0 or -EINVAL. */
int exact_calls_take(struct exact_calls *c, struct stream *out, const void *v, size_t len, const struct stream_calls *as);

/* What is left in @memfd.  Returns 0 or -errno: not all could be read. */
int exact_calls_harvest(struct exact_calls *c, struct stream *out, int memfd, const struct stream_calls *as,
			exact_calls_skip_fn *skip, void *ctx);

#endif /* EXACT_CALLS_H */
