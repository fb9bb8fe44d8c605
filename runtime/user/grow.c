// SPDX-License-Identifier: GPL-2.0-or-later
/* grow.c - heap storage for the core's tables, made larger as they fill. */
#include "config.h"

#include "grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Numbers in the core have 32 bits; what would need more is no real program. */
#define MOST ((uint32_t)1 << 30)

static void *alloc(size_t n, size_t size)
{
	return n > SIZE_MAX / size ? NULL : malloc(n * size);
}

int grow_array(void **v, size_t *cap, size_t want, size_t size)
{
	size_t more = *cap < 16 ? 16 : *cap;
	void *p;

	if (want <= *cap)
		return 0;
	while (more < want) {
		if (more > SIZE_MAX / 2 / size)
			return -ENOMEM;
		more *= 2;
	}
	p = realloc(*v, more * size);
	if (!p)
		return -ENOMEM;
	*v = p;
	*cap = more;
	return 0;
}

/* ---- strings ---- */

int grow_strs_init(struct hvar_strs *p)
{
	char *bytes = malloc(4096);
	uint32_t *slots = alloc(256, sizeof(*slots));

	if (!bytes || !slots) {
		free(bytes);
		free(slots);
		return -ENOMEM;
	}
	hvar_strs_init(p, bytes, 4096, slots, 256);
	return 0;
}

void grow_strs_fini(struct hvar_strs *p)
{
	free(p->bytes);
	free(p->slots);
	memset(p, 0, sizeof(*p));
}

int grow_strs_add(struct hvar_strs *p, const char *s, size_t len, uint32_t *out)
{
	uint64_t lost = p->lost;
	int r;

	if (len >= MOST)
		return -ENOMEM;
	while ((r = hvar_strs_add(p, s, (uint32_t)len, out)) == -ENOSPC) {
		uint32_t cap = p->cap, nslots = p->nslots, *slots;
		char *bytes;

		if (p->cap - p->used <= len)
			while (cap < MOST && cap - p->used <= len)
				cap *= 2;
		else
			nslots *= 2;
		if (cap >= MOST || nslots >= MOST)
			return -ENOMEM;
		bytes = malloc(cap);
		slots = alloc(nslots, sizeof(*slots));
		if (!bytes || !slots) {
			free(bytes);
			free(slots);
			return -ENOMEM;
		}
		memcpy(bytes, p->bytes, p->used);
		free(p->bytes);
		free(p->slots);
		hvar_strs_moved(p, bytes, cap, slots, nslots);
		p->lost = lost; /* refused, but not lost: it is added now */
	}
	return r;
}

/* ---- modules ---- */

int grow_modules_init(struct hvar_modules *t)
{
	struct hvar_module *v = alloc(32, sizeof(*v));
	uint32_t *slots = alloc(64, sizeof(*slots));

	if (!v || !slots) {
		free(v);
		free(slots);
		return -ENOMEM;
	}
	hvar_modules_init(t, v, 32, slots, 64);
	return 0;
}

