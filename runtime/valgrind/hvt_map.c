// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_map.h"

#include "pub_tool_basics.h"
#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_calls.h"
#include "hvt_heap.h"
#include "hvt_frame.h"
#include "hvt_identity.h"
#include "hvt_line.h"
#include "hvt_line_parts.h"
#include "hvt_link.h"
#include "hvt_prefetch.h"
#include "hvt_request.h"
#include "hvt_shadow.h"
#include "hvt_sys.h"
#include "hvt_touch.h"
#include "hvt_uncounted.h"
#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_vmas.h"

/* Where the program break begins: the core's. */
extern Addr VG_(brk_base);

static Bool begun;	/* hvt_map_initial() has been called */

/* The system call that a thread is in: what the call-backs do not tell. */
static struct {
	UInt number;
	UWord flags; /* of mmap() */
} *calls;

enum { MAP_STACK_ = 0x20000 };

static UInt cause_of(UInt number)
{
	switch (number) {
	case __NR_mmap:
		return HVAR_CAUSE_MMAP;
	case __NR_munmap:
		return HVAR_CAUSE_MUNMAP;
	case __NR_mremap:
		return HVAR_CAUSE_MREMAP;
	case __NR_brk:
		return HVAR_CAUSE_BRK;
	case __NR_mprotect:
		return HVAR_CAUSE_MPROTECT;
	case __NR_shmat:
		return HVAR_CAUSE_SHMAT;
	case __NR_shmdt:
		return HVAR_CAUSE_SHMDT;
	default:
		return HVAR_CAUSE_NONE;
	}
}

static void begin_message(struct hvt_message *m, UInt type, Addr start, Addr end)
{
	ThreadId tid = VG_(get_running_tid)();

	VG_(memset)(m, 0, sizeof(*m));
	m->type = type;
	m->start = start;
	m->end = end;
	if (begun && tid != VG_INVALID_THREADID) {
		m->tid = (UInt)hvt_sys(__NR_gettid, 0, 0, 0, 0, 0, 0);
		m->cause = cause_of(calls[tid].number);
	}
}

/* The kernel keeps whole pages. */
static Addr page_up(Addr a)
{
	return (a + VKI_PAGE_SIZE - 1) & ~(VKI_PAGE_SIZE - 1);
}

static Addr page_down(Addr a)
{
	return a & ~(VKI_PAGE_SIZE - 1);
}

static UInt prot_of(Bool r, Bool w, Bool x)
{
	return (r ? HVAR_PROT_READ : 0) | (w ? HVAR_PROT_WRITE : 0) | (x ? HVAR_PROT_EXEC : 0);
}

/* [@start, @end), which lies in segment @s. */
static void send_map(const NSegment *s, Addr start, Addr end, UInt flags)
{
	const HChar *name = VG_(am_get_filename)(s);
	SizeT len = name && s->kind == SkFileC ? VG_(strlen)(name) : 0;
	struct hvt_identity is;
	struct hvt_message m;

	begin_message(&m, HVT_MAP, start, end);
	m.flags = flags | (s->kind == SkFileC ? 0 : HVT_ANON) | (s->kind == SkShmC ? HVT_SYSV | HVT_SHARED : 0);
	if (s->kind != SkFileC && m.flags & HVT_SHARED) {
		if (hvt_identity_of(start, &is)) {
			m.dev = is.dev;
			m.ino = is.ino;
			m.pgoff = is.pgoff;
		} else if (hvt_line_on) {
			hvt_line_head()->lost++; /* which lines are other processes' is not known */
		}
	}
	m.prot = prot_of(s->hasR, s->hasW, s->hasX);
	if (s->kind == SkFileC) {
		m.dev = s->dev;
		m.ino = s->ino;
		m.pgoff = (ULong)s->offset + (start - s->start);
	}
	hvt_link_send(&m, name, len < HVT_TEXT_MAX ? len : 0);
}

