// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_tlb.c - how many translations of data addresses the processor keeps.
 */
#include "config.h"

#include "advise_tlb.h"

#include <cpuid.h>
#include <stddef.h>
#include <string.h>

enum {
	MAX_SUBLEAVES = 64,
	AMD_TIMES_32 = 1 << 14, /* of 0x80000021 EAX */
};

static void most(unsigned *of, uint64_t n)
{
	if (n > *of && n <= 1u << 20) /* more is no processor's */
		*of = (unsigned)n;
}

/*
 * Leaf 0x18, of each subleaf:
 *	EAX of the first: the last subleaf
 *	EBX bit 0: 4 KiB, bit 1: 2 MiB; 31..16: ways		ECX: sets
 *	EDX bits 4..0: 1 data, 2 instructions, 3 both, 4 loads, 5 stores; 0: nothing
 */
static bool leaf_18(struct advise_tlb *t, advise_cpuid_fn cpuid, void *ctx)
{
	struct advise_cpuid r;
	uint32_t last = 0;

	for (uint32_t i = 0; i <= last && i < MAX_SUBLEAVES; i++) {
		uint32_t type;

		if (!cpuid(ctx, 0x18, i, &r))
			break;
		if (!i)
			last = r.eax;
		type = r.edx & 31;
		if (type != 1 && type != 3 && type != 4)
			continue;
		if (r.ebx & 1)
			most(&t->small, (uint64_t)(r.ebx >> 16) * r.ecx);
		if (r.ebx & 2)
			most(&t->huge, (uint64_t)(r.ebx >> 16) * r.ecx);
	}
	return t->small;
}

/* Descriptors of leaf 2 that tell of data's translations: SDM 2A, table 3-12. */
static const struct {
	uint8_t byte;
	uint16_t small, huge;
} descriptors[] = {
	{ 0x03, 64, 0 },    { 0x56, 0, 16 },   { 0x57, 16, 0 },	   { 0x5a, 0, 32 },    { 0x5b, 64, 0 },
	{ 0x5c, 128, 0 },   { 0x5d, 256, 0 },  { 0x63, 0, 32 },	   { 0x64, 512, 0 },   { 0xa0, 32, 0 },
	{ 0xb3, 128, 0 },   { 0xb4, 256, 0 },  { 0xba, 64, 0 },	   { 0xc0, 8, 0 },     { 0xc1, 1024, 1024 },
	{ 0xc2, 16, 16 },   { 0xc3, 1536, 1536 }, { 0xc4, 0, 32 }, { 0xca, 512, 0 },
};

static bool leaf_2(struct advise_tlb *t, advise_cpuid_fn cpuid, void *ctx)
{
	struct advise_cpuid r;
	uint8_t bytes[16];

	if (!cpuid(ctx, 2, 0, &r))
		return false;
	memcpy(bytes, &r, sizeof(bytes));
	bytes[0] = 0; /* always 1: how often to ask */
	for (int i = 1; i < 16; i++) {
		if (bytes[i / 4 * 4 + 3] & 0x80)
			continue; /* that register holds none */
		for (size_t k = 0; k < sizeof(descriptors) / sizeof(descriptors[0]); k++)
			if (descriptors[k].byte == bytes[i]) {
				most(&t->small, descriptors[k].small);
				most(&t->huge, descriptors[k].huge);
			}
	}
	return t->small;
}

/*
 * Since family 0x1a, whose 4096 entries do not fit the field, second-level sizes are in 32s.  Hypervisors
 * that do not know of the bit hide it, so the family says it, too.
 */
static bool amd_in_32s(advise_cpuid_fn cpuid, void *ctx)
{
	struct advise_cpuid r;
	uint32_t family;

	if (cpuid(ctx, 0x80000021, 0, &r) && r.eax & AMD_TIMES_32)
		return true;
	if (!cpuid(ctx, 1, 0, &r))
		return false;
	family = r.eax >> 8 & 15;
	return family == 15 && family + (r.eax >> 20 & 255) >= 0x1a;
}

static bool amd(struct advise_tlb *t, advise_cpuid_fn cpuid, void *ctx)
{
	unsigned times = amd_in_32s(cpuid, ctx) ? 32 : 1;
	struct advise_cpuid r;

	if (cpuid(ctx, 0x80000005, 0, &r)) {
		most(&t->small, r.ebx >> 16 & 0xff);
		most(&t->huge, r.eax >> 16 & 0xff);
	}
	if (cpuid(ctx, 0x80000006, 0, &r)) {
		if (r.ebx >> 28)
			most(&t->small, (uint64_t)(r.ebx >> 16 & 0xfff) * times);
		if (r.eax >> 28)
			most(&t->huge, (uint64_t)(r.eax >> 16 & 0xfff) * times);
	}
	return t->small;
}

void advise_tlb_of(struct advise_tlb *t, advise_cpuid_fn cpuid, void *ctx)
{
	memset(t, 0, sizeof(*t));
	if (leaf_18(t, cpuid, ctx))
		t->source = "cpuid leaf 0x18";
	else if (amd(t, cpuid, ctx))
		t->source = "cpuid leaf 0x80000006";
	else if (leaf_2(t, cpuid, ctx))
		t->source = "cpuid leaf 2";
	else
		t->source = "cpuid does not tell, or a hypervisor hides it";
}

static bool ask(void *ctx, uint32_t leaf, uint32_t sub, struct advise_cpuid *out)
{
	(void)ctx;
	return __get_cpuid_count(leaf, sub, &out->eax, &out->ebx, &out->ecx, &out->edx);
}

void advise_tlb_read(struct advise_tlb *t)
{
	advise_tlb_of(t, ask, NULL);
}
