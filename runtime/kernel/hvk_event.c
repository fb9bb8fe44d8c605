// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_event.c - what a thread's handlers are still to be told, in the order it happened.
 *
 * A queue is its thread's alone.  What a handler has seen is kept until the next news
 * of that thread, since several handlers are told the same.  What a work adds in
 * between waits behind it.
 *
 *	[ skip | shown ........ | later ... ]
 *	         ^ at
 */
#include "hvk_host.h"

static atomic_t hvk_events_held = ATOMIC_INIT(0);

HVK_API void hvk_events_put(struct hvk_events *q, u64 seq, const struct hvar_event *e)
{
	struct hvk_page_of_events *p = q->last;

	if (!p || p->n == HVK_PER_PAGE) {
		p = NULL;
		if (atomic_read(&hvk_events_held) < HVK_MAX_EVENTS)
			p = hvk_kmalloc(sizeof(*p), HVK_GFP);
		if (!p) {
			hvk_lose(HVK_LOST_EVENTS);
			return;
		}
		p->next = NULL;
		p->n = 0;
		if (q->last)
			q->last->next = p;
		else
			q->first = p;
		q->last = p;
	}
	p->v[p->n].seq = seq;
	p->v[p->n].e = *e;
	p->n++;
	q->n++;
	atomic_inc(&hvk_events_held);
}

/* Forget what was shown.  One empty page is kept, for the next call. */
HVK_API void hvk_events_drop(struct hvk_events *q)
{
	u32 drop = q->shown;

	q->page = NULL;
	q->shown = 0;
	if (!drop)
		return;
	atomic_sub(drop, &hvk_events_held);
	q->n -= drop;
	q->skip += drop;
	while (q->first != q->last && q->skip >= q->first->n) {
		struct hvk_page_of_events *p = q->first;

		q->skip -= p->n;
		q->first = p->next;
		kfree(p);
	}
	if (!q->n && q->first) {
		q->first->n = 0;
		q->skip = 0;
	}
}

HVK_API void hvk_events_free(struct hvk_events *q)
{
	struct hvk_page_of_events *p;

	atomic_sub(q->n, &hvk_events_held);
	while ((p = q->first) != NULL) {
		q->first = p->next;
		kfree(p);
	}
	memset(q, 0, sizeof(*q));
}

/* Show all that is there to the handlers of the news at hand. */
HVK_API void hvk_events_show(struct hvk_events *q)
{
	q->shown = q->n;
	q->page = NULL;
}

/* The event selected, or NULL. */
HVK_API const struct hvk_event *hvk_events_this(const struct hvk_events *q)
{
	return q->page ? &q->page->v[q->at - q->page_first] : NULL;
}

/* Select the next of the running handler's types after the selected one, or the first. */
HVK_API const struct hvk_event *hvk_events_next(struct hvk_events *q)
{
	u32 end = q->skip + q->shown;

	if (!q->page) {
		q->page = q->first;
		q->page_first = 0;
		q->at = q->skip;
	} else {
		q->at++;
	}
	for (; q->page && q->at < end; q->at++) {
		if (q->at - q->page_first == q->page->n) {
			q->page_first += q->page->n;
			q->page = q->page->next;
			if (!q->page)
				break;
		}
		if (q->mask & (1u << hvk_events_this(q)->e.type))
			return hvk_events_this(q);
	}
	q->page = NULL;
	return NULL;
}

HVK_API u32 hvk_events_count(const struct hvk_events *q)
{
	struct hvk_events look = *q;
	u32 n = 0;

	look.page = NULL;
	while (hvk_events_next(&look))
		n++;
	return n;
}
