// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_tick.h"

#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_shadow.h"
#include "hvt_sys.h"

enum {
	CLOCK_MONOTONIC_ = 1,
	SHORTEST_NS = 1000000,
	LONGEST_NS = 100000000,
	A_COUNT_NS = 2000, /* of time between ticks for each counter sent: some 50 times what sending one costs */
};

/* Cycles in which no tick can be due: a look at the clock costs a system call. */
#define FEW_CYCLES 500000ULL

static ULong born, due, cycles, latest;

static ULong now_ns(void)
{
	struct vki_timespec t = { 0, 0 };

	hvt_sys(__NR_clock_gettime, CLOCK_MONOTONIC_, (long)&t, 0, 0, 0, 0);
	latest = (ULong)t.tv_sec * 1000000000ULL + (ULong)t.tv_nsec;
	return latest;
}

ULong hvt_tick_now(void)
{
	return latest;
}

static ULong read_cycles(void)
{
	UInt low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (ULong)high << 32 | low;
}

void hvt_tick_init(void)
{
	born = now_ns();
	due = born + SHORTEST_NS;
	cycles = 0;
}

Bool hvt_tick(void)
{
	ULong c = read_cycles(), now, wait, sent;

	if (c - cycles < FEW_CYCLES)
		return False;
	cycles = c;
	now = now_ns();
	if (now < due)
		return False;
	sent = hvt_shadow_take_all();
	wait = (now - born) / 4;
	if (wait > LONGEST_NS)
		wait = LONGEST_NS;
	if (wait < sent * A_COUNT_NS)
		wait = sent * A_COUNT_NS;
	if (wait < SHORTEST_NS)
		wait = SHORTEST_NS;
	due = now_ns() + wait;
	return True;
}
