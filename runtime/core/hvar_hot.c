/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_hot.c - the hot table: counts per variable.
 *
 * Two open-addressed hash tables, each never more than three quarters full:
 * slots leads from a key to its entry (index + 1, 0: free), tids holds each
 * (entry + 1, tid) pair seen, 0 marking a free one.  All sums saturate.
 */
#include "hvar_hot.h"
#include "hvar_event.h"

static uint32_t hvar_hot_limit(uint32_t nslots)
{
	if (nslots < 4)
		return nslots ? nslots - 1 : 0;
	return nslots - nslots / 4;
}

static uint32_t hvar_hot_mix(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return (uint32_t)(x ^ (x >> 32));
}

static void hvar_hot_add(uint64_t *sum, uint64_t x)
{
	*sum = *sum + x < x ? ~(uint64_t)0 : *sum + x;
}

/* The slot of @key's entry, or the free one where it belongs. */
static uint32_t hvar_hot_find(const struct hvar_hot_table *t,
			      const struct hvar_hot_key *key)
{
	uint32_t mask = t->nslots - 1, i;

	i = hvar_hot_mix(((uint64_t)key->symbol << 32 | key->module) ^
			 ((uint64_t)key->mm << 40 | (uint64_t)key->kind << 24));
	for (i &= mask; t->slots[i]; i = (i + 1) & mask) {
		const struct hvar_hot_key *k = &t->v[t->slots[i] - 1].key;

		if (k->symbol == key->symbol && k->module == key->module &&
		    k->kind == key->kind && k->mm == key->mm)
			break;
	}
	return i;
}

/* Note @pair.  Returns whether it is new; one that finds no room is counted. */
static bool hvar_hot_note(struct hvar_hot_table *t, uint64_t pair)
{
	uint32_t mask = t->ntids - 1, i;

	if (!t->ntids) {
		hvar_hot_add(&t->lost_tids, 1);
		return false;
	}
	for (i = hvar_hot_mix(pair) & mask; t->tids[i]; i = (i + 1) & mask) {
		if (t->tids[i] == pair)
			return false;
	}
	if (t->used_tids >= hvar_hot_limit(t->ntids)) {
		hvar_hot_add(&t->lost_tids, 1);
		return false;
	}
	t->tids[i] = pair;
	t->used_tids++;
	return true;
}

HVAR_API void hvar_hot_init(struct hvar_hot_table *t, struct hvar_hot *v,
			    uint32_t cap, uint32_t *slots, uint32_t nslots,
			    uint64_t *tids, uint32_t ntids)
{
	memset(t, 0, sizeof(*t));
	hvar_hot_moved(t, v, cap, slots, nslots, NULL, 0, tids, ntids);
}

HVAR_API void hvar_hot_moved(struct hvar_hot_table *t, struct hvar_hot *v,
			     uint32_t cap, uint32_t *slots, uint32_t nslots,
			     uint64_t *old_tids, uint32_t n_old_tids,
			     uint64_t *tids, uint32_t ntids)
{
	uint32_t i;

	t->v = v;
	t->cap = cap;
	t->slots = slots;
	t->nslots = nslots;
	t->tids = tids;
	t->ntids = ntids;
	t->used_tids = 0;
	memset(slots, 0, (size_t)nslots * sizeof(*slots));
	memset(tids, 0, (size_t)ntids * sizeof(*tids));
	for (i = 0; i < t->n && i < hvar_hot_limit(nslots); i++)
		slots[hvar_hot_find(t, &v[i].key)] = i + 1;
	for (i = 0; i < n_old_tids; i++) {
		if (old_tids[i])
			hvar_hot_note(t, old_tids[i]);
	}
}

HVAR_API int hvar_hot_slot(struct hvar_hot_table *t,
			   const struct hvar_hot_key *key, uint64_t weight,
			   uint32_t *out)
{
	uint32_t i = 0;

	if (t->nslots) {
		i = hvar_hot_find(t, key);
		if (t->slots[i]) {
			*out = t->slots[i] - 1;
			return 0;
		}
	}
	if (t->n >= t->cap || t->n >= hvar_hot_limit(t->nslots)) {
		hvar_hot_add(&t->lost, weight);
		return -ENOSPC;
	}
	memset(&t->v[t->n], 0, sizeof(t->v[t->n]));
	t->v[t->n].key = *key;
	*out = t->n++;
	t->slots[i] = t->n;
	return 0;
}

HVAR_API void hvar_hot_count(struct hvar_hot_table *t, uint32_t i, uint32_t tid,
			     uint64_t weight, uint32_t size, uint32_t flags)
{
	struct hvar_hot *h;
	uint64_t bytes;

	if (i >= t->n)
		return;
	h = &t->v[i];
	if (__builtin_mul_overflow(weight, (uint64_t)size, &bytes))
		bytes = ~(uint64_t)0;
	if (flags & HVAR_ACCESS_READ) {
		hvar_hot_add(&h->reads, weight);
		hvar_hot_add(&h->bytes, bytes);
	}
	if (flags & HVAR_ACCESS_WRITE) {
		hvar_hot_add(&h->writes, weight);
		hvar_hot_add(&h->bytes, bytes);
	}
	if (hvar_hot_note(t, (uint64_t)(i + 1) << 32 | tid))
		h->threads++;
}

HVAR_API void hvar_hot_time(struct hvar_hot_table *t, uint32_t i, uint64_t time_ns)
{
	if (i >= t->n)
		return;
	hvar_hot_add(&t->v[i].time_ns, time_ns);
	hvar_hot_add(&t->v[i].samples, 1);
}

HVAR_API bool hvar_hot_room(const struct hvar_hot_table *t)
{
	return t->n < t->cap && t->n < hvar_hot_limit(t->nslots) &&
	       t->used_tids < hvar_hot_limit(t->ntids);
}
