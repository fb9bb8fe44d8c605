// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_map.c - the pages of an address space that are there, from /proc/PID/pagemap.
 *
 * An empty entry costs 1 ns, a full one 30 to 60 ns, an ioctl 150 ns: so entries are read in
 * pieces that grow while there is something, and a piece of nothing is followed by the question
 * where the next page is.  What only the ioctl tells is asked where it can be: a huge page of
 * the first page of an aligned block, the page of zeros of pages that are nobody's.
 */
#include "config.h"

#include "page_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "proc.h"

/* include/uapi/linux/fs.h, since Linux 6.7: not in every distribution's headers yet */
struct scan_region {
	uint64_t start, end, categories;
};
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN		_IOWR('f', 16, struct scan_arg)
#define SCAN_PRESENT	0x08
#define SCAN_SWAPPED	0x10
#define SCAN_ZERO	0x20
#define SCAN_HUGE	0x40

enum { FEWEST = PAGE_HUGE_PAGES, MOST = 32 * PAGE_HUGE_PAGES, REGIONS = 256, HOLE_RUNS = 32 };

static bool without_scan;

void page_map_without_scan(bool without)
{
	without_scan = without;
}

/* Runs of pages in [@lo, @hi) with any of @any, up to @max of them, into @v.  Their number or -errno. */
static int scan(const struct page_map *m, uint64_t lo, uint64_t hi, uint64_t any, uint64_t max_pages,
		struct scan_region *v, size_t max, uint64_t *walked)
{
	struct scan_arg a = {
		.size = sizeof(a),
		.start = lo,
		.end = hi,
		.vec = (uint64_t)(uintptr_t)v,
		.vec_len = max,
		.max_pages = max_pages,
		.category_anyof_mask = any,
		.return_mask = any,
	};
	int n = ioctl(m->fd, SCAN, &a);

	if (n < 0)
		return -errno;
	if (walked)
		*walked = a.walk_end;
	return n;
}

int page_map_open(struct page_map *m, pid_t pid)
{
	struct scan_region r;
	int fd = proc_open(pid, "pagemap", O_RDONLY);

	memset(m, 0, sizeof(*m));
	m->fd = fd < 0 ? -1 : fd;
	if (fd < 0)
		return fd;
	m->entries = malloc(MOST * sizeof(*m->entries));
	if (!m->entries) {
		page_map_close(m);
		return -ENOMEM;
	}
	m->kpageflags = -1;
	m->scan = !without_scan && scan(m, PAGE_BYTES, 2 * PAGE_BYTES, SCAN_PRESENT, 1, &r, 1, NULL) >= 0;
	if (!m->scan)
		m->kpageflags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	m->zero = m->scan || m->kpageflags >= 0;
	return 0;
}

void page_map_close(struct page_map *m)
{
	if (m->fd >= 0)
		close(m->fd);
	if (m->kpageflags >= 0)
		close(m->kpageflags);
	m->fd = m->kpageflags = -1;
	free(m->entries);
	m->entries = NULL;
}

/* @n entries from @lo on into m->entries: how many came, 0 if there is nothing any more, or -errno. */
static ssize_t get(struct page_map *m, uint64_t lo, size_t n)
{
	ssize_t got;

	do
		got = pread(m->fd, m->entries, n * 8, (off_t)(lo >> PAGE_BITS) * 8);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	m->asked += (size_t)got / 8;
	return got / 8;
}

static bool nothing(const uint64_t *e, size_t n)
{
	uint64_t any = 0;

	for (size_t i = 0; i < n; i++)
		any |= e[i];
	return !any;
}

/* Mark the huge pages that the @n entries from @lo on begin. */
static void mark_huge(struct page_map *m, uint64_t lo, size_t n)
{
	size_t first = (size_t)(-(lo >> PAGE_BITS) & (PAGE_HUGE_PAGES - 1));

	for (size_t i = first; i + PAGE_HUGE_PAGES <= n; i += PAGE_HUGE_PAGES) {
		uint64_t all = PAGE_PRESENT, at = lo + i * PAGE_BYTES;
		struct scan_region r;

		for (size_t k = 0; k < PAGE_HUGE_PAGES && all; k++)
			all &= m->entries[i + k];
		if (all && scan(m, at, at + PAGE_BYTES, SCAN_HUGE, 1, &r, 1, NULL) == 1)
			for (size_t k = 0; k < PAGE_HUGE_PAGES; k++)
				m->entries[i + k] |= PAGE_HUGE;
	}
}

/* Present, no file's, and not one process's own: it may be the page of zeros. */
static bool maybe_zero(uint64_t e)
{
	return (e & (PAGE_PRESENT | PAGE_FILES | PAGE_EXCLUSIVE)) == PAGE_PRESENT;
}

