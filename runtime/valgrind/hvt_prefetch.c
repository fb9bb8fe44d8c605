// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For each line of the program's memory there is a number: the epoch in which it was touched or asked for last, NEVER,
 * or WAITING: it is asked for, not touched since, and has a struct waiting.  An epoch ends after FEW distinct lines, an era, which is made
 * of epochs, after hvt_prefetch_lines: what was asked for in one era and not touched until the next one has ended is
 * unused.
 */
#include "hvt_prefetch.h"

#include "libvex_guest_amd64.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_prefetch_code.h"
#include "hvt_prefetch_sites.h"
#include "hvt_request.h"
#include "hvt_sys.h"

enum {
	LINE_SHIFT = 6,
	FEW = 512, /* 32 KiB: no more than the smallest cache there is has */
	NEVER = 0,
	FIRST = 1,
	LAST = 0xfffe,
	WAITING = 0xffff,
	FIXED_NOREPLACE_ = 0x100000,
	MADV_DONTNEED_ = 4,
	MANY_LINES = 1 << 20,
};

#define N_LINES ((UWord)(HVT_PLANE_SIZE >> LINE_SHIFT))

/* Behind the counters, before what the kernel puts at the end. */
#define EPOCHS 0x700000000000ULL

struct waiting {
	Addr addr;
	struct hvt_prefetch_site *site;
	ULong era;
	UInt next; /* of the same bucket, or free; + 1 */
	UShort epoch;
};

UInt hvt_prefetch_lines;

static UShort *epochs; /* by line */
static UShort epoch = FIRST, era_first = FIRST;
static UInt epoch_n, era_n; /* distinct lines in them so far */
static UInt few;
static ULong era = 2;

static struct waiting *v; /* all that wait, and the free ones */
static UInt n_v, cap_v, free_v, n_waiting;
static UInt *buckets, n_buckets;

/* ---- what waits ---- */

static UInt *slot_of(UWord line)
{
	return &buckets[(UInt)((line * 0x9e3779b97f4a7c15ULL) >> 32) & (n_buckets - 1)];
}

static void rebucket(void)
{
	UInt i;

	VG_(free)(buckets);
	n_buckets = cap_v;
	buckets = VG_(calloc)("hotvar.prefetch.buckets", n_buckets, sizeof(*buckets));
	for (i = 0; i < n_v; i++) { /* none is free */
		UInt *b = slot_of(v[i].addr >> LINE_SHIFT);

		v[i].next = *b;
		*b = i + 1;
	}
}

static void wait_for(struct hvt_prefetch_site *s, Addr addr)
{
	UInt i = free_v, *b;

	if (i) {
		free_v = v[i - 1].next;
	} else {
		if (n_v == cap_v) {
			cap_v = cap_v ? 2 * cap_v : 1024;
			v = VG_(realloc)("hotvar.prefetch.waiting", v, cap_v * sizeof(*v));
			rebucket();
		}
		i = ++n_v;
	}
	b = slot_of(addr >> LINE_SHIFT);
	v[i - 1] = (struct waiting){ addr, s, era, *b, epoch };
	*b = i;
	n_waiting++;
}

/* Take what waits for @line out of the table: it is good until the next one waits. */
static const struct waiting *waits_no_more(UWord line)
{
	UInt *at, i;

	if (!n_waiting)
		return NULL;
	for (at = slot_of(line); (i = *at) != 0; at = &v[i - 1].next) {
		if (v[i - 1].addr >> LINE_SHIFT != line)
			continue;
		*at = v[i - 1].next;
		v[i - 1].next = free_v;
		free_v = i;
		n_waiting--;
		return &v[i - 1];
	}
	return NULL;
}

