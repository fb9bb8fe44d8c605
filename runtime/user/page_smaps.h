/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_smaps.h - what /proc/PID/smaps adds up for each area: proc_pid_smaps(5).
 *
 * Dear where there are many areas (some 15 us each), and needed for what no entry of
 * pagemap tells: referenced, dirty, huge.
 */
#ifndef PAGE_SMAPS_H
#define PAGE_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "page_map.h"

/* All in bytes but for the range.  What a kernel does not print is 0. */
struct page_smaps {
	uint64_t start, end;
	uint64_t rss, referenced, shared_dirty, private_dirty;
	uint64_t anon, lazy_free, swap;
	uint64_t anon_huge, shmem_huge, file_huge, shared_hugetlb, private_hugetlb;
	uint64_t kernel_page;
	uint64_t eligible; /* THPeligible (no bytes): 1024 if the kernel would give huge pages */
	bool pfn_map; /* VmFlags "pf": frames without a descriptor */
	bool huge_asked, huge_refused; /* "hg", "nh": MADV_HUGEPAGE, MADV_NOHUGEPAGE */
};

/*
 * One line of @len bytes at @line, NUL-terminated, added to @s.  Returns 1 if it begins
 * another area (@s is begun anew, with its range), 0 if it was taken or is unknown.
 */
int page_smaps_line(struct page_smaps *s, const char *line, size_t len);

/* Each area of process @pid, in order.  Returns 0, -ESRCH, or -errno. */
int page_smaps_read(pid_t pid, void (*fn)(void *ctx, const struct page_smaps *s), void *ctx);

#endif /* PAGE_SMAPS_H */
