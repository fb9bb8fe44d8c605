/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvk_page.h - what the page table of the current process says of one address.
 *
 * Needs nothing of the rest of the kernel host but hvk_compat.h, follows no process, and keeps
 * nothing.  Callable from any probe: process, softirq, hardirq or NMI.  It takes no lock, never
 * faults, sleeps or waits, and its time is bounded: HVK_PAGE_TRIES walks of five loads.
 *
 * SAFE AGAINST TABLES BEING FREED
 *	Interrupts are off during a walk, as in the kernel's own lockless walks (gup_fast,
 *	perf_get_page_size): a table is freed only after an RCU grace period, or after an
 *	interrupt has been answered by each CPU that has the address space loaded.  That it is
 *	loaded here is checked: an NMI may come while the kernel has borrowed another one.
 *
 * SAFE AGAINST PAGES BEING FREED
 *	Of a page only its descriptor is read, never memory that this points to.  Then the walk
 *	is done again: where the entry is no longer the same, what was read is forgotten.
 */
#ifndef HVK_PAGE_H
#define HVK_PAGE_H

#include "hvk_compat.h"

#define HVK_PAGE_TRIES 8

/* Each is -1 where it is not known. */
struct hvk_page {
	s8 present;  /* in memory, and in this process's page table */
	s8 swapped;  /* out: the entry says where to */
	s8 dirty;    /* written since it was last written to its file or swap, by anybody */
	s8 young;    /* accessed through this page table since the bit was last cleared */
	s8 anon;     /* no file's: copied on write, or anonymous memory; also swapped out */
	s8 zero;     /* the page of zeros that all share */
	s64 size;    /* bytes that the entry maps; 0 where nothing is present */
	s64 mapcount; /* entries of all page tables that map the page; 0 where none is present */
};

/*
 * What is known of the page at @addr of current.  Nothing is known (all -1) in a kernel thread
 * and for what is no address of a process: the kernel's half, the vsyscall page, and
 * addresses that are no addresses; and of an entry that changes faster than it can be read.
 * Unmapped addresses are not present.  A page without a descriptor (device memory), and the
 * page of zeros, have no mapcount.  A page that the kernel is moving is present, its dirty,
 * young and mapcount not known.
 */
static void hvk_page_look(u64 addr, struct hvk_page *out);

/*
 * Has the page of a private file mapping been copied on write?  1 also if the copy is
 * swapped out, 0 also if nothing is there: then the file's is what an access would find.
 * -1 if that is not known.
 */
static int hvk_page_copied(u64 addr);

/*
 * Would the processor refuse to read at @addr, or to @write or @fetch there, as the page table of current
 * is now?  False also where that is not known.
 */
static bool hvk_page_refuses(u64 addr, bool write, bool fetch);

#endif /* HVK_PAGE_H */
