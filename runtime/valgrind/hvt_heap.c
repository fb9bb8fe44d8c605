// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_heap.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_map.h"
#include "hvt_calls.h"
#include "hvt_pages.h"
#include "hvt_request.h"
#include "hvt_shadow.h"
#include "hvt_sites.h"
#include "hvt_sys.h"
#include "hvt_touch.h"

#define PAGE   4096UL
#define GRAIN  (HVT_OBJECT_GRAIN / 2) /* Valgrind aligns them so, and puts 32 bytes of its own between */
#define WORDS  (PAGE / 8)

enum {
	LARGE = 32 << 10,  /* objects of as many bytes are found in a tree */
	GIVE_BACK = 128 << 10, /* the memory of their counters is given back when they go */
	SEGMENTS = 512,
	SEEK_DATA_ = 3,
	SEEK_HOLE_ = 4,
};

Bool hvt_heap_on;

struct segment {
	Addr start, end;
};

static OSet *larges; /* struct hvt_heap_object */
static struct segment segments[SEGMENTS]; /* of the heap, which hotvar has been told of */
static UInt n_segments;

/* The object that was found last. */
static struct hvt_heap_object last;

static struct hvt_object *entry_at(Addr a)
{
	return (struct hvt_object *)hvt_shadow_at(HVT_OBJECTS) + a / HVT_OBJECT_GRAIN;
}

/* ---- where the heap is ---- */

static const struct segment *segment_of(Addr a)
{
	UInt i;

	for (i = 0; i < n_segments; i++)
		if (a >= segments[i].start && a < segments[i].end)
			return &segments[i];
	return NULL;
}

static void forget_segments(Addr start, Addr end)
{
	UInt i = 0;

	while (i < n_segments) {
		if (segments[i].start < end && start < segments[i].end)
			segments[i] = segments[--n_segments];
		else
			i++;
	}
}

/* Valgrind has got memory for objects by itself: it is in no system call of the program's. */
static void tell_segment(Addr a)
{
	const NSegment *s = VG_(am_find_nsegment)(a);

	if (!s)
		return;
	forget_segments(s->start, s->end + 1);
	if (n_segments == SEGMENTS)
		n_segments = 0; /* they are told again */
	segments[n_segments++] = (struct segment){ s->start, s->end + 1 };
	hvt_map_heap(s->start, s->end + 1);
}

/* ---- objects ---- */

/* As in an OSet: is @key, an address, before, in or after the object? */
static Word compare(const void *key, const void *elem)
{
	Addr a = *(const Addr *)key;
	const struct hvt_heap_object *l = elem;

	if (a < l->start)
		return -1;
	return a >= l->start + l->size ? 1 : 0;
}

static void note_large(const struct hvt_heap_object *o)
{
	struct hvt_heap_object *l;

	if (!larges)
		larges = VG_(OSetGen_Create)(0, compare, VG_(malloc), "hotvar.large", VG_(free));
	l = VG_(OSetGen_AllocNode)(larges, sizeof(*l));
	*l = *o;
	VG_(OSetGen_Insert)(larges, l);
}

/* Let a reader of the memfd find @o. */
static void enter(const struct hvt_heap_object *o)
{
	struct hvt_object *e = entry_at(o->start);

	if (o->size >= HVT_OBJECT_BIG) {
		e[1] = (struct hvt_object){ 0, (UInt)(o->size >> 32) };
		e[2] = (struct hvt_object){ 0, (UInt)o->size };
	}
	*e = (struct hvt_object){ o->site | (o->old ? HVT_OBJECT_OLD : 0) | (o->start % HVT_OBJECT_GRAIN ? HVT_OBJECT_ODD : 0),
				  o->size < HVT_OBJECT_BIG ? (UInt)o->size : HVT_OBJECT_BIG };
	if (o->size >= LARGE || o->mapped)
		note_large(o);
}

static void made(const struct hvt_heap_object *o)
{
	struct hvt_site *site = hvt_sites_get(o->site);

	if (!site->size_most || o->size < site->size_least)
		site->size_least = o->size;
	if (o->size > site->size_most)
		site->size_most = o->size;
	site->objects++;
	site->bytes += o->size;
	hvt_sites_room(site, o->size);
	enter(o);
}

void hvt_heap_begin(ThreadId tid, Addr start, SizeT size)
{
	static Addr from, to; /* the segment of the last one */

	if (start < from || start >= to || !segment_of(start)) {
		const struct segment *s = segment_of(start);

		if (!s) {
			tell_segment(start);
			s = segment_of(start);
		}
		from = s ? s->start : 0;
		to = s ? s->end : 0;
	}
	made(&(struct hvt_heap_object){ .start = start, .size = size, .site = hvt_sites_here(tid, False) });
}