/* The same without PAGEMAP_SCAN: by bit 24 of kpageflags, one page after the other. */
static void mark_zero_by_flags(struct page_map *m, size_t n)
{
	uint64_t flags;

	for (size_t i = 0; i < n; i++) {
		uint64_t frame = m->entries[i] & PAGE_FRAME;

		if (!maybe_zero(m->entries[i]))
			continue;
		if (!frame) /* nobody shows us frames: then it is not told at all */
			m->zero = false;
		else if (pread(m->kpageflags, &flags, 8, (off_t)frame * 8) == 8 && flags >> 24 & 1)
			m->entries[i] |= PAGE_ZERO;
	}
}

static void mark_zero(struct page_map *m, uint64_t lo, size_t n)
{
	static struct scan_region v[REGIONS];
	size_t i = 0;

	while (i < n) {
		uint64_t at, end, walked = 0;
		size_t k = i;

		if (!maybe_zero(m->entries[i])) {
			i++;
			continue;
		}
		while (k < n && maybe_zero(m->entries[k]))
			k++;
		at = lo + i * PAGE_BYTES;
		end = lo + k * PAGE_BYTES;
		while (at < end) {
			int got = scan(m, at, end, SCAN_ZERO, 0, v, REGIONS, &walked);

			for (int r = 0; r < got; r++)
				for (uint64_t p = v[r].start; p < v[r].end; p += PAGE_BYTES)
					if (p >= at && p < end)
						m->entries[(p - lo) >> PAGE_BITS] |= PAGE_ZERO;
			if (got <= 0 || walked <= at)
				break;
			at = walked;
		}
		i = k;
	}
}

/* A walk: what is before @at has been dealt with. */
struct walk {
	struct page_map *m;
	uint64_t at, hi;
	page_run_fn fn;
	void *ctx;
};

/*
 * Read up to @n entries at w->at, and hand them over if there is anything; *@there says so.  Returns 0,
 * what the function returned, or -errno.
 */
static int read_some(struct walk *w, size_t n, bool *there)
{
	struct page_map *m = w->m;
	uint64_t lo = w->at;
	size_t left = (size_t)((w->hi - lo) >> PAGE_BITS);
	ssize_t got = get(m, lo, n < left ? n : left);

	*there = false;
	if (got <= 0) {
		m->gone = !got;
		return got ? (int)got : -ESRCH;
	}
	n = (size_t)got;
	w->at = lo + n * PAGE_BYTES;
	if (nothing(m->entries, n))
		return 0;
	*there = true;
	for (size_t i = 0; i < n; i++)
		m->entries[i] &= ~(PAGE_HUGE | PAGE_ZERO);
	if (m->scan) {
		mark_huge(m, lo, n);
		mark_zero(m, lo, n);
	} else if (m->kpageflags >= 0) {
		mark_zero_by_flags(m, n);
	}
	return w->fn(w->ctx, lo, m->entries, n);
}

/* Whole blocks, so that each huge page lies in one piece. */
static size_t to_block(uint64_t at)
{
	return PAGE_HUGE_PAGES - ((at >> PAGE_BITS) & (PAGE_HUGE_PAGES - 1));
}

/*
 * Go on over a hole: one question finds the next pages, up to HOLE_RUNS runs of them.  *@more: there were
 * enough of them to read on without asking.
 */
static int over_hole(struct walk *w, bool *more)
{
	struct scan_region v[HOLE_RUNS];
	uint64_t walked = w->at, pages = 0;
	bool there;
	int n, err = 0;

	*more = false;
	n = scan(w->m, w->at, w->hi, SCAN_PRESENT | SCAN_SWAPPED, PAGE_HUGE_PAGES, v, HOLE_RUNS, &walked);
	if (n < 0 || (!n && walked <= w->at)) {
		*more = true; /* by reading, then */
		return 0;
	}
	for (int i = 0; i < n && !err; i++) {
		size_t run = (size_t)((v[i].end - v[i].start) >> PAGE_BITS);

		if (v[i].end <= w->at)
			continue;
		if (v[i].start > w->at)
			w->at = v[i].start;
		pages += run;
		/* the last one may be cut in the middle of a huge page */
		if (pages >= PAGE_HUGE_PAGES)
			run = (run & ~(size_t)(PAGE_HUGE_PAGES - 1)) + to_block(v[i].start);
		err = read_some(w, run < MOST ? run : MOST, &there);
	}
	*more = pages >= PAGE_HUGE_PAGES;
	if (!*more && !err && walked > w->at)
		w->at = walked;
	return err;
}

int page_map_walk(struct page_map *m, uint64_t lo, uint64_t hi, page_run_fn fn, void *ctx)
{
	struct walk w = { .m = m, .at = lo, .hi = hi, .fn = fn, .ctx = ctx };
	size_t want = FEWEST;
	int err = 0;

	while (w.at < hi && !err) {
		bool there;

		err = read_some(&w, want - PAGE_HUGE_PAGES + to_block(w.at), &there);
		if (there)
			want = want * 2 < MOST ? want * 2 : MOST;
		else
			want = m->scan ? FEWEST : MOST;
		while (!err && !there && m->scan && w.at < hi)
			err = over_hole(&w, &there);
	}
	return err;
}
