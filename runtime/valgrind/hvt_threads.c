// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_threads.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_count.h"
#include "hvt_frame.h"
#include "hvt_line.h"
#include "hvt_link.h"
#include "hvt_shadow.h"
#include "hvt_sites.h"
#include "hvt_sys.h"

enum slot_state { FREE, BUSY, GONE };

static UChar slots[HVT_SLOTS]; /* enum slot_state */
static Short *slot_of;	       /* by Valgrind's number; -1: has none yet */

void hvt_threads_init(void)
{
	UInt i;

	if (!slot_of)
		slot_of = VG_(malloc)("hotvar.threads", VG_N_THREADS * sizeof(*slot_of));
	for (i = 0; i < VG_N_THREADS; i++)
		slot_of[i] = -1;
}

/* Empty the slots of all threads that are gone. */
static void reclaim(void)
{
	UInt i;

	for (i = 0; i < HVT_SHARED_SLOT; i++) {
		if (slots[i] != GONE)
			continue;
		hvt_shadow_take_slot(i);
		hvt_frame_take_slot(i);
		hvt_sites_thread_gone(i);
		slots[i] = FREE;
	}
}

static UInt find_slot(void)
{
	UInt i, tries;

	for (tries = 0; tries < 2; tries++) {
		for (i = 0; i < HVT_SHARED_SLOT; i++)
			if (slots[i] == FREE)
				return i;
		reclaim();
	}
	return HVT_SHARED_SLOT;
}

static void tell(UInt type, UInt slot)
{
	struct hvt_message m;

	VG_(memset)(&m, 0, sizeof(m));
	m.type = type;
	m.slot = slot;
	m.tid = (UInt)hvt_sys(__NR_gettid, 0, 0, 0, 0, 0, 0);
	hvt_link_send(&m, NULL, 0);
}

void hvt_threads_run(ThreadId tid)
{
	ULong base;
	UInt slot;

	if (slot_of[tid] >= 0)
		return;
	slot = find_slot();
	slots[slot] = BUSY;
	slot_of[tid] = (Short)slot;
	hvt_shadow_use(slot);
	base = hvt_shadow_base(slot);
	VG_(set_shadow_regs_area)(tid, 1, hvt_count_base(), sizeof(base), (UChar *)&base);
	hvt_frame_thread(tid, slot);
	hvt_line_thread(tid);
	tell(HVT_THREAD, slot);
}

void hvt_threads_forked(void)
{
	VG_(memset)(slots, FREE, sizeof(slots));
	hvt_threads_init();
}

/* Runs in the thread that ends. */
void hvt_threads_ended(ThreadId tid)
{
	hvt_line_thread_ended(tid); /* also if it never ran */
	if (slot_of[tid] < 0)
		return;
	hvt_frame_thread_ended((UInt)slot_of[tid]);
	tell(HVT_THREAD_END, (UInt)slot_of[tid]);
	if (slot_of[tid] != HVT_SHARED_SLOT)
		slots[slot_of[tid]] = GONE;
	slot_of[tid] = -1;
}