Bool hvt_heap_find(Addr start, struct hvt_heap_object *o)
{
	const struct hvt_object *e;

	if (start % GRAIN || !segment_of(start))
		return False;
	e = entry_at(start);
	if (!e->site || !(e->site & HVT_OBJECT_ODD) != !(start % HVT_OBJECT_GRAIN))
		return False;
	*o = (struct hvt_heap_object){ .start = start, .size = e->size, .site = e->site & ~(HVT_OBJECT_OLD | HVT_OBJECT_ODD),
				       .old = (e->site & HVT_OBJECT_OLD) != 0 };
	if (e->size == HVT_OBJECT_BIG)
		o->size = (SizeT)e[1].size << 32 | e[2].size;
	return True;
}

/* The object that holds @a. */
static Bool find_around(Addr a, struct hvt_heap_object *o)
{
	const struct segment *s;
	const struct hvt_heap_object *l;
	Addr at = a & ~(HVT_OBJECT_GRAIN - 1UL), least;

	if (a >= last.start && a - last.start < last.size) {
		*o = last;
		return True;
	}
	l = larges ? VG_(OSetGen_Lookup)(larges, &a) : NULL;
	if (l) {
		last = *o = *l;
		return True;
	}
	s = segment_of(a);
	if (!s)
		return False;
	least = at > s->start + LARGE ? at - LARGE : s->start;
	for (; at + HVT_OBJECT_GRAIN > least; at -= HVT_OBJECT_GRAIN) {
		UInt n = entry_at(at)->site;
		Addr start = at + (n & HVT_OBJECT_ODD ? HVT_OBJECT_GRAIN / 2 : 0);

		if (!n || start > a)
			continue;
		if (!hvt_heap_find(start, o) || a - start >= o->size)
			return False;
		last = *o;
		return True;
	}
	return False;
}

/* ---- taking counts out ---- */

/* What of a page's words was touched. */
enum { READ = 1, WRITTEN = 2 };

struct take {
	const struct hvt_heap_object *o;
	struct hvt_site *site;
	ULong never_read, never_written;
	UChar touched[WORDS + 1]; /* of one page, and the next one's first */
};

/* The counters of [@from, @to) in one plane: zero them. */
static void take_plane(struct take *t, UInt slot, UInt plane, Addr from, Addr to)
{
	Addr at = hvt_shadow_base(slot) + plane * HVT_PLANE_SIZE + plane + from;
	UWord n = (to - from + 7) / 8, i;
	UChar *touched = t->touched + (from % PAGE) / 8;

	for (i = 0; i < n; i++, at += 8) {
		struct hvt_pair v;
		UChar how;

		VG_(memcpy)(&v, (const void *)at, sizeof(v));
		if (!v.reads && !v.writes)
			continue;
		VG_(memset)((void *)at, 0, sizeof(v));
		how = (v.reads ? READ : 0) | (v.writes ? WRITTEN : 0);
		touched[i] |= how;
		if (plane) /* it may reach into the next */
			touched[i + 1] |= how;
		hvt_touch_data(from + i * 8 + plane, v.reads, v.writes);
		if (hvt_request_stopped())
			continue;
		if (hvt_request_named(from + i * 8 + plane)) {
			hvt_shadow_send(slot, from + i * 8 + plane, &v);
			continue;
		}
		hvt_sites_count(t->site, slot, from + i * 8 + plane - t->o->start, v.reads, v.writes);
	}
}

/*
 * A counter of a plane but the first may lie across two pages, and only in the second was it raised: @to is where the
 * page ends.
 */
static void take_across(struct take *t, Addr to)
{
	const struct hvt_page *p = hvt_pages_of(to / PAGE, NULL), *was = hvt_pages_of(to / PAGE - 1, NULL);
	ULong used = hvt_shadow_used();
	UInt slot, plane;

	for (slot = 0; p && used; slot++, used >>= 1)
		for (plane = 1; used & 1 && plane < HVT_PLANES; plane++)
			if (p->planes[slot] & (1u << plane) && !(was && was->planes[slot] & (1u << plane)))
				take_plane(t, slot, plane, to - 8, to);
}

