/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_line_most.h - how often a cache line can go from one thread to another, at most.
 *
 * A hand-over is an access by a thread to a line that another one has written to since it had it last, or at all if it has never had
 * it.  Let thread t have n(t) accesses to the line, w(t) of them writes, and all threads N and W.  Whatever comes after which:
 *
 *   1. Each hand-over to t is an access of t: there are n(t) of them at most.
 *   2. Since t had the line last before a hand-over to it, another thread has written there.  These times do not overlap, since
 *      t has the line at the end of each; so each has a write of its own, which is not one of t's: there are W - w(t) at most.
 *   3. The first access of all is none.
 *
 * So no more than min(N - 1, sum over t of min(n(t), W - w(t))) are possible, of which two threads that write in turns reach the first,
 * and one that writes while others read the second.  Of two threads, or stretches, a can get the line from b min(n(a), w(b)) times.
 *
 * A true one is between two threads that have bytes in common, of which one is written: both access a byte that is written, and that two
 * or more access.  By 1 and 2 each of those threads gets it no oftener than above; and by 3 the first access by one of them is none.
 *
 * The tool counts what pairs of stretches can do, the reader what whole threads can, of which one access may be in several pairs: both
 * end with this bound.  Sums of numbers that were written over stay where they are too large.
 */
#ifndef HVT_LINE_MOST_H
#define HVT_LINE_MOST_H

#include <stdint.h>

/* What one thread has done until another came, or for as long as others are ordered to it alike, or in all. */
struct hvt_stretch {
	uint64_t reads, writes; /* accesses */
	uint64_t read, written; /* which bytes */
};

static inline uint64_t hvt_line_less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t hvt_line_plus(uint64_t a, uint64_t b)
{
	return a + b < a ? ~(uint64_t)0 : a + b;
}

static inline uint64_t hvt_line_accesses(const struct hvt_stretch *s)
{
	return hvt_line_plus(s->reads, s->writes);
}

/* How often @a can get the line from @b. */
static inline uint64_t hvt_line_gets(const struct hvt_stretch *a, const struct hvt_stretch *b)
{
	return hvt_line_less(hvt_line_accesses(a), b->writes);
}

/* Do they have bytes in common, of which one writes some? */
static inline int hvt_line_in_common(const struct hvt_stretch *a, const struct hvt_stretch *b)
{
	return (a->written & (b->read | b->written)) | (a->read & b->written) ? 1 : 0;
}

/* Let *@most_true + *@most_false, which is not 0, be @sum, and each as large a part of it as before. */
static inline void hvt_line_scale(uint64_t sum, uint64_t *most_true, uint64_t *most_false)
{
	uint64_t t = *most_true, f = *most_false;

	while ((t | f) >> 31) {
		t >>= 1;
		f >>= 1;
	}
	*most_true = sum / (t + f) * t + sum % (t + f) * t / (t + f);
	*most_false = sum - *most_true;
}

/* Leave @most of them at most. */
static inline void hvt_line_bound(uint64_t most, uint64_t *most_true, uint64_t *most_false)
{
	if (hvt_line_plus(*most_true, *most_false) > most)
		hvt_line_scale(most, most_true, most_false);
}

/* All threads of a line: each is added, and after that each is taken.  All zero at first. */
struct hvt_line_all {
	uint64_t accesses, writes;
	uint64_t once, again, written;	   /* bytes that one accesses, two or more, that are written */
	uint64_t gets;			   /* as in 2 and 1, of those that were taken */
	uint64_t true_gets, true_accesses; /* of them, of those with bytes in common */
};

static inline void hvt_line_all_add(struct hvt_line_all *all, const struct hvt_stretch *s)
{
	all->accesses = hvt_line_plus(all->accesses, hvt_line_accesses(s));
	all->writes = hvt_line_plus(all->writes, s->writes);
	all->again |= all->once & (s->read | s->written);
	all->once |= s->read | s->written;
	all->written |= s->written;
}

static inline void hvt_line_all_take(struct hvt_line_all *all, const struct hvt_stretch *s)
{
	uint64_t gets = hvt_line_less(hvt_line_accesses(s), all->writes - s->writes);

	all->gets = hvt_line_plus(all->gets, gets);
	if (!(all->again & all->written & (s->read | s->written)))
		return;
	all->true_gets = hvt_line_plus(all->true_gets, gets);
	all->true_accesses = hvt_line_plus(all->true_accesses, hvt_line_accesses(s));
}

/* How many hand-overs these threads can have. */
static inline uint64_t hvt_line_all_most(const struct hvt_line_all *all)
{
	return all->accesses ? hvt_line_less(all->accesses - 1, all->gets) : 0;
}

/*
 * No more of both, of each and together, than are possible; and, unless there are none, no less than @seen, which were.  What is more
 * than can be true is not.
 */
static inline void hvt_line_all_bound(const struct hvt_line_all *all, uint64_t seen, uint64_t *most_true, uint64_t *most_false)
{
	uint64_t most = hvt_line_all_most(all), best = all->true_accesses ? hvt_line_less(all->true_accesses - 1, all->true_gets) : 0;

	*most_true = hvt_line_less(*most_true, best);
	hvt_line_bound(most, most_true, most_false);
	seen = hvt_line_less(seen, most);
	if (*most_true + *most_false && *most_true + *most_false < seen)
		hvt_line_scale(seen, most_true, most_false);
	if (*most_true > best) {
		*most_false += *most_true - best;
		*most_true = best;
	}
}

#endif /* HVT_LINE_MOST_H */
