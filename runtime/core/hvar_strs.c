/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_strs.c - a string pool: equal strings are stored once and have one number.
 *
 * The bytes hold the strings one after another, each with its NUL; byte 0 is
 * the empty string's.  The slots are an open-addressed hash table of offsets,
 * 0 marking a free one, never more than three quarters full: so a search ends.
 */
#include "hvar_strs.h"

/* FNV-1a, mixed once more: the slot is taken from the low bits. */
static uint32_t hvar_strs_hash(const char *s, uint32_t len)
{
	uint32_t h = 2166136261u, i;

	for (i = 0; i < len; i++)
		h = (h ^ (uint8_t)s[i]) * 16777619u;
	return h ^ (h >> 15);
}

static uint32_t hvar_strs_limit(uint32_t nslots)
{
	if (nslots < 4)
		return nslots ? nslots - 1 : 0;
	return nslots - nslots / 4;
}

static uint32_t hvar_strs_len(const char *s)
{
	uint32_t n = 0;

	while (s[n])
		n++;
	return n;
}

/* The slot that holds the @len bytes at @s, or the free one where they belong. */
static uint32_t hvar_strs_slot(const struct hvar_strs *p, const char *s,
			       uint32_t len)
{
	uint32_t mask = p->nslots - 1;
	uint32_t i = hvar_strs_hash(s, len) & mask;

	while (p->slots[i]) {
		uint32_t at = p->slots[i];

		/* A longer string cannot pass: its byte at @len is no NUL. */
		if (p->used - at > len && !memcmp(p->bytes + at, s, len) &&
		    !p->bytes[at + len])
			break;
		i = (i + 1) & mask;
	}
	return i;
}

HVAR_API void hvar_strs_init(struct hvar_strs *p, char *bytes, uint32_t cap,
			     uint32_t *slots, uint32_t nslots)
{
	memset(p, 0, sizeof(*p));
	bytes[0] = '\0';
	p->used = 1;
	hvar_strs_moved(p, bytes, cap, slots, nslots);
}

HVAR_API void hvar_strs_moved(struct hvar_strs *p, char *bytes, uint32_t cap,
			      uint32_t *slots, uint32_t nslots)
{
	uint32_t at, len, held = 0;

	p->bytes = bytes;
	p->cap = cap;
	p->slots = slots;
	p->nslots = nslots;
	memset(slots, 0, (size_t)nslots * sizeof(*slots));
	for (at = 1; at < p->used; at += len + 1) {
		len = hvar_strs_len(bytes + at);
		if (held++ < hvar_strs_limit(nslots))
			slots[hvar_strs_slot(p, bytes + at, len)] = at;
	}
}

HVAR_API int hvar_strs_add(struct hvar_strs *p, const char *s, uint32_t len,
			   uint32_t *out)
{
	uint32_t i, at;

	for (i = 0; i < len; i++) {
		if (!s[i])
			return -EINVAL;
	}
	if (!len) {
		*out = 0;
		return 0;
	}
	if (p->nslots) {
		i = hvar_strs_slot(p, s, len);
		if (p->slots[i]) {
			*out = p->slots[i];
			return 0;
		}
	}
	if (p->n >= hvar_strs_limit(p->nslots) || len >= p->cap - p->used) {
		p->lost++;
		return -ENOSPC;
	}
	at = p->used;
	memcpy(p->bytes + at, s, len);
	p->bytes[at + len] = '\0';
	p->used += len + 1;
	p->slots[i] = at;
	p->n++;
	*out = at;
	return 0;
}

HVAR_API const char *hvar_strs_get(const struct hvar_strs *p, uint32_t id)
{
	/* A number given out is one past another string's NUL. */
	if (!id || id >= p->used || p->bytes[id - 1])
		return "";
	return p->bytes + id;
}
