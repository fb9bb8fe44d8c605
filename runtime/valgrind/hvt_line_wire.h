/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_line_wire.h - how the cache lines of a program lie in the counters' file (hvt_wire.h), with --by cacheline.
 *
 *   state   Each line of 64 bytes has what the thread that accesses it now has done there: a stretch ends
 *           when another thread comes.
 *   shared  A line that a second thread has come to, and any of memory that other processes may map, has a
 *           number, and an account in which each of its threads has a
 *   part    to which its stretches are added, with the
 *   sites   in the code that did it since the line has its number.
 *
 * Valgrind runs one thread at a time: what one did before the other is known, for each of its turns of about 100,000
 * blocks of code.  Those turns are valgrind's: what two threads did that can run at the same time (hvt_order.h) is met, too,
 * whichever of them came first.  For that each part knows what its thread did since it last created or
 * waited for another one, and what before.  Numbers begin with 1; 0 is none.
 */
#ifndef HVT_LINE_WIRE_H
#define HVT_LINE_WIRE_H

#include "hvt_line_most.h"
#include "hvt_wire.h"

#define HVT_LINE_SHIFT	     6
#define HVT_LINE_SIZE	     (1u << HVT_LINE_SHIFT)
#define HVT_LINE_WORDS	     (HVT_LINE_SIZE / 4) /* counters of a line */

#define HVT_LINES_SHARED_MAX ((uint32_t)1 << 22)
#define HVT_LINES_PARTS_MAX  ((uint32_t)1 << 23)
#define HVT_LINES_SITES_MAX  ((uint32_t)1 << 24)
#define HVT_LINES_WHO_MAX    ((uint32_t)1 << 20)

/* From HVT_LINES on: struct hvt_lines_head; the kernel's numbers of threads, by ours; and then */
#define HVT_LINES_WHO	     (HVT_LINES + 4096)
#define HVT_LINES_SHARED     (HVT_LINES_WHO + HVT_LINES_WHO_MAX * sizeof(uint32_t))
#define HVT_LINES_PARTS	     (HVT_LINES_SHARED + HVT_LINES_SHARED_MAX * sizeof(struct hvt_line_shared))
#define HVT_LINES_SITES	     (HVT_LINES_PARTS + HVT_LINES_PARTS_MAX * sizeof(struct hvt_line_part))
#define HVT_LINES_STATE	     ((HVT_LINES_SITES + HVT_LINES_SITES_MAX * sizeof(struct hvt_line_site) + 4095) & ~(uint64_t)4095)
#define HVT_LINES_END	     (HVT_LINES_STATE + (HVT_PLANE_SIZE >> HVT_LINE_SHIFT) * sizeof(struct hvt_line))

struct hvt_lines_head {
	uint32_t n_who, n_shared, n_parts, n_sites; /* the highest number of each */
	uint64_t lost; /* times that no number was left */
};

struct hvt_line {
	uint32_t turn;	 /* in which it was accessed last; 0: never */
	uint32_t number; /* of its struct hvt_line_shared */
	uint32_t who;	 /* is there now */
	uint32_t moment; /* that @who was in there last, hvt_order.h */
	uint64_t read, written; /* which bytes, in this stretch, since the moment that @who is in has begun */
	uint32_t reads[HVT_LINE_WORDS], writes[HVT_LINE_WORDS]; /* accesses by where they begin, not in its part yet */
	/* As long as it has no number: what @who did in moments before, until that one; and which bytes, also of objects that are gone */
	struct hvt_stretch old;
	uint64_t old_read, old_written;
	uint32_t old_moment, zero;
};

struct hvt_line_shared {
	uint64_t line;	 /* its address / 64 */
	uint64_t handovers; /* times that a thread had to have it from the one that wrote to it */
	uint64_t returns;   /* of them, to one that had had it before: it goes back and forth */
	uint64_t most_true, most_false; /* how many there can be if both threads of two stretches run at the same time: with bytes in common, without */
	uint64_t unseen_true, unseen_false; /* the same for all that two did who can run at the same time, whoever came first */
	struct hvt_stretch before; /* the one before this one; no accesses: none that counts */
	uint64_t before_got, before_gave; /* of its accesses, those that may have got the line from the one before it; of its writes, those that gave it there */
	struct hvt_stretch stretch; /* of this one, what is in its part already, and bytes of moments that are over */
	uint64_t moment_reads, moment_writes; /* of this moment, what is in its part already */
	uint32_t first;	 /* part */
	uint32_t now;	 /* that of who is there now */
	uint32_t writer; /* who has written to it last */
	uint32_t closed; /* its memory is gone: nothing changes any more */
	uint32_t met;	 /* the others' parts say who can run at the same time */
	uint32_t before_part, before_gave_to; /* whose that stretch was, and the one before it */
	uint32_t together; /* some of this stretch can be at the same time as that */
};

