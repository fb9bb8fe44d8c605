// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tls_blocks.c - how far below the thread pointer a loaded file's thread-local block is, in each process.
 */
#include "config.h"

#include "tls_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>

#include "runtime/core/hvar_image_format.h"
#include "runtime/user/clock.h"
#include "runtime/user/grow.h"
#include "runtime/user/look.h"
#include "runtime/user/proc.h"
#include "translator-hooks/tls_slots.h"

/* More than any thread's static block has. */
#define DISTANCE_MAX ((uint64_t)1 << 30)
/* A process may still be starting: the slot is empty until its libraries are relocated. */
#define TRIES_MAX    20
#define TRY_NS	     ((uint64_t)20 * 1000 * 1000)

/* Of one that is wanted: the pause doubles from the first to the last, some 8 s in all. */
#define POLLS_MAX     70
#define POLL_NS	      ((uint64_t)1000 * 1000)
#define POLL_DOUBLED  7

struct known {
	uint32_t mm, id; /* mm 0: free */
	uint32_t tries;
	bool wanted;	   /* it was put among the wanted once */
	uint64_t distance; /* 0: not found so far */
	uint64_t tried_ns;
};

/* An entry of this module number has as its distance the address space that mm was copied from by a fork. */
#define PARENT	  0
#define DEPTH_MAX 64

struct wanted {
	uint32_t mm, id;
	pid_t pid;
	uint32_t polls;
	uint64_t due_ns;
};

struct tls_blocks {
	struct known *v; /* open addressing */
	size_t n, cap;
	struct wanted *wanted; /* may be read so far */
	size_t n_wanted, cap_wanted;
	uint64_t due_ns; /* no wanted one is due before */
	struct tls_distance *fresh;
	size_t n_fresh, next_fresh, cap_fresh;
};
/* A recording may claim any number. */
#define KNOWN_MAX ((size_t)1 << 20)

struct tls_blocks *tls_blocks_new(void)
{
	return calloc(1, sizeof(struct tls_blocks));
}