/* Tell what is mapped in [@start, @end). */
static void send_range(Addr start, Addr end, UInt flags)
{
	while (start < end) {
		const NSegment *s = VG_(am_find_nsegment)(start);
		Addr stop;

		if (!s)
			return;
		stop = s->end < end - 1 ? s->end + 1 : end;
		if (s->kind == SkFileC || s->kind == SkAnonC || s->kind == SkShmC)
			send_map(s, start, stop, flags);
		if (stop <= start)
			return;
		start = stop;
	}
}

void hvt_map_initial(void)
{
	Addr sp = VG_(get_SP)(1);
	Addr *starts;
	Int n, i;

	calls = VG_(malloc)("hotvar.calls", VG_N_THREADS * sizeof(*calls));
	for (i = 0; i < (Int)VG_N_THREADS; i++)
		calls[i].number = ~0u;
	begun = True;
	starts = VG_(get_segment_starts)(SkFileC | SkAnonC | SkShmC, &n);
	for (i = 0; i < n; i++) {
		const NSegment *s = VG_(am_find_nsegment)(starts[i]), *below;
		Addr start = s->start;
		UInt flags = HVT_INITIAL;

		if (s->kind == SkAnonC && sp >= s->start && sp <= s->end) {
			/* What it may grow into is kept free below it. */
			below = VG_(am_find_nsegment)(start - 1);
			if (below && below->kind == SkResvn)
				start = below->start;
			flags |= HVT_STACK;
		} else if (s->kind == SkAnonC && VG_(brk_base) >= s->start && VG_(brk_base) <= s->end + 1) {
			flags |= HVT_BREAK;
		}
		send_map(s, start, s->end + 1, flags);
	}
	VG_(free)(starts);
}

void hvt_map_heap(Addr start, Addr end)
{
	if (begun)
		send_range(start, end, HVT_BREAK);
}

/* ---- call-backs ---- */

static void unmapped(Addr a, SizeT len)
{
	struct hvt_message m;

	if (!begun || !len)
		return;
	hvt_shadow_take(page_down(a), page_up(a + len));
	hvt_line_take(page_down(a), page_up(a + len));
	hvt_frame_take(page_down(a), page_up(a + len));
	hvt_touch_forget(page_down(a), page_up(a + len), False);
	hvt_calls_unmapped(page_down(a), page_up(a + len));
	hvt_prefetch_unmapped(page_down(a), page_up(a + len));
	hvt_request_forget(page_down(a), page_up(a + len));
	hvt_heap_remapped(page_down(a), page_up(a + len));
	begin_message(&m, HVT_UNMAP, page_down(a), page_up(a + len));
	hvt_link_send(&m, NULL, 0);
}

/* Memory that the program has mapped, or grown, for itself: no file's, and no stack. */
static Bool is_object(ThreadId tid, Addr a)
{
	const NSegment *s = VG_(am_find_nsegment)(a);

	if (!s || s->kind != SkAnonC)
		return False;
	return calls[tid].number == __NR_mremap || (calls[tid].number == __NR_mmap && !(calls[tid].flags & MAP_STACK_));
}

/* Has @tid, who has mapped @a, made memory there that others may have? */
static Bool is_shared(ThreadId tid, Addr a)
{
	static Bool any;
	struct hvt_identity is;

	if (tid == VG_INVALID_THREADID)
		return False;
	if (calls[tid].number == __NR_mmap && calls[tid].flags & VKI_MAP_SHARED)
		return any = True;
	return any && calls[tid].number == __NR_mremap && hvt_identity_of(page_down(a), &is) && is.shared; /* it grows */
}

