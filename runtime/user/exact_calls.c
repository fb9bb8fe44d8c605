// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exact_memfd.h"
#include "grow.h"

enum { BATCH = 1024, MOST_CALLERS = 1 << 22, MOST_COUNTS = 4096 };

struct exact_callers {
	char **texts; /* three strings each */
	uint32_t *lens;
	size_t n, cap, cap_lens;
	uint32_t *slots; /* number + 1: open addressing */
	size_t n_slots;
};

struct site {
	uint32_t caller; /* + 1; 0: not told */
	uint16_t size;
	uint16_t flags;
};

struct exact_calls {
	struct site *v;
	size_t n, cap;
	size_t batched;
	struct stream_call batch[BATCH];
};

/* ---- callers ---- */

static size_t hash(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	return (size_t)(h ^ h >> 29);
}

static uint32_t *slot_of(const struct exact_callers *c, const char *text, size_t len)
{
	size_t i = hash(text, len) & (c->n_slots - 1);

	for (; c->slots[i]; i = (i + 1) & (c->n_slots - 1))
		if (c->lens[c->slots[i] - 1] == len && !memcmp(c->texts[c->slots[i] - 1], text, len))
			break;
	return &c->slots[i];
}

static int make_room(struct exact_callers *c)
{
	size_t n = c->n_slots ? 2 * c->n_slots : 1024, i;
	uint32_t *old = c->slots;

	if (grow_array((void **)&c->texts, &c->cap, c->n + 1, sizeof(*c->texts)) ||
	    grow_array((void **)&c->lens, &c->cap_lens, c->n + 1, sizeof(*c->lens)))
		return -ENOMEM;
	if (2 * (c->n + 1) <= c->n_slots)
		return 0;
	c->slots = calloc(n, sizeof(*c->slots));
	if (!c->slots) {
		c->slots = old;
		return -ENOMEM;
	}
	c->n_slots = n;
	for (i = 0; i < c->n; i++)
		*slot_of(c, c->texts[i], c->lens[i]) = (uint32_t)i + 1;
	free(old);
	return 0;
}

/* The number of @text + 1, told to @out when it is new; 0 without memory. */
static uint32_t number_of(struct exact_callers *c, struct stream *out, const char *text, size_t len)
{
	struct stream_caller rec = { 0 };
	uint32_t *slot;

	if (make_room(c))
		return 0;
	slot = slot_of(c, text, len);
	if (*slot)
		return *slot;
	if (c->n == MOST_CALLERS)
		return 0;
	c->texts[c->n] = malloc(len);
	if (!c->texts[c->n])
		return 0;
	memcpy(c->texts[c->n], text, len);
	c->lens[c->n] = (uint32_t)len;
	rec.caller = (uint32_t)c->n;
	stream_put(out, STREAM_CALLER, &rec, sizeof(rec), text, len);
	*slot = (uint32_t)++c->n;
	return *slot;
}

struct exact_callers *exact_callers_new(void)
{
	return calloc(1, sizeof(struct exact_callers));
}

void exact_callers_free(struct exact_callers *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->n; i++)
		free(c->texts[i]);
	free(c->texts);
	free(c->lens);
	free(c->slots);
	free(c);
}

/* ---- sites ---- */

int exact_calls_site(struct exact_calls *c, struct exact_callers *all, struct stream *out, const struct hvt_message *m,
		     const char *text, size_t len)
{
	size_t i, strings = 0;

	for (i = 0; i < len; i++)
		strings += !text[i];
	if (!m->slot || m->slot >= HVT_CALLS_SITES_MAX || m->prot > UINT16_MAX || len > HVT_TEXT_MAX || strings != 3 || text[len - 1])
		return -EINVAL;
	if (grow_array((void **)&c->v, &c->cap, m->slot + (size_t)1, sizeof(*c->v)))
		return -ENOMEM;
	while (c->n <= m->slot)
		c->v[c->n++] = (struct site){ 0 };
	c->v[m->slot] = (struct site){ number_of(all, out, text, len), (uint16_t)m->prot,
				       m->flags ? HVAR_ACCESS_WRITE : HVAR_ACCESS_READ };
	return c->v[m->slot].caller ? 0 : -ENOMEM;
}

