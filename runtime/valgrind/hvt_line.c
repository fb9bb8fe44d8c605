// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_line.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_calls.h"
#include "hvt_heap.h"
#include "hvt_line_parts.h"
#include "hvt_link.h"
#include "hvt_order.h"
#include "hvt_pages.h"
#include "hvt_shadow.h"
#include "hvt_sys.h"
#include "hvt_unseen.h"

enum { CACHED = 4096, RANGES_MAX = 1024, SMALL = 4096, SEEK_DATA_ = 3, SEEK_HOLE_ = 4 };

Bool hvt_line_on;

static Bool stopped;
static UInt turn = 2, who;   /* whose it is */
static ThreadId running = VG_INVALID_THREADID;
static UInt *who_of;	     /* by Valgrind's number; 0: none */

/* Memory that other processes may have. */
static struct range {
	Addr start, end;
} ranges[RANGES_MAX];
static UInt n_ranges;
static Bool all_ranges; /* there were more: it may be any */

/* Where the site that did the last access of its kind has its number for that part. */
static struct cached {
	UInt site, part, at;
} cache[CACHED];

/* ---- parts ---- */

/* One more of what *@n has, of which there are less than @max; 0: none is left. */
static UInt next_of(UInt *n, UInt max)
{
	if (*n + 1 >= max) {
		hvt_line_head()->lost++;
		return 0;
	}
	return ++*n;
}

/* Whose part it is has come to @a: note the object there, or that it is not the one it was. */
static void note_object(struct hvt_line_part *p, Addr a, Bool first)
{
	struct hvt_heap_object o;

	if (!hvt_heap_around(a, &o) || (!first && (a < p->object || a - p->object >= p->object_size)))
		return;
	if (first) {
		p->object = o.start;
		p->object_size = o.size;
		p->object_site = o.site;
	} else if (p->object != o.start || p->object_site != o.site) {
		p->object_size = 0;
	}
}

/* The first byte of @l that was accessed. */
static Addr first_byte(const struct hvt_line *l, UWord line)
{
	ULong any = l->read | l->written | l->old_read | l->old_written;

	return (line << HVT_LINE_SHIFT) + (any ? (Addr)__builtin_ctzll(any) : 0);
}

/* That of @x in @s, made if need be; 0: there is no room. */
static UInt part_of(struct hvt_line_shared *s, UInt x)
{
	UInt i, *end = &s->first;

	for (i = s->first; i; i = hvt_line_part_at(i)->next) {
		if (hvt_line_part_at(i)->who == x)
			return i;
		end = &hvt_line_part_at(i)->next;
	}
	i = next_of(&hvt_line_head()->n_parts, HVT_LINES_PARTS_MAX);
	if (i) {
		hvt_line_part_at(i)->who = x;
		*end = i;
	}
	return i;
}

/* Add what @l has counted to the part of who is there: it may be more than a stretch holds. */
static void put_part(struct hvt_line *l, struct hvt_line_shared *s)
{
	struct hvt_line_part *p = hvt_line_part_at(s->now);
	UInt i;

	p->read |= l->read;
	p->written |= l->written;
	for (i = 0; i < HVT_LINE_WORDS; i++) {
		p->reads[i] += l->reads[i];
		p->writes[i] += l->writes[i];
		s->stretch.reads += l->reads[i];
		s->stretch.writes += l->writes[i];
		s->moment_reads += l->reads[i];
		s->moment_writes += l->writes[i];
	}
	VG_(memset)(l->reads, 0, sizeof(l->reads));
	VG_(memset)(l->writes, 0, sizeof(l->writes));
}

/* The one there goes: its stretch is whole. */
static void end_stretch(struct hvt_line *l, struct hvt_line_shared *s)
{
	static const struct hvt_stretch none;

	put_part(l, s);
	hvt_unseen_over(l, s);
	hvt_line_end_stretch(s, &s->stretch, s->now);
	if (!hvt_order_lives(l->who)) {
		s->before = none;
		s->before_got = s->before_gave = 0;
	}
	s->stretch = none;
}

/* ---- lines ---- */

static Bool may_be_others(Addr a)
{
	UInt i;

	for (i = 0; i < n_ranges; i++)
		if (a >= ranges[i].start && a < ranges[i].end)
			return True;
	return all_ranges;
}

/* Line @line, where @l->who is, gets a number. */
static struct hvt_line_shared *begin_shared(struct hvt_line *l, UWord line)
{
	UInt number = next_of(&hvt_line_head()->n_shared, HVT_LINES_SHARED_MAX);
	struct hvt_line_shared *s = hvt_line_shared_at(number);

