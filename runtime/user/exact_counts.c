// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_counts.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

enum {
	RUN = HVT_PAIRS_MAX, /* counters in one run */
	GAP = 16,	     /* so many zeros end one */
	STEP = sizeof(struct hvt_pair),
};

static bool is_zero(const struct hvt_pair *v)
{
	return !v->reads && !v->writes;
}

static void give(uint32_t slot, uint64_t start, const struct hvt_pair *v, size_t n, exact_counts_fn *fn,
		 void *ctx)
{
	size_t i = 0;

	for (;;) {
		size_t first, end;

		while (i < n && is_zero(&v[i]))
			i++;
		if (i == n)
			return;
		for (first = i, end = i + 1; i < n && i - end < GAP; i++)
			if (!is_zero(&v[i]))
				end = i + 1;
		fn(ctx, slot, start + STEP * first, v + first, end - first);
		i = end;
	}
}

/* All @len bytes at @at, or -errno; holes and what is past the end are zeros. */
static int read_all(int fd, void *to, size_t len, uint64_t at)
{
	char *p = to;

	while (len) {
		ssize_t n = pread(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/*
 * A counter of plane P begins at 8 * i + P, so it may lie across two pages of which
 * only one has memory: a run begins at the last one that may reach into the page.
 */
static int read_plane(int fd, uint32_t slot, uint32_t plane, exact_counts_fn *fn, void *ctx)
{
	uint64_t begin = slot * HVT_SLOT_SIZE + plane * HVT_PLANE_SIZE, end = begin + HVT_PLANE_SIZE - STEP;
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
			size_t n = (stop - at + STEP - 1) / STEP;
			int ret;

			if (n > RUN)
				n = RUN;
			ret = read_all(fd, v, n * STEP, at + plane);
			if (ret)
				return ret;
			give(slot, at - begin + plane, v, n, fn, ctx);
			at += n * STEP;
		}
	}
	return 0;
}

int exact_counts_read(int memfd, uint32_t slot, exact_counts_fn *fn, void *ctx)
{
	uint32_t plane;

	for (plane = 0; plane < HVT_PLANES; plane++) {
		int ret = read_plane(memfd, slot, plane, fn, ctx);

		if (ret)
			return ret;
	}
	return 0;
}
