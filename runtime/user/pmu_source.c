// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "pmu_source.h"

#include <linux/perf_event.h>

#include "runtime/core/hvar_event.h"

enum { HOPS_OTHER_NODE = 2 }; /* 1 is another core of this node */

static uint32_t bits(uint64_t source, unsigned at, unsigned n)
{
	return (uint32_t)(source >> at) & ((1u << n) - 1);
}

static uint32_t op(uint64_t source)
{
	return bits(source, 0, 5);
}

static uint32_t level_bits(uint64_t source)
{
	return bits(source, 5, 14);
}

static uint32_t level_number(uint64_t source)
{
	return bits(source, 33, 4);
}

const char *pmu_level_name(enum pmu_level level)
{
	static const char *const names[PMU_LEVELS] = {
		"unknown", "l1", "lfb", "l2", "l3", "remote-cache", "ram", "remote-ram", "other",
	};

	return level < PMU_LEVELS ? names[level] : "unknown";
}

bool pmu_source_remote(uint64_t source)
{
	return bits(source, 37, 1) || bits(source, 43, 3) >= HOPS_OTHER_NODE ||
	       level_bits(source) & (PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2 | PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2);
}

/* By the older bits, of which one level should be set. */
static enum pmu_level level_of_bits(uint32_t l)
{
	if (l & (PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2))
		return PMU_LEVEL_REMOTE_CACHE;
	if (l & (PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2))
		return PMU_LEVEL_REMOTE_RAM;
	if (l & PERF_MEM_LVL_LOC_RAM)
		return PMU_LEVEL_RAM;
	if (l & PERF_MEM_LVL_L3)
		return PMU_LEVEL_L3;
	if (l & PERF_MEM_LVL_L2)
		return PMU_LEVEL_L2;
	if (l & PERF_MEM_LVL_LFB)
		return PMU_LEVEL_LFB;
	if (l & PERF_MEM_LVL_L1)
		return PMU_LEVEL_L1;
	return l & (PERF_MEM_LVL_IO | PERF_MEM_LVL_UNC) ? PMU_LEVEL_OTHER : PMU_LEVEL_UNKNOWN;
}

enum pmu_level pmu_source_level(uint64_t source)
{
	uint32_t l = level_bits(source), number = level_number(source);

	if (l & PERF_MEM_LVL_MISS)
		return PMU_LEVEL_UNKNOWN;
	switch (number) {
	case 0:
	case PERF_MEM_LVLNUM_NA:
		return l & PERF_MEM_LVL_HIT ? level_of_bits(l) : PMU_LEVEL_UNKNOWN;
	case PERF_MEM_LVLNUM_L1:
		return PMU_LEVEL_L1;
	case PERF_MEM_LVLNUM_L2:
		return PMU_LEVEL_L2;
	case PERF_MEM_LVLNUM_LFB:
		return PMU_LEVEL_LFB;
	case PERF_MEM_LVLNUM_L3:
	case PERF_MEM_LVLNUM_ANY_CACHE:
		return pmu_source_remote(source) ? PMU_LEVEL_REMOTE_CACHE : PMU_LEVEL_L3;
	case PERF_MEM_LVLNUM_RAM:
		return pmu_source_remote(source) ? PMU_LEVEL_REMOTE_RAM : PMU_LEVEL_RAM;
	default:
		return PMU_LEVEL_OTHER;
	}
}

uint32_t pmu_source_flags(uint64_t source)
{
	return (op(source) & PERF_MEM_OP_LOAD ? HVAR_ACCESS_READ : 0) | (op(source) & PERF_MEM_OP_STORE ? HVAR_ACCESS_WRITE : 0);
}

bool pmu_source_is_none(uint64_t source)
{
	return op(source) && !(op(source) & (PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE));
}

bool pmu_source_hitm(uint64_t source)
{
	return bits(source, 19, 5) & PERF_MEM_SNOOP_HITM;
}

bool pmu_source_tlb_miss(uint64_t source)
{
	uint32_t t = bits(source, 26, 7);

	/* Of Arm's SPE "walker" is in all, hits and misses (arm-spe.c, arm_spe__synth_data_source()). */
	return t & PERF_MEM_TLB_MISS ||
	       (t & (PERF_MEM_TLB_WK | PERF_MEM_TLB_OS) && !(t & (PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2)));
}

bool pmu_source_locked(uint64_t source)
{
	return bits(source, 24, 2) & PERF_MEM_LOCK_LOCKED;
}
