// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "heap_rows.h"

#include "heap_sites.h"

static uint64_t count(struct variables *v, struct hvar_event *ev, uint32_t i, uint64_t n, uint32_t flags)
{
	ev->u.access.weight = n << 16;
	ev->u.access.flags = flags;
	if (n && i != HVAR_HOT_NONE)
		variables_count(v, i, ev);
	return i == HVAR_HOT_NONE ? n << 16 : 0;
}

uint64_t heap_rows_count(struct variables *v, const struct stream_heap *h, bool per_process, bool by_member, uint64_t *lost)
{
	const struct stream_heap_offset *o = (const struct stream_heap_offset *)(h + 1);
	const uint32_t *tids = (const uint32_t *)(o + h->n_offsets);
	struct hvar_event ev = { .time_ns = h->first_ns, .type = HVAR_EVENT_ACCESS, .mm = h->mm, .pid = h->pid,
				 .tid = h->n_tids ? tids[0] : 0 };
	uint32_t site = heap_sites_take(variables_heap_sites(v), h, per_process ? h->mm : 0), i, k;
	uint64_t reads = h->reads, writes = h->writes;

	*lost = 0;
	for (k = 0; site && by_member && k < h->n_offsets; k++) {
		uint32_t part = heap_sites_member(variables_heap_sites(v), site, &o[k]);

		i = part ? variables_heap(v, &ev, part) : HVAR_HOT_NONE;
		*lost += count(v, &ev, i, o[k].reads, HVAR_ACCESS_READ);
		*lost += count(v, &ev, i, o[k].writes, HVAR_ACCESS_WRITE);
		reads -= o[k].reads;
		writes -= o[k].writes;
	}
	i = site ? variables_heap(v, &ev, site) : HVAR_HOT_NONE;
	*lost += count(v, &ev, i, reads, HVAR_ACCESS_READ);
	*lost += count(v, &ev, i, writes, HVAR_ACCESS_WRITE);
	if (i != HVAR_HOT_NONE && (h->reads || h->writes)) {
		ev.time_ns = h->last_ns;
		ev.u.access.weight = 0;
		variables_count(v, i, &ev);
		for (k = 0; k < h->n_tids; k++)
			variables_thread(v, i, tids[k]);
	}
	return (h->reads + h->writes) << 16;
}