bool exact_calls_of(const struct exact_calls *c, uint32_t site, uint32_t *caller, uint32_t *flags)
{
	if (site >= c->n || !c->v[site].caller)
		return false;
	*caller = c->v[site].caller - 1;
	*flags = c->v[site].flags;
	return true;
}

/* ---- counts ---- */

static void put_batch(struct exact_calls *c, struct stream *out, const struct stream_calls *as)
{
	if (c->batched)
		stream_put(out, STREAM_CALLS, as, sizeof(*as), c->batch, c->batched * sizeof(*c->batch));
	c->batched = 0;
}

static void put(struct exact_calls *c, struct stream *out, const struct stream_calls *as, uint32_t site, uint64_t addr,
		uint64_t count)
{
	const struct site *s = site < c->n ? &c->v[site] : NULL;

	if (!s || !s->caller || !count || addr >= HVT_PLANE_SIZE)
		return;
	if (c->batched == BATCH)
		put_batch(c, out, as);
	c->batch[c->batched++] = (struct stream_call){ addr, count, s->caller - 1, s->size, s->flags };
}

int exact_calls_take(struct exact_calls *c, struct stream *out, const void *v, size_t len, const struct stream_calls *as)
{
	const struct hvt_call *call = v;
	size_t i;

	if (!len || len % sizeof(*call))
		return -EINVAL;
	for (i = 0; i < len / sizeof(*call); i++)
		put(c, out, as, call[i].site, call[i].addr, call[i].count);
	put_batch(c, out, as);
	return 0;
}

static int harvest_leaf(struct exact_calls *c, struct stream *out, int memfd, const struct stream_calls *as,
			uint64_t *at, exact_calls_skip_fn *skip, void *ctx)
{
	static uint32_t counts[MOST_COUNTS];
	struct hvt_calls_leaf leaf;
	int ret = exact_memfd_read(memfd, &leaf, sizeof(leaf), HVT_CALLS_ARENA + *at);
	uint64_t n, i;

	if (ret)
		return ret;
	if (leaf.shift > 3)
		return -EINVAL;
	n = MOST_COUNTS >> leaf.shift;
	ret = exact_memfd_read(memfd, counts, n * sizeof(*counts), HVT_CALLS_ARENA + *at + sizeof(leaf));
	for (i = 0; i < n && !ret; i++) {
		uint64_t addr = (leaf.page << 12) + (i << leaf.shift);

		if (counts[i] && !skip(ctx, addr))
			put(c, out, as, leaf.site, addr, counts[i]);
	}
	*at += sizeof(leaf) + n * sizeof(*counts);
	return ret;
}

int exact_calls_harvest(struct exact_calls *c, struct stream *out, int memfd, const struct stream_calls *as,
			exact_calls_skip_fn *skip, void *ctx)
{
	struct hvt_calls_head head;
	int ret = exact_memfd_read(memfd, &head, sizeof(head), HVT_CALLS);
	struct hvt_calls_site s;
	uint64_t at = 0;
	uint32_t i;

	if (ret)
		return ret;
	if (head.n_sites > HVT_CALLS_SITES_MAX || head.used > HVT_CALLS_ARENA_SIZE)
		return -EINVAL;
	for (i = 1; i < head.n_sites && !ret; i++) {
		ret = exact_memfd_read(memfd, &s, sizeof(s), HVT_CALLS_SITES + i * sizeof(s));
		if (!ret && s.count && !skip(ctx, s.fixed))
			put(c, out, as, i, s.fixed, s.count);
	}
	while (at < head.used && !ret)
		ret = harvest_leaf(c, out, memfd, as, &at, skip, ctx);
	put_batch(c, out, as);
	return ret;
}

struct exact_calls *exact_calls_new(const struct exact_calls *from)
{
	struct exact_calls *c = calloc(1, sizeof(*c));

	if (!c || !from || !from->n)
		return c;
	if (grow_array((void **)&c->v, &c->cap, from->n, sizeof(*c->v))) {
		free(c);
		return NULL;
	}
	memcpy(c->v, from->v, from->n * sizeof(*c->v));
	c->n = from->n;
	return c;
}

void exact_calls_free(struct exact_calls *c)
{
	if (!c)
		return;
	free(c->v);
	free(c);
}
