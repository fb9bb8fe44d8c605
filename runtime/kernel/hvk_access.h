/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvk_access.h - what the running handler is told: the accesses of a timer sample, or a page fault.
 *
 * Of followed processes only.  What is found is kept per processor until the handler ends: handlers run
 * with preemption off, and stap lets no other one begin on that processor meanwhile.
 */
#ifndef HVK_ACCESS_H
#define HVK_ACCESS_H

#include "hvk_step.h"

/* What the handler that runs on this processor is told. */
struct hvk_told {
	struct hvk_accesses a;
	u32 at;	   /* the access selected */
	u64 fault; /* address of a fault */
	u32 what;  /* HVK_READ and so on of it */
	bool fetch; /* of an instruction */
	bool kernel; /* the kernel has faulted, within a call of the program */
};

/* Samples and faults of followed processes: all, and those without an address. */
enum hvk_seen { HVK_SAMPLES, HVK_SAMPLES_MISSED, HVK_FAULTS, HVK_FAULTS_MISSED, HVK_SEEN };

static atomic64_t hvk_seen[HVK_SEEN];

/* From probe begin: without the kernel's decoder there will be nothing to tell, and this says so, once. */
HVK_API void hvk_access_begin(void);

/* In a handler of a timer: is there an access of current to be told?  Selects its first address. */
HVK_API bool hvk_sample(struct pt_regs *regs);

/* Select the next address of the sample. */
HVK_API bool hvk_sample_next(void);

/*
 * In a handler of the page-fault event, before the fault is served: is there an address to be told?
 *
 * The processor's register for it may have been overwritten by another fault by now, as where the thread has been
 * preempted meanwhile; so it is told only if the instruction is one that accesses it, or is fetched from there.  Else it is
 * that of the instruction's accesses which the page table still refuses, if that is one.
 */
HVK_API bool hvk_fault(struct pt_regs *regs);

HVK_API struct hvk_told *hvk_told_here(void);

#endif /* HVK_ACCESS_H */
