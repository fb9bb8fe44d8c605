/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_kernel.h - what the kernel's own tables say of a page frame, for whoever may ask.
 *
 * /proc/kpagecount and /proc/kpageflags need root; the NUMA node comes from move_pages(2), which
 * the owner of the process may ask too.  Each is -1 where it cannot be told.
 */
#ifndef PAGE_KERNEL_H
#define PAGE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bits of /proc/kpageflags: Documentation/admin-guide/mm/pagemap.rst */
#define PAGE_KPF_DIRTY	  4
#define PAGE_KPF_ANON	  12
#define PAGE_KPF_HEAD	  15
#define PAGE_KPF_TAIL	  16
#define PAGE_KPF_HUGETLB  17
#define PAGE_KPF_KSM	  21
#define PAGE_KPF_THP	  22
#define PAGE_KPF_ZERO	  24

struct page_facts {
	int64_t mapcount; /* entries of all page tables that map it */
	int64_t flags;	  /* of kpageflags, the bits above alone */
	int64_t folio;	  /* bytes that the kernel keeps as one: 4096 or more */
	int node;
};

struct page_kernel {
	pid_t pid;
	int count, flags; /* descriptors, or -1 */
	uint64_t block;	  /* the first frame of those in block_flags, plus 1; 0: none */
	uint64_t block_flags[512];
};

void page_kernel_open(struct page_kernel *k, pid_t pid);
void page_kernel_close(struct page_kernel *k);

/* Of the @n pages from @addr on with these @entries of pagemap, into @out. */
void page_kernel_get(struct page_kernel *k, uint64_t addr, const uint64_t *entries, size_t n,
		     struct page_facts *out);

/* The same without the node, which costs most. */
void page_kernel_frames(struct page_kernel *k, const uint64_t *entries, size_t n, struct page_facts *out);

#endif /* PAGE_KERNEL_H */
