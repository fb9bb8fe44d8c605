// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_hits.c - breakpoints at instructions that went far between samples.
 *
 * A setting costs the program half a millisecond: BREAKPOINT_MOST hits of 8.5 us.
 */
#include "config.h"

#include "advise_hits.h"

#define PATIENCE_NS 100000000 /* an instruction that does not come again meanwhile is seldom sampled */
#define BURST_NS    10000000  /* all of its hits, and some */
#define EACH_NS	    25000000  /* between settings, after the first few: a fiftieth */

struct taking {
	perf_record_fn fn;
	void *ctx;
};

static bool take(void *ctx, const struct perf_record *hit, uint64_t ran_ns)
{
	struct taking *t = ctx;

	(void)ran_ns;
	t->fn(t->ctx, hit);
	return true;
}

void advise_hits_read(struct advise_hits *h, uint64_t now_ns, bool all, perf_record_fn fn, void *ctx)
{
	for (int i = 0; i < ADVISE_HITS_SLOTS; i++) {
		struct advise_hits_slot *s = &h->slots[i];
		struct taking t = { fn, ctx };

		if (!s->on)
			continue;
		if (!s->hit && breakpoint_was_hit(&s->bp)) {
			s->hit = true;
			s->since_ns = now_ns;
		}
		if (!all && now_ns - s->since_ns < (s->hit ? BURST_NS : PATIENCE_NS))
			continue;
		breakpoint_off(&s->bp);
		breakpoint_read(&s->bp, take, &t);
		s->on = false;
	}
}

bool advise_hits_may(const struct advise_hits *h, uint64_t now_ns)
{
	uint64_t may = ADVISE_HITS_FIRST + (h->begun_ns ? (now_ns - h->begun_ns) / EACH_NS : 0);
	bool room = false;

	for (int i = 0; i < ADVISE_HITS_SLOTS; i++)
		room |= !h->slots[i].on;
	return room && h->settings < may;
}

void advise_hits_set(struct advise_hits *h, pid_t tid, uint64_t ip, uint64_t now_ns)
{
	h->begun_ns = h->begun_ns ? h->begun_ns : now_ns;
	h->settings++;
	for (int i = 0; i < ADVISE_HITS_SLOTS; i++) {
		struct advise_hits_slot *s = &h->slots[i];

		if (s->on)
			continue;
		s->on = breakpoint_set(&s->bp, tid, ip, BREAKPOINT_MOST);
		s->hit = false;
		s->since_ns = now_ns;
		return;
	}
}

void advise_hits_fini(struct advise_hits *h)
{
	for (int i = 0; i < ADVISE_HITS_SLOTS; i++)
		breakpoint_close(&h->slots[i].bp);
}
