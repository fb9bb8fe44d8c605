/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu_detect.h - which events of this machine sample accesses of data with their addresses.
 *
 * Looked up in what the kernel says of its PMUs, /sys/bus/event_source/devices (sysfs-bus-event_source-devices-events and -format in its
 * Documentation/ABI): Intel's load latency and stores by PEBS (of each kind of core where there are two), AMD's IBS.  Whether
 * they may be opened, and tell anything, is for pmu_try() to find out.
 */
#ifndef PMU_DETECT_H
#define PMU_DETECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

#define PMU_DEVICES "/sys/bus/event_source/devices"

enum { PMU_EVENTS_MAX = 8, PMU_CPUS_TEXT = 256 };

struct pmu_event {
	char name[48]; /* "cpu/mem-loads/" */
	uint32_t type;
	uint64_t config[3]; /* config, config1, config2 of perf_event_attr */
	unsigned precise;   /* attr.precise_ip */
	bool leads;	    /* counts only, beside the next one, which needs it in a group in front of it */
	bool follows;
	bool no_exclude;    /* the kernel cannot leave its own accesses out: they are left out when they are read */
	char cpus[PMU_CPUS_TEXT]; /* "0-7,16": where it is; "": everywhere */
};

struct pmu_plan {
	struct pmu_event v[PMU_EVENTS_MAX];
	size_t n;
	char what[64]; /* for people: "Intel PEBS", "AMD IBS" */
};

/*
 * Fill *@out by what is in folder @devices: PMU_DEVICES, another one in tests.  Returns 0; or -ENODEV and @e: why there is nothing, and what
 * mends it.
 */
int pmu_detect(const char *devices, struct pmu_plan *out, struct err *e);

/* Is @cpu in the list @cpus of the kernel's?  Any is in "". */
bool pmu_has_cpu(const char *cpus, int cpu);

#endif /* PMU_DETECT_H */
