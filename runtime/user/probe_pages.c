// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probe_pages.c - what hotvar pages needs for the fields that are null without it, and hotvar advise.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "advise_thp.h"
#include "advise_tlb.h"
#include "page_faults.h"
#include "page_kernel.h"
#include "page_map.h"
#include "probe.h"

void probe_pagemap_scan(struct probe_result *r)
{
	struct page_map m;
	int err = page_map_open(&m, getpid());

	if (err)
		probe_say(r, PROBE_NO, "boot a kernel with CONFIG_PROC_PAGE_MONITOR",
			  "/proc/self/pagemap cannot be read: %s", strerror(-err));
	else if (m.scan)
		probe_say(r, PROBE_YES, NULL, "PAGEMAP_SCAN finds pages in large memory, huge ones and the page of zeros");
	else
		probe_say(r, PROBE_NO, "Linux 6.7 or newer", "the kernel has no PAGEMAP_SCAN");
	if (!err)
		page_map_close(&m);
}

void probe_page_tables(struct probe_result *r)
{
	struct page_kernel k;

	page_kernel_open(&k, getpid());
	if (k.count >= 0 && k.flags >= 0)
		probe_say(r, PROBE_YES, NULL, "/proc/kpagecount and /proc/kpageflags can be read");
	else if (geteuid())
		probe_say(r, PROBE_NO, "run as root", "/proc/kpagecount and /proc/kpageflags are for root only");
	else
		probe_say(r, PROBE_NO, "boot a kernel with CONFIG_PROC_PAGE_MONITOR",
			  "/proc/kpagecount and /proc/kpageflags cannot be read");
	page_kernel_close(&k);
}

void probe_page_faults(struct probe_result *r)
{
	struct page_set set = { 0 };
	struct err e = { 0 };
	struct page_faults *f = page_faults_new(&(struct page_faults_ask){ .pid = getpid(), .set = &set }, &e);

	if (!f)
		probe_say(r, PROBE_NO, "sysctl kernel.perf_event_paranoid=2, or run as root", "%.400s", e.text);
	else if (page_faults_all(f))
		probe_say(r, PROBE_YES, NULL, "page faults are seen, with those in system calls");
	else
		probe_say(r, PROBE_YES, NULL,
			  "page faults are seen, but not those in system calls: as root, or with kernel.perf_event_paranoid=1");
	page_faults_free(f);
	page_set_fini(&set);
}

void probe_fault_around(struct probe_result *r)
{
	static const char path[] = "/sys/kernel/debug/fault_around_bytes";
	long bytes = probe_number(path, -1);

	if (bytes == 4096)
		probe_say(r, PROBE_YES, NULL, "a fault maps one page: every new page of a file was touched");
	else if (bytes > 0)
		probe_say(r, PROBE_NO, "echo 4096 > /sys/kernel/debug/fault_around_bytes, while you measure",
			  "a fault on a file maps up to %ld pages: which of those were touched is not known", bytes / 4096);
	else
		probe_say(r, PROBE_NO, "as root, without lockdown: mount -t debugfs none /sys/kernel/debug; echo 4096 > /sys/kernel/debug/fault_around_bytes",
			  "a fault on a file maps up to 16 pages, usually: which of those were touched is not known");
}

void probe_huge_pages(struct probe_result *r)
{
	struct advise_thp thp;
	struct advise_tlb tlb;
	char reach[96];

	advise_thp_read(&thp, "/sys", "/proc");
	advise_tlb_read(&tlb);
	if (tlb.small)
		snprintf(reach, sizeof(reach), "the TLB has %u entries for pages of 4 KiB", tlb.small);
	else
		snprintf(reach, sizeof(reach), "what the TLB reaches is not told");
	if (thp.enabled >= ADVISE_MADVISE)
		probe_say(r, PROBE_YES, NULL, "transparent huge pages: %s, for shmem: %s; %s", advise_mode_name(thp.enabled),
			  *thp.shmem_word ? thp.shmem_word : "unknown", reach);
	else if (thp.enabled == ADVISE_NEVER)
		probe_say(r, PROBE_NO, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled", "transparent huge pages: never; %s", reach);
	else
		probe_say(r, PROBE_NO, "boot a kernel with CONFIG_TRANSPARENT_HUGEPAGE", "the kernel tells of no transparent huge pages; %s", reach);
}
