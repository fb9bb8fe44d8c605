// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_kernel.c - what the kernel's own tables say of a page frame.
 *
 * A read costs half a microsecond whatever its size, so frames that follow each other are read together.
 */
#include "config.h"

#include "page_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "page_map.h"

enum { TOGETHER = 512 };

#define KEPT (1ull << PAGE_KPF_DIRTY | 1ull << PAGE_KPF_ANON | 1ull << PAGE_KPF_HEAD | \
	      1ull << PAGE_KPF_TAIL | 1ull << PAGE_KPF_HUGETLB | 1ull << PAGE_KPF_KSM | \
	      1ull << PAGE_KPF_THP | 1ull << PAGE_KPF_ZERO)

void page_kernel_open(struct page_kernel *k, pid_t pid)
{
	memset(k, 0, sizeof(*k));
	k->pid = pid;
	k->count = open("/proc/kpagecount", O_RDONLY | O_CLOEXEC);
	k->flags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
}

void page_kernel_close(struct page_kernel *k)
{
	if (k->count >= 0)
		close(k->count);
	if (k->flags >= 0)
		close(k->flags);
	k->count = k->flags = -1;
}

/* @n words of @fd from that of frame @pfn on; what does not come stays as it was.  How many came. */
static size_t words(int fd, uint64_t pfn, uint64_t *out, size_t n)
{
	ssize_t got;

	if (fd < 0)
		return 0;
	do
		got = pread(fd, out, n * 8, (off_t)pfn * 8);
	while (got < 0 && errno == EINTR);
	return got > 0 ? (size_t)got / 8 : 0;
}

/* A folio lies at a multiple of its size: of one up to 2 MiB head and tails are in one block. */
static int64_t folio_bytes(struct page_kernel *k, uint64_t pfn, uint64_t flags)
{
	uint64_t first = pfn & ~511ull;
	size_t i = pfn & 511, end;

	if (!(flags & (1ull << PAGE_KPF_HEAD | 1ull << PAGE_KPF_TAIL)))
		return PAGE_BYTES;
	if (k->block != first + 1) {
		k->block = 0;
		if (words(k->flags, first, k->block_flags, 512) != 512)
			return -1;
		k->block = first + 1;
	}
	while (i > 0 && k->block_flags[i] >> PAGE_KPF_TAIL & 1)
		i--;
	if (!(k->block_flags[i] >> PAGE_KPF_HEAD & 1))
		return -1; /* larger than a block, or it has changed meanwhile */
	for (end = i + 1; end < 512 && k->block_flags[end] >> PAGE_KPF_TAIL & 1; end++)
		;
	return (int64_t)((end - i) * PAGE_BYTES);
}

/* move_pages(2) with no nodes only asks where pages are. */
static void nodes(const struct page_kernel *k, uint64_t addr, size_t n, struct page_facts *out)
{
	void *at[TOGETHER];
	int status[TOGETHER];

	for (size_t i = 0; i < n; i++)
		at[i] = (void *)(uintptr_t)(addr + i * PAGE_BYTES);
	if (syscall(SYS_move_pages, k->pid, n, at, NULL, status, 0))
		return;
	for (size_t i = 0; i < n; i++)
		if (status[i] >= 0)
			out[i].node = status[i];
}

static bool has_frame(uint64_t entry)
{
	return page_present(entry) && entry & PAGE_FRAME;
}

static void frames(struct page_kernel *k, const uint64_t *entries, size_t n, struct page_facts *out)
{
	uint64_t count[TOGETHER], flags[TOGETHER];
	size_t i = 0;

	while (i < n) {
		uint64_t pfn = entries[i] & PAGE_FRAME;
		size_t run = 1, have;

		if (!has_frame(entries[i])) {
			i++;
			continue;
		}
		while (i + run < n && has_frame(entries[i + run]) && (entries[i + run] & PAGE_FRAME) == pfn + run)
			run++;
		have = words(k->count, pfn, count, run);
		for (size_t r = 0; r < have; r++)
			out[i + r].mapcount = (int64_t)count[r];
		have = words(k->flags, pfn, flags, run);
		for (size_t r = 0; r < have; r++) {
			out[i + r].flags = (int64_t)(flags[r] & KEPT);
			out[i + r].folio = folio_bytes(k, pfn + r, flags[r]);
		}
		i += run;
	}
}

void page_kernel_get(struct page_kernel *k, uint64_t addr, const uint64_t *entries, size_t n,
		     struct page_facts *out)
{
	memset(out, 0xff, n * sizeof(*out)); /* -1 everywhere */
	k->block = 0; /* frames change hands */
	for (size_t i = 0; i < n; i += TOGETHER) {
		size_t some = n - i < TOGETHER ? n - i : TOGETHER;

		nodes(k, addr + i * PAGE_BYTES, some, out + i);
		frames(k, entries + i, some, out + i);
	}
}

void page_kernel_frames(struct page_kernel *k, const uint64_t *entries, size_t n, struct page_facts *out)
{
	memset(out, 0xff, n * sizeof(*out));
	k->block = 0;
	for (size_t i = 0; i < n; i += TOGETHER)
		frames(k, entries + i, n - i < TOGETHER ? n - i : TOGETHER, out + i);
}
