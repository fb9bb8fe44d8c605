// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_prefetch_sites.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "hvt_code_name.h"
#include "hvt_heap.h"
#include "hvt_link.h"
#include "hvt_shadow.h"

enum { NEAR = 64 * 1024 }; /* bytes: closer ones are the same sight */

#define SITES 4096u /* buckets */

static struct hvt_prefetch_site *sites[SITES];
static struct hvt_prefetch_site others; /* number 0 */
static UInt n_sites = 1;

struct hvt_prefetch *hvt_prefetch_counts(const struct hvt_prefetch_site *s)
{
	return (struct hvt_prefetch *)hvt_shadow_at(HVT_PREFETCHES) + s->number;
}

/* What it is called: function, file, line. */
static void tell(const struct hvt_prefetch_site *s)
{
	static HChar text[HVT_TEXT_MAX];
	UInt len = hvt_code_name(s->ip, text);
	struct hvt_message m;

	VG_(memset)(&m, 0, sizeof(m));
	m.type = HVT_PREFETCH;
	m.slot = s->number;
	m.flags = s->access;
	m.start = s->ip;
	hvt_link_send(&m, text, len);
}

static struct hvt_prefetch_site **bucket_of(Addr ip)
{
	return &sites[(ip * 0x9e3779b97f4a7c15ULL) >> 52];
}

struct hvt_prefetch_site *hvt_prefetch_site(Addr ip, Bool access)
{
	struct hvt_prefetch_site **first = bucket_of(ip), *s;

	for (s = *first; s; s = s->next)
		if (s->ip == ip && s->access == access && !s->dead)
			return s;
	if (n_sites == HVT_PREFETCHES_MAX)
		return &others;
	s = VG_(calloc)("hotvar.prefetch.site", 1, sizeof(*s));
	s->ip = ip;
	s->access = access;
	s->number = n_sites++;
	s->next = *first;
	*first = s;
	tell(s);
	return s;
}

void hvt_prefetch_sight(struct hvt_prefetch_site *s, UInt what, Addr addr, Addr base)
{
	UInt k = what == HVT_PREFETCH_UNMAPPED ? 0 : 1, i;
	struct hvt_heap_object o = { 0 };
	struct hvt_prefetch_sight more;
	struct hvt_message m;

	for (i = 0; i < s->n_sights[k]; i++)
		if (addr - s->sights[k][i] + NEAR <= 2 * NEAR)
			return;
	if (i == HVT_PREFETCH_SIGHTS)
		return;
	s->sights[k][s->n_sights[k]++] = addr;
	VG_(memset)(&more, 0, sizeof(more));
	more.addr = addr;
	more.base = base;
	if (hvt_heap_around(base ? base : addr, &o)) {
		more.object = o.start;
		more.object_size = o.size;
		more.object_site = o.site;
	}
	VG_(memset)(&m, 0, sizeof(m));
	m.type = HVT_PREFETCH_SEEN;
	m.slot = s->number;
	m.flags = what;
	hvt_link_send(&m, &more, sizeof(more));
}

void hvt_prefetch_sites_unmapped(Addr start, Addr end)
{
	struct hvt_prefetch_site *s;
	UInt i;

	for (i = 0; i < SITES; i++)
		for (s = sites[i]; s; s = s->next)
			if (s->ip >= start && s->ip < end)
				s->dead = True;
}

void hvt_prefetch_sites_begin(void)
{
	const struct hvt_prefetch_site *s;
	UInt i;

	tell(&others);
	for (i = 0; i < SITES; i++)
		for (s = sites[i]; s; s = s->next)
			if (!s->dead)
				tell(s);
}
