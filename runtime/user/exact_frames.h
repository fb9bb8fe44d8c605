/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_frames.h - what a process under the Valgrind tool has counted of its stacks, out of its memfd (hvt_frame_wire.h).
 *
 * The program itself may have written there: all that is read is bounded, and made sense of only where it has any.
 */
#ifndef EXACT_FRAMES_H
#define EXACT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exact_counts.h"
#include "runtime/valgrind/hvt_frame_wire.h"
#include "stream.h"

/* Where counts of stacks go to: the stream, from threads by their slots; how many accesses that were is added to *accesses. */
struct exact_frames_to {
	struct stream *out; /* NULL: nowhere, nothing is to be counted */
	uint64_t time_ns;
	uint32_t mm, pid;
	const uint32_t *slots;
	uint64_t *accesses;
};

/* A message with @len bytes of counts, from outside.  Returns 0 or -EINVAL. */
int exact_frames_take(struct exact_frames_to to, const struct hvt_message *m, const void *more, size_t len);

/* Put all counts of code places, and of frames that have ended, that are not zero.  Returns 0, or -errno: some could not be read. */
int exact_frames_put(const struct exact_frames_to *to, int memfd);

/*
 * exact_counts_read() of @slot for @fn and @ctx, but what pointers into the frames that its thread is in have accessed, which goes to
 * @to.  Returns 0, or -errno.
 */
int exact_frames_read(const struct exact_frames_to *to, int memfd, uint32_t slot, exact_counts_fn *fn, void *ctx);

#endif /* EXACT_FRAMES_H */
