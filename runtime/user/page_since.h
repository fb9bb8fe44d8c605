/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_since.h - the moment since which touched pages are counted.
 *
 * For a process that runs, it is when its reference bits are cleared, which is all that is
 * done to it (another tool that reads them, and the kernel's choice of pages to reclaim, see
 * that).  For one that is launched, it is its execve.
 */
#ifndef PAGE_SINCE_H
#define PAGE_SINCE_H

#include <stdbool.h>
#include <sys/types.h>

#include "err.h"
#include "page_faults.h"
#include "page_regions.h"
#include "page_set.h"

struct page_since {
	pid_t pid;
	struct page_faults *faults; /* NULL: not to be had: why says why */
	struct page_set before, faulted;
	bool attached; /* there is a "before" */
	bool cleared;
	struct err why;	      /* faults */
	struct err why_clear; /* reference bits */
};

/* It begins now, for process @pid, which maps @vmas.  What cannot be had is in @s; 0 or -ENOMEM. */
int page_since_now(struct page_since *s, pid_t pid, const struct hvar_vmas *vmas);
/* It begins at the next execve of @pid, which is a child of ours. */
void page_since_exec(struct page_since *s, pid_t pid);
/* It has executed a program (again): what was touched before is gone. */
void page_since_executed(struct page_since *s);
void page_since_fini(struct page_since *s);

/* Clear the reference bits of process @pid, and the processors' copies of them.  0 or -errno and @e. */
int page_since_clear(pid_t pid, struct err *e);

/* Wait up to @ms; ends early at a signal. */
void page_since_wait(struct page_since *s, int ms);

/* Take what has come, and ask for it. */
void page_since_ask(struct page_since *s, struct page_regions_ask *ask);

#endif /* PAGE_SINCE_H */