enum { HVT_LINE_MET_OLD = 1, HVT_LINE_MET_NEW = 2 };

struct hvt_line_part {
	uint32_t who, next;
	uint32_t first; /* site */
	uint32_t holds; /* nobody else has written since it was there */
	uint64_t read, written;
	uint64_t reads[HVT_LINE_WORDS], writes[HVT_LINE_WORDS];
	uint64_t gone_reads[HVT_LINE_WORDS], gone_writes[HVT_LINE_WORDS]; /* of them, those of objects that are gone */
	/* the object of the heap that it came to first; size 0: none, or another was there later */
	uint64_t object, object_size;
	uint32_t object_site;
	uint32_t met;	   /* HVT_LINE_MET_...: which of these can be at the same time as what who is there now does */
	struct hvt_stretch old, new; /* what it did until its moment before the last one, and in the last one */
	uint32_t old_moment, new_moment;
};

struct hvt_line_site {
	uint32_t site, next; /* as in HVT_CALLER */
	uint64_t count;
	uint32_t words;	     /* of the line, a bit each: where its accesses began */
	uint32_t zero;
};

/*
 * @now, of part @part, came after @s->before.  If both can be at the same time each can get the line from the other: an access, or a write
 * as seen by the one that gets what it wrote, that may have been in a hand-over with the stretch before is in no other one: then
 * the sum over all stretches is as large as can be, and no larger.  Else it is given once.
 */
static inline void hvt_line_end_stretch(struct hvt_line_shared *s, const struct hvt_stretch *now, uint32_t part)
{
	const struct hvt_stretch *a = &s->before;
	uint64_t got = hvt_line_less(hvt_line_accesses(now), a->writes - (s->before_gave_to == part ? s->before_gave : 0));
	uint64_t gave = hvt_line_less(hvt_line_accesses(a) - s->before_got, now->writes);

	if (!s->together) {
		got = hvt_line_less(got, 1);
		gave = 0;
	}
	if (hvt_line_in_common(a, now))
		s->most_true += got + gave;
	else
		s->most_false += got + gave;
	s->before = *now;
	s->before_got = got;
	s->before_gave = gave;
	s->before_gave_to = s->before_part;
	s->before_part = part;
	s->together = 0;
}

/* How often who is there now can get the line from others, with bytes in common and without, and they from it. */
struct hvt_line_met {
	uint64_t gets_true, gets_false, gives_true, gives_false;
};

/* What @p's thread did with what @now does, as far as they can be at the same time. */
static inline void hvt_line_meet_unseen(const struct hvt_line_part *p, const struct hvt_stretch *now, struct hvt_line_met *met)
{
	struct hvt_stretch all = { 0, 0, 0, 0 };

	if (p->met & HVT_LINE_MET_OLD)
		all = p->old;
	if (p->met & HVT_LINE_MET_NEW)
		all = (struct hvt_stretch){ all.reads + p->new.reads, all.writes + p->new.writes, all.read | p->new.read,
					    all.written | p->new.written };
	if (hvt_line_in_common(&all, now)) {
		met->gets_true += hvt_line_gets(now, &all);
		met->gives_true += hvt_line_gets(&all, now);
	} else {
		met->gets_false += hvt_line_gets(now, &all);
		met->gives_false += hvt_line_gets(&all, now);
	}
}

/* What @now's thread did met that of many: each of its accesses is still only one. */
static inline void hvt_line_add_unseen(struct hvt_line_shared *s, const struct hvt_stretch *now, struct hvt_line_met *met)
{
	hvt_line_bound(hvt_line_accesses(now), &met->gets_true, &met->gets_false);
	s->unseen_true += met->gets_true + met->gives_true;
	s->unseen_false += met->gets_false + met->gives_false;
}

#endif /* HVT_LINE_WIRE_H */
