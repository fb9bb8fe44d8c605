/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_tlb.h - how many translations of data addresses the processor keeps, as cpuid tells.
 *
 * Intel: leaf 0x18 (SDM 2A, CPUID), else the descriptors of leaf 2.  AMD: 0x80000005 and 0x80000006 (APM 3,
 * appendix E), whose second-level sizes are in 32s where 0x80000021 EAX bit 14 says so, or the family.  A
 * hypervisor may hide them all.
 */
#ifndef ADVISE_TLB_H
#define ADVISE_TLB_H

#include <stdbool.h>
#include <stdint.h>

/* Where cpuid does not tell: the most that a usual processor of today has. */
#define ADVISE_TLB_ASSUMED 4096

struct advise_tlb {
	unsigned small, huge;	/* entries for pages of 4 KiB and of 2 MiB, of the largest level; 0: not told */
	const char *source;	/* "cpuid leaf 0x18", or why it is not told; static */
};

struct advise_cpuid {
	uint32_t eax, ebx, ecx, edx;
};
typedef bool (*advise_cpuid_fn)(void *ctx, uint32_t leaf, uint32_t sub, struct advise_cpuid *out);

/* This processor's. */
void advise_tlb_read(struct advise_tlb *t);
/* The same by answers from elsewhere, for tests: false: there is no such leaf. */
void advise_tlb_of(struct advise_tlb *t, advise_cpuid_fn cpuid, void *ctx);

/* Entries for pages of 4 KiB, told or assumed. */
static inline uint64_t advise_tlb_pages(const struct advise_tlb *t)
{
	return t->small ? t->small : ADVISE_TLB_ASSUMED;
}

#endif /* ADVISE_TLB_H */
