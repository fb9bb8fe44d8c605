// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_frame.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

#include "hvt_count.h"
#include "hvt_link.h"
#include "hvt_request.h"
#include "hvt_shadow.h"

/* The core's: how far into its function an instruction is. */
extern Bool VG_(get_inst_offset_in_function)(DiEpoch ep, Addr a, PtrdiffT *offset);

#define NO_CFA	  (~(ULong)0)
#define NO_LOW	  (~(ULong)0)
#define HALF	  0x80000000u
#define FRAME_SIZE ((ULong)sizeof(struct hvt_frame))

enum {
	PROBES = 64,
	FIRST_SITES = 1 << 12,
	PAGE_BITS = 1 << 16, /* of a filter for pages with code */
	PAGES_MAX = 1 << 13,
};

static struct hvt_points *points;	 /* with the points behind them */
static struct hvt_owned *owned;
static UInt owned_places[HVT_OWNED_MAX], n_owned; /* those that are not free */
static ULong sent;
static UInt *point_slots;	 /* number of a point, 0: free */
static UInt n_point_slots;
static UChar *signalled;	 /* by thread: a handler is about to begin */
static UChar code_pages[PAGE_BITS / 8];

static void *at(ULong offset)
{
	return (void *)(hvt_shadow_base(0) + offset);
}

static struct hvt_point *point(UInt i)
{
	return (struct hvt_point *)(points + 1) + i;
}

static struct hvt_stack_head *head_of(ULong part)
{
	return (struct hvt_stack_head *)(part + HVT_STACK_HEAD);
}

static struct hvt_frame *top_of(ULong part)
{
	return (struct hvt_frame *)(part + HVT_FRAME_FIRST + head_of(part)->top);
}

static ULong down(ULong top)
{
	return (top - FRAME_SIZE) & (HVT_ACTIVE_MAX * FRAME_SIZE - 1);
}

