// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tls_blocks.c - how far below the thread pointer a loaded file's thread-local block is, in each process.
 */
#include "config.h"

#include "tls_blocks.h"

#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "runtime/core/hvar_image_format.h"
#include "runtime/user/look.h"

/* More than any thread's static block has. */
#define DISTANCE_MAX ((uint64_t)1 << 30)
/* A process may still be starting: the slot is empty until its libraries are relocated. */
#define TRIES_MAX    20
#define TRY_NS	     ((uint64_t)20 * 1000 * 1000)

struct known {
	uint32_t mm, id; /* mm 0: free */
	uint32_t tries;
	uint64_t distance; /* 0: not found so far */
	uint64_t tried_ns;
};

struct tls_blocks {
	struct known *v; /* open addressing */
	size_t n, cap;
	struct tls_distance fresh; /* distance 0: none */
};
/* A recording may claim any number. */
#define KNOWN_MAX ((size_t)1 << 20)

struct tls_blocks *tls_blocks_new(void)
{
	return calloc(1, sizeof(struct tls_blocks));
}

void tls_blocks_free(struct tls_blocks *t)
{
	if (t)
		free(t->v);
	free(t);
}

static uint64_t alignment(const struct hvar_image *img)
{
	return img->tls.align && !(img->tls.align & (img->tls.align - 1)) ? img->tls.align : 1;
}

bool tls_blocks_program(const struct hvar_image *img, uint64_t *out)
{
	uint64_t align = alignment(img);

	if (!img->tls.memsz || img->tls.memsz > DISTANCE_MAX || img->tls.vaddr & (align - 1))
		return false;
	*out = (img->tls.memsz + align - 1) & ~(align - 1);
	return true;
}

static struct known *find(struct known *v, size_t cap, uint32_t mm, uint32_t id)
{
	size_t i = ((uint64_t)mm * 0x9e3779b97f4a7c15ull ^ (uint64_t)id * 0xd6e8feb86659fd93ull) >> 33 & (cap - 1);

	while (v[i].mm && (v[i].mm != mm || v[i].id != id))
		i = (i + 1) & (cap - 1);
	return &v[i];
}

/* The entry of (@mm, @id), made if need be; NULL: no memory. */
static struct known *entry(struct tls_blocks *t, uint32_t mm, uint32_t id)
{
	struct known *k;

	if (t->n >= KNOWN_MAX)
		return NULL;
	if (2 * (t->n + 1) > t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 64, i;
		struct known *v = calloc(cap, sizeof(*v));

		if (!v)
			return NULL;
		for (i = 0; i < t->cap; i++)
			if (t->v[i].mm)
				*find(v, cap, t->v[i].mm, t->v[i].id) = t->v[i];
		free(t->v);
		t->v = v;
		t->cap = cap;
	}
	k = find(t->v, t->cap, mm, id);
	if (!k->mm) {
		*k = (struct known){ .mm = mm, .id = id };
		t->n++;
	}
	return k;
}

/* Does process @pid still have at @addr the file with these @facts? */
static bool is_there(pid_t pid, uint64_t addr, const struct hvar_module *facts)
{
	struct look_areas a = { 0 };
	struct look l;
	bool is = false;

	if (look_open(&l, pid))
		return false;
	if (!look_at(&l, addr, addr + 1, &a) && a.n)
		is = facts->ino && a.v[0].ino == facts->ino && a.v[0].dev_major == facts->dev_major &&
		     a.v[0].dev_minor == facts->dev_minor;
	look_areas_fini(&a);
	look_close(&l);
	return is;
}

/* The distance that the memory of the library at @bias says. */
static uint64_t read_slot(const struct hvar_event *ev, uint64_t bias, const struct hvar_image *img,
			  const struct hvar_module *facts)
{
	const struct hvar_image_tls_slot *s;
	uint64_t word, distance;
	uint32_t n, i;

	s = hvar_image_table(img, HVAR_IMAGE_TLS_SLOTS, sizeof(*s), &n);
	for (i = 0; i < n; i++) {
		struct iovec to = { &word, sizeof(word) }, from = { (void *)(uintptr_t)(bias + s[i].vaddr), sizeof(word) };

		if (s[i].kind != HVAR_TLS_SLOT_OFFSET ||
		    process_vm_readv((pid_t)ev->pid, &to, 1, &from, 1, 0) != sizeof(word))
			continue;
		distance = s[i].value - word;
		/* read before it was looked at who is there: so it was read there */
		if (word && distance && distance < DISTANCE_MAX && distance >= img->tls.memsz &&
		    is_there((pid_t)ev->pid, bias + s[i].vaddr, facts))
			return distance;
	}
	return 0;
}

bool tls_blocks_library(struct tls_blocks *t, struct images *images, const struct hvar_event *ev,
			const struct hvar_vmas *vmas, uint32_t id, const struct hvar_image *img, uint64_t *out)
{
	const struct hvar_module *facts = images_facts(images, id);
	struct known *k = entry(t, ev->mm, id);
	const struct hvar_vma *v;

	if (!k || !facts || !img->tls.memsz)
		return false;
	*out = k->distance;
	if (k->distance || !vmas || k->tries >= TRIES_MAX || (k->tries && ev->time_ns - k->tried_ns < TRY_NS))
		return k->distance;
	k->tries++;
	k->tried_ns = ev->time_ns;
	for (v = hvar_vmas_next(vmas, 0); v && !k->distance; v = hvar_vmas_next(vmas, v->end)) {
		struct hvar_place p;

		if (v->region != HVAR_REGION_FILE || images_canon(images, v->module) != id)
			continue;
		hvar_resolve(vmas, v->start, images_of, images, &p);
		if (p.flags & HVAR_PLACE_VADDR)
			k->distance = read_slot(ev, p.bias, img, facts);
		break; /* its other areas have the same bias */
	}
	*out = k->distance;
	/* the code of one sample is one module's: no two come before they are asked for */
	if (k->distance)
		t->fresh = (struct tls_distance){ ev->mm, id, k->distance };
	return k->distance;
}

bool tls_blocks_fresh(struct tls_blocks *t, struct tls_distance *out)
{
	*out = t->fresh;
	t->fresh.distance = 0;
	return out->distance;
}

void tls_blocks_told(struct tls_blocks *t, const struct tls_distance *d)
{
	struct known *k = d->mm && d->distance < DISTANCE_MAX ? entry(t, d->mm, d->module) : NULL;

	if (k)
		k->distance = d->distance;
}
