/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_map.h - the pages of an address space that are there, from /proc/PID/pagemap.
 *
 * Only what is populated is read: over a hole the ioctl PAGEMAP_SCAN (Linux 6.7) finds
 * the next page that is there, so a terabyte of nothing costs a moment and no memory.  Without
 * it every entry is read, in the same fixed buffer.
 */
#ifndef PAGE_MAP_H
#define PAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE_BYTES ((uint64_t)4096)
#define PAGE_BITS  12
#define PAGE_HUGE_PAGES 512 /* of the smallest huge page */

/*
 * An entry, as the kernel has it (Documentation/admin-guide/mm/pagemap.rst) but for the two
 * that are ours: bits 59 and 60 of the kernel's are cleared, then say what was found.
 */
#define PAGE_PRESENT	((uint64_t)1 << 63)
#define PAGE_SWAPPED	((uint64_t)1 << 62)
#define PAGE_FILES	((uint64_t)1 << 61) /* the file's or shm's, not a copy */
#define PAGE_HUGE	((uint64_t)1 << 60) /* ours: one entry of the page table maps a huge page */
#define PAGE_ZERO	((uint64_t)1 << 59) /* ours: the page of zeros that all share */
#define PAGE_GUARD	((uint64_t)1 << 58) /* MADV_GUARD_INSTALL, Linux 6.15 */
#define PAGE_UFFD_WP	((uint64_t)1 << 57)
#define PAGE_EXCLUSIVE	((uint64_t)1 << 56) /* mapped once */
#define PAGE_SOFT_DIRTY ((uint64_t)1 << 55)
#define PAGE_FRAME	(((uint64_t)1 << 55) - 1) /* 0 without CAP_SYS_ADMIN */

/* Is anything there?  A guard page has the swap bit too. */
static inline bool page_present(uint64_t entry)
{
	return entry & PAGE_PRESENT;
}

static inline bool page_swapped(uint64_t entry)
{
	return (entry & (PAGE_PRESENT | PAGE_SWAPPED | PAGE_GUARD)) == PAGE_SWAPPED;
}

struct page_map {
	int fd;
	bool scan;	    /* the kernel has PAGEMAP_SCAN: PAGE_HUGE is told */
	bool zero;	    /* PAGE_ZERO is told: by that, or by kpageflags */
	int kpageflags;	    /* -1: not needed, or not ours to read */
	bool gone;	    /* the address space went while it was read */
	uint64_t *entries;  /* owned */
	uint64_t asked;	    /* entries read, for benches and tests */
};

/* The pages of process @pid.  Returns 0, -ESRCH, -EACCES or -errno. */
int page_map_open(struct page_map *m, pid_t pid);
void page_map_close(struct page_map *m);

/* For tests: do without PAGEMAP_SCAN, as an older kernel would. */
void page_map_without_scan(bool without);

/* @n entries from @start on; good during the call.  Nonzero ends the walk. */
typedef int (*page_run_fn)(void *ctx, uint64_t start, const uint64_t *entries, size_t n);

/*
 * Hand the entries of [@lo, @hi), in order, to @fn; what is not handed is a hole.  Returns 0, what
 * @fn returned, -ESRCH once the address space is gone, or -errno.
 */
int page_map_walk(struct page_map *m, uint64_t lo, uint64_t hi, page_run_fn fn, void *ctx);

#endif /* PAGE_MAP_H */