static Int by_address(const void *pa, const void *pb)
{
	const struct waiting *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* What has been taken out was not used. */
static void unused(struct waiting *w, UInt n)
{
	UInt i;

	VG_(ssort)(w, n, sizeof(*w), by_address); /* the first of several that are next to each other is told */
	for (i = 0; i < n; i++) {
		hvt_prefetch_counts(w[i].site)->unused++;
		hvt_prefetch_sight(w[i].site, HVT_PREFETCH_UNUSED, w[i].addr, w[i].site->used);
	}
}

/* Take out all that @gone says so of: they are unused. */
static void sweep(Bool (*gone)(const struct waiting *w, Addr start, Addr end), Addr start, Addr end)
{
	struct waiting *out;
	UInt b, i, *at, n = 0;

	if (!n_waiting)
		return;
	out = VG_(malloc)("hotvar.prefetch.unused", n_waiting * sizeof(*out));
	for (b = 0; b < n_buckets && n_waiting; b++) {
		for (at = &buckets[b]; (i = *at) != 0;) {
			struct waiting *w = &v[i - 1];

			if (!gone(w, start, end)) {
				at = &w->next;
				continue;
			}
			*at = w->next;
			w->next = free_v;
			free_v = i;
			n_waiting--;
			epochs[w->addr >> LINE_SHIFT] = NEVER;
			out[n++] = *w;
		}
	}
	unused(out, n);
	VG_(free)(out);
}

static Bool too_old(const struct waiting *w, Addr start, Addr end)
{
	(void)start;
	(void)end;
	return w->era + 2 <= era;
}

static Bool within(const struct waiting *w, Addr start, Addr end)
{
	return w->addr >= start && w->addr < end;
}

/* ---- time, in lines ---- */

/* Numbers of epochs are used up: forget when lines were touched.  The era begins once more. */
static void forget_epochs(void)
{
	UInt b, i;

	hvt_sys(__NR_madvise, (long)epochs, (long)(N_LINES * sizeof(*epochs)), MADV_DONTNEED_, 0, 0, 0);
	epoch = era_first = FIRST;
	epoch_n = era_n = 0;
	for (b = 0; b < n_buckets && n_waiting; b++)
		for (i = buckets[b]; i; i = v[i - 1].next) {
			v[i - 1].epoch = NEVER;
			epochs[v[i - 1].addr >> LINE_SHIFT] = WAITING;
		}
}

static void next_epoch(void)
{
	epoch_n = 0;
	if (++epoch == LAST)
		forget_epochs();
}

/* A line is touched, or asked for, that was so last in epoch @was, not this one. */
static void another_line(UShort was)
{
	if (was < era_first)
		era_n++;
	epoch_n++;
	if (era_n == hvt_prefetch_lines) {
		era++;
		era_n = 0;
		next_epoch();
		era_first = epoch;
		sweep(too_old, 0, 0);
	} else if (epoch_n == few) {
		next_epoch();
	}
}

/* Is there memory that can be read, or that comes by itself, as the stack does? */
static Bool is_mapped(Addr addr, Bool grows)
{
	const NSegment *seg = addr < HVT_PLANE_SIZE ? VG_(am_find_nsegment)(addr) : NULL;

	if (!seg)
		return False;
	if (seg->kind == SkResvn)
		return grows && seg->smode == SmUpper;
	return (seg->kind == SkFileC || seg->kind == SkAnonC || seg->kind == SkShmC) && (seg->hasR || seg->hasW || seg->hasX);
}

/* The instruction at @ip is about to access @addr, where nothing is. */
static void wild(Addr ip, Addr addr)
{
	struct hvt_prefetch_site *s;

	if (hvt_request_stopped())
		return;
	s = hvt_prefetch_site(ip, True);
	hvt_prefetch_counts(s)->executed++;
	hvt_prefetch_counts(s)->unmapped++;
	hvt_prefetch_sight(s, HVT_PREFETCH_UNMAPPED, addr, 0);
}

static __attribute__((noinline)) void touch(UWord line)
{
	UShort was = epochs[line];
	const struct waiting *w;

	epochs[line] = epoch;
	if (was == WAITING) {
		w = waits_no_more(line);
		was = w ? w->epoch : NEVER;
		if (w) {
			hvt_prefetch_counts(w->site)->used++;
			w->site->used = w->addr;
		}
	}
	if (was != epoch)
		another_line(was);
}

/* The instruction at @ip, 0: the kernel, accesses @size bytes at @a next. */
static VG_REGPARM(3) void accessed(Addr a, UWord size, Addr ip)
{
	UWord line = a >> LINE_SHIFT, last = (a + size - 1) >> LINE_SHIFT;

	if (UNLIKELY(last >= N_LINES || line > last)) {
		if (ip)
			wild(ip, a);
		return;
	}
	do {
		if (LIKELY(epochs[line] == epoch))
			continue;
		if (ip && UNLIKELY(!is_mapped(line == last ? a + size - 1 : a, True))) {
			wild(ip, a);
			return;
		}
		touch(line);
	} while (UNLIKELY(line++ != last));
}

void hvt_prefetch_kernel(Addr start, Addr end)
{
	if (!hvt_prefetch_lines || start >= end || end > HVT_PLANE_SIZE || (end - start) >> LINE_SHIFT > MANY_LINES)
		return;
	accessed(start, end - start, 0);
}

/* ---- prefetches ---- */

static VG_REGPARM(2) void executed(struct hvt_prefetch_site *s, Addr addr)
{
	struct hvt_prefetch *c = hvt_prefetch_counts(s);
	const NSegment *seg;
	UWord line = addr >> LINE_SHIFT;
	UShort was;

	if (hvt_request_stopped())
		return;
	c->executed++;
	if (!is_mapped(addr, False)) {
		c->unmapped++;
		hvt_prefetch_sight(s, HVT_PREFETCH_UNMAPPED, addr, s->good);
		return;
	}
	s->good = addr;
	seg = VG_(am_find_nsegment)(addr);
	if (seg->hasX && !seg->hasW) { /* nobody sees when code is fetched */
		c->unjudged++;
		return;
	}
	was = epochs[line];
	if (was == epoch || was == WAITING) {
		c->redundant++;
		return;
	}
	wait_for(s, addr);
	epochs[line] = WAITING;
	another_line(was);
}

static IRExpr *value(IRSB *out, IRExpr *e)
{
	IRTemp t = newIRTemp(out->tyenv, Ity_I64);

	addStmtToIRSB(out, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static IRExpr *number(ULong x)
{
	return IRExpr_Const(IRConst_U64(x));
}

/* The register of number @reg in an instruction. */
static IRExpr *reg(IRSB *out, Int n)
{
	return value(out, IRExpr_Get(offsetof(VexGuestAMD64State, guest_RAX) + 8 * n, Ity_I64));
}

static IRExpr *address(IRSB *out, const struct hvt_prefetch_code *p, Addr ip_after)
{
	IRExpr *at = number((ULong)p->disp + (p->base == HVT_PREFETCH_IP ? ip_after : 0)), *index;

	if (p->base >= 0 && p->base != HVT_PREFETCH_IP)
		at = value(out, IRExpr_Binop(Iop_Add64, reg(out, p->base), at));
	if (p->index >= 0) {
		index = value(out, IRExpr_Binop(Iop_Shl64, reg(out, p->index), IRExpr_Const(IRConst_U8((UChar)p->shift))));
		at = value(out, IRExpr_Binop(Iop_Add64, index, at));
	}
	if (p->narrow)
		at = value(out, IRExpr_Binop(Iop_And64, at, number(0xffffffff)));
	if (p->segment != HVT_PREFETCH_NO_SEGMENT)
		at = value(out, IRExpr_Binop(Iop_Add64, at, value(out, IRExpr_Get(p->segment == HVT_PREFETCH_FS ?
			offsetof(VexGuestAMD64State, guest_FS_CONST) : offsetof(VexGuestAMD64State, guest_GS_CONST), Ity_I64))));
	return at;
}

void hvt_prefetch_add(IRSB *out, Addr ip, UInt len)
{
	struct hvt_prefetch_code p;

	if (!hvt_prefetch_lines || !hvt_prefetch_code((const UChar *)ip, len, &p))
		return;
	addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_0_N(2, "hvt_prefetch_executed", VG_(fnptr_to_fnentry)(&executed),
		mkIRExprVec_2(mkIRExpr_HWord((HWord)hvt_prefetch_site(ip, False)), address(out, &p, ip + len)))));
}

void hvt_prefetch_access(IRSB *out, Addr ip, IRExpr *addr, IRExpr *guard, UInt size)
{
	IRDirty *d;

	d = unsafeIRDirty_0_N(3, "hvt_prefetch_accessed", VG_(fnptr_to_fnentry)(&accessed),
			      mkIRExprVec_3(addr, mkIRExpr_HWord(size), mkIRExpr_HWord(ip)));
	if (guard)
		d->guard = guard;
	addStmtToIRSB(out, IRStmt_Dirty(d));
}

/* ---- the process ---- */

/* What was touched in [@start, @end) was other memory. */
static void forget(Addr start, Addr end)
{
	ULong from, to, first, last;

	if (end > HVT_PLANE_SIZE)
		end = HVT_PLANE_SIZE;
	if (start >= end)
		return;
	from = (ULong)&epochs[start >> LINE_SHIFT];
	to = (ULong)&epochs[(end + (1 << LINE_SHIFT) - 1) >> LINE_SHIFT];
	first = (from + VKI_PAGE_SIZE - 1) & ~(VKI_PAGE_SIZE - 1ULL);
	last = to & ~(VKI_PAGE_SIZE - 1ULL);
	if (first >= last) {
		VG_(memset)((void *)from, 0, to - from);
		return;
	}
	VG_(memset)((void *)from, 0, first - from);
	hvt_sys(__NR_madvise, (long)first, (long)(last - first), MADV_DONTNEED_, 0, 0, 0);
	VG_(memset)((void *)last, 0, to - last);
}

void hvt_prefetch_unmapped(Addr start, Addr end)
{
	if (!hvt_prefetch_lines || start >= end)
		return;
	sweep(within, start, end);
	forget(start, end);
	hvt_prefetch_sites_unmapped(start, end);
}

void hvt_prefetch_protected(Addr start, Addr end)
{
	struct waiting *w;
	UInt b, i;

	if (!hvt_prefetch_lines)
		return;
	forget(start, end);
	for (b = 0; b < n_buckets && n_waiting; b++)
		for (i = buckets[b]; i; i = w->next) {
			w = &v[i - 1];
			if (within(w, start, end))
				epochs[w->addr >> LINE_SHIFT] = WAITING;
		}
}

void hvt_prefetch_begin(void)
{
	if (hvt_prefetch_lines)
		hvt_prefetch_sites_begin();
}

void hvt_prefetch_forked(void)
{
	UInt b, i;

	for (b = 0; b < n_buckets && n_waiting; b++) {
		for (i = buckets[b]; i; i = v[i - 1].next)
			epochs[v[i - 1].addr >> LINE_SHIFT] = NEVER;
		buckets[b] = 0;
	}
	n_v = free_v = n_waiting = 0;
}

void hvt_prefetch_init(void)
{
	long size = (long)(N_LINES * sizeof(*epochs)), ret;

	if (!hvt_prefetch_lines)
		return;
	few = hvt_prefetch_lines < FEW ? hvt_prefetch_lines : FEW;
	ret = hvt_sys(__NR_mmap, (long)EPOCHS, size, VKI_PROT_READ | VKI_PROT_WRITE,
		      VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | VKI_MAP_NORESERVE | FIXED_NOREPLACE_, -1, 0);
	if (ret != (long)EPOCHS) {
		VG_(printf)("hotvar: cannot watch prefetches: mmap() for the lines failed (error %ld).\n"
			    "hotvar: They need room for addresses: lift the limit with \"ulimit -v unlimited\".\n", -ret);
		VG_(exit)(125);
	}
	epochs = (UShort *)EPOCHS;
	VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
	VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
}
