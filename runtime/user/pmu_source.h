/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu_source.h - what a PMU says of where an access found its data.
 *
 * The 64 bits are those of PERF_SAMPLE_DATA_SRC, union perf_mem_data_src in linux/perf_event.h: operation 0-4, level 5-18,
 * snoop 19-23, lock 24-25, TLB 26-32, level's number 33-36, remote 37, hops 43-45.  Kernels before 4.14 have no number, and some
 * set both: what says that it was missed there says nothing of where it was found.
 */
#ifndef PMU_SOURCE_H
#define PMU_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

enum pmu_level {
	PMU_LEVEL_UNKNOWN,
	PMU_LEVEL_L1,
	PMU_LEVEL_LFB, /* a line fill buffer: another access was fetching the line already */
	PMU_LEVEL_L2,
	PMU_LEVEL_L3,
	PMU_LEVEL_REMOTE_CACHE, /* of another node */
	PMU_LEVEL_RAM,
	PMU_LEVEL_REMOTE_RAM,
	PMU_LEVEL_OTHER, /* persistent memory, CXL, devices, uncached */
	PMU_LEVELS
};

/* As the JSON has it: "l1", "remote-ram"; "unknown". */
const char *pmu_level_name(enum pmu_level level);

enum pmu_level pmu_source_level(uint64_t source);
/* enum hvar_access_flags; 0: not told, or no access of data. */
uint32_t pmu_source_flags(uint64_t source);
/* No access of data: a prefetch, a fetch of code, or none of memory at all. */
bool pmu_source_is_none(uint64_t source);
/* Was the line modified in another core's cache; of another node? */
bool pmu_source_hitm(uint64_t source);
bool pmu_source_remote(uint64_t source);
bool pmu_source_tlb_miss(uint64_t source);
bool pmu_source_locked(uint64_t source);

#endif /* PMU_SOURCE_H */
