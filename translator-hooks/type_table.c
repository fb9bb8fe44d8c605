// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * type_table.c - types and members of a symbol image as they are gathered, each once.
 */
#include "config.h"

#include "type_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_image_format.h"

enum { TYPES_MAX = 1 << 20, MEMBERS_MAX = 1 << 21 };

/* ---- what is known of places ---- */

struct type_known *type_table_known(struct type_table *t, const uint8_t *at)
{
	uint32_t k = (uint32_t)(hvar_image_hash(0, &at, sizeof(at)) & (t->n_known_slots - 1));

	while (t->known[k].at && t->known[k].at != at)
		k = (k + 1) & (t->n_known_slots - 1);
	return &t->known[k];
}

void type_table_know(struct type_table *t, const uint8_t *at, uint32_t id, uint32_t base)
{
	struct type_known *old = t->known, *s;
	uint32_t n = t->n_known_slots, i;

	if (t->n_known >= n / 2) {
		t->known = calloc((size_t)n * 2, sizeof(*t->known));
		if (!t->known) {
			t->known = old;
			t->error = -ENOMEM;
			return;
		}
		t->n_known_slots = n * 2;
		for (i = 0; i < n; i++)
			if (old[i].at)
				*type_table_known(t, old[i].at) = old[i];
		free(old);
	}
	s = type_table_known(t, at);
	t->n_known += !s->at;
	s->at = at;
	s->id = id;
	s->base = base;
}

/* ---- what is alike ---- */

/* Of an array @n is the number of its first element. */
static uint32_t count(const struct hvar_image_type *k)
{
	return k->kind == HVAR_TYPE_ARRAY ? 0 : k->n;
}

static uint64_t content(const struct hvar_image_type *k, const struct hvar_image_member *m)
{
	struct hvar_image_type plain = *k;
	uint64_t h;

	if (k->kind != HVAR_TYPE_ARRAY)
		plain.first = 0;
	h = hvar_image_hash(0, &plain, sizeof(plain));
	return count(k) ? hvar_image_hash(h, m, count(k) * sizeof(*m)) : h;
}

static const struct hvar_image_member *members_of(const struct type_table *t,
						  const struct hvar_image_type *k)
{
	return count(k) ? t->members + k->first : NULL;
}

static bool alike(const struct type_table *t, const struct hvar_image_type *a,
		  const struct hvar_image_type *k, const struct hvar_image_member *m)
{
	struct hvar_image_type x = *a, y = *k;

	if (k->kind != HVAR_TYPE_ARRAY)
		x.first = y.first = 0;
	return !memcmp(&x, &y, sizeof(x)) &&
	       (!count(k) || !memcmp(t->members + a->first, m, count(k) * sizeof(*m)));
}

static bool grow_same(struct type_table *t)
{
	uint32_t n = t->n_same_slots * 2, i, k;
	uint32_t *same = calloc(n, sizeof(*same));

	if (!same)
		return false;
	for (i = 0; i < t->n; i++) {
		k = (uint32_t)(content(&t->v[i], members_of(t, &t->v[i])) & (n - 1));
		while (same[k])
			k = (k + 1) & (n - 1);
		same[k] = i + 1;
	}
	free(t->same);
	t->same = same;
	t->n_same_slots = n;
	return true;
}

static bool room(struct type_table *t, uint32_t n)
{
	while (t->n == t->cap || t->n_members + n > t->cap_members) {
		void *more;

		if (t->n == t->cap) {
			t->cap = t->cap ? t->cap * 2 : 256;
			more = realloc(t->v, t->cap * sizeof(*t->v));
			if (more)
				t->v = more;
		} else {
			t->cap_members = t->cap_members ? t->cap_members * 2 : 1024;
			more = realloc(t->members, t->cap_members * sizeof(*t->members));
			if (more)
				t->members = more;
		}
		if (!more)
			return false;
	}
	return true;
}

