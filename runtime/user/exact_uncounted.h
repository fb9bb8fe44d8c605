/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_uncounted.h - what could not be counted under the Valgrind tool, and why: for the report's note.
 */
#ifndef EXACT_UNCOUNTED_H
#define EXACT_UNCOUNTED_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/valgrind/hvt_wire.h"
#include "session.h"

struct exact_uncounted {
	uint64_t n[HVT_UNCOUNTED_WHATS];    /* by enum hvt_uncounted */
	char path[HVT_UNCOUNTED_WHATS][128]; /* of the first one, its end */
};

/* An HVT_UNCOUNTED, from outside, with @len bytes of @text.  Returns 0 or -EINVAL. */
int exact_uncounted_take(struct exact_uncounted *u, const struct hvt_message *m, const char *text, size_t len);

/* Say it in @s's note. */
void exact_uncounted_note(const struct exact_uncounted *u, struct session *s);

#endif /* EXACT_UNCOUNTED_H */
