/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_regions.h - the areas of a process with what its pages are, added up.
 *
 * One pass over the page table: what is counted of a page is of one moment, so present is
 * always private plus shared.  Areas that the kernel keeps apart only for a fact that
 * /proc/PID/maps does not show are one.
 */
#ifndef PAGE_REGIONS_H
#define PAGE_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "page_kernel.h"
#include "page_map.h"
#include "page_set.h"
#include "page_smaps.h"
#include "runtime/core/hvar_vmas.h"

struct page_region {
	struct hvar_vma vma; /* a copy */
	uint64_t present, swapped, anon, zero, exclusive, huge, guard, uffd_wp, soft_dirty;
	uint64_t huge_zero;  /* of zero, those in the huge page of zeros */
	uint64_t maybe_zero; /* pages that may be the page of zeros, where that is not told */
	uint64_t old;	     /* present, and in the set "before" */
	uint64_t old_zero;   /* of those, the page of zeros */
	uint64_t new_zero;   /* present, not old, and the page of zeros */
	uint64_t faulted;    /* present, not old, and in the set "faults" */
	uint64_t dirty;	     /* present pages that kpageflags calls dirty; of shared mappings only, and by root */
};

/* A number of pages that is known to lie in [least, most]; most PAGE_RANGE_ANY: nobody knows. */
#define PAGE_RANGE_ANY UINT64_MAX
struct page_range {
	uint64_t least, most;
};

struct page_regions {
	struct page_region *v; /* owned, by address */
	struct page_smaps *smaps; /* owned, beside v: sums over each; NULL: not read */
	size_t n, cap;
	bool scan, zero;  /* huge is told; zero is */
	bool flags;	  /* dirty is told */
	bool since;	  /* touched since a moment is asked for */
	bool cleared;	  /* reference bits were cleared at that moment, and caches of them flushed */
	bool gone;	  /* the process ended while it was read: what was not read is 0 */
};

struct page_regions_ask {
	pid_t pid;
	const struct hvar_vmas *vmas; /* borrowed during the call */
	uint64_t lo, hi;	      /* areas that reach into it, whole; 0, ~0: all */
	bool smaps;		      /* read it */
	bool thrifty;		      /* but not where it costs more than all else together */
	const struct page_set *before, *faults; /* NULL: none */
	bool since, cleared;
};

/* Areas above it are the kernel's: [vsyscall]. */
#define PAGE_USER_END ((uint64_t)1 << 63)

/* Returns 0 or -errno (-ESRCH: nothing could be read at all).  page_regions_fini() in any case. */
int page_regions_read(struct page_regions *r, const struct page_regions_ask *ask);
void page_regions_fini(struct page_regions *r);

/* Each returns false where it cannot be told for the @i-th region. */
bool page_regions_known(const struct page_regions *r, size_t i);
bool page_regions_anon(const struct page_regions *r, size_t i, uint64_t *out);
bool page_regions_written(const struct page_regions *r, size_t i, uint64_t *out);
bool page_regions_huge(const struct page_regions *r, size_t i, uint64_t *out);
bool page_regions_swapped(const struct page_regions *r, size_t i, uint64_t *out);
bool page_regions_touched(const struct page_regions *r, size_t i, struct page_range *out);

/* Is @entry, in the @i-th region, of the huge page of zeros?  The kernel calls that a file's, where no file is. */
bool page_entry_huge_zero(const struct page_regions *r, size_t i, uint64_t entry);

/* Is @entry, in the @i-th region, the process's own page?  1, 0, or -1: not known. */
int page_entry_anon(const struct page_regions *r, size_t i, uint64_t entry);

/* Has an access of the process's own brought in the page at @addr? */
bool page_entry_faulted(const struct page_set *faults, uint64_t addr, uint64_t entry);

/* Was the page at @addr of the @i-th region touched since the moment?  1, 0, or -1: not known. */
int page_entry_touched(const struct page_regions *r, size_t i, uint64_t addr, uint64_t entry,
		       const struct page_set *before, const struct page_set *faults);

#endif /* PAGE_REGIONS_H */