static UInt hash(ULong a, ULong b)
{
	ULong h = (a ^ b * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull;

	return (UInt)(h >> 32);
}

/* ---- what is sent ---- */

static struct hvt_stack_count batch[HVT_STACK_COUNTS_MAX];
static UInt batched, batch_slot;

static void send_batch(void)
{
	struct hvt_message m;

	if (!batched)
		return;
	VG_(memset)(&m, 0, sizeof(m));
	m.type = HVT_STACK_COUNTS;
	m.slot = batch_slot;
	hvt_link_send(&m, batch, batched * sizeof(batch[0]));
	batched = 0;
}

static void send_count(UInt slot, const struct hvt_stack_count *c)
{
	if (hvt_request_stopped())
		return;
	sent++;
	if (batched == HVT_STACK_COUNTS_MAX || slot != batch_slot)
		send_batch();
	batch_slot = slot;
	batch[batched++] = *c;
}

static void send_point(UInt slot, const struct hvt_point *s, struct hvt_pair *v)
{
	struct hvt_stack_count c = { s->ip, s->offset, s->size, s->flags, s->len, v->reads, v->writes };

	if (v->reads || v->writes)
		send_count(slot, &c);
	v->reads = v->writes = 0;
}

static void send_owned(struct hvt_owned *o)
{
	struct hvt_stack_count c = { o->ip, o->offset, 0, HVT_POINT_OWNED, 0, o->reads, o->writes };

	send_count(o->slot, &c);
	VG_(memset)(o, 0, sizeof(*o));
}

/* Is slot @slot's part in use?  Reading another would give it memory. */
static UChar used[HVT_SLOTS];

static struct hvt_pair *pairs(UInt slot)
{
	return at(HVT_STACK((ULong)slot));
}

static void send_all_owned(void)
{
	UInt i;

	for (i = 0; i < n_owned; i++)
		send_owned(&owned[owned_places[i]]);
	n_owned = 0;
	send_batch();
}

/* ---- what pointers do ---- */

static void own(UInt slot, const struct hvt_frame *e, Int offset, const struct hvt_pair *v)
{
	ULong key = (ULong)(UInt)offset << 8 | slot;
	UInt i, k;

	for (;;) {
		k = hash(e->ip, key);
		for (i = 0; i < PROBES; i++) {
			struct hvt_owned *o = &owned[(k + i) % HVT_OWNED_MAX];

			if (!o->ip) {
				owned_places[n_owned++] = (k + i) % HVT_OWNED_MAX;
				o->offset = offset;
				o->slot = slot;
				o->ip = e->ip;
			}
			if (o->ip == e->ip && o->offset == offset && o->slot == slot) {
				o->reads += v->reads;
				o->writes += v->writes;
				return;
			}
		}
		send_all_owned();
	}
}

/* Put what was counted in @e below @end to its account. */
static void settle_below(const struct hvt_stack_head *head, struct hvt_frame *e, ULong end)
{
	ULong start = e->low, a;
	UInt slot = (UInt)head->slot, plane;

	if (start < head->lo)
		start = head->lo;
	if (end > head->hi)
		end = head->hi;
	start &= ~7ULL;
	for (plane = 0; plane < HVT_PLANES && start < end; plane++) {
		ULong base = hvt_shadow_base(slot) + plane * HVT_PLANE_SIZE + plane;

		for (a = start; a + plane < end; a += 8) {
			struct hvt_pair *v = (struct hvt_pair *)(base + a);

			if (!v->reads && !v->writes)
				continue;
			own(slot, e, (Int)(a + plane - e->cfa), v);
			v->reads = v->writes = 0;
		}
	}
}

static void settle(const struct hvt_stack_head *head, struct hvt_frame *e)
{
	settle_below(head, e, e->cfa);
}

static void pop(ULong part)
{
	struct hvt_frame *e = top_of(part);

	if (e->low != NO_LOW)
		settle(head_of(part), e);
	head_of(part)->top = down(head_of(part)->top);
}

static void begin_frames(ULong part)
{
	struct hvt_frame *e = (struct hvt_frame *)(part + HVT_FRAME_FIRST);

	head_of(part)->top = 0;
	*e = (struct hvt_frame){ NO_CFA, 0, 0, NO_LOW };
}

static Bool is_stack(const struct hvt_stack_head *head, ULong a)
{
	return a >= head->lo && a < head->hi;
}

/* Frames that end at or below @sp, which is on the thread's stack, are left. */
static void leave(ULong part, ULong sp)
{
	const struct hvt_stack_head *head = head_of(part);
	UInt n = 0;

	while (top_of(part)->cfa != NO_CFA && (top_of(part)->cfa <= sp || top_of(part)->cfa > head->hi)) {
		pop(part);
		if (++n == HVT_ACTIVE_MAX) /* more than could be noted: none of these is true any more */
			begin_frames(part);
	}
}

void hvt_frame_left(ULong part, ULong sp)
{
	if (is_stack(head_of(part), sp))
		leave(part, sp);
	else if (top_of(part)->cfa == sp)
		pop(part);
}

void hvt_frame_called(ULong part, ULong cfa)
{
	const struct hvt_stack_head *head = head_of(part);
	struct hvt_frame *e;

	hvt_frame_left(part, cfa);
	e = top_of(part);
	if (e->cfa == NO_CFA || e->low >= cfa || !is_stack(head, cfa))
		return;
	settle_below(head, e, cfa);
	e->low = cfa;
}

static void mark(const struct hvt_stack_head *head, struct hvt_frame *e, ULong low, Addr id, Addr ip)
{
	if (e->cfa == NO_CFA)
		return;
	if (e->id != id) {
		if (e->low != NO_LOW)
			settle(head, e);
		e->low = NO_LOW;
		e->id = id;
		e->ip = ip;
	}
	if (low < e->low)
		e->low = low;
}

void hvt_frame_mark(ULong part, ULong sp, ULong v, ULong id, ULong ip)
{
	const struct hvt_stack_head *head = head_of(part);
	struct hvt_frame *e, *caller;

	if (!is_stack(head, sp))
		return;
	leave(part, sp);
	e = top_of(part);
	/* below the stack pointer a function that calls no other has 128 bytes; and @v may be no pointer at all */
	mark(head, e, v < sp && v > sp - HVT_FRAME_BELOW ? v - 128 : sp, id, ip);
	/* what was passed on the stack is in the caller's frame */
	if (e->cfa == NO_CFA || v < e->cfa)
		return;
	caller = (struct hvt_frame *)(part + HVT_FRAME_FIRST + down(head->top));
	if (caller->cfa != NO_CFA && caller->cfa > e->cfa && v < caller->cfa) {
		Addr from = *(Addr *)(e->cfa - 8) - 1;

		mark(head, caller, e->cfa, hvt_frame_function(from), from);
	}
}

/* ---- threads ---- */

static ULong part_of(ThreadId tid)
{
	ULong part = 0;

	VG_(get_shadow_regs_area)(tid, (UChar *)&part, 1, hvt_count_base() + 8, sizeof(part));
	return part;
}

void hvt_frame_thread(ThreadId tid, UInt slot)
{
	ULong part = (ULong)(Addr)at(HVT_STACK((ULong)slot));
	struct hvt_stack_head *head = head_of(part);
	Addr end = VG_(thread_get_stack_max)(tid) + 1, sp = VG_(get_SP)(tid);
	SizeT size = VG_(thread_get_stack_size)(tid);

	used[slot] = True;
	head->slot = slot;
	head->lo = head->hi = 0;
	/* of threads that share a slot nothing is known */
	if (slot != HVT_SHARED_SLOT && sp < end && size && size < end && sp > end - size) {
		head->hi = sp + 16;
		head->lo = (end - size) & ~4095ULL;
	}
	begin_frames(part);
	VG_(set_shadow_regs_area)(tid, 1, hvt_count_base() + 8, sizeof(part), (UChar *)&part);
	signalled[tid] = False;
}

void hvt_frame_thread_ended(UInt slot)
{
	ULong part = (ULong)(Addr)at(HVT_STACK((ULong)slot));

	leave(part, NO_CFA - 1);
}

static void push(ULong part, ULong cfa)
{
	struct hvt_stack_head *head = head_of(part);

	head->top = (head->top + FRAME_SIZE) & (HVT_ACTIVE_MAX * FRAME_SIZE - 1);
	*top_of(part) = (struct hvt_frame){ cfa, 0, 0, NO_LOW };
}

void hvt_frame_signal(ThreadId tid, Int signal, Bool on_other_stack)
{
	(void)signal;
	(void)on_other_stack;
	signalled[tid] = True;
}

/* A handler begins as a called function does: with the address that it returns to on top of the stack. */
void hvt_frame_resume(ThreadId tid)
{
	if (!signalled[tid])
		return;
	signalled[tid] = False;
	hvt_frame_left(part_of(tid), VG_(get_SP)(tid));
	push(part_of(tid), VG_(get_SP)(tid) + 8);
}

/* ---- fork ---- */

static struct hvt_frame *saved_frames;
static struct hvt_point *saved_points;
static struct hvt_stack_head saved_head;
static UInt n_saved_points;

void hvt_frame_forking(ThreadId tid)
{
	ULong part = part_of(tid);

	saved_head = *head_of(part);
	saved_frames = VG_(malloc)("hotvar.fork", saved_head.top + FRAME_SIZE);
	VG_(memcpy)(saved_frames, (void *)(part + HVT_FRAME_FIRST), saved_head.top + FRAME_SIZE);
	n_saved_points = points->n;
	saved_points = VG_(malloc)("hotvar.fork", n_saved_points * sizeof(*saved_points));
	VG_(memcpy)(saved_points, point(0), n_saved_points * sizeof(*saved_points));
}

void hvt_frame_forked(ThreadId tid)
{
	ULong part = part_of(tid);

	VG_(memcpy)((void *)(part + HVT_FRAME_FIRST), saved_frames, saved_head.top + FRAME_SIZE);
	head_of(part)->top = saved_head.top;
	head_of(part)->lo = saved_head.lo;
	head_of(part)->hi = saved_head.hi;
	VG_(memcpy)(point(0), saved_points, n_saved_points * sizeof(*saved_points));
	points->n = n_saved_points;
	VG_(free)(saved_frames);
	VG_(free)(saved_points);
}

void hvt_frame_init(void)
{
	points = at(HVT_POINTS);
	owned = at(HVT_OWNED);
	points->n = 1;
	n_owned = 0;
	VG_(memset)(used, 0, sizeof(used));
	if (!signalled)
		signalled = VG_(calloc)("hotvar.signals", VG_N_THREADS, 1);
	if (!point_slots) {
		n_point_slots = FIRST_SITES;
		point_slots = VG_(calloc)("hotvar.points", n_point_slots, sizeof(*point_slots));
	}
}

/* ---- points ---- */

static UInt point_hash(const struct hvt_point *s)
{
	return hash(s->ip, (ULong)(UInt)s->offset << 24 | (ULong)s->flags << 16 | s->size);
}

static Bool same_point(const struct hvt_point *a, const struct hvt_point *b)
{
	return a->ip == b->ip && a->offset == b->offset && a->size == b->size && a->flags == b->flags && a->len == b->len;
}

static UInt *point_slot(const struct hvt_point *s)
{
	UInt i = point_hash(s) & (n_point_slots - 1);

	while (point_slots[i] && !same_point(point(point_slots[i]), s))
		i = (i + 1) & (n_point_slots - 1);
	return &point_slots[i];
}

/* Enter all points that are left into a table of @n. */
static void enter_points(UInt n)
{
	UInt i;

	VG_(free)(point_slots);
	n_point_slots = n;
	point_slots = VG_(calloc)("hotvar.points", n, sizeof(*point_slots));
	for (i = 1; i < points->n; i++)
		if (point(i)->ip)
			*point_slot(point(i)) = i;
}

static UInt page_bit(Addr a)
{
	return hash(a >> 12, 0) % PAGE_BITS;
}

UInt hvt_frame_point(const struct hvt_point *s)
{
	UInt *slot = point_slot(s), bit = page_bit(s->ip);

	if (*slot)
		return *slot;
	if (points->n == HVT_POINTS_MAX)
		return 0;
	if (points->n > n_point_slots / 2) {
		enter_points(2 * n_point_slots);
		slot = point_slot(s);
	}
	*point(points->n) = *s;
	code_pages[bit / 8] |= (UChar)(1 << bit % 8);
	*slot = points->n;
	return points->n++;
}

Addr hvt_frame_function(Addr ip)
{
	PtrdiffT offset;

	if (VG_(get_inst_offset_in_function)(VG_(current_DiEpoch)(), ip, &offset) && offset >= 0)
		return ip - (Addr)offset;
	return ip;
}

/* ---- taking ---- */

static Bool has_code(Addr start, Addr end)
{
	Addr a;

	if ((end - start) >> 12 > PAGES_MAX)
		return True;
	for (a = start; a < end; a += 4096)
		if (code_pages[page_bit(a) / 8] & 1 << page_bit(a) % 8)
			return True;
	return False;
}

void hvt_frame_take(Addr start, Addr end)
{
	UInt i, slot;
	Bool any = False;

	if (!has_code(start, end))
		return;
	for (slot = 0; slot < HVT_SLOTS; slot++)
		for (i = 1; used[slot] && i < points->n; i++)
			if (point(i)->ip >= start && point(i)->ip < end)
				send_point(slot, point(i), &pairs(slot)[i]);
	for (i = 1; i < points->n; i++) {
		if (point(i)->ip >= start && point(i)->ip < end) {
			point(i)->ip = 0;
			any = True;
		}
	}
	if (any) {
		enter_points(n_point_slots);
		send_all_owned();
	}
	send_batch();
}

void hvt_frame_take_slot(UInt slot)
{
	UInt i;

	for (i = 1; used[slot] && i < points->n; i++)
		send_point(slot, point(i), &pairs(slot)[i]);
	send_all_owned();
	used[slot] = False;
}

void hvt_frame_settle(Addr start, Addr end)
{
	UInt slot, n;

	for (slot = 0; slot < HVT_SLOTS; slot++) {
		ULong part = (ULong)(Addr)at(HVT_STACK((ULong)slot)), top;
		struct hvt_stack_head *head = used[slot] ? head_of(part) : NULL;

		if (!head || head->lo >= end || head->hi <= start)
			continue;
		top = head->top;
		for (n = 0; n < HVT_ACTIVE_MAX; n++, top = down(top)) {
			struct hvt_frame *e = (struct hvt_frame *)(part + HVT_FRAME_FIRST + top);

			if (e->cfa == NO_CFA)
				break;
			if (e->low != NO_LOW)
				settle(head, e);
		}
	}
}

ULong hvt_frame_take_all(void)
{
	ULong before = sent;
	UInt slot, i;

	for (slot = 0; slot < HVT_SLOTS; slot++)
		for (i = 1; used[slot] && i < points->n; i++)
			send_point(slot, point(i), &pairs(slot)[i]);
	send_all_owned();
	return sent - before;
}

UInt hvt_frame_relieve(void)
{
	UInt slot, i, most = 0;

	for (slot = 0; slot < HVT_SLOTS; slot++) {
		for (i = 1; used[slot] && i < points->n; i++) {
			struct hvt_pair *v = &pairs(slot)[i];

			if (v->reads >= HALF || v->writes >= HALF)
				send_point(slot, point(i), v);
			if (v->reads > most)
				most = v->reads;
			if (v->writes > most)
				most = v->writes;
		}
	}
	send_batch();
	return most;
}
