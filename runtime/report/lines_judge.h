/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines_judge.h - is a cache line shared for the sake of its data, or only for its place?
 *
 * Two threads are in each other's way on a line if both access it and at least one writes.  That is true sharing if they
 * have bytes in common of which one is written, and false sharing if not: then other places for their data would part them.
 * How much either weighs is how often the line can go from one of the two to the other, and never more than all threads' accesses
 * allow (hvt_line_most.h), nor less than was counted.  In exact recordings that is summed up over what threads did that can run at the
 * same time; how much of it is true is taken from what one did after the other, if the line was seen to go back and forth.  Of samples,
 * and between processes, all that each did is taken together.
 */
#ifndef LINES_JUDGE_H
#define LINES_JUDGE_H

#include "lines.h"

enum line_verdict {
	LINE_NONE,  /* nobody writes, or one thread alone accesses it */
	LINE_ONCE,  /* one thread has it after the other, and it never goes back and forth */
	LINE_TRUE,
	LINE_FALSE,
	LINE_BOTH,  /* neither is less than a tenth */
};

enum { LINES_BACK_AND_FORTH = 2 }; /* returns from which on a line is shared, and not given once */
enum { LINES_LEAST = 100 }; /* lines that can go fewer times cost nothing: there are some in each program with threads */

struct line_judged {
	enum line_verdict verdict;
	uint64_t most_true, most_false; /* of handovers, at most; of samples: the same in samples */
	uint64_t handovers, returns; /* that were counted */
	bool order;	   /* the order is known: handovers are counted */
	bool unseen;	   /* the threads took turns, so that it was not seen to go back and forth: but they can run at the same time */
	bool processes;	   /* threads of several processes are in each other's way */
};

void lines_judge(const struct line *line, struct line_judged *out);
const char *lines_verdict_name(enum line_verdict v); /* "true" ... */

/* What is told apart on a line: a variable or member, or bytes of unnamed memory that the same threads access. */
struct line_part {
	uint8_t start, end;
	uint8_t first, last; /* line->names: more than one where counts cannot be told apart, as of neighbours in 4 bytes */
};

/* Those that are accessed, ascending; at most LINES_SIZE.  Returns how many. */
unsigned lines_parts(const struct line *line, struct line_part out[LINES_SIZE]);

/* What thread @t did with part @p. */
struct line_part_count {
	uint64_t reads, writes;
	uint64_t read, written; /* bytes of the line */
};
struct line_part_count lines_part_count(const struct line_part *p, const struct line_thread *t);

#endif /* LINES_JUDGE_H */