	if (!number)
		return NULL;
	s->line = line;
	s->now = part_of(s, l->who);
	if (!s->now) {
		hvt_line_head()->n_shared--;
		return NULL;
	}
	hvt_line_part_at(s->now)->holds = 1;
	if (l->read | l->written | l->old_read | l->old_written)
		note_object(hvt_line_part_at(s->now), first_byte(l, line), True);
	if (l->written | l->old_written)
		s->writer = l->who;
	hvt_unseen_begin(l, s, hvt_line_part_at(s->now));
	/* The account is whole before a reader may find it. */
	__asm__ volatile("" ::: "memory");
	l->number = number;
	return s;
}

/* It is forgotten who was there. */
static void begin_anew(struct hvt_line *l)
{
	VG_(memset)(l, 0, sizeof(*l));
	l->turn = turn;
	l->who = who;
	l->moment = hvt_order_since(who);
}

/* Another one comes. */
static void take_over(struct hvt_line *l, UWord line, UInt off)
{
	struct hvt_line_shared *s;
	UInt part, before;

	if (!l->number && hvt_order_past(l->who)) {
		begin_anew(l);
		return;
	}
	s = l->number ? hvt_line_shared_at(l->number) : begin_shared(l, line);
	before = hvt_line_head()->n_parts;
	part = s ? part_of(s, who) : 0;
	if (!part) {
		if (!s)
			begin_anew(l);
		return;
	}
	end_stretch(l, s);
	note_object(hvt_line_part_at(part), (line << HVT_LINE_SHIFT) + off, part > before);
	s->now = part;
	l->who = who;
	l->moment = hvt_order_since(who);
	if (!hvt_line_part_at(part)->holds && s->writer != who && hvt_order_lives(s->writer)) {
		s->handovers++;
		s->returns += part <= before; /* it is not new here */
	}
	hvt_line_part_at(part)->holds = 1;
}

/* Who is at @l has done what it did in a moment, or with one object: what it does now is more. */
static void part_moments(struct hvt_line *l)
{
	struct hvt_line_shared *s = hvt_line_shared_at(l->number);

	if (!l->number) {
		hvt_unseen_over_alone(l);
	} else {
		put_part(l, s);
		hvt_unseen_over(l, s);
	}
}

/* The first access in a turn of line @line. */
static __attribute__((noinline)) void resume(struct hvt_line *l, UWord line, UInt off)
{
	UInt moment = hvt_order_since(who);
	Bool first = !l->turn;

	l->turn = turn;
	if (first) {
		l->who = who;
		l->moment = moment;
		if (may_be_others(line << HVT_LINE_SHIFT))
			begin_shared(l, line);
	} else if (l->who != who) {
		take_over(l, line, off);
	} else if (l->moment != moment) {
		part_moments(l);
		l->moment = moment;
	}
	if (l->number && l->who == who && hvt_line_shared_at(l->number)->writer)
		hvt_unseen_meet(l, hvt_line_shared_at(l->number));
}

/* The first write of a stretch: what the others have of the line is old now. */
static __attribute__((noinline)) void wrote(struct hvt_line *l)
{
	struct hvt_line_shared *s = hvt_line_shared_at(l->number);
	UInt i;

	s->writer = l->who;
	for (i = s->first; i; i = hvt_line_part_at(i)->next)
		if (i != s->now)
			hvt_line_part_at(i)->holds = 0;
	hvt_unseen_meet(l, s);
}

/* A counter is full. */
static __attribute__((noinline)) void relieve(struct hvt_line *l, UWord line)
{
	struct hvt_line_shared *s = l->number ? hvt_line_shared_at(l->number) : begin_shared(l, line);

	if (s) {
		put_part(l, s);
		return;
	}
	begin_anew(l);
}

static __attribute__((noinline)) UInt find_site(UInt part, UInt site)
{
	UInt i, *first = &hvt_line_part_at(part)->first;

	for (i = *first; i; i = hvt_line_site_at(i)->next)
		if (hvt_line_site_at(i)->site == site)
			return i;
	i = next_of(&hvt_line_head()->n_sites, HVT_LINES_SITES_MAX);
	if (i) {
		*hvt_line_site_at(i) = (struct hvt_line_site){ site, *first, 0, 0, 0 };
		*first = i;
	}
	return i;
}

static void by_site(UInt part, UInt site, UInt word)
{
	struct cached *c = &cache[(site + part * 61) % CACHED];

	if (c->site != site || c->part != part) {
		UInt at = find_site(part, site);

		if (!at)
			return;
		*c = (struct cached){ site, part, at };
	}
	hvt_line_site_at(c->at)->count++;
	hvt_line_site_at(c->at)->words |= 1u << word;
}

/* ---- accesses ---- */

