// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_shadow.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_calls.h"
#include "hvt_heap.h"
#include "hvt_frame.h"
#include "hvt_link.h"
#include "hvt_pages.h"
#include "hvt_request.h"
#include "hvt_sys.h"
#include "hvt_touch.h"

/* Where nothing of Valgrind's or the program's is: below 2^37 is theirs, the kernel's own is near 2^47. */
#define SHADOW 0x200000000000ULL

#define PAGE   4096ULL
#define HALF   0x80000000u

enum {
	MFD_CLOEXEC_ = 1,
	PUNCH_HOLE_KEEP_SIZE_ = 3,
	SEEK_DATA_ = 3,
	SEEK_HOLE_ = 4,
	FIXED_NOREPLACE_ = 0x100000,
	RLIMIT_FSIZE_ = 1,
	SIG_BLOCK_ = 0,
	SIG_SETMASK_ = 2,
	SIGXFSZ_ = 25,
};

/* What becomes of counters that were looked at. */
enum taken {
	KEEP,
	GIVE_BACK, /* begin from zero; their memory is given back */
	ZERO,	   /* the same, but that of pages in use stays */
};

enum { AT_A_TIME = 8 * PAGE / 8 }; /* counters */

static Int shadow_fd = -1;
static ULong used; /* slots, a bit each */

static void give_up(const HChar *what, long error)
{
	VG_(printf)("hotvar: cannot count: %s for the counters failed (error %ld).\n"
		    "hotvar: They need room for addresses: lift the limit with \"ulimit -v unlimited; ulimit -f unlimited\".\n",
		    what, -error);
	VG_(exit)(125);
}

struct limit {
	ULong soft, hard;
};

/*
 * Give the counters' file its size.  The program's limit on files is not meant for it: it is lifted as far as we may,
 * for this moment, and the signal that tells of it is held back: what is wrong is said instead.
 */
static long set_size(Int fd, long size)
{
	struct limit was, none = { ~0ULL, ~0ULL };
	ULong mask = 1ULL << (SIGXFSZ_ - 1), old;
	Bool limited = !hvt_sys(__NR_prlimit64, 0, RLIMIT_FSIZE_, 0, (long)&was, 0, 0) && was.soft != ~0ULL;
	long ret;

	if (limited && hvt_sys(__NR_prlimit64, 0, RLIMIT_FSIZE_, (long)&none, 0, 0, 0)) {
		none.soft = none.hard = was.hard;
		hvt_sys(__NR_prlimit64, 0, RLIMIT_FSIZE_, (long)&none, 0, 0, 0);
	}
	hvt_sys(__NR_rt_sigprocmask, SIG_BLOCK_, (long)&mask, (long)&old, sizeof(mask), 0, 0);
	ret = hvt_sys(__NR_ftruncate, fd, size, 0, 0, 0, 0);
	if (ret < 0) /* we end: the signal is never let through */
		return ret;
	hvt_sys(__NR_rt_sigprocmask, SIG_SETMASK_, (long)&old, 0, sizeof(old), 0, 0);
	if (limited)
		hvt_sys(__NR_prlimit64, 0, RLIMIT_FSIZE_, (long)&was, 0, 0, 0);
	return 0;
}

static void map_shadow(Bool again)
{
	long flags = VKI_MAP_SHARED | (again ? VKI_MAP_FIXED : FIXED_NOREPLACE_);
	long size = (long)HVT_SHADOW_SIZE, ret;

	ret = hvt_sys(__NR_memfd_create, (long)"hotvar", MFD_CLOEXEC_, 0, 0, 0, 0);
	if (ret < 0)
		give_up("memfd_create()", ret);
	shadow_fd = hvt_link_safe_fd((Int)ret);
	ret = set_size(shadow_fd, size);
	if (ret < 0)
		give_up("ftruncate()", ret);
	ret = hvt_sys(__NR_mmap, (long)SHADOW, size, VKI_PROT_READ | VKI_PROT_WRITE, flags, shadow_fd, 0);
	if (ret != (long)SHADOW)
		give_up("mmap()", ret);
}

void hvt_shadow_init(void)
{
	map_shadow(False);
}

void hvt_shadow_renew(void)
{
	Int old = shadow_fd;

	used = 0;
	map_shadow(True);
	hvt_heap_forked(old);
	VG_(close)(old);
}

Int hvt_shadow_fd(void)
{
	return shadow_fd;
}

ULong hvt_shadow_base(UInt slot)
{
	return SHADOW + slot * HVT_SLOT_SIZE;
}

void hvt_shadow_use(UInt slot)
{
	used |= 1ULL << slot;
}

ULong hvt_shadow_used(void)
{
	return used;
}

