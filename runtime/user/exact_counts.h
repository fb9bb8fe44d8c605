/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact_counts.h - what a process under the Valgrind tool has counted, out of its memfd.
 */
#ifndef EXACT_COUNTS_H
#define EXACT_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/valgrind/hvt_wire.h"

/* @n counters, which it may change, of the addresses that lie v[i].offset above @start. */
typedef void exact_counts_fn(void *ctx, uint32_t slot, uint64_t start, struct hvt_count *v, size_t n);

/*
 * Give @fn every counter of @slot in @memfd that is not zero, some thousand at a time.  Returns 0, or -errno: some could not be read.
 */
int exact_counts_read(int memfd, uint32_t slot, exact_counts_fn *fn, void *ctx);

#endif /* EXACT_COUNTS_H */
