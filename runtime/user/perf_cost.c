// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "perf_cost.h"

static void put(struct session *s, const char *key, uint64_t n)
{
	stream_put_meta(s->out, key, "%llu", (unsigned long long)n);
}

static void put_walks(struct session *s, const struct walks_counts *c)
{
	put(s, "walks", c->walks);
	put(s, "walk_insns", c->insns);
	put(s, "walks_heard", c->heard);
	stream_put_meta(s->out, "walks_left_out", "moved=%llu asleep=%llu elsewhere=%llu refused=%llu dear=%llu late=%llu",
			(unsigned long long)c->moved, (unsigned long long)c->asleep, (unsigned long long)c->elsewhere,
			(unsigned long long)c->refused, (unsigned long long)c->dear, (unsigned long long)c->late);
	stream_put_meta(s->out, "walks_ended", "enough=%llu syscall=%llu unknown=%llu instruction=%llu memory=%llu",
			(unsigned long long)c->by_end[WALK_ENOUGH], (unsigned long long)c->by_end[WALK_SYSCALL],
			(unsigned long long)c->by_end[WALK_UNKNOWN], (unsigned long long)c->by_end[WALK_INSTRUCTION],
			(unsigned long long)c->by_end[WALK_MEMORY]);
}

static void note_breakpoints(struct session *s, const struct breakpoints_counts *c)
{
	if (c->lost)
		session_note(s, "%llu hits of breakpoints were lost", (unsigned long long)c->lost);
	if (c->dear && !c->hits)
		session_note(s, "no breakpoints were set, which would slow threads down that take turns as often as these do: intervals are wider");
	else if (c->refused && !c->hits)
		session_note(s, "no breakpoints could be set, so that intervals are wider: another program has them all, or the kernel has none");
}

void perf_cost_put(struct session *s, uint64_t samples_ns, const struct breakpoints *b, const struct walks *w)
{
	const struct breakpoints_counts *c = breakpoints_counts(b);

	put(s, "hits", c->hits);
	if (w)
		put_walks(s, walks_counts(w));
	put(s, "cost", samples_ns + c->spent_ns + (w ? walks_counts(w)->spent_ns : 0));
	note_breakpoints(s, c);
}