void *hvt_shadow_at(ULong at)
{
	return (void *)(SHADOW + at);
}

/* ---- looking for counts ---- */

/* The first page at or after file offset @at, before @end, that has memory, and where that ends; False: none. */
static Bool data_at(ULong at, ULong end, ULong *from, ULong *to)
{
	long data = hvt_sys(__NR_lseek, shadow_fd, (long)at, SEEK_DATA_, 0, 0, 0), hole;

	if (data < 0 || (ULong)data >= end)
		return False;
	hole = hvt_sys(__NR_lseek, shadow_fd, data, SEEK_HOLE_, 0, 0, 0);
	*from = (ULong)data;
	*to = hole < 0 || (ULong)hole > end ? end : (ULong)hole;
	return True;
}

/* Counters to be sent together. */
static struct hvt_count batch[HVT_COUNTS_MAX];
static UInt batched, batch_slot;
static Addr batch_start;
static ULong sent;

static void send_batch(void)
{
	struct hvt_message m;

	if (!batched)
		return;
	VG_(memset)(&m, 0, sizeof(m));
	m.type = HVT_COUNTS;
	m.slot = batch_slot;
	m.start = batch_start;
	hvt_link_send(&m, batch, batched * sizeof(batch[0]));
	batched = 0;
}

static void send_count(UInt slot, Addr addr, const struct hvt_pair *v)
{
	if (batched == HVT_COUNTS_MAX || slot != batch_slot || addr < batch_start || addr - batch_start > 0xffffffffu)
		send_batch();
	if (!batched) {
		batch_slot = slot;
		batch_start = addr;
	}
	batch[batched++] = (struct hvt_count){ (UInt)(addr - batch_start), v->reads, v->writes };
	sent++;
}

void hvt_shadow_punch(ULong from, ULong to)
{
	from = (from + PAGE - 1) & ~(PAGE - 1);
	to &= ~(PAGE - 1);
	if (from < to)
		hvt_sys(__NR_fallocate, shadow_fd, PUNCH_HOLE_KEEP_SIZE_, (long)from, (long)(to - from), 0, 0);
}

/* Zero bytes [@from, @to) of the file, all of which have memory. */
static void clear(ULong from, ULong to)
{
	ULong first = (from + PAGE - 1) & ~(PAGE - 1), last = to & ~(PAGE - 1);

	if (first >= last) {
		VG_(memset)((void *)(SHADOW + from), 0, to - from);
		return;
	}
	VG_(memset)((void *)(SHADOW + from), 0, first - from);
	hvt_sys(__NR_fallocate, shadow_fd, PUNCH_HOLE_KEEP_SIZE_, (long)first, (long)(last - first), 0, 0);
	VG_(memset)((void *)(SHADOW + last), 0, to - last);
	hvt_pages_punched();
}

/*
 * The same for what will most likely be counted in again: its memory stays.  A page in which nothing was counted since
 * the last time is given back.
 */
static void zero(ULong from, ULong to)
{
	ULong at = (from + PAGE - 1) & ~(PAGE - 1), last = to & ~(PAGE - 1), idle = at;
	Bool any = False;

	if (at >= last) {
		VG_(memset)((void *)(SHADOW + from), 0, to - from);
		return;
	}
	VG_(memset)((void *)(SHADOW + from), 0, at - from);
	for (; at < last; at += PAGE) {
		const ULong *words = (const ULong *)(SHADOW + at);
		UInt i;

		for (i = 0; i < PAGE / 8 && !words[i]; i++)
			;
		if (i == PAGE / 8)
			continue;
		VG_(memset)((void *)(SHADOW + at), 0, PAGE);
		any = any || idle < at;
		hvt_shadow_punch(idle, at);
		idle = at + PAGE;
	}
	any = any || idle < last;
	hvt_shadow_punch(idle, last);
	VG_(memset)((void *)(SHADOW + last), 0, to - last);
	if (any)
		hvt_pages_punched();
}

/*
 * Counters are read by pread(): a page without memory would get some if it were read where it is mapped,
 * and a counter that does not begin at a multiple of 8 may reach into one.
 */
static const struct hvt_pair *read_counters(ULong at, ULong n)
{
	static struct hvt_pair v[AT_A_TIME];

	if (hvt_sys(__NR_pread64, shadow_fd, (long)v, (long)(n * 8), (long)at, 0, 0) != (long)(n * 8))
		VG_(tool_panic)("cannot read the counters");
	return v;
}

/*
 * Call @fn for each counter that may not be zero of the addresses [@start, @end), multiples of 8, in one plane;
 * then do with them as @taken says.
 */
