// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_prefetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exact_memfd.h"
#include "grow.h"

struct site {
	uint64_t ip;
	char *text; /* function, file, line; NULL: not told */
	size_t len;
	bool access; /* a load or store */
};

struct exact_prefetch {
	struct site *v; /* by number */
	size_t n, cap;
};

_Static_assert((int)HVT_PREFETCH_UNMAPPED == (int)STREAM_PREFETCH_UNMAPPED && (int)HVT_PREFETCH_UNUSED == (int)STREAM_PREFETCH_UNUSED,
	       "both are the same");

/* @text of @len bytes, taken as that of number @number. */
static int put_site(struct exact_prefetch *p, size_t number, uint64_t ip, bool access, const char *text, size_t len)
{
	char *copy = malloc(len);

	if (!copy || grow_array((void **)&p->v, &p->cap, number + 1, sizeof(*p->v))) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, text, len);
	while (p->n <= number)
		p->v[p->n++] = (struct site){ 0 };
	free(p->v[number].text);
	p->v[number] = (struct site){ ip, copy, len, access };
	return 0;
}

int exact_prefetch_site(struct exact_prefetch *p, const struct hvt_message *m, const char *text, size_t len)
{
	size_t i, strings = 0;

	for (i = 0; i < len; i++)
		strings += !text[i];
	if (m->slot >= HVT_PREFETCHES_MAX || len > HVT_TEXT_MAX || strings != 3 || text[len - 1])
		return -EINVAL;
	return put_site(p, m->slot, m->start, m->flags, text, len);
}

static int put(struct stream *out, const struct stream_prefetch *rec, const struct site *s, const char *heap)
{
	char *text = malloc(s->len + rec->heap_len + 1);

	if (!text)
		return -ENOMEM;
	memcpy(text, s->text, s->len);
	if (rec->heap_len)
		memcpy(text + s->len, heap, rec->heap_len);
	stream_put(out, STREAM_PREFETCH, rec, sizeof(*rec), text, s->len + rec->heap_len);
	free(text);
	return 0;
}

static const struct site *site_of(const struct exact_prefetch *p, size_t number)
{
	return number < p->n && p->v[number].text ? &p->v[number] : NULL;
}

int exact_prefetch_seen(struct exact_prefetch *p, struct stream *out, const struct hvt_message *m, const void *v, size_t len,
			struct exact_heap *heap, const struct stream_prefetch *as)
{
	const struct site *s = site_of(p, m->slot);
	struct stream_prefetch rec = *as;
	struct hvt_prefetch_sight sight;
	const char *stack = NULL;
	size_t stack_len = 0;
	bool maps = false;

	if (!s || len != sizeof(sight) || !m->flags || m->flags >= HVT_PREFETCH_BADS)
		return -EINVAL;
	memcpy(&sight, v, sizeof(sight));
	if (sight.object_site && sight.object + sight.object_size > sight.object)
		stack = exact_heap_stack(heap, sight.object_site, &stack_len, &maps);
	rec.ip = s->ip;
	rec.what = m->flags;
	rec.flags = (maps ? STREAM_PREFETCH_MAPPED : 0) | (s->access ? STREAM_PREFETCH_ACCESS : 0);
	rec.addr = sight.addr;
	rec.base = sight.base;
	rec.object = stack ? sight.object : 0;
	rec.object_size = stack ? sight.object_size : 0;
	rec.code_len = (uint32_t)s->len;
	rec.heap_len = (uint32_t)stack_len;
	return put(out, &rec, s, stack);
}

/* What is counted apart is no more than there was. */
static bool counts_ok(const struct hvt_prefetch *c)
{
	uint64_t n = c->executed;

	return c->unmapped <= n && c->unused <= (n -= c->unmapped) && c->used <= (n -= c->unused) &&
	       c->redundant <= (n -= c->used) && c->unjudged <= n - c->redundant;
}

int exact_prefetch_harvest(const struct exact_prefetch *p, struct stream *out, int memfd, const struct stream_prefetch *as)
{
	struct hvt_prefetch c;
	size_t i;
	int ret = 0;

	for (i = 0; i < p->n && !ret; i++) {
		const struct site *s = site_of(p, i);
		struct stream_prefetch rec = *as;

		ret = exact_memfd_read(memfd, &c, sizeof(c), HVT_PREFETCHES + i * sizeof(c));
		if (ret || !s || !c.executed)
			continue;
		if (!counts_ok(&c))
			return -EINVAL;
		rec.ip = s->ip;
		rec.flags = s->access ? STREAM_PREFETCH_ACCESS : 0;
		rec.executed = c.executed;
		rec.unmapped = c.unmapped;
		rec.unused = c.unused;
		rec.used = c.used;
		rec.redundant = c.redundant;
		rec.unjudged = c.unjudged;
		rec.code_len = (uint32_t)s->len;
		ret = put(out, &rec, s, NULL);
	}
	return ret;
}

struct exact_prefetch *exact_prefetch_new(const struct exact_prefetch *from)
{
	struct exact_prefetch *p = calloc(1, sizeof(*p));
	size_t i;

	for (i = 0; p && from && i < from->n; i++) {
		const struct site *s = site_of(from, i);

		if (s && put_site(p, i, s->ip, s->access, s->text, s->len)) {
			exact_prefetch_free(p);
			return NULL;
		}
	}
	return p;
}

void exact_prefetch_free(struct exact_prefetch *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->n; i++)
		free(p->v[i].text);
	free(p->v);
	free(p);
}
