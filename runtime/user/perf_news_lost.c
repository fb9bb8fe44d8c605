// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_news_lost.c - what the kernel had no room for, and what else is not known: counted, and told when it is found again.
 */
#include "config.h"

#include "perf_news.h"

#include <string.h>

/* Strangers are asked once each until the next recovery: it costs time, in which more may be lost. */
void perf_news_lost(struct perf_news *n, const struct perf_record *r)
{
	if (!n->lost) {
		memset(n->strangers, 0, sizeof(n->strangers));
		n->lost_since_ns = r->u.lost.since_ns;
	}
	if (r->u.lost.since_ns < n->lost_since_ns)
		n->lost_since_ns = r->u.lost.since_ns;
	n->lost = n->lost_some = true;
}

static void put_loss_since(struct perf_news *n, uint32_t what, uint64_t count, uint64_t since_ns)
{
	struct stream_loss l = { .time_ns = n->last_ns, .what = what, .count = count };

	if (since_ns && since_ns < n->last_ns)
		l.since_ms = (uint32_t)((n->last_ns - since_ns + 999999) / 1000000);
	if (count)
		stream_put(n->out, STREAM_LOSS, &l, sizeof(l), NULL, 0);
}

static void put_loss(struct perf_news *n, uint32_t what, uint64_t count)
{
	put_loss_since(n, what, count, 0);
}

/* Of the rings, when it is found: where nothing is sampled they were news of the map. */
static void tell_lost_records(struct perf_news *n, const struct perf_ring_counts *c)
{
	if (n->lost)
		return;
	put_loss_since(n, n->hz || n->faults ? STREAM_LOST_SAMPLES : STREAM_LOST_MAPS,
		       c->lost + c->damaged - n->told.lost - n->told.damaged + n->lost_samples, n->lost_since_ns);
	n->lost_samples = n->lost_since_ns = 0;
	n->told.lost = c->lost;
	n->told.damaged = c->damaged;
}

void perf_news_tell_losses(struct perf_news *n)
{
	const struct perf_ring_counts *c = perf_rings_counts(n->rings);
	uint64_t skipped = perf_rings_skipped(n->rings);

	tell_lost_records(n, c);
	put_loss(n, STREAM_LOST_MAPS, n->overlooked);
	n->overlooked = 0;
	put_loss(n, STREAM_LOST_THROTTLED, c->throttled - n->told.throttled);
	put_loss(n, STREAM_LOST_TASKS, n->homeless + n->cut_off + skipped - n->skipped_told);
	n->told.throttled = c->throttled;
	n->skipped_told = n->homeless + n->cut_off + skipped;
	code_capture_tell_losses(n->code, n->last_ns);
	tracker_tell_losses(n->t, n->last_ns);
}
