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

/* The processor's: arch/x86/include/asm/trap_pf.h.  Told by the tracepoints alone. */
#define PAGE_FAULT_PRESENT 1
#define PAGE_FAULT_WRITE   2

struct page_fault {
	pid_t pid, tid;
	uint64_t addr, ip; /* ip in the kernel: by a system call */
	int64_t error;	   /* -1: not told */
};

struct page_faults_ask {
	pid_t pid;
	bool on_exec; /* from its next execve on */
	bool errors;  /* by the tracepoints exceptions:page_fault_*, which takes root and tracefs */
	struct page_set *set; /* pages of @pid go into it, borrowed; NULL: */
	/* those of @pid and of all it makes go here; and what they execute, and when they fork */
	void (*fault)(void *ctx, const struct page_fault *f);
	void (*executed)(void *ctx, pid_t pid);
	void (*forked)(void *ctx, pid_t child, pid_t parent);
	void *ctx;
};

/* Follow the threads of a process, and those they make.  NULL and @e: refused, or not there. */
struct page_faults *page_faults_new(const struct page_faults_ask *ask, struct err *e);
void page_faults_free(struct page_faults *f);

/* Put what has come into the set. */
void page_faults_drain(struct page_faults *f);
/* The same, waiting up to @ms for a ring that fills; ends early at a signal. */
void page_faults_wait(struct page_faults *f, int ms);

/* Is every fault seen: those in system calls too, no thread left out, no record lost? */
bool page_faults_all(const struct page_faults *f);
uint64_t page_faults_lost(const struct page_faults *f);

#endif /* PAGE_FAULTS_H */
