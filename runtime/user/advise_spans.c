// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_spans.c - how the pages of a range would lie in huge pages.
 */
#include "config.h"

#include "advise_spans.h"

#include <stdbool.h>
#include <string.h>

#include "page_map.h"

void advise_spans_begin(struct advise_spans *s, uint64_t start, uint64_t end)
{
	memset(s, 0, sizeof(*s));
	s->start = start;
	s->end = end;
	s->last = end & ~(ADVISE_HUGE - 1);
	/* rounding up may pass the last address */
	s->first = start > UINT64_MAX - ADVISE_HUGE ? s->last : (start + ADVISE_HUGE - 1) & ~(ADVISE_HUGE - 1);
	if (s->first > s->last)
		s->first = s->last = start;
}

static void add(struct advise_spans *s, uint64_t addr, bool huge)
{
	uint64_t span = addr / ADVISE_HUGE + 1;

	if (addr < s->start || addr >= s->end)
		return;
	if (addr < s->first || addr >= s->last) {
		if (huge) /* the range is a part of what is mapped so */
			s->huge++;
		else
			s->ends++;
		return;
	}
	if (huge)
		s->huge++;
	else
		s->small++;
	if (span == s->seen)
		return;
	s->seen = span;
	s->spans++;
	s->spans_huge += huge;
}

void advise_spans_add(struct advise_spans *s, uint64_t addr, const uint64_t *entries, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (page_present(entries[i]))
			add(s, addr + i * PAGE_BYTES, entries[i] & PAGE_HUGE);
}

void advise_spans_full(struct advise_spans *s)
{
	s->small = (s->last - s->first) / PAGE_BYTES;
	s->ends = (s->end - s->start) / PAGE_BYTES - s->small;
	s->spans = (s->last - s->first) / ADVISE_HUGE;
	s->huge = s->spans_huge = 0;
}

uint64_t advise_spans_now(const struct advise_spans *s)
{
	return s->small + s->ends + s->spans_huge;
}

uint64_t advise_spans_without(const struct advise_spans *s)
{
	return s->small + s->ends + s->huge;
}

uint64_t advise_spans_with(const struct advise_spans *s)
{
	return s->spans + s->ends;
}

uint64_t advise_spans_more(const struct advise_spans *s)
{
	uint64_t there = (s->small + s->huge) * PAGE_BYTES, whole = s->spans * ADVISE_HUGE;

	return whole > there ? whole - there : 0;
}