void grow_modules_fini(struct hvar_modules *t)
{
	free(t->v);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

int grow_modules_add(struct hvar_modules *t, const struct hvar_module *as,
		     uint32_t *out)
{
	uint64_t lost = t->lost;

	while (hvar_modules_add(t, as, out) == -ENOSPC) {
		uint32_t cap = t->cap * 2, nslots = t->nslots * 2, *slots;
		struct hvar_module *v;

		if (cap >= MOST)
			return -ENOMEM;
		v = alloc(cap, sizeof(*v));
		slots = alloc(nslots, sizeof(*slots));
		if (!v || !slots) {
			free(v);
			free(slots);
			return -ENOMEM;
		}
		memcpy(v, t->v, ((size_t)t->n + 1) * sizeof(*v));
		free(t->v);
		free(t->slots);
		hvar_modules_moved(t, v, cap, slots, nslots);
		t->lost = lost;
	}
	return 0;
}

/* ---- tasks ---- */

static int tasks_move(struct hvar_tasks *t, uint32_t ntasks, uint32_t nmms,
		      uint32_t nslots)
{
	struct hvar_task *tasks = alloc(ntasks, sizeof(*tasks));
	struct hvar_mm *mms = alloc(nmms, sizeof(*mms));
	uint32_t *slots = alloc(nslots, sizeof(*slots));

	if (!tasks || !mms || !slots) {
		free(tasks);
		free(mms);
		free(slots);
		return -ENOMEM;
	}
	if (!t->tasks) {
		hvar_tasks_init(t, tasks, ntasks, mms, nmms, slots, nslots);
		return 0;
	}
	memcpy(tasks, t->tasks, t->ntasks * sizeof(*tasks));
	memcpy(mms, t->mms, t->nmms * sizeof(*mms));
	free(t->tasks);
	free(t->mms);
	free(t->slots);
	hvar_tasks_moved(t, tasks, ntasks, mms, nmms, slots, nslots);
	return 0;
}

int grow_tasks_init(struct hvar_tasks *t)
{
	memset(t, 0, sizeof(*t));
	return tasks_move(t, 32, 16, 64);
}

void grow_tasks_fini(struct hvar_tasks *t)
{
	free(t->tasks);
	free(t->mms);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

int grow_tasks_room(struct hvar_tasks *t)
{
	uint32_t ntasks = t->ntasks, nmms = t->nmms;

	if (t->free_task && t->free_mm)
		return 0;
	if (!t->free_task)
		ntasks *= 2;
	if (!t->free_mm)
		nmms *= 2;
	if (ntasks >= MOST || nmms >= MOST)
		return -ENOMEM;
	return tasks_move(t, ntasks, nmms, 2 * t->nslots);
}

/* ---- the hot table ---- */

static int hot_move(struct hvar_hot_table *t, uint32_t cap, uint32_t ntids)
{
	uint32_t nslots = 2 * cap;
	struct hvar_hot *v = alloc(cap, sizeof(*v));
	uint32_t *slots = alloc(nslots, sizeof(*slots));
	uint64_t *tids = alloc(ntids, sizeof(*tids)), *old = t->tids;

	if (!v || !slots || !tids) {
		free(v);
		free(slots);
		free(tids);
		return -ENOMEM;
	}
	if (!t->v) {
		hvar_hot_init(t, v, cap, slots, nslots, tids, ntids);
		return 0;
	}
	memcpy(v, t->v, t->n * sizeof(*v));
	free(t->v);
	free(t->slots);
	hvar_hot_moved(t, v, cap, slots, nslots, old, t->ntids, tids, ntids);
	free(old);
	return 0;
}

int grow_hot_init(struct hvar_hot_table *t)
{
	memset(t, 0, sizeof(*t));
	return hot_move(t, 256, 1024);
}

void grow_hot_fini(struct hvar_hot_table *t)
{
	free(t->v);
	free(t->slots);
	free(t->tids);
	memset(t, 0, sizeof(*t));
}

int grow_hot_room(struct hvar_hot_table *t)
{
	uint32_t cap = t->cap, ntids = t->ntids;

	if (hvar_hot_room(t))
		return 0;
	if (t->n >= t->cap)
		cap *= 2;
	else
		ntids *= 2;
	if (cap >= MOST || ntids >= MOST)
		return -ENOMEM;
	return hot_move(t, cap, ntids);
}

/* ---- lists of areas ---- */

static void *vmas_alloc(uint64_t *size)
{
	*size = (*size + 63) & ~(uint64_t)63;
	return *size > SIZE_MAX / 2 ? NULL : aligned_alloc(64, *size);
}

int grow_vmas_init(struct hvar_vmas *m, uint32_t n)
{
	uint64_t size = hvar_vmas_bytes(n);
	void *mem = vmas_alloc(&size);

	if (!mem)
		return -ENOMEM;
	hvar_vmas_init(m, mem, size);
	return 0;
}

void grow_vmas_fini(struct hvar_vmas *m)
{
	free(m->mem);
	memset(m, 0, sizeof(*m));
}

int grow_vmas_more(struct hvar_vmas *m)
{
	uint64_t size = 2 * m->size;
	void *mem = vmas_alloc(&size);

	if (!mem)
		return -ENOMEM;
	memcpy(mem, m->mem, m->size);
	free(m->mem);
	hvar_vmas_moved(m, mem, size);
	return 0;
}

int grow_vmas_set(struct hvar_vmas *m, uint64_t start, uint64_t end,
		  const struct hvar_vma *as)
{
	uint64_t lost = m->lost;
	int r;

	while ((r = hvar_vmas_set(m, start, end, as)) == -ENOSPC) {
		r = grow_vmas_more(m);
		if (r)
			break;
		m->lost = lost;
	}
	return r;
}

int grow_vmas_copy(struct hvar_vmas *m, const struct hvar_vmas *from)
{
	uint64_t size = from->size;
	void *mem = vmas_alloc(&size);

	if (!mem)
		return -ENOMEM;
	memcpy(mem, from->mem, from->size);
	*m = *from;
	hvar_vmas_moved(m, mem, size);
	m->lost = 0;
	return 0;
}
