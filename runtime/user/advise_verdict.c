// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_verdict.c - is there evidence that an area should be in huge pages?
 */
#include "config.h"

#include "advise_verdict.h"

static const struct {
	const char *name, *text;
} whys[ADVISE_WHYS] = {
	[ADVISE_GIVEN] = { "given", "huge pages are advised" },
	[ADVISE_HUGE_ALREADY] = { "huge-already", "it is in huge pages already" },
	[ADVISE_SMALL] = { "small", "no more of it was touched in one interval than the TLB reaches" },
	[ADVISE_NO_SAMPLES] = { "no-samples", "whether accesses jump about in it is not known" },
	[ADVISE_FEW_SAMPLES] = { "few-samples", "too few samples tell whether accesses jump about in it" },
	[ADVISE_IN_ORDER] = { "in-order", "accesses walk through it in order, most of them" },
	[ADVISE_FEW_PAGES] = { "few-pages", "accesses jump about in it, but to no more pages than the TLB reaches" },
	[ADVISE_NO_SPAN] = { "no-span", "no aligned 2 MiB lie in it" },
};

const char *advise_why_name(enum advise_why w)
{
	return whys[w].name;
}

const char *advise_why_text(enum advise_why w)
{
	return whys[w].text;
}

enum advise_why advise_verdict(const struct advise_region *r, bool sampled, uint64_t reach)
{
	const struct advise_jumps_sum *j = &r->jumps;
	uint64_t small = r->spans.small + r->spans.ends;

	/* what is still small could all be kept */
	if (r->hugetlb || (r->spans.huge && small <= reach && small * 9 <= r->spans.huge))
		return ADVISE_HUGE_ALREADY;
	if (r->smaps && r->touched <= reach)
		return ADVISE_SMALL;
	if (!sampled)
		return ADVISE_NO_SAMPLES;
	if (j->pairs < ADVISE_JUMPS_LEAST)
		return ADVISE_FEW_SAMPLES;
	if (j->far * ADVISE_JUMPS_SHARE < j->pairs)
		return ADVISE_IN_ORDER;
	if (j->far < ADVISE_JUMPS_LEAST)
		return ADVISE_FEW_SAMPLES;
	if (!advise_jumps_exceed(j->pages, j->landed, reach))
		return ADVISE_FEW_PAGES;
	return r->spans.first == r->spans.last ? ADVISE_NO_SPAN : ADVISE_GIVEN;
}