static inline void touch(UWord line, UInt site, UInt off, UInt size, Bool write)
{
	struct hvt_line *l = hvt_line_at(line);
	ULong bytes = (size >= HVT_LINE_SIZE ? ~0ULL : (1ULL << size) - 1) << off;
	UInt *n;

	if (UNLIKELY(l->turn != turn))
		resume(l, line, off);
	if (UNLIKELY(l->who != who)) /* there was no room for the two of them */
		return;
	if (write) {
		if (UNLIKELY(l->number && !l->written))
			wrote(l);
		l->written |= bytes;
		n = &l->writes[off / 4];
	} else {
		l->read |= bytes;
		n = &l->reads[off / 4];
	}
	if (UNLIKELY(++*n == ~0u))
		relieve(l, line);
	if (UNLIKELY(l->number) && site)
		by_site(hvt_line_shared_at(l->number)->now, site, off / 4);
}

/* @what: the number of the site, and below that the size, and below that whether it is a write. */
static VG_REGPARM(2) void access(UWord what, Addr a)
{
	UInt size = (UInt)what >> 1, off = (UInt)a % HVT_LINE_SIZE, n;

	if (UNLIKELY(stopped || a >= HVT_PLANE_SIZE - 4096))
		return;
	n = size < HVT_LINE_SIZE - off ? size : HVT_LINE_SIZE - off;
	touch(a >> HVT_LINE_SHIFT, (UInt)(what >> 32), off, n, what & 1);
	while (UNLIKELY(n < size)) {
		UInt more = size - n < HVT_LINE_SIZE ? size - n : HVT_LINE_SIZE;

		touch((a + n) >> HVT_LINE_SHIFT, (UInt)(what >> 32), 0, more, what & 1);
		n += more;
	}
}

void hvt_line_add(IRSB *out, Addr ip, IRExpr *addr, IRExpr *guard, Bool write, UInt size)
{
	UWord what = (UWord)hvt_calls_number(ip, write, size) << 32 | (UWord)(size < 4096 ? size : 4096) << 1 | (write ? 1 : 0);
	IRDirty *d;

	d = unsafeIRDirty_0_N(2, "hvt_line_access", VG_(fnptr_to_fnentry)(&access),
			      mkIRExprVec_2(mkIRExpr_HWord(what), addr));
	if (guard)
		d->guard = guard;
	addStmtToIRSB(out, IRStmt_Dirty(d));
}

/* ---- threads ---- */

static void next_turn(void)
{
	if (!++turn)
		turn = 2;
}

/* A number for @tid, which @parent creates. */
static void begin_thread(ThreadId tid, UInt parent)
{
	UInt number;

	if (!who_of) {
		who_of = VG_(calloc)("hotvar.line.who", VG_N_THREADS, sizeof(*who_of));
		hvt_order_begin();
	}
	number = next_of(&hvt_line_head()->n_who, HVT_LINES_WHO_MAX);
	if (!number) /* all that come now are one */
		number = HVT_LINES_WHO_MAX - 1;
	who_of[tid] = number;
	hvt_order_creates(parent, number, tid);
}

void hvt_line_thread_created(ThreadId parent, ThreadId child)
{
	if (!hvt_line_on || !who_of || !who_of[parent])
		return;
	begin_thread(child, who_of[parent]);
	next_turn(); /* what @parent does now comes after what @child is */
}

void hvt_line_thread(ThreadId tid)
{
	if (!hvt_line_on)
		return;
	if (!who_of || !who_of[tid])
		begin_thread(tid, 0);
	hvt_order_runs(who_of[tid]);
	((UInt *)hvt_shadow_at(HVT_LINES_WHO))[who_of[tid]] = (UInt)hvt_sys(__NR_gettid, 0, 0, 0, 0, 0, 0);
	running = VG_INVALID_THREADID;
}

void hvt_line_run(ThreadId tid)
{
	if (!hvt_line_on || tid == running)
		return;
	running = tid;
	who = who_of[tid];
	next_turn();
}

void hvt_line_joins(Addr thread, Addr sp, Bool waits)
{
	if (hvt_order_joins(who, thread, sp, waits))
		next_turn();
}

void hvt_line_thread_ended(ThreadId tid)
{
	if (!hvt_line_on || !who_of || !who_of[tid])
		return;
	hvt_order_ends(who_of[tid]);
	who_of[tid] = 0;
	if (tid == running)
		running = VG_INVALID_THREADID;
}

void hvt_line_stop(Bool stop)
{
	stopped = stop;
}

void hvt_line_forked(void)
{
	if (!hvt_line_on)
		return;
	VG_(memset)(cache, 0, sizeof(cache));
	if (who_of)
		VG_(memset)(who_of, 0, VG_N_THREADS * sizeof(*who_of));
	hvt_order_begin();
	running = VG_INVALID_THREADID;
}

/* ---- memory ---- */

void hvt_line_mapped_shared(Addr start, Addr end)
{
	if (!hvt_line_on)
		return;
	if (n_ranges == RANGES_MAX)
		all_ranges = True;
	else
		ranges[n_ranges++] = (struct range){ start, end };
}

