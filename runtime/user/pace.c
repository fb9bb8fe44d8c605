// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "pace.h"

enum {
	NEAR_NS = 100000000,
	FAR_NS = 250000000,	/* a ring has room for more than twice that */
	YOUNG_NS = 1000000000,
	FRESH_NS = 2000000000,	/* after news: where something changes every second, ticks stay near */
	NEAR_EARLY_NS = 20000000,
};

void pace_begin(struct pace *p, uint64_t now_ns, bool steady)
{
	*p = (struct pace){ .steady = steady, .begin_ns = now_ns, .next_ns = now_ns + NEAR_NS, .apart_ns = NEAR_NS };
}

bool pace_is_due(const struct pace *p, uint64_t now_ns, uint64_t news)
{
	uint64_t early_ns = p->apart_ns == NEAR_NS ? NEAR_EARLY_NS : news == p->news ? FAR_NS / 4 : FAR_NS - NEAR_NS + NEAR_EARLY_NS;

	return now_ns + early_ns >= p->next_ns;
}

void pace_ticked(struct pace *p, uint64_t now_ns, uint64_t news)
{
	bool young = now_ns < p->begin_ns + YOUNG_NS, far;

	if (news != p->news) /* at the beginning all is */
		p->fresh_until_ns = now_ns + (young ? NEAR_NS : FRESH_NS);
	far = !p->steady && !young && now_ns >= p->fresh_until_ns;
	p->news = news;
	p->apart_ns = far ? FAR_NS : NEAR_NS;
	p->next_ns = now_ns + p->apart_ns;
}
