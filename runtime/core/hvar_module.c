/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_module.c - identity of a mapped object: a file, shared memory, a named area.
 *
 * The slots are an open-addressed hash table of module numbers, 0 marking a
 * free one, never more than three quarters full.  Flags are facts about a
 * module that may change (deleted, stale), so they are no part of its identity.
 */
#include "hvar_module.h"

static uint64_t hvar_module_mix(uint64_t h, uint64_t x)
{
	h ^= x;
	h *= 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

static uint32_t hvar_module_hash(const struct hvar_module *m)
{
	uint64_t h = 0, word;
	uint32_t i;

	h = hvar_module_mix(h, (uint64_t)m->dev_major << 32 | m->dev_minor);
	h = hvar_module_mix(h, m->ino);
	h = hvar_module_mix(h, m->size);
	h = hvar_module_mix(h, m->mtime_ns);
	h = hvar_module_mix(h, m->elf_page);
	h = hvar_module_mix(h, (uint64_t)m->path << 8 | m->build_id_len);
	for (i = 0; i + sizeof(word) <= sizeof(m->build_id); i += sizeof(word)) {
		if (i >= m->build_id_len)
			break;
		memcpy(&word, m->build_id + i, sizeof(word));
		h = hvar_module_mix(h, word);
	}
	return (uint32_t)(h ^ (h >> 32));
}

static bool hvar_module_equal(const struct hvar_module *a,
			      const struct hvar_module *b)
{
	return a->ino == b->ino && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && a->path == b->path &&
	       a->size == b->size && a->mtime_ns == b->mtime_ns &&
	       a->elf_page == b->elf_page && a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, sizeof(a->build_id));
}

static uint32_t hvar_modules_limit(uint32_t nslots)
{
	if (nslots < 4)
		return nslots ? nslots - 1 : 0;
	return nslots - nslots / 4;
}

/* The slot that holds a module like @m, or the free one where it belongs. */
static uint32_t hvar_modules_slot(const struct hvar_modules *t,
				  const struct hvar_module *m)
{
	uint32_t mask = t->nslots - 1;
	uint32_t i = hvar_module_hash(m) & mask;

	while (t->slots[i] && !hvar_module_equal(&t->v[t->slots[i]], m))
		i = (i + 1) & mask;
	return i;
}

HVAR_API void hvar_modules_init(struct hvar_modules *t, struct hvar_module *v,
				uint32_t cap, uint32_t *slots, uint32_t nslots)
{
	memset(t, 0, sizeof(*t));
	if (cap)
		memset(v, 0, sizeof(*v));
	hvar_modules_moved(t, v, cap, slots, nslots);
}

HVAR_API void hvar_modules_moved(struct hvar_modules *t, struct hvar_module *v,
				 uint32_t cap, uint32_t *slots, uint32_t nslots)
{
	uint32_t id;

	t->v = v;
	t->cap = cap;
	t->slots = slots;
	t->nslots = nslots;
	memset(slots, 0, (size_t)nslots * sizeof(*slots));
	for (id = 1; id <= t->n && id <= hvar_modules_limit(nslots); id++)
		slots[hvar_modules_slot(t, &v[id])] = id;
}

HVAR_API int hvar_modules_add(struct hvar_modules *t,
			      const struct hvar_module *as, uint32_t *out)
{
	struct hvar_module m = *as;
	uint32_t i = 0;

	/* Bytes past the build-id's length are compared and hashed: make them alike. */
	if (m.build_id_len > sizeof(m.build_id))
		m.build_id_len = sizeof(m.build_id);
	memset(m.build_id + m.build_id_len, 0,
	       sizeof(m.build_id) - m.build_id_len);
	memset(m.zero, 0, sizeof(m.zero));
	if (t->nslots) {
		i = hvar_modules_slot(t, &m);
		if (t->slots[i]) {
			*out = t->slots[i];
			return 0;
		}
	}
	if (t->n >= hvar_modules_limit(t->nslots) || t->cap - t->n < 2) {
		t->lost++;
		return -ENOSPC;
	}
	t->n++;
	t->v[t->n] = m;
	t->slots[i] = t->n;
	*out = t->n;
	return 0;
}

HVAR_API const struct hvar_module *hvar_modules_get(const struct hvar_modules *t,
						    uint32_t id)
{
	return id && id <= t->n ? &t->v[id] : NULL;
}

HVAR_API bool hvar_module_same(const struct hvar_module *a,
			       const struct hvar_module *b)
{
	/* a copy elsewhere has its parts at other places */
	if (a->elf_page != b->elf_page)
		return false;
	if (a->build_id_len && b->build_id_len)
		return a->build_id_len == b->build_id_len &&
		       !memcmp(a->build_id, b->build_id, a->build_id_len);
	if (a->dev_major != b->dev_major || a->dev_minor != b->dev_minor ||
	    a->ino != b->ino)
		return false;
	/* Without an inode there is no file: the name is all there is. */
	if (!a->ino)
		return a->path == b->path;
	if ((a->flags | b->flags) & (HVAR_MODULE_UNREAD | HVAR_MODULE_PSEUDO))
		return true;
	return a->size == b->size && a->mtime_ns == b->mtime_ns;
}
