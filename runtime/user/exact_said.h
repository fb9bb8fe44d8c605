/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_said.h - what a process under the Valgrind tool has said of itself: is it to be counted, and which memory has names.
 */
#ifndef EXACT_SAID_H
#define EXACT_SAID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/valgrind/hvt_wire.h"
#include "stream.h"

struct exact_said;

/* That of a new process, or of a child of the one that has said @from.  NULL: no memory. */
struct exact_said *exact_said_new(const struct exact_said *from);
void exact_said_free(struct exact_said *s);

/*
 * HVT_NAME, HVT_PHASE or HVT_COUNTING, from outside, with @len bytes of @text: to @out, with the time and numbers that
 * @as has.  Returns 0, -EINVAL or -ENOMEM.
 */
int exact_said_take(struct exact_said *s, struct stream *out, const struct hvt_message *m, const char *text, size_t len,
		    const struct stream_name *as);

/* [@start, @end) is unmapped. */
void exact_said_unmapped(struct exact_said *s, uint64_t start, uint64_t end);

/* Is what is in the counters not to be counted?  Has @addr a name? */
bool exact_said_stopped(const struct exact_said *s);
bool exact_said_named(const struct exact_said *s, uint64_t addr);

#endif /* EXACT_SAID_H */
