// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "perf_ring_pages.h"

enum {
	PAGE = 4096,
	/*
	 * More than a second at 1 kHz, and half of what kernel.perf_event_mlock_kb = 516
	 * gives a user for each CPU.
	 */
	USUAL_PAGES = 64,
	MAX_PAGES = 2048,
	CALL_PAGES = 2048,
	ALL_CALL_PAGES = 16384, /* of all CPUs */
	FAULT_PAGES = 2048,
	MANY_CPUS = 32,
};

/* Half a second of samples at @hz. */
static size_t pages_for(unsigned hz)
{
	size_t pages = USUAL_PAGES;

	while (pages < MAX_PAGES && pages * PAGE < (size_t)hz * 208 / 2)
		pages *= 2;
	return pages;
}

/* A CPU may map and unmap 200,000 times a second, which is 360 bytes, and we may have no CPU for 100 ms. */
static size_t pages_for_calls(size_t cpus)
{
	size_t pages = CALL_PAGES;

	while (pages * cpus > ALL_CALL_PAGES)
		pages /= 2;
	return pages;
}

size_t perf_ring_pages(const struct perf_rings_options *o, size_t cpus)
{
	bool calls = o->calls_id || o->wide || o->watch;

	if ((calls || o->faults) && cpus > MANY_CPUS)
		return USUAL_PAGES;
	return o->faults ? FAULT_PAGES : calls ? pages_for_calls(cpus) : pages_for(o->hz);
}