static void mapped(Addr a, SizeT len, Bool rr, Bool ww, Bool xx, ULong di_handle)
{
	ThreadId tid = VG_(get_running_tid)();
	UInt flags = 0;

	(void)di_handle;
	if (!begun || !len)
		return;
	hvt_shadow_take(page_down(a), page_up(a + len));
	hvt_line_take(page_down(a), page_up(a + len));
	hvt_touch_forget(page_down(a), page_up(a + len), False);
	hvt_calls_unmapped(page_down(a), page_up(a + len));
	hvt_prefetch_unmapped(page_down(a), page_up(a + len));
	hvt_request_forget(page_down(a), page_up(a + len));
	hvt_heap_remapped(page_down(a), page_up(a + len));
	if (is_shared(tid, a))
		flags = HVT_SHARED;
	if (flags || (tid != VG_INVALID_THREADID && calls[tid].number == __NR_shmat))
		hvt_line_mapped_shared(page_down(a), page_up(a + len));
	send_range(page_down(a), page_up(a + len), flags);
	if (tid != VG_INVALID_THREADID && is_object(tid, a))
		hvt_heap_map(tid, page_down(a), page_up(a + len));
	if ((rr || ww || xx) && tid != VG_INVALID_THREADID && calls[tid].number == __NR_mmap &&
	    hvt_touch_populates(calls[tid].flags))
		hvt_touch_present(page_down(a), page_up(a + len));
}

static void break_grown(Addr a, SizeT len, ThreadId tid)
{
	(void)tid;
	/* A page that it ended in the middle of has been told. */
	if (begun && page_up(a) < page_up(a + len))
		send_range(page_up(a), page_up(a + len), HVT_BREAK);
}

static void break_shrunk(Addr a, SizeT len)
{
	if (page_up(a) < page_up(a + len))
		unmapped(page_up(a), page_up(a + len) - page_up(a));
}

static void protected_(Addr a, SizeT len, Bool rr, Bool ww, Bool xx)
{
	struct hvt_message m;

	if (!begun || !len)
		return;
	hvt_prefetch_protected(page_down(a), page_up(a + len));
	begin_message(&m, HVT_PROTECT, page_down(a), page_up(a + len));
	m.prot = prot_of(rr, ww, xx);
	hvt_link_send(&m, NULL, 0);
}

static void moved(Addr from, Addr to, SizeT len)
{
	ThreadId tid = VG_(get_running_tid)();
	struct hvt_message m;

	if (!begun || !len)
		return;
	hvt_shadow_take(page_down(from), page_up(from + len));
	hvt_shadow_take(page_down(to), page_up(to + len));
	hvt_line_move(page_down(from), page_down(to), page_up(to + len) - page_down(to));
	hvt_touch_moved(page_down(from), page_down(to), page_up(to + len) - page_down(to));
	hvt_heap_remapped(page_down(to), page_up(to + len));
	begin_message(&m, HVT_COPY, page_down(to), page_up(to + len));
	m.old_start = page_down(from);
	hvt_link_send(&m, NULL, 0);
	if (tid != VG_INVALID_THREADID && is_object(tid, to))
		hvt_heap_map(tid, page_down(to), page_up(to + len));
}

static void before_call(ThreadId tid, UInt number, UWord *args, UInt n)
{
	calls[tid].number = number;
	calls[tid].flags = number == __NR_mmap && n > 3 ? args[3] : 0;
	hvt_uncounted_before(number, args, n);
}

static void after_call(ThreadId tid, UInt number, UWord *args, UInt n, SysRes res)
{
	hvt_touch_call(number, args, n, sr_isError(res));
	hvt_uncounted_after(number, args, n, sr_isError(res));
	calls[tid].number = ~0u;
}

void hvt_map_init(void)
{
	VG_(needs_syscall_wrapper)(before_call, after_call);
	VG_(track_new_mem_mmap)(mapped);
	VG_(track_new_mem_brk)(break_grown);
	VG_(track_copy_mem_remap)(moved);
	VG_(track_change_mem_mprotect)(protected_);
	VG_(track_die_mem_munmap)(unmapped);
	VG_(track_die_mem_brk)(break_shrunk);
}
