/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_faults.h - the pages at which a process faults, from perf's software event.
 *
 * Each fault that an access makes has its address.  Pages that the kernel maps beside it
 * (fault-around), or beforehand (MAP_POPULATE, mlock), make none: that is how they are told apart.
 * Faults inside system calls are seen only where kernel.perf_event_paranoid allows.
 */
#ifndef PAGE_FAULTS_H
#define PAGE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "page_set.h"

struct page_faults;

/*
 * Follow the threads of process @pid, and those they make; with @on_exec from its next
 * execve on.  Pages go into @set, borrowed.  NULL and @e: refused, or not there.
 */
struct page_faults *page_faults_new(pid_t pid, bool on_exec, struct page_set *set, struct err *e);
void page_faults_free(struct page_faults *f);

/* Put what has come into the set. */
void page_faults_drain(struct page_faults *f);
/* The same, waiting up to @ms for a ring that fills; ends early at a signal. */
void page_faults_wait(struct page_faults *f, int ms);

/* Is every fault seen: those in system calls too, no thread left out, no record lost? */
bool page_faults_all(const struct page_faults *f);
uint64_t page_faults_lost(const struct page_faults *f);

#endif /* PAGE_FAULTS_H */
