// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "heap_sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap_names.h"
#include "runtime/core/hvar_image_format.h"
#include "runtime/user/grow.h"
#include "runtime/valgrind/hvt_wire.h"

enum { MOST = 1 << 22 };

/* A row: of a site, or of a part of one. */
struct entry {
	char *name;
	char part[48];
	uint32_t site; /* number of the one it is a part of, else 0 */
	uint32_t mm;
	struct heap_site s;
};

struct heap_sites {
	struct entry *v; /* number - 1 */
	size_t n, cap;
	uint32_t *slots; /* by name: number, 0: free */
	size_t n_slots;
	uint64_t *stacks; /* hashes of the texts seen, 0: free */
	size_t n_stacks, stack_slots;
};

struct heap_sites *heap_sites_new(void)
{
	return calloc(1, sizeof(struct heap_sites));
}

void heap_sites_free(struct heap_sites *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n; i++) {
		free(s->v[i].name);
		free(s->v[i].s.text);
	}
	free(s->v);
	free(s->slots);
	free(s->stacks);
	free(s);
}

/* ---- tables ---- */

static uint64_t hash_of(const char *name, const char *part, uint32_t mm)
{
	return hvar_image_hash(hvar_image_hash(mm, name, strlen(name)), part, strlen(part));
}

static uint32_t *slot_of(const struct heap_sites *s, uint32_t *slots, size_t n, const char *name, const char *part, uint32_t mm)
{
	size_t i = hash_of(name, part, mm) & (n - 1);

	while (slots[i] && (strcmp(s->v[slots[i] - 1].name, name) || strcmp(s->v[slots[i] - 1].part, part) || s->v[slots[i] - 1].mm != mm))
		i = (i + 1) & (n - 1);
	return &slots[i];
}

static bool make_room(struct heap_sites *s)
{
	size_t n = s->n_slots ? 2 * s->n_slots : 256, i;
	uint32_t *slots;

	if (s->n >= MOST || grow_array((void **)&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
		return false;
	if (2 * (s->n + 1) <= s->n_slots)
		return true;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	for (i = 0; i < s->n; i++)
		*slot_of(s, slots, n, s->v[i].name, s->v[i].part, s->v[i].mm) = (uint32_t)i + 1;
	free(s->slots);
	s->slots = slots;
	s->n_slots = n;
	return true;
}

/* The row of that name and part, made if there is none; 0: no memory. */
static uint32_t row_of(struct heap_sites *s, const char *name, const char *part, uint32_t site, uint32_t mm)
{
	uint32_t *slot;
	char *copy;

	if (!make_room(s))
		return 0;
	slot = slot_of(s, s->slots, s->n_slots, name, part, mm);
	if (*slot)
		return *slot;
	copy = strdup(name);
	if (!copy)
		return 0;
	s->v[s->n] = (struct entry){ .name = copy, .site = site, .mm = mm };
	snprintf(s->v[s->n].part, sizeof(s->v[s->n].part), "%s", part);
	*slot = (uint32_t)++s->n;
	return *slot;
}

/* Has that stack not been seen for that row yet? */
static bool is_new_stack(struct heap_sites *s, uint32_t number, const char *text, size_t len)
{
	uint64_t hash = hvar_image_hash(number, text, len) | 1;
	size_t i, k;

	if (2 * (s->n_stacks + 1) > s->stack_slots) {
		size_t n = s->stack_slots ? 2 * s->stack_slots : 256;
		uint64_t *v = calloc(n, sizeof(*v));

		if (!v)
			return false;
		for (k = 0; k < s->stack_slots; k++) {
			if (!s->stacks[k])
				continue;
			for (i = (s->stacks[k] >> 1) & (n - 1); v[i]; i = (i + 1) & (n - 1))
				;
			v[i] = s->stacks[k];
		}
		free(s->stacks);
		s->stacks = v;
		s->stack_slots = n;
	}
	for (i = (hash >> 1) & (s->stack_slots - 1); s->stacks[i] && s->stacks[i] != hash; i = (i + 1) & (s->stack_slots - 1))
		;
	if (s->stacks[i])
		return false;
	s->stacks[i] = hash;
	s->n_stacks++;
	return true;
}

/* ---- sites ---- */

static void add(uint64_t *sum, uint64_t x)
{
	if (__builtin_add_overflow(*sum, x, sum))
		*sum = UINT64_MAX;
}

static void add_facts(struct heap_site *t, const struct stream_heap *h)
{
	bool first = !t->objects && !t->objects_live;

	if (h->objects || h->objects_live) {
		if (first || h->size_least < t->size_least)
			t->size_least = h->size_least;
		if (h->size_most > t->size_most)
			t->size_most = h->size_most;
	}
	add(&t->objects, h->objects);
	add(&t->bytes, h->bytes);
	add(&t->objects_live, h->objects_live);
	add(&t->bytes_live, h->bytes_live);
	add(&t->never_read, h->never_read);
	add(&t->never_written, h->never_written);
}

/* The stack that is shown is the one with the most accesses. */
static void keep_text(struct heap_site *t, const struct stream_heap *h, const char *text)
{
	char *copy;

	if (t->text && h->reads + h->writes <= t->accesses)
		return;
	copy = malloc(h->text_len + 1);
	if (!copy)
		return;
	memcpy(copy, text, h->text_len);
	free(t->text);
	t->text = copy;
	t->text_len = h->text_len;
	t->accesses = h->reads + h->writes;
}

uint32_t heap_sites_take(struct heap_sites *s, const struct stream_heap *h, uint32_t mm)
{
	const struct stream_heap_offset *o = (const struct stream_heap_offset *)(h + 1);
	const char *text = (const char *)(o + h->n_offsets) + h->n_tids * sizeof(uint32_t);
	struct heap_frame v[HVT_FRAMES_MAX];
	char *name = heap_names_make(v, heap_names_frames(text, h->text_len, v, HVT_FRAMES_MAX), h->flags & STREAM_HEAP_MAPPED);
	uint32_t number;

	if (!name)
		return 0;
	number = row_of(s, name, "", 0, mm);
	free(name);
	if (!number)
		return 0;
	s->v[number - 1].s.mapped = h->flags & STREAM_HEAP_MAPPED;
	add_facts(&s->v[number - 1].s, h);
	keep_text(&s->v[number - 1].s, h, text);
	s->v[number - 1].s.stacks += is_new_stack(s, number, text, h->text_len);
	return number;
}

uint32_t heap_sites_member(struct heap_sites *s, uint32_t site, const struct stream_heap_offset *o)
{
	char part[48];

	if (o->span == 1)
		snprintf(part, sizeof(part), "+0x%" PRIx64, o->offset);
	else
		snprintf(part, sizeof(part), "+0x%" PRIx64 "..0x%" PRIx64, o->offset, o->offset + o->span - 1);
	return row_of(s, s->v[site - 1].name, part, site, s->v[site - 1].mm);
}

static const struct entry *entry_of(const struct heap_sites *s, uint32_t number)
{
	return &s->v[number - 1];
}

const char *heap_sites_name(const struct heap_sites *s, uint32_t number)
{
	return entry_of(s, number)->name;
}

const char *heap_sites_part(const struct heap_sites *s, uint32_t number)
{
	return entry_of(s, number)->part;
}

const struct heap_site *heap_sites_get(const struct heap_sites *s, uint32_t number)
{
	const struct entry *e = entry_of(s, number);

	return e->site ? &entry_of(s, e->site)->s : &e->s;
}
