// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "prefetches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap_names.h"
#include "runtime/core/hvar_resolve.h"
#include "runtime/user/grow.h"
#include "translator-hooks/image_name.h"

enum {
	FRAMES = 64,
	PLACES_MAX = 64,	 /* of a line */
	LINES_MAX = 1 << 20,
	BESIDE = 64 * 1024,	 /* bytes: what is meant may be so near */
	FAR = 1024 * 1024,	 /* so far from what was meant last something else is */
};

struct prefetches {
	struct images *images;
	struct spaces *spaces;
	struct prefetch_line *v;
	size_t n, cap;
	uint32_t *slots; /* number + 1: open addressing */
	size_t n_slots;
	uint64_t lost;
	bool sampled;
};

/* ---- names ---- */

/* Memory that has a name of its own. */
struct named {
	char *name;
	uint64_t start, end;
};

static char *heap_name(const struct stream_prefetch *r)
{
	struct heap_frame frames[FRAMES];
	size_t n = heap_names_frames(r->text + r->code_len, r->heap_len, frames, FRAMES);

	return heap_names_make(frames, n, r->flags & STREAM_PREFETCH_MAPPED);
}

/* The object, the variable or the mapping at @addr, by its name alone. */
static bool name_at(struct prefetches *p, const struct hvar_vmas *vmas, const struct stream_prefetch *r, uint64_t addr,
		    struct named *out)
{
	const struct hvar_image *img;
	struct hvar_place place;
	uint32_t why;

	if (r->object_size && addr >= r->object && addr - r->object < r->object_size) {
		*out = (struct named){ heap_name(r), r->object, r->object + r->object_size };
		return out->name;
	}
	hvar_resolve(vmas, addr, images_of, p->images, &place);
	if (place.kind == HVAR_KIND_UNMAPPED)
		return false;
	img = place.module ? images_of(p->images, place.module, &why) : NULL;
	out->name = image_place_name(&place, img, images_path(p->images, place.module), false);
	out->start = place.vma.start;
	out->end = place.vma.end;
	if (place.symbol != HVAR_IMAGE_NONE && !(place.flags & HVAR_PLACE_TLS) && place.size) {
		out->start = addr - place.offset;
		out->end = out->start + place.size;
	}
	return out->name;
}

/* What there is at @addr, and how far in it. */
static char *whole_name(struct prefetches *p, const struct hvar_vmas *vmas, const struct stream_prefetch *r, uint64_t addr)
{
	struct named at;
	char *name;

	if (!name_at(p, vmas, r, addr, &at))
		return strdup(addr < BESIDE ? "[null]" : "[unmapped]");
	if (addr == at.start)
		return at.name;
	if (asprintf(&name, "%s+0x%llx", at.name, (unsigned long long)(addr - at.start)) < 0)
		name = NULL;
	free(at.name);
	return name;
}

/* An address of what was meant; 0: nothing that is known. */
static uint64_t meant(const struct hvar_vmas *vmas, const struct stream_prefetch *r)
{
	const struct hvar_vma *v;

	if (r->base && (r->addr > r->base ? r->addr - r->base : r->base - r->addr) <= FAR)
		return r->base;
	if (r->addr < BESIDE)
		return 0;
	if (r->what == STREAM_PREFETCH_UNUSED)
		return r->addr;
	v = hvar_vmas_prev(vmas, r->addr);
	if (v && r->addr - v->end <= BESIDE)
		return v->end - 1;
	v = hvar_vmas_next(vmas, r->addr);
	return v && v->start - r->addr <= BESIDE ? v->start : 0;
}