/* None of [@start, @end) is such memory any more. */
static void forget_ranges(Addr start, Addr end)
{
	UInt i;

	for (i = 0; i < n_ranges;) {
		struct range *r = &ranges[i];

		if (r->start >= end || r->end <= start) {
			i++;
		} else if (r->start >= start && r->end <= end) {
			*r = ranges[--n_ranges];
		} else if (r->start < start && r->end > end) {
			Addr last = r->end;

			r->end = start;
			hvt_line_mapped_shared(end, last);
			i++;
		} else {
			if (r->start < start)
				r->end = start;
			else
				r->start = end;
			i++;
		}
	}
}

static void close_line(struct hvt_line *l, UWord line)
{
	struct hvt_line_shared *s = hvt_line_shared_at(l->number);
	struct hvt_message m;

	(void)line;
	if (l->number && s->first && !s->closed) {
		end_stretch(l, s);
		s->closed = 1;
		VG_(memset)(&m, 0, sizeof(m));
		m.type = HVT_LINE;
		m.start = l->number;
		hvt_link_send(&m, NULL, 0);
	}
	VG_(memset)(l, 0, sizeof(*l));
}

/* Call @do_it for each line of [@start, @end) that was accessed; @whole: its state is nobody's then.  False: there was none. */
static Bool each_line(UWord n, UWord last, void (*do_it)(struct hvt_line *l, UWord line), Bool whole)
{
	ULong from, to;
	Bool any = False;

	while (n < last) {
		long data = hvt_sys(__NR_lseek, hvt_shadow_fd(), (long)(HVT_LINES_STATE + n * sizeof(struct hvt_line)), SEEK_DATA_, 0, 0, 0);
		long hole;

		if (data < 0)
			break;
		hole = hvt_sys(__NR_lseek, hvt_shadow_fd(), data, SEEK_HOLE_, 0, 0, 0);
		from = ((ULong)data - HVT_LINES_STATE) / sizeof(struct hvt_line);
		to = hole < 0 ? last : ((ULong)hole - HVT_LINES_STATE) / sizeof(struct hvt_line) + 1;
		n = from > n ? from : n;
		if (n >= last)
			break;
		if (!any && whole)
			hvt_shadow_taking();
		any = True;
		from = n;
		for (; n < to && n < last; n++)
			if (hvt_line_at(n)->turn)
				do_it(hvt_line_at(n), n);
		if (whole)
			hvt_shadow_punch(HVT_LINES_STATE + from * sizeof(struct hvt_line), HVT_LINES_STATE + n * sizeof(struct hvt_line));
	}
	return any;
}

void hvt_line_take(Addr start, Addr end)
{
	if (!hvt_line_on || start >= end)
		return;
	if (end > HVT_PLANE_SIZE)
		end = HVT_PLANE_SIZE;
	if (each_line(start >> HVT_LINE_SHIFT, end >> HVT_LINE_SHIFT, close_line, True)) {
		hvt_shadow_taking();
		hvt_pages_punched();
	}
	forget_ranges(start, end);
}

void hvt_line_move(Addr from, Addr to, SizeT len)
{
	Bool shared = hvt_line_on && may_be_others(from);

	hvt_line_take(from, from + len);
	hvt_line_take(to, to + len);
	if (shared)
		hvt_line_mapped_shared(to, to + len);
}

/* The object that is new. */
static Addr object_start, object_end;

static void renew_line(struct hvt_line *l, UWord line)
{
	Addr start = line << HVT_LINE_SHIFT;
	UInt from = object_start > start ? (UInt)(object_start - start) : 0;
	UInt to = object_end - start < HVT_LINE_SIZE ? (UInt)(object_end - start) : HVT_LINE_SIZE;

	if (l->number && (hvt_line_shared_at(l->number)->closed || !hvt_line_shared_at(l->number)->first))
		return;
	part_moments(l);
	hvt_unseen_renew(l, (to - from >= HVT_LINE_SIZE ? ~0ULL : (1ULL << (to - from)) - 1) << from);
	l->turn = turn - 1; /* it is asked again who else can be there */
}

void hvt_line_object(Addr start, SizeT size)
{
	UWord n, last;

	if (!hvt_line_on || !size || start + size < start || start + size > HVT_PLANE_SIZE || hvt_line_head()->n_who < 2)
		return;
	object_start = start;
	object_end = (start + size + 7) & ~(Addr)7; /* what is behind it up to there is no other's */
	n = object_start >> HVT_LINE_SHIFT;
	last = (object_end - 1) / HVT_LINE_SIZE + 1;
	if (size > SMALL) {
		each_line(n, last, renew_line, False);
		return;
	}
	for (; n < last; n++)
		if (hvt_line_at(n)->turn)
			renew_line(hvt_line_at(n), n);
}