static void each(UInt slot, UInt plane, Addr start, Addr end, enum taken taken,
		 void (*fn)(UInt slot, Addr addr, const struct hvt_pair *v, ULong at))
{
	ULong shift = slot * HVT_SLOT_SIZE + plane * HVT_PLANE_SIZE + plane;
	ULong at = start + shift, stop = end + shift, from, to, n, i;

	while (at < stop && data_at(at, stop, &from, &to)) {
		at += (from - at) & ~7ULL; /* the one that reaches into it */
		while (at < to) {
			const struct hvt_pair *v;

			n = (to - at + 7) / 8;
			if (n > AT_A_TIME)
				n = AT_A_TIME;
			v = read_counters(at, n);
			for (i = 0; i < n; i++, at += 8)
				if (v[i].reads || v[i].writes)
					fn(slot, at - shift + plane, &v[i], at);
		}
		if (taken == GIVE_BACK)
			clear(from, to);
		else if (taken == ZERO)
			zero(from, to);
	}
}

void hvt_shadow_send(UInt slot, Addr addr, const struct hvt_pair *v)
{
	send_count(slot, addr, v);
	send_batch();
}

static void take(UInt slot, Addr addr, const struct hvt_pair *v, ULong at)
{
	(void)at;
	hvt_touch_data(addr, v->reads, v->writes);
	if (hvt_request_stopped())
		return;
	if (!hvt_request_named(addr) && hvt_heap_counted(slot, addr, v))
		sent++;
	else
		send_count(slot, addr, v);
}

void hvt_shadow_taking(void)
{
	++*(volatile UInt *)(SHADOW + HVT_TAKING);
}

void hvt_shadow_give_back(Addr start, Addr end)
{
	UInt slot, plane;

	for (slot = 0; slot < HVT_SLOTS; slot++)
		for (plane = 0; used & 1ULL << slot && plane < HVT_PLANES; plane++)
			hvt_shadow_punch(slot * HVT_SLOT_SIZE + plane * HVT_PLANE_SIZE + start + 8, slot * HVT_SLOT_SIZE + plane * HVT_PLANE_SIZE + end);
	hvt_shadow_punch(HVT_MARKS_READ + start / 8, HVT_MARKS_READ + end / 8);
	hvt_shadow_punch(HVT_MARKS_WRITE + start / 8, HVT_MARKS_WRITE + end / 8);
	hvt_pages_punched();
}

static void take_range(Addr start, Addr end, enum taken taken)
{
	UInt slot, plane;

	hvt_frame_settle(start, end);
	hvt_shadow_taking();
	for (slot = 0; slot < HVT_SLOTS; slot++)
		for (plane = 0; used & 1ULL << slot && plane < HVT_PLANES; plane++)
			each(slot, plane, start, end, taken, take);
	send_batch();
	hvt_shadow_taking();
}

void hvt_shadow_take(Addr start, Addr end)
{
	if (end > HVT_PLANE_SIZE)
		end = HVT_PLANE_SIZE;
	take_range(start, end, GIVE_BACK);
	hvt_calls_take(start, end);
}

ULong hvt_shadow_take_all(void)
{
	ULong before = sent;

	take_range(0, HVT_PLANE_SIZE - PAGE, ZERO);
	return sent - before + hvt_calls_take_all() + hvt_frame_take_all();
}

void hvt_shadow_take_slot(UInt slot)
{
	UInt plane;

	hvt_shadow_taking();
	for (plane = 0; plane < HVT_PLANES; plane++)
		each(slot, plane, 0, HVT_PLANE_SIZE - PAGE, GIVE_BACK, take);
	send_batch();
	hvt_shadow_taking();
	used &= ~(1ULL << slot);
}

/* ---- no overflow ---- */

static UInt most;

static void relieve(UInt slot, Addr addr, const struct hvt_pair *v, ULong at)
{
	if (v->reads >= HALF || v->writes >= HALF) {
		take(slot, addr, v, at);
		VG_(memset)((void *)(SHADOW + at), 0, sizeof(*v));
		return;
	}
	if (v->reads > most)
		most = v->reads;
	if (v->writes > most)
		most = v->writes;
}

UInt hvt_shadow_relieve(void)
{
	UInt slot, plane;

	hvt_frame_settle(0, HVT_PLANE_SIZE);
	most = hvt_frame_relieve();
	hvt_shadow_taking();
	for (slot = 0; slot < HVT_SLOTS; slot++)
		for (plane = 0; used & 1ULL << slot && plane < HVT_PLANES; plane++)
			each(slot, plane, 0, HVT_PLANE_SIZE - PAGE, KEEP, relieve);
	send_batch();
	hvt_shadow_taking();
	return most;
}