void tls_blocks_free(struct tls_blocks *t)
{
	if (t) {
		free(t->v);
		free(t->wanted);
		free(t->fresh);
	}
	free(t);
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

static void found(struct tls_blocks *t, struct known *k, uint64_t distance)
{
	k->distance = distance;
	if (grow_array((void **)&t->fresh, &t->cap_fresh, t->n_fresh + 1, sizeof(*t->fresh)))
		return;
	t->fresh[t->n_fresh++] = (struct tls_distance){ k->mm, k->id, distance };
}

/*
 * The distance that slot @s of the library at @bias, whose block has @memsz bytes, says; 0: none, and errno.  Of a
 * descriptor the argument is it, less the offset asked for, where the function that goes with it just adds the thread
 * pointer (glibc: _dl_tlsdesc_return); else it is an address, which no distance is, or nothing yet.
 */
static uint64_t read_slot(pid_t pid, uint64_t bias, const struct hvar_image_tls_slot *s, uint64_t memsz,
			  const struct hvar_module *facts)
{
	uint64_t word, distance, at = bias + s->vaddr + (s->kind == HVAR_TLS_SLOT_DESC ? 8 : 0);

	errno = 0;
	if ((s->kind != HVAR_TLS_SLOT_OFFSET && s->kind != HVAR_TLS_SLOT_DESC) ||
	    !proc_peek(pid, at, &word, sizeof(word)))
		return 0;
	distance = s->value - word;
	/* read before it was looked at who is there: so it was read there */
	if ((int64_t)word < 0 && distance && distance < DISTANCE_MAX && distance >= memsz && is_there(pid, at, facts))
		return distance;
	errno = 0;
	return 0;
}

static uint64_t read_slots(pid_t pid, uint64_t bias, const struct hvar_image_tls_slot *s, uint32_t n, uint64_t memsz,
			   const struct hvar_module *facts)
{
	uint64_t distance = 0;
	uint32_t i;

	for (i = 0; i < n && !distance; i++)
		distance = read_slot(pid, bias, &s[i], memsz, facts);
	return distance;
}

bool tls_blocks_readable(const struct hvar_image *img)
{
	const struct hvar_image_tls_slot *s;
	uint32_t n, i;

	s = hvar_image_table(img, HVAR_IMAGE_TLS_SLOTS, sizeof(*s), &n);
	for (i = 0; i < n; i++)
		if (s[i].kind == HVAR_TLS_SLOT_OFFSET || s[i].kind == HVAR_TLS_SLOT_DESC)
			return img->tls.memsz;
	return false;
}

/* ---- while the process lives ---- */

void tls_blocks_mapped(struct tls_blocks *t, const struct images *images, const struct hvar_event *ev)
{
	uint32_t id = images_canon(images, ev->module);
	const struct hvar_module *facts = images_facts(images, id);
	struct known *k;

	/* what is mapped over a part of the whole file, as the dynamic linker does, comes as a change of protection */
	if ((ev->type != HVAR_EVENT_MAP && ev->type != HVAR_EVENT_INITIAL && ev->type != HVAR_EVENT_PROTECT) ||
	    ev->u.map.region != HVAR_REGION_FILE || !(ev->u.map.prot & HVAR_PROT_EXEC) || !ev->mm || !facts ||
	    !(facts->flags & HVAR_MODULE_ELF))
		return;
	k = entry(t, ev->mm, id);
	if (!k || k->distance || k->wanted)
		return;
	if (grow_array((void **)&t->wanted, &t->cap_wanted, t->n_wanted + 1, sizeof(*t->wanted)))
		return;
	k->wanted = true;
	t->wanted[t->n_wanted++] = (struct wanted){ .mm = ev->mm, .id = id, .pid = (pid_t)ev->pid };
	t->due_ns = 0;
}

/* Is there no more to be done for @w? */
static bool poll_one(struct tls_blocks *t, struct images *images, const struct spaces *spaces, const struct wanted *w)
{
	struct known *k = entry(t, w->mm, w->id);
	const struct hvar_vmas *vmas = spaces_find(spaces, w->mm);
	const struct hvar_vma *v;
	const struct tls_layout *l;
	uint64_t distance, page;
	bool none;

	if (!k || k->distance)
		return true;
	l = images_tls_layout(images, w->id, &none);
	if (!l)
		return none;
	if (l->program)
		return true;
	page = HVAR_PAGE_DOWN(l->code_offset);
	for (v = vmas ? hvar_vmas_next(vmas, 0) : NULL; v; v = hvar_vmas_next(vmas, v->end))
		if (v->region == HVAR_REGION_FILE && (v->prot & HVAR_PROT_EXEC) && v->pgoff >= page &&
		    v->pgoff - page < l->code_size && images_canon(images, v->module) == w->id)
			break;
	if (!v)
		return false;
	distance = read_slots(w->pid, v->start - v->pgoff + l->code_offset - l->code_vaddr, l->slots, l->n_slots, l->memsz,
			      images_facts(images, w->id));
	if (distance)
		found(t, k, distance);
	return distance || errno == ESRCH || errno == EPERM;
}

void tls_blocks_poll(struct tls_blocks *t, struct images *images, const struct spaces *spaces)
{
	uint64_t now;
	size_t i, n = 0;

	if (!t->n_wanted)
		return;
	now = clock_now_ns();
	if (now < t->due_ns)
		return;
	t->due_ns = UINT64_MAX;
	for (i = 0; i < t->n_wanted; i++) {
		struct wanted w = t->wanted[i];

		if (now >= w.due_ns) {
			if (poll_one(t, images, spaces, &w) || ++w.polls >= POLLS_MAX)
				continue;
			w.due_ns = now + (POLL_NS << (w.polls < POLL_DOUBLED ? w.polls : POLL_DOUBLED));
		}
		if (w.due_ns < t->due_ns)
			t->due_ns = w.due_ns;
		t->wanted[n++] = w;
	}
	t->n_wanted = n;
}

/* ---- when it is asked for ---- */

void tls_blocks_fork(struct tls_blocks *t, uint32_t mm, uint32_t child_mm)
{
	struct known *k = mm && child_mm && mm != child_mm ? entry(t, child_mm, PARENT) : NULL;

	if (k)
		k->distance = mm;
}

/* What was found in the nearest process that the one with @mm is a copy of; 0: nothing. */
static uint64_t inherited(const struct tls_blocks *t, uint32_t mm, uint32_t id)
{
	const struct known *k;
	unsigned depth;

	for (depth = 0; depth < DEPTH_MAX; depth++) {
		k = find(t->v, t->cap, mm, PARENT);
		if (!k->mm)
			break;
		mm = (uint32_t)k->distance;
		k = find(t->v, t->cap, mm, id);
		if (k->mm && (k->distance || k->wanted))
			return k->distance;
	}
	return 0;
}

bool tls_blocks_library(struct tls_blocks *t, struct images *images, const struct hvar_event *ev,
			const struct hvar_vmas *vmas, uint32_t id, const struct hvar_image *img, uint64_t *out)
{
	const struct hvar_module *facts = images_facts(images, id);
	struct known *k = entry(t, ev->mm, id);
	const struct hvar_image_tls_slot *slots;
	const struct hvar_vma *v;
	uint64_t distance = 0;
	uint32_t n;

	if (!k || !facts || !img->tls.memsz)
		return false;
	/* what a child has not mapped itself is where its parent has it */
	if (!k->distance && vmas && !k->wanted && (distance = inherited(t, ev->mm, id)))
		found(t, k, distance);
	*out = k->distance;
	if (k->distance || !vmas || k->tries >= TRIES_MAX || (k->tries && ev->time_ns - k->tried_ns < TRY_NS))
		return k->distance;
	k->tries++;
	k->tried_ns = ev->time_ns;
	slots = hvar_image_table(img, HVAR_IMAGE_TLS_SLOTS, sizeof(*slots), &n);
	for (v = hvar_vmas_next(vmas, 0); v; v = hvar_vmas_next(vmas, v->end)) {
		struct hvar_place p;

		if (v->region != HVAR_REGION_FILE || images_canon(images, v->module) != id)
			continue;
		hvar_resolve(vmas, v->start, images_of, images, &p);
		if (p.flags & HVAR_PLACE_VADDR)
			distance = read_slots((pid_t)ev->pid, p.bias, slots, n, img->tls.memsz, facts);
		break; /* its other areas have the same bias */
	}
	if (distance)
		found(t, k, distance);
	*out = k->distance;
	return k->distance;
}

bool tls_blocks_fresh(struct tls_blocks *t, struct tls_distance *out)
{
	if (t->next_fresh == t->n_fresh) {
		t->next_fresh = t->n_fresh = 0;
		return false;
	}
	*out = t->fresh[t->next_fresh++];
	return true;
}

void tls_blocks_told(struct tls_blocks *t, const struct tls_distance *d)
{
	struct known *k = d->mm && d->module != PARENT && d->distance < DISTANCE_MAX ? entry(t, d->mm, d->module) : NULL;

	if (k)
		k->distance = d->distance;
}
