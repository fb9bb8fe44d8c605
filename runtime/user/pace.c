// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "pace.h"

enum {
	NEAR_NS = 100000000,
	FAR_NS = 250000000,	/* a ring has room for more than twice that */
	START_NS = 300000000,	/* in which a program is loaded: all is new, and soon no longer */
	FRESH_NS = 2000000000,	/* after news: where something changes every second, ticks stay near */
	NEAR_EARLY_NS = 20000000,
	UNTOLD_NS = 1000000000,
};

void pace_begin(struct pace *p, uint64_t now_ns, bool steady)
{
	*p = (struct pace){ .steady = steady, .started_ns = now_ns + START_NS, .next_ns = now_ns + NEAR_NS, .apart_ns = NEAR_NS };
}

bool pace_is_due(const struct pace *p, uint64_t now_ns, uint64_t news)
{
	uint64_t early_ns = p->apart_ns == NEAR_NS ? NEAR_EARLY_NS : news == p->news ? FAR_NS / 4 : FAR_NS - NEAR_NS + NEAR_EARLY_NS;

	return now_ns + early_ns >= p->next_ns;
}

void pace_ticked(struct pace *p, uint64_t now_ns, uint64_t news)
{
	bool started = now_ns >= p->started_ns;

	if (started && news != p->news)
		p->fresh_until_ns = now_ns + FRESH_NS;
	p->news = news;
	p->apart_ns = !p->steady && started && now_ns >= p->fresh_until_ns ? FAR_NS : NEAR_NS;
	p->next_ns = now_ns + p->apart_ns;
}

bool pace_is_to_tell(struct pace *p, uint64_t now_ns, uint64_t news)
{
	if (!p->steady && news == p->told_news && now_ns < p->told_ns + UNTOLD_NS)
		return false;
	p->told_ns = now_ns;
	p->told_news = news;
	return true;
}
