/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_ring_pages.h - how large rings are to be.
 */
#ifndef PERF_RING_PAGES_H
#define PERF_RING_PAGES_H

#include <stddef.h>

#include "perf_ring.h"

/* Pages of data of the ring of each of @cpus CPUs for what @o asks for: a power of 2. */
size_t perf_ring_pages(const struct perf_rings_options *o, size_t cpus);

#endif /* PERF_RING_PAGES_H */