/* Returns false without memory. */
static bool describe(struct prefetches *p, const struct stream_prefetch *r, struct prefetch_place *out)
{
	struct hvar_event ev = { .time_ns = r->time_ns, .type = HVAR_EVENT_ACCESS, .mm = r->mm, .pid = r->pid };
	const struct hvar_vmas *vmas = spaces_of(p->spaces, &ev);
	struct named base;
	uint64_t addr;

	*out = (struct prefetch_place){ .what = r->what, .addr = r->addr };
	if (!vmas)
		return (out->name = strdup("[unmapped]")) != NULL;
	out->name = whole_name(p, vmas, r, r->addr);
	addr = meant(vmas, r);
	if (!out->name || !addr || !name_at(p, vmas, r, addr, &base))
		return out->name;
	out->base = base.name;
	if (r->addr >= base.end) {
		out->position = PREFETCH_PAST;
		out->distance = r->addr - base.end;
	} else if (r->addr < base.start) {
		out->position = PREFETCH_BEFORE;
		out->distance = base.start - r->addr;
	} else {
		out->distance = r->addr - base.start;
	}
	return true;
}

/* ---- lines of code ---- */

/* Instructions of one line are one; without lines each is its own. */
static bool same(const struct prefetch_line *l, const struct prefetch_line *m)
{
	return l->access == m->access && l->text_len == m->text_len && !memcmp(l->text, m->text, l->text_len) && (l->line || l->ip == m->ip);
}

static size_t hash(const struct prefetch_line *l)
{
	uint64_t h = 0xcbf29ce484222325u ^ (l->line ? 0 : l->ip);
	size_t i;

	for (i = 0; i < l->text_len; i++)
		h = (h ^ (unsigned char)l->text[i]) * 0x100000001b3u;
	return (size_t)(h ^ h >> 29);
}

static uint32_t *slot_of(const struct prefetches *p, const struct prefetch_line *l)
{
	size_t i = hash(l) & (p->n_slots - 1);

	while (p->slots[i] && !same(&p->v[p->slots[i] - 1], l))
		i = (i + 1) & (p->n_slots - 1);
	return &p->slots[i];
}

static bool make_room(struct prefetches *p)
{
	size_t n = p->n_slots ? 2 * p->n_slots : 64, i;
	uint32_t *old = p->slots;

	if (p->n == LINES_MAX || grow_array((void **)&p->v, &p->cap, p->n + 1, sizeof(*p->v)))
		return false;
	if (2 * (p->n + 1) <= p->n_slots)
		return true;
	p->slots = calloc(n, sizeof(*p->slots));
	if (!p->slots) {
		p->slots = old;
		return false;
	}
	free(old);
	p->n_slots = n;
	for (i = 0; i < p->n; i++)
		*slot_of(p, &p->v[i]) = (uint32_t)i + 1;
	return true;
}

static char *module_of(struct prefetches *p, const struct stream_prefetch *r)
{
	struct hvar_event ev = { .time_ns = r->time_ns, .type = HVAR_EVENT_ACCESS, .mm = r->mm, .pid = r->pid };
	const struct hvar_vmas *vmas = spaces_of(p->spaces, &ev);
	const struct hvar_vma *v = vmas ? hvar_vmas_find(vmas, r->ip) : NULL;
	const char *path = v && v->module ? images_path(p->images, v->module) : "";

	return *path ? strdup(path) : NULL;
}

static struct prefetch_line *line_of(struct prefetches *p, const struct stream_prefetch *r)
{
	struct prefetch_line l = { .ip = r->ip, .text = malloc(r->code_len), .text_len = r->code_len,
				   .access = r->flags & STREAM_PREFETCH_ACCESS };
	uint32_t *slot;

	if (!l.text || !make_room(p)) {
		free(l.text);
		return NULL;
	}
	memcpy(l.text, r->text, r->code_len);
	l.function = l.text;
	l.file = l.function + strlen(l.function) + 1;
	l.line = (uint32_t)strtoul(l.file + strlen(l.file) + 1, NULL, 10);
	slot = slot_of(p, &l);
	if (*slot) {
		free(l.text);
		return &p->v[*slot - 1];
	}
	p->v[p->n] = l;
	*slot = (uint32_t)++p->n;
	return &p->v[p->n - 1];
}