static void take_marks(struct take *t, Addr from, Addr to, Bool write)
{
	UChar *m = (UChar *)hvt_shadow_at(write ? HVT_MARKS_WRITE : HVT_MARKS_READ) + from / 8;
	UWord n = (to - from + 7) / 8, i;
	UChar *touched = t->touched + (from % PAGE) / 8;

	if (!hvt_pages_mark(write, from, NULL))
		return;
	for (i = 0; i < n; i++) {
		if (!m[i])
			continue;
		m[i] = 0;
		touched[i] |= write ? WRITTEN : READ;
	}
}

/* Bytes of [@from, @to) that were not touched in that way. */
static ULong untouched(const struct take *t, Addr from, Addr to, UChar how)
{
	const UChar *touched = t->touched + (from % PAGE) / 8;
	ULong n = 0;

	for (; from + 8 <= to; from += 8)
		n += *touched++ & how ? 0 : 8;
	return n + (from < to && !(*touched & how) ? to - from : 0);
}

/* [@from, @to) of the object, in one page. */
static void take_page(struct take *t, const struct hvt_page *p, Addr from, Addr to)
{
	ULong used = hvt_shadow_used();
	UInt slot, plane;

	for (slot = 0; p && used; slot++, used >>= 1)
		for (plane = 0; used & 1 && p->planes[slot] >> plane; plane++)
			if (p->planes[slot] & (1u << plane))
				take_plane(t, slot, plane, from, to);
	if (!(to % PAGE))
		take_across(t, to);
	take_marks(t, from, to, False);
	take_marks(t, from, to, True);
	t->never_read += untouched(t, from, to, READ);
	t->never_written += untouched(t, from, to, WRITTEN);
}

/* From @at on nothing was counted, and nothing is marked, up to what is returned. */
static Addr empty_until(Addr at)
{
	UWord page = 0;
	Addr read = 0, write = 0;

	if (hvt_pages_of(at / PAGE, &page) || hvt_pages_mark(False, at, &read) || hvt_pages_mark(True, at, &write))
		return at;
	if (read > write)
		read = write;
	page--; /* the last counter of the page before lies in it, too */
	return page < read / PAGE ? page * PAGE : read;
}

/* Add what was counted in [@at, @end) of @o, which goes, to its site. */
static void take(const struct hvt_heap_object *o, Addr at, Addr end)
{
	static struct take t;
	Addr start = at, to;
	UChar carry = 0;

	t.o = o;
	t.site = hvt_sites_get(o->site);
	t.never_read = t.never_written = 0;
	hvt_pages_refresh();
	for (; at < end; at = to) {
		UChar *touched = t.touched + (at % PAGE) / 8;

		to = carry ? at : empty_until(at);
		if (to > end)
			to = end;
		if (to > at) {
			t.never_read += to - at;
			t.never_written += to - at;
			continue;
		}
		to = (at | (PAGE - 1)) + 1;
		if (to > end)
			to = end;
		VG_(memset)(touched, 0, (to - at + 7) / 8 + 1);
		*touched = carry;
		take_page(&t, hvt_pages_of(at / PAGE, NULL), at, to);
		carry = to % PAGE ? 0 : t.touched[WORDS];
	}
	if (o->old)
		return;
	t.site->never_read += t.never_read;
	t.site->never_written += t.never_written;
	t.site->gone_objects += o->start == start && !o->rest;
	t.site->gone_bytes += end - start;
}

Bool hvt_heap_counted(UInt slot, Addr addr, const struct hvt_pair *v)
{
	UChar *reads, *writes;
	struct hvt_heap_object o;
	Bool across;

	if (!find_around(addr, &o))
		return False;
	hvt_sites_count(hvt_sites_get(o.site), slot, addr - o.start, v->reads, v->writes);
	across = addr % 8 && (addr | 7) + 1 < o.start + o.size;
	reads = (UChar *)hvt_shadow_at(HVT_MARKS_READ) + addr / 8;
	writes = (UChar *)hvt_shadow_at(HVT_MARKS_WRITE) + addr / 8;
	if (v->reads)
		reads[0] = 1;
	if (v->reads && across)
		reads[1] = 1;
	if (v->writes)
		writes[0] = 1;
	if (v->writes && across)
		writes[1] = 1;
	return True;
}

void hvt_heap_kernel(Bool write, Addr start, Addr end, Bool text)
{
	struct hvt_heap_object o;
	UChar *marks = hvt_shadow_at(write ? HVT_MARKS_WRITE : HVT_MARKS_READ);

	if (start >= end || !find_around(start, &o))
		return;
	if (text && VG_(am_is_valid_for_client)(start, o.start + o.size - start, VKI_PROT_READ))
		for (end = start; end < o.start + o.size && *(const HChar *)end; end++)
			;
	if (end > o.start + o.size)
		end = o.start + o.size;
	VG_(memset)(marks + start / 8, 1, (end + 7) / 8 - start / 8);
}

