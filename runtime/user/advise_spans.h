/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advise_spans.h - how the pages of a range would lie in huge pages: counting, and nothing else.
 *
 * A huge page of 2 MiB fits where its aligned span lies whole in the range.  What lies before
 * the first and behind the last such span stays in pages of 4 KiB:
 *
 *	start     2 MiB     2 MiB     2 MiB   end
 *	|--ends---|== span =|== span =|--ends--|
 */
#ifndef ADVISE_SPANS_H
#define ADVISE_SPANS_H

#include <stddef.h>
#include <stdint.h>

#define ADVISE_HUGE ((uint64_t)2 << 20)

struct advise_spans {
	uint64_t start, end;   /* of the range, multiples of 4096 */
	uint64_t first, last;  /* of what whole spans fill, half-open; alike: none fits */
	/* counted: */
	uint64_t small;	       /* pages of 4 KiB that are present, in spans */
	uint64_t ends;	       /* likewise, outside of them */
	uint64_t huge;	       /* pages of 4 KiB that are in huge pages already */
	uint64_t spans;	       /* in which anything is present */
	uint64_t spans_huge;   /* that are mapped by a huge page already */
	uint64_t seen;	       /* private: the last span, plus 1 */
};

/* Begin to count for [@start, @end). */
void advise_spans_begin(struct advise_spans *s, uint64_t start, uint64_t end);

/* The @n entries of pagemap (page_map.h) from @addr on.  Each page once, by address. */
void advise_spans_add(struct advise_spans *s, uint64_t addr, const uint64_t *entries, size_t n);

/* A range of which all is present, in small pages. */
void advise_spans_full(struct advise_spans *s);

/*
 * Page faults that what is present costs when it is touched for the first time: as it is mapped now
 * (one for each small page, one for each huge one); with none in huge pages; with all spans in huge pages.
 */
uint64_t advise_spans_now(const struct advise_spans *s);
uint64_t advise_spans_without(const struct advise_spans *s);
uint64_t advise_spans_with(const struct advise_spans *s);

/* Bytes more that would be in memory, where spans are present only in part. */
uint64_t advise_spans_more(const struct advise_spans *s);

#endif /* ADVISE_SPANS_H */
