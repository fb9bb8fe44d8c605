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
 * blocks of code.  Numbers begin with 1; 0 is none.
 */
#ifndef HVT_LINE_WIRE_H
#define HVT_LINE_WIRE_H

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
	uint32_t zero;
	uint64_t read, written; /* which bytes, in this stretch */
	uint32_t reads[HVT_LINE_WORDS], writes[HVT_LINE_WORDS]; /* accesses by where they begin, not in its part yet */
};

/* What one thread has done until another came. */
struct hvt_stretch {
	uint64_t reads, writes; /* accesses */
	uint64_t read, written; /* which bytes */
};

struct hvt_line_shared {
	uint64_t line;	 /* its address / 64 */
	uint64_t handovers; /* times that a thread had to have it from the one that wrote to it */
	uint64_t returns;   /* of them, to one that had had it before: it goes back and forth */
	uint64_t most_true, most_false; /* how many there can be if both threads of two stretches run at the same time: with bytes in common, without */
	struct hvt_stretch before; /* the one before this one; no accesses: none that counts */
	uint64_t now_reads, now_writes; /* of this one, what is in its part already */
	uint32_t first;	 /* part */
	uint32_t now;	 /* that of who is there now */
	uint32_t writer; /* who has written to it last */
	uint32_t closed; /* its memory is gone: nothing changes any more */
};

struct hvt_line_part {
	uint32_t who, next;
	uint32_t first; /* site */
	uint32_t holds; /* nobody else has written since it was there */
	uint64_t read, written;
	uint64_t reads[HVT_LINE_WORDS], writes[HVT_LINE_WORDS];
	/* the object of the heap that it came to first; size 0: none, or another was there later */
	uint64_t object, object_size;
	uint32_t object_site, zero;
};

struct hvt_line_site {
	uint32_t site, next; /* as in HVT_CALLER */
	uint64_t count;
	uint32_t words;	     /* of the line, a bit each: where its accesses began */
	uint32_t zero;
};

/*
 * How often a line can go from one of the two to the other if both run at the same time: no oftener than the one with fewer
 * accesses has any, twice if both write; who only reads has it from each write at most once.
 */
static inline void hvt_line_meet(const struct hvt_stretch *a, const struct hvt_stretch *b, uint64_t *most_true,
				 uint64_t *most_false)
{
	uint64_t x = a->writes && !b->writes ? a->writes : a->reads + a->writes;
	uint64_t y = b->writes && !a->writes ? b->writes : b->reads + b->writes;
	uint64_t least = x < y ? x : y;

	if (!a->writes && !b->writes)
		return;
	if (a->writes && b->writes)
		least *= 2;
	if ((a->written & (b->read | b->written)) | (a->read & b->written))
		*most_true += least;
	else
		*most_false += least;
}

#endif /* HVT_LINE_WIRE_H */
