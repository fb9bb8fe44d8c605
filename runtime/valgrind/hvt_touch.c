// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_touch.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_heap.h"
#include "hvt_link.h"
#include "hvt_prefetch.h"
#include "hvt_shadow.h"

enum {
	PAGE_SHIFT = 12,
	PAGES = (UInt)(HVT_PLANE_SIZE >> PAGE_SHIFT),
	MANY = 4096, /* pages that one look says nothing was told of */
	MADV_DONTNEED_ = 4,
	MADV_REMOVE_ = 9,
	MADV_POPULATE_READ_ = 22,
	MADV_POPULATE_WRITE_ = 23,
	MADV_DONTNEED_LOCKED_ = 24,
	MAP_LOCKED_ = 0x2000,
	MAP_POPULATE_ = 0x8000,
	MAP_NONBLOCK_ = 0x10000,
	MLOCK_ONFAULT_ = 1,
	MCL_CURRENT_ = 1,
	MCL_FUTURE_ = 2,
	MCL_ONFAULT_ = 4,
};

/* By page: enum hvt_touched of what was told.  Most of it is never used, and has no memory. */
static UChar told[PAGES];
static UChar any[PAGES / MANY];
static Bool locks_future;

static void tell(UInt what, Addr start, Addr end)
{
	struct hvt_message m;

	VG_(memset)(&m, 0, sizeof(m));
	m.type = HVT_TOUCHED;
	m.flags = what;
	m.start = start;
	m.end = end;
	hvt_link_send(&m, NULL, 0);
}

/* The bytes [@start, @end) have been touched so: tell the pages of which that is news. */
static void touch(UInt what, Addr start, Addr end)
{
	UWord page = start >> PAGE_SHIFT, last = (end - 1) >> PAGE_SHIFT, from = 0;

	if (start >= end || last >= PAGES)
		return;
	for (; page <= last; page++) {
		if ((told[page] & what) != what) {
			told[page] |= (UChar)what;
			any[page / MANY] = 1;
			if (!from)
				from = page;
		} else if (from) {
			tell(what, from << PAGE_SHIFT, page << PAGE_SHIFT);
			from = 0;
		}
	}
	if (from)
		tell(what, from << PAGE_SHIFT, (last + 1) << PAGE_SHIFT);
}

void hvt_touch_code(const VexGuestExtents *e)
{
	Int i;

	for (i = 0; i < e->n_used; i++)
		touch(HVT_EXECUTED, e->base[i], e->base[i] + e->len[i]);
}

void hvt_touch_data(Addr addr, Bool read, Bool written)
{
	UInt what = (read ? HVT_READ : 0) | (written ? HVT_WRITTEN : 0);

	if (addr < HVT_PLANE_SIZE && (told[addr >> PAGE_SHIFT] & what) != what)
		touch(what, addr, addr + 1);
}

void hvt_touch_forget(Addr start, Addr end, Bool given_back)
{
	UWord page = start >> PAGE_SHIFT, last = end >> PAGE_SHIFT, next;

	if (last > PAGES)
		last = PAGES;
	for (; page < last; page = next) {
		next = (page / MANY + 1) * MANY;
		if (next > last)
			next = last;
		if (any[page / MANY])
			VG_(memset)(&told[page], 0, next - page);
	}
	if (given_back && start < end)
		tell(HVT_GIVEN_BACK, start, end);
}

void hvt_touch_present(Addr start, Addr end)
{
	if (start < end)
		tell(HVT_PRESENT, start, end);
}

void hvt_touch_moved(Addr from, Addr to, SizeT len)
{
	UWord i, f = from >> PAGE_SHIFT, t = to >> PAGE_SHIFT;

	for (i = 0; i < len >> PAGE_SHIFT && f + i < PAGES && t + i < PAGES; i++) {
		told[t + i] = told[f + i];
		if (told[t + i])
			any[(t + i) / MANY] = 1;
	}
}

Bool hvt_touch_populates(UWord flags)
{
	return locks_future || flags & MAP_LOCKED_ || (flags & MAP_POPULATE_ && !(flags & MAP_NONBLOCK_));
}

static void advised(Addr start, Addr end, UWord advice)
{
	switch (advice) {
	case MADV_DONTNEED_:
	case MADV_DONTNEED_LOCKED_:
	case MADV_REMOVE_:
		hvt_shadow_take(start, end);
		hvt_touch_forget(start, end, True);
		break;
	case MADV_POPULATE_READ_:
	case MADV_POPULATE_WRITE_:
		hvt_touch_present(start, end);
		break;
	default:
		break;
	}
}

void hvt_touch_call(UInt number, const UWord *args, UInt n, Bool failed)
{
	Addr start, end;

	if (failed || n < 1)
		return;
	start = args[0] & ~(Addr)(VKI_PAGE_SIZE - 1);
	end = n < 2 ? start : (args[0] + args[1] + VKI_PAGE_SIZE - 1) & ~(Addr)(VKI_PAGE_SIZE - 1);
	switch (number) {
	case __NR_madvise:
		if (n > 2)
			advised(start, end, args[2]);
		break;
	case __NR_mlock:
		hvt_touch_present(start, end);
		break;
	case __NR_mlock2:
		if (n > 2 && !(args[2] & MLOCK_ONFAULT_))
			hvt_touch_present(start, end);
		break;
	case __NR_mlockall:
		if (args[0] & MCL_CURRENT_ && !(args[0] & MCL_ONFAULT_))
			hvt_touch_present(0, HVT_PLANE_SIZE);
		locks_future = args[0] & MCL_FUTURE_ && !(args[0] & MCL_ONFAULT_);
		break;
	case __NR_munlockall:
		locks_future = False;
		break;
	default:
		break;
	}
}

/* ---- what the kernel does ---- */

static void kernel_reads(CorePart part, ThreadId tid, const HChar *what, Addr a, SizeT len)
{
	(void)tid;
	(void)what;
	if (part == Vg_CoreSysCall && len)
		touch(HVT_READ | HVT_BY_KERNEL, a, a + len);
	if (len)
		hvt_heap_kernel(False, a, a + len, False);
	hvt_prefetch_kernel(a, a + len);
}

static void kernel_reads_text(CorePart part, ThreadId tid, const HChar *what, Addr a)
{
	/* Its length is the kernel's to find: the page that it begins in is surely read. */
	kernel_reads(part, tid, what, a, 1);
	hvt_heap_kernel(False, a, a + 1, True);
}

static void kernel_writes(CorePart part, ThreadId tid, Addr a, SizeT len)
{
	(void)tid;
	if (len && (part == Vg_CoreSysCall || part == Vg_CoreSignal))
		touch(HVT_WRITTEN | HVT_BY_KERNEL, a, a + len);
	if (len)
		hvt_heap_kernel(True, a, a + len, False);
	hvt_prefetch_kernel(a, a + len);
}

void hvt_touch_init(void)
{
	VG_(track_pre_mem_read)(kernel_reads);
	VG_(track_pre_mem_read_asciiz)(kernel_reads_text);
	VG_(track_post_mem_write)(kernel_writes);
}