uint32_t type_table_enter(struct type_table *t, struct hvar_image_type k,
		      const struct hvar_image_member *m)
{
	uint32_t n = count(&k), i;

	if (t->n >= t->n_same_slots / 2 && !grow_same(t))
		goto no_memory;
	i = (uint32_t)(content(&k, m) & (t->n_same_slots - 1));
	for (; t->same[i]; i = (i + 1) & (t->n_same_slots - 1))
		if (alike(t, &t->v[t->same[i] - 1], &k, m))
			return t->same[i] - 1;
	if (t->n == TYPES_MAX || n > MEMBERS_MAX - t->n_members) {
		t->opaque++;
		return 0;
	}
	if (!room(t, n))
		goto no_memory;
	if (k.kind != HVAR_TYPE_ARRAY)
		k.first = n ? t->n_members : 0;
	if (n)
		memcpy(t->members + t->n_members, m, n * sizeof(*m));
	t->n_members += n;
	t->v[t->n++] = k;
	t->same[i] = t->n;
	return t->n - 1;
no_memory:
	t->error = -ENOMEM;
	return 0;
}

uint32_t type_table_variant(struct type_table *t, uint32_t id, uint32_t name, uint16_t flags)
{
	struct hvar_image_type k = t->v[id];
	uint32_t i;

	if (k.name == name && k.flags == flags)
		return id;
	k.name = name;
	k.flags = flags;
	if (t->n >= t->n_same_slots / 2 && !grow_same(t))
		goto no_memory;
	i = (uint32_t)(content(&k, members_of(t, &k)) & (t->n_same_slots - 1));
	for (; t->same[i]; i = (i + 1) & (t->n_same_slots - 1))
		if (alike(t, &t->v[t->same[i] - 1], &k, members_of(t, &k)))
			return t->same[i] - 1;
	if (t->n == TYPES_MAX)
		return id;
	if (!room(t, 0))
		goto no_memory;
	t->v[t->n++] = k; /* its members are the other's */
	t->same[i] = t->n;
	return t->n - 1;
no_memory:
	t->error = -ENOMEM;
	return id;
}

uint32_t type_table_name(struct type_table *t, const char *keyword, const char *name)
{
	char buf[TYPE_NAME_MAX];
	uint32_t id = 0;
	size_t n;
	int r;

	if (!name || !*name)
		return 0;
	n = strlen(keyword) + strlen(name);
	if (*keyword || n >= sizeof(buf)) {
		size_t k = strlen(keyword);

		memcpy(buf, keyword, k);
		if (n >= sizeof(buf))
			n = sizeof(buf) - 1;
		memcpy(buf + k, name, n - k);
		if (n == sizeof(buf) - 1)
			memcpy(buf + n - 3, "...", 3);
		name = buf;
	}
	r = sym_table_str(t->strs, name, n, &id);
	if (r)
		t->error = r;
	return id;
}

uint32_t type_table_scalar(struct type_table *t, uint32_t name, uint64_t size)
{
	struct hvar_image_type k;

	memset(&k, 0, sizeof(k));
	k.kind = HVAR_TYPE_SCALAR;
	k.name = name;
	k.size = size;
	return type_table_enter(t, k, NULL);
}

int type_table_init(struct type_table *t, struct sym_table *strs)
{
	memset(t, 0, sizeof(*t));
	t->strs = strs;
	t->n_known_slots = 1024;
	t->n_same_slots = 1024;
	t->known = calloc(t->n_known_slots, sizeof(*t->known));
	t->same = calloc(t->n_same_slots, sizeof(*t->same));
	if (!t->known || !t->same || !room(t, 1))
		return -ENOMEM;
	type_table_scalar(t, 0, 0); /* number 0 */
	return t->error;
}

void type_table_fini(struct type_table *t)
{
	free(t->v);
	free(t->members);
	free(t->pending);
	free(t->known);
	free(t->same);
	memset(t, 0, sizeof(*t));
}
