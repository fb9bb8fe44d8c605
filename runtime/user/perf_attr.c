// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "perf_attr.h"

#include <string.h>
#include <time.h>

void perf_attr_common(struct perf_event_attr *a)
{
	memset(a, 0, sizeof(*a));
	a->size = sizeof(*a);
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_DUMMY;
	a->sample_type = PERF_RECORD_SAMPLE_TYPE;
	a->sample_regs_user = PERF_RECORD_REGS;
	a->sample_id_all = 1;
	a->disabled = 1;
	a->exclude_kernel = 1;
	a->exclude_hv = 1;
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
	a->watermark = 1; /* of 0 bytes: half a ring, whatever its size will be */
}

static void attr_news(struct perf_event_attr *a)
{
	a->mmap = 1;
	a->mmap2 = 1;
	a->mmap_data = 1;
	a->comm = 1;
	a->comm_exec = 1;
	a->task = 1;
}

/* PERF_FORMAT_LOST of Linux 6.0, not in every distribution's headers yet. */
#define FORMAT_LOST 0x10

void perf_attr_counts_lost(struct perf_event_attr *a)
{
	a->read_format |= FORMAT_LOST;
}

void perf_attr_carrier(struct perf_event_attr *a, const struct perf_rings_options *o)
{
	perf_attr_common(a);
	if (!o->wide)
		return;
	a->config = PERF_COUNT_SW_BPF_OUTPUT;
	a->sample_period = 1;
	a->sample_type |= PERF_SAMPLE_RAW;
	a->exclude_kernel = 0;
	a->exclude_hv = 0;
	attr_news(a);
}

void perf_attr_task(struct perf_event_attr *a, const struct perf_rings_options *o)
{
	perf_attr_common(a);
	a->inherit = 1;
	a->enable_on_exec = o->on_exec;
	if (o->faults) {
		a->config = PERF_COUNT_SW_PAGE_FAULTS;
		a->sample_period = 1;
		a->sample_type = PERF_RECORD_FAULT_TYPE;
	} else if (o->hz) {
		a->config = PERF_COUNT_SW_CPU_CLOCK;
		a->sample_period = 1000000000 / o->hz;
	} else if (o->calls_id) {
		/* One event for both: what comes beside its samples is the same for any event. */
		a->type = PERF_TYPE_TRACEPOINT;
		a->config = (uint64_t)o->calls_id;
		a->sample_period = 1;
		a->sample_type |= PERF_SAMPLE_RAW;
		a->exclude_kernel = 0;
		a->exclude_hv = 0;
	}
	a->task = o->tasks;
	if (o->maps)
		attr_news(a);
}

void perf_attr_calls(struct perf_event_attr *a, const struct perf_rings_options *o)
{
	uint64_t format = a->read_format;

	perf_attr_common(a);
	a->read_format = format;
	a->inherit = 1;
	a->enable_on_exec = o->on_exec;
	a->type = PERF_TYPE_TRACEPOINT;
	a->config = (uint64_t)o->calls_id;
	a->sample_period = 1;
	a->sample_type = PERF_RECORD_FAULT_TYPE | PERF_SAMPLE_RAW;
	a->exclude_kernel = 0;
	a->exclude_hv = 0;
}
