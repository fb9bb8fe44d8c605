// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_counts.h"

#include <errno.h>
#include <unistd.h>

#include "exact_memfd.h"

enum {
	RUN = 512, /* counters read at a time */
	STEP = sizeof(struct hvt_pair),
};

struct batch {
	uint32_t slot;
	uint64_t start;
	size_t n;
	struct hvt_count v[HVT_COUNTS_MAX];
	exact_counts_fn *fn;
	void *ctx;
};

static void give(struct batch *b)
{
	if (b->n)
		b->fn(b->ctx, b->slot, b->start, b->v, b->n);
	b->n = 0;
}

static void take(struct batch *b, uint64_t addr, const struct hvt_pair *v)
{
	if (!v->reads && !v->writes)
		return;
	if (b->n == HVT_COUNTS_MAX || (b->n && (addr < b->start || addr - b->start > UINT32_MAX)))
		give(b);
	if (!b->n)
		b->start = addr;
	b->v[b->n++] = (struct hvt_count){ (uint32_t)(addr - b->start), v->reads, v->writes };
}

/*
 * A counter of plane P begins at 8 * i + P, so it may lie across two pages of which
 * only one has memory: a run begins at the last one that may reach into the page.
 */
static int read_plane(int fd, struct batch *b, uint32_t plane)
{
	uint64_t begin = b->slot * HVT_SLOT_SIZE + plane * HVT_PLANE_SIZE, end = begin + HVT_PLANE_SIZE - STEP;
	uint64_t at = begin;
	struct hvt_pair v[RUN];

	while (at < end) {
		off_t data = lseek(fd, (off_t)at, SEEK_DATA), hole;
		uint64_t stop;

		if (data < 0)
			return errno == ENXIO ? 0 : -errno;
		if ((uint64_t)data >= end)
			return 0;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0)
			return -errno;
		stop = (uint64_t)hole < end ? (uint64_t)hole : end;
		if ((uint64_t)data > at)
			at = plane && (uint64_t)data - STEP > at ? (uint64_t)data - STEP : (uint64_t)data;
		while (at < stop) {
			size_t n = (stop - at + STEP - 1) / STEP, i;
			int ret;

			if (n > RUN)
				n = RUN;
			ret = exact_memfd_read(fd, v, n * STEP, at + plane);
			if (ret)
				return ret;
			for (i = 0; i < n; i++, at += STEP)
				take(b, at - begin + plane, &v[i]);
		}
	}
	return 0;
}

int exact_counts_read(int memfd, uint32_t slot, exact_counts_fn *fn, void *ctx)
{
	struct batch b = { .slot = slot, .fn = fn, .ctx = ctx };
	uint32_t plane;
	int ret = 0;

	for (plane = 0; plane < HVT_PLANES && !ret; plane++)
		ret = read_plane(memfd, &b, plane);
	give(&b);
	return ret;
}