static bool known_place(const struct prefetch_line *l, const struct prefetch_place *at)
{
	size_t i;

	for (i = 0; i < l->n_places; i++)
		if (l->places[i].what == at->what && !l->places[i].base == !at->base &&
		    !strcmp(at->base ? l->places[i].base : l->places[i].name, at->base ? at->base : at->name) &&
		    l->places[i].position == at->position)
			return true;
	return l->n_places == PLACES_MAX;
}

static void free_place(struct prefetch_place *at)
{
	free(at->name);
	free(at->base);
}

static void add_place(struct prefetches *p, struct prefetch_line *l, const struct stream_prefetch *r)
{
	struct prefetch_place at;

	if (!describe(p, r, &at)) {
		p->lost++;
		free_place(&at);
		return;
	}
	if (known_place(l, &at)) {
		free_place(&at);
		return;
	}
	if (grow_array((void **)&l->places, &l->cap_places, l->n_places + 1, sizeof(*l->places))) {
		p->lost++;
		free_place(&at);
		return;
	}
	l->places[l->n_places++] = at;
}

void prefetches_record(struct prefetches *p, const struct stream_prefetch *r)
{
	struct prefetch_line *l = line_of(p, r);

	if (!l) {
		p->lost++;
		return;
	}
	if (!l->module)
		l->module = module_of(p, r);
	if (r->what) {
		add_place(p, l, r);
		return;
	}
	l->executed += r->executed;
	l->unmapped += r->unmapped;
	l->unused += r->unused;
	l->used += r->used;
	l->redundant += r->redundant;
	l->unjudged += r->unjudged;
}

void prefetches_sampled_record(struct prefetches *p, const struct stream_prefetch *r)
{
	p->sampled = true;
	prefetches_record(p, r);
}

/* ---- what came out ---- */

bool prefetches_are_sampled(const struct prefetches *p)
{
	return p->sampled;
}

uint64_t prefetches_waiting(const struct prefetch_line *l)
{
	return l->executed - l->unmapped - l->unused - l->used - l->redundant - l->unjudged;
}

static int worst_first(const void *pa, const void *pb)
{
	const struct prefetch_line *a = pa, *b = pb;
	uint64_t x = a->unmapped + a->unused, y = b->unmapped + b->unused;

	if (a->access != b->access)
		return a->access ? 1 : -1;
	if (x != y)
		return x > y ? -1 : 1;
	if (a->executed != b->executed)
		return a->executed > b->executed ? -1 : 1;
	return (a->ip > b->ip) - (a->ip < b->ip);
}

const struct prefetch_line *prefetches_lines(struct prefetches *p, size_t *n)
{
	size_t i;

	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), worst_first);
	if (p->n_slots)
		memset(p->slots, 0, p->n_slots * sizeof(*p->slots));
	for (i = 0; i < p->n; i++)
		*slot_of(p, &p->v[i]) = (uint32_t)i + 1;
	*n = p->n;
	return p->v;
}

void prefetches_lose(struct prefetches *p)
{
	p->lost++;
}

uint64_t prefetches_lost(const struct prefetches *p)
{
	return p->lost;
}

struct prefetches *prefetches_new(struct images *images, struct spaces *spaces)
{
	struct prefetches *p = calloc(1, sizeof(*p));

	if (p) {
		p->images = images;
		p->spaces = spaces;
	}
	return p;
}

void prefetches_free(struct prefetches *p)
{
	size_t i, k;

	if (!p)
		return;
	for (i = 0; i < p->n; i++) {
		for (k = 0; k < p->v[i].n_places; k++)
			free_place(&p->v[i].places[k]);
		free(p->v[i].places);
		free(p->v[i].module);
		free(p->v[i].text);
	}
	free(p->v);
	free(p->slots);
	free(p);
}