Bool hvt_heap_around(Addr addr, struct hvt_heap_object *o)
{
	return (n_segments || larges) && find_around(addr, o);
}

Bool hvt_heap_has(Addr addr)
{
	struct hvt_heap_object o;

	return hvt_heap_around(addr, &o);
}

void hvt_heap_end(const struct hvt_heap_object *o)
{
	void *l;

	hvt_calls_take(o->start, o->start + o->size);
	hvt_shadow_taking();
	take(o, o->start, o->start + o->size);
	entry_at(o->start)->site = 0;
	hvt_shadow_taking();
	if (o->size >= GIVE_BACK)
		hvt_shadow_give_back(o->start, o->start + o->size);
	if (o->size >= LARGE) {
		l = VG_(OSetGen_Remove)(larges, &o->start);
		if (l)
			VG_(OSetGen_FreeNode)(larges, l);
	}
	if (last.start == o->start)
		last.size = 0;
}

/* ---- mappings ---- */

void hvt_heap_map(ThreadId tid, Addr start, Addr end)
{
	UInt n = hvt_heap_on && end <= HVT_PLANE_SIZE ? hvt_sites_here(tid, True) : 0;

	if (n)
		made(&(struct hvt_heap_object){ .start = start, .size = end - start, .site = n, .mapped = True });
}

/* The first mapping that reaches into [@start, @end) into *@o, and no longer in the tree. */
static Bool remove_mapping(Addr start, Addr end, struct hvt_heap_object *o)
{
	struct hvt_heap_object *l;

	if (!larges)
		return False;
	VG_(OSetGen_ResetIterAt)(larges, &start);
	while ((l = VG_(OSetGen_Next)(larges)) && l->start < end && !l->mapped)
		;
	if (!l || l->start >= end)
		return False;
	*o = *l;
	VG_(OSetGen_FreeNode)(larges, VG_(OSetGen_Remove)(larges, &o->start));
	return True;
}

void hvt_heap_remapped(Addr start, Addr end)
{
	struct hvt_heap_object o;

	hvt_sites_unmapped(start, end);
	forget_segments(start, end);
	while (remove_mapping(start, end, &o)) {
		Addr from = o.start > start ? o.start : start, stop = o.start + o.size, to = stop < end ? stop : end;

		hvt_shadow_taking();
		take(&o, from, to);
		entry_at(o.start)->site = 0;
		last.size = 0;
		if (o.start < from)
			enter(&(struct hvt_heap_object){ o.start, from - o.start, o.site, o.old, True, o.rest });
		if (to < stop)
			enter(&(struct hvt_heap_object){ to, stop - to, o.site, o.old, True, True });
		hvt_shadow_taking();
		hvt_shadow_give_back(from, to);
	}
}

/* ---- a child's ---- */

/* None of them is this process's own. */
static void copy_objects(struct hvt_object *to, const struct hvt_object *from, SizeT size)
{
	SizeT i;

	for (i = 0; i < size / sizeof(*to); i++) {
		to[i] = from[i];
		if (from[i].site)
			to[i].site |= HVT_OBJECT_OLD;
	}
}

void hvt_heap_forked(Int from)
{
	static struct hvt_object buffer[8 << 10];
	ULong at = HVT_OBJECTS, stop = HVT_SITES;
	struct hvt_heap_object *l;

	if (!hvt_heap_on)
		return;
	hvt_pages_punched();
	hvt_sites_forked(from);
	if (larges)
		VG_(OSetGen_ResetIter)(larges);
	while (larges && (l = VG_(OSetGen_Next)(larges)))
		l->old = True;
	while (at < stop) {
		long data = hvt_sys(__NR_lseek, from, (long)at, SEEK_DATA_, 0, 0, 0), hole, n;

		if (data < 0 || (ULong)data >= stop)
			break;
		hole = hvt_sys(__NR_lseek, from, data, SEEK_HOLE_, 0, 0, 0);
		at = (ULong)data;
		while (at < stop && (long)at < hole) {
			n = hole - (long)at < (long)sizeof(buffer) ? hole - (long)at : (long)sizeof(buffer);
			n = hvt_sys(__NR_pread64, from, (long)buffer, n, (long)at, 0, 0);
			if (n <= 0)
				return;
			copy_objects(hvt_shadow_at(at), buffer, (SizeT)n);
			at += (ULong)n;
		}
	}
}
