/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_copies.h - pages that a process and its children copy because one of them writes to what they share.
 *
 * A write to a page that is there but may not be written to is such a copy, or finds that the others
 * have theirs already and takes the page over.  The tracepoint of page faults tells it; without that, faults at pages
 * that were anonymous and there when it began are taken for it.
 */
#ifndef PAGE_COPIES_H
#define PAGE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "page_faults.h"
#include "page_set.h"
#include "runtime/core/hvar_vmas.h"

/* What one instruction of a process has written to, and that it had to be copied for. */
struct page_copy {
	pid_t pid;
	uint64_t addr; /* the first byte that was written to in this page by this instruction */
	uint64_t ip;   /* 0: in a system call */
	uint32_t faults;
	uint32_t next; /* in its chain: index plus 1 */
};

struct page_copies {
	pid_t pid;
	struct page_faults *faults;
	struct page_copy *v; /* owned */
	size_t n, cap;
	uint32_t *slots; /* owned: chains by hash */
	struct page_set before;
	struct page_set gone; /* processes that have executed another program: each as the page of its number */
	bool forked;  /* there has been a fork; before, the process is alone */
	bool launched; /* from its execve on: nothing was there before */
	bool told;    /* by the tracepoint */
	uint64_t lost;
};

/*
 * Begin, for process @pid that runs and maps @vmas; or, with NULL, from its next execve on.
 * Returns 0 or -errno and @e.
 */
int page_copies_begin(struct page_copies *c, pid_t pid, const struct hvar_vmas *vmas, struct err *e);
void page_copies_fini(struct page_copies *c);

/* There has been a fork, but nothing that tells copies from other faults. */
bool page_copies_unknown(const struct page_copies *c);

/* Wait up to @ms for more. */
void page_copies_wait(struct page_copies *c, int ms);
/* The process has executed a program: what was before is forgotten. */
void page_copies_executed(struct page_copies *c);

#endif /* PAGE_COPIES_H */
