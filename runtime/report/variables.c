// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "variables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms.h"
#include "frames.h"
#include "runtime/core/hvar_image.h"
#include "keys.h"
#include "members.h"
#include "recent.h"
#include "runtime/core/hvar_resolve.h"
#include "said.h"
#include "tls_blocks.h"
#include "tls_place.h"
#include "tls_seen.h"
#include "translator-hooks/image_name.h"

enum { FIRST_ENTRIES = 256, MOST_ENTRIES = 1 << 22 };

/*
 * The parts of one module that no symbol covers are told apart by section: a key
 * without a symbol has the section's index + 1 above its kind; with one, its member's number, if members are.  The
 * heap's objects have the number of their row there, and no module.
 */
#define KIND_BITS     8
#define KIND_MASK     ((1u << KIND_BITS) - 1)
#define SECTIONS_MAX  (1u << 16)

/* Facts of an entry that its key does not hold; from the address that made it. */
struct fact {
	uint32_t reason;
	uint32_t pid;
	bool deleted;
	struct hvar_key key; /* of its first access */
	char comm[16];
	uint64_t first_ns, last_ns; /* of exact accesses */
	char *name; /* made when first asked for */
};

struct variables {
	struct images *images;
	bool per_process;
	struct members *members; /* NULL: variables as wholes */
	struct tls_blocks *tls;
	struct frames *frames;
	struct tls_seen *seen;
	struct heap_sites *heap;
	struct said *said;
	uint32_t phase;
	struct hvar_hot_table t;
	struct hvar_hot *hot;
	struct fact *facts;
	uint32_t *slots;
	uint64_t *tids;
	struct comms comms;
	struct recent recent; /* of variables_touched() */
};

/* ---- memory ---- */

static int grow(struct variables *v)
{
	uint32_t cap = v->t.cap ? v->t.cap : FIRST_ENTRIES / 2;
	uint32_t ntids = v->t.ntids ? v->t.ntids : 2 * FIRST_ENTRIES;
	bool entries = !v->t.cap || v->t.n == v->t.cap;
	struct hvar_hot *hot;
	struct fact *facts;
	uint32_t *slots;
	uint64_t *tids;

	if (entries)
		cap *= 2;
	if (v->t.used_tids >= ntids / 2)
		ntids *= 2;
	if (cap > MOST_ENTRIES || ntids > 16 * MOST_ENTRIES)
		return -ENOMEM;
	hot = realloc(v->hot, cap * sizeof(*hot));
	if (hot)
		v->hot = hot;
	facts = realloc(v->facts, cap * sizeof(*facts));
	if (facts)
		v->facts = facts;
	slots = malloc(2 * cap * sizeof(*slots));
	tids = malloc(ntids * sizeof(*tids));
	if (!hot || !facts || !slots || !tids) {
		free(slots);
		free(tids);
		if (v->hot)
			v->t.v = v->hot;
		return -ENOMEM;
	}
	if (v->t.cap)
		hvar_hot_moved(&v->t, hot, cap, slots, 2 * cap, v->tids, v->t.ntids, tids, ntids);
	else
		hvar_hot_init(&v->t, hot, cap, slots, 2 * cap, tids, ntids);
	free(v->slots);
	free(v->tids);
	v->slots = slots;
	v->tids = tids;
	return 0;
}

/* ---- names of processes ---- */

void variables_comm(struct variables *v, const struct stream_comm *c)
{
	if (c->pid && c->tid == c->pid)
		comms_set(&v->comms, c->pid, c->comm);
}

void variables_fork(struct variables *v, uint32_t pid, uint32_t child_pid)
{
	char comm[16];

	comms_get(&v->comms, pid, comm);
	if (child_pid != pid && *comm)
		comms_set(&v->comms, child_pid, comm);
}

/* ---- entries ---- */

static void key_of(const struct variables *v, const struct hvar_place *p, uint32_t mm,
		   struct hvar_hot_key *key)
{
	const struct hvar_image *img;
	uint32_t why;

	memset(key, 0, sizeof(*key));
	key->kind = p->kind;
	key->module = images_canon(v->images, p->module);
	/* Shared anonymous memory is a file only to the kernel, one for each mapping. */
	if (key->kind == HVAR_KIND_SHM && !strcmp(images_path(v->images, key->module), "/dev/zero"))
		key->module = 0;
	key->symbol = p->symbol == HVAR_IMAGE_NONE ? HVAR_HOT_NONE : p->symbol;
	if (key->symbol == HVAR_HOT_NONE && p->section < SECTIONS_MAX)
		key->kind |= (p->section + 1) << KIND_BITS;
	if (v->members && key->symbol != HVAR_HOT_NONE && (img = images_of(v->images, key->module, &why)))
		key->kind |= members_at(v->members, key->module, img, key->symbol, p->flags & HVAR_PLACE_TLS,
					p->offset) << KIND_BITS;
	key->mm = v->per_process ? mm : v->phase;
}

/* The place of @addr, as far as the map is known. */
static void place_at(struct variables *v, const struct hvar_vmas *vmas, uint64_t addr,
		     struct hvar_place *place)
{
	if (vmas) {
		hvar_resolve(vmas, addr, images_of, v->images, place);
		return;
	}
	memset(place, 0, sizeof(*place));
	place->symbol = place->section = HVAR_IMAGE_NONE;
	place->reason = HVAR_REASON_UNMAPPED;
}

/* Memory without a file may be a thread's own: then @p becomes what is there. */
static bool tls_at(struct variables *v, const struct hvar_vmas *vmas, const struct hvar_event *ev, uint64_t addr,
		   struct hvar_place *p)
{
	const struct hvar_image *img;
	const struct tls_block *b;
	uint32_t why;

	if (p->module || p->symbol != HVAR_IMAGE_NONE || (p->vma.region != HVAR_REGION_ANON && p->vma.region != HVAR_REGION_HEAP))
		return false;
	b = tls_seen_find(v->seen, v->images, ev, vmas, addr, images_live(v->images));
	img = b ? images_of(v->images, b->module, &why) : NULL;
	if (img) {
		tls_of_thread_place(b, addr, img, p);
		return true;
	}
	if (!b && tls_seen_is_control(v->seen, ev, &p->vma, addr, images_live(v->images))) {
		p->kind = HVAR_KIND_TLS;
		p->reason = HVAR_REASON_NO_SYMBOL;
		return true;
	}
	if (!b && vmas && tls_seen_is_stack(v->seen, ev, vmas, &p->vma, addr, images_live(v->images)))
		p->kind = HVAR_KIND_STACK;
	return p->kind == HVAR_KIND_STACK;
}

static uint32_t entry_of_key(struct variables *v, const struct hvar_hot_key *key, const struct hvar_place *place,
			     const struct hvar_event *ev)
{
	struct fact *f;
	uint32_t i, before = v->t.n;

	if (hvar_hot_room(&v->t) == false)
		grow(v);
	if (hvar_hot_slot(&v->t, key, ev->type == HVAR_EVENT_ACCESS ? ev->u.access.weight : 1 << 16, &i))
		return HVAR_HOT_NONE;
	if (i < before)
		return i;
	f = &v->facts[i];
	memset(f, 0, sizeof(*f));
	f->reason = place->reason;
	f->key = keys_of_place(v->images, place, ev);
	/* A module's anonymous memory, its .bss, does not show it. */
	f->deleted = place->vma.flags & HVAR_VMA_DELETED || (!place->vma.module && images_deleted(v->images, place->module));
	if (v->per_process) {
		f->pid = ev->pid;
		comms_get(&v->comms, ev->pid, f->comm);
	}
	return i;
}

static uint32_t entry_of(struct variables *v, const struct hvar_place *place, const struct hvar_event *ev)
{
	struct hvar_hot_key key;

	key_of(v, place, ev->mm, &key);
	return entry_of_key(v, &key, place, ev);
}

/* Memory without names inside is the same for a page; a symbol, as a whole, as far as no other lies in it. */
static uint64_t same_until(const struct variables *v, const struct hvar_place *p, uint64_t addr)
{
	const struct hvar_image *img;
	uint64_t end = addr + 1;
	uint32_t why;

	if (!p->module && (p->kind == HVAR_KIND_ANON || p->kind == HVAR_KIND_HEAP || p->kind == HVAR_KIND_STACK))
		return HVAR_PAGE_DOWN(addr) + HVAR_PAGE_SIZE;
	if (v->members || p->symbol == HVAR_IMAGE_NONE || !(p->flags & HVAR_PLACE_VADDR) || p->flags & HVAR_PLACE_TLS)
		return end;
	img = images_of(v->images, p->module, &why);
	if (img)
		end = addr + (hvar_image_same_until(img, p->vaddr) - p->vaddr);
	return end < p->vma.end ? end : p->vma.end;
}

/* In place of a symbol. */
#define NAMED (HVAR_HOT_NONE - 1)

/* Memory that the program gave a name has that alone, with the kind of what it lies in: its number is above the kind. */
static uint32_t entry_named(struct variables *v, struct hvar_place *place, const struct hvar_event *ev, uint32_t number)
{
	struct hvar_hot_key key = { .symbol = NAMED, .mm = v->per_process ? ev->mm : v->phase };

	key.kind = (place->kind == HVAR_KIND_STACK ? HVAR_KIND_ANON : place->kind) | number << KIND_BITS;
	place->reason = HVAR_REASON_NONE;
	return entry_of_key(v, &key, place, ev);
}

/* The number of the name that @key is of, 0: of none. */
static uint32_t name_number(const struct hvar_hot_key *key)
{
	return !key->module && key->symbol == NAMED ? key->kind >> KIND_BITS : 0;
}

void variables_map_changed(struct variables *v)
{
	recent_forget(&v->recent);
}

struct said *variables_said(struct variables *v)
{
	return v->said;
}

void variables_phase(struct variables *v, uint32_t phase)
{
	v->phase = phase;
}

uint32_t variables_range(struct variables *v, const struct hvar_vmas *vmas, const struct hvar_event *ev, uint64_t addr,
			 uint64_t *until)
{
	struct hvar_place place;
	uint64_t named = UINT64_MAX;
	uint32_t number = said_name_at(v->said, ev->mm, addr, &named);

	place_at(v, vmas, addr, &place);
	if (number && place.kind != HVAR_KIND_UNMAPPED) {
		*until = named < place.vma.end ? named : place.vma.end;
		return entry_named(v, &place, ev, number);
	}
	*until = same_until(v, &place, addr);
	if (named < *until)
		*until = named;
	if (tls_at(v, vmas, ev, addr, &place) || tls_seen_within(v->seen, ev->mm, addr, *until))
		*until = addr + 1;
	return entry_of(v, &place, ev);
}

uint32_t variables_at(struct variables *v, const struct hvar_vmas *vmas, const struct hvar_event *ev, uint64_t addr)
{
	uint64_t until;

	return variables_range(v, vmas, ev, addr, &until);
}

/*
 * Is @place, at @addr, in one piece of memory with @stack, a stack or frame pointer?  Of what has no symbol that is its area: a thread's
 * stack, or one that the program has made itself in any memory; else its variable, an array that is used as a stack.
 */
static bool is_stack(struct variables *v, const struct hvar_vmas *vmas, const struct hvar_event *ev, const struct hvar_place *place,
		     uint64_t addr, uint64_t stack)
{
	struct hvar_place base, own = *place;

	if (stack < place->vma.start || stack >= place->vma.end || place->kind == HVAR_KIND_STACK)
		return false;
	if (place->symbol == HVAR_IMAGE_NONE)
		return (place->kind == HVAR_KIND_ANON || place->kind == HVAR_KIND_HEAP) && !tls_at(v, vmas, ev, addr, &own);
	place_at(v, vmas, stack, &base);
	return base.module == place->module && base.symbol == place->symbol;
}

uint32_t variables_touched(struct variables *v, const struct hvar_vmas *vmas,
			   const struct hvar_event *ev, uint64_t addr, uint64_t stack)
{
	struct hvar_place place;
	uint32_t i;

	/* What is a stack by this access has other rows by others. */
	if (!stack && recent_find(&v->recent, ev->mm, addr, &i))
		return i;
	place_at(v, vmas, addr, &place);
	if (place.kind == HVAR_KIND_UNMAPPED)
		return VARIABLES_UNMAPPED;
	if (is_stack(v, vmas, ev, &place, addr, stack)) {
		place.kind = HVAR_KIND_STACK;
		place.module = 0;
		place.symbol = place.section = HVAR_IMAGE_NONE;
		place.reason = HVAR_REASON_NO_FILE;
		return entry_of(v, &place, ev);
	}
	/* What has a symbol is no thread's own. */
	if (place.symbol != HVAR_IMAGE_NONE) {
		i = entry_of(v, &place, ev);
		if (i != HVAR_HOT_NONE)
			recent_add(&v->recent, ev->mm, addr, same_until(v, &place, addr), i);
		return i;
	}
	tls_at(v, vmas, ev, addr, &place);
	return entry_of(v, &place, ev);
}

struct tls_blocks *variables_tls_blocks(struct variables *v)
{
	return v->tls;
}

struct tls_seen *variables_tls_seen(struct variables *v)
{
	return v->seen;
}

uint32_t variables_tls(struct variables *v, const struct hvar_vmas *vmas, const struct hvar_event *ev, uint32_t module,
		       bool fixed, uint64_t offset)
{
	struct hvar_place place;
	uint32_t i;

	place_at(v, NULL, 0, &place);
	place.kind = HVAR_KIND_TLS;
	place.reason = HVAR_REASON_NO_SYMBOL;
	tls_place(&(struct tls_place_of){ v->images, v->tls, v->seen }, vmas, ev, module, fixed, offset, &place);
	/* what no memory is seen of is each process's own all the same */
	place.vma.prot = 0;
	i = entry_of(v, &place, ev);
	/* one row is for all that is not known: of its reasons the one that may be otherwise another time is told */
	if (i != HVAR_HOT_NONE && place.reason == HVAR_REASON_NO_ACCESS)
		v->facts[i].reason = HVAR_REASON_NO_ACCESS;
	return i;
}

uint32_t variables_heap(struct variables *v, const struct hvar_event *ev, uint32_t number)
{
	uint32_t kind = heap_sites_get(v->heap, number)->mapped ? HVAR_KIND_ANON : HVAR_KIND_HEAP;
	const struct hvar_place place = { .kind = kind };
	struct hvar_hot_key key = { .kind = kind | number << KIND_BITS, .symbol = HVAR_HOT_NONE };

	if (v->per_process)
		key.mm = ev->mm;
	return entry_of_key(v, &key, &place, ev);
}

void variables_thread(struct variables *v, uint32_t i, uint32_t tid)
{
	hvar_hot_count(&v->t, i, tid, 0, 0, 0);
}

struct heap_sites *variables_heap_sites(struct variables *v)
{
	return v->heap;
}

/* The row of objects that @key is of, 0: of none. */
static uint32_t heap_number(const struct hvar_hot_key *key)
{
	uint32_t kind = key->kind & KIND_MASK;

	return (kind == HVAR_KIND_HEAP || kind == HVAR_KIND_ANON) && !key->module && key->symbol == HVAR_HOT_NONE ?
		       key->kind >> KIND_BITS : 0;
}

struct frames *variables_frames(struct variables *v)
{
	return v->frames;
}

/* In entries of stacks a symbol is a number of frames.h. */
static bool is_frame(const struct hvar_hot_key *key)
{
	return key->symbol != HVAR_HOT_NONE && (key->kind & KIND_MASK) == HVAR_KIND_STACK;
}

uint32_t variables_stack(struct variables *v, const struct hvar_event *ev, uint32_t n)
{
	const struct hvar_place place = { .kind = HVAR_KIND_STACK };
	const struct hvar_hot_key key = { frames_get(v->frames, n)->module, n, HVAR_KIND_STACK, v->per_process ? ev->mm : v->phase };

	return entry_of_key(v, &key, &place, ev);
}

void variables_count(struct variables *v, uint32_t i, const struct hvar_event *ev)
{
	struct fact *f = &v->facts[i];

	if (ev->time_ns && (!f->first_ns || ev->time_ns < f->first_ns))
		f->first_ns = ev->time_ns;
	if (ev->time_ns > f->last_ns)
		f->last_ns = ev->time_ns;
	hvar_hot_count(&v->t, i, ev->tid, ev->u.access.weight, ev->u.access.size,
		       ev->u.access.flags);
}

uint32_t variables_n(const struct variables *v)
{
	return v->t.n;
}

const struct hvar_hot *variables_hot(const struct variables *v, uint32_t i)
{
	return &v->t.v[i];
}

uint64_t variables_lost(const struct variables *v)
{
	return v->t.lost;
}

uint64_t variables_lost_threads(const struct variables *v)
{
	return v->t.lost_tids;
}

/* ---- names ---- */

const char *variables_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static char *member_name(const struct variables *v, const struct hvar_hot_key *key,
			 const struct hvar_image *img)
{
	bool tls = (key->kind & KIND_MASK) == HVAR_KIND_TLS;
	char *name = tls ? image_name_tls(img, key->symbol) : image_name(img, key->symbol), *whole;
	const char *member = v->members ? members_path(v->members, key->kind >> KIND_BITS) : "";

	if (!name || !*member)
		return name;
	if (asprintf(&whole, "%s%s", name, member) < 0)
		whole = NULL;
	free(name);
	return whole;
}

static char *make_name(const struct variables *v, const struct hvar_hot_key *key,
		       const struct hvar_image *img, const char *path)
{
	uint32_t kind = key->kind & KIND_MASK, section = key->kind >> KIND_BITS;
	char *name;
	int n;

	if (key->symbol != HVAR_HOT_NONE && img)
		return member_name(v, key, img);
	if (is_frame(key))
		return strdup(frames_get(v->frames, key->symbol)->name);
	if (heap_number(key))
		n = asprintf(&name, "%s%s", heap_sites_name(v->heap, section), heap_sites_part(v->heap, section));
	else if (name_number(key))
		n = asprintf(&name, "region:%s", said_text(v->said, section));
	else if (section && img && section <= img->n_sections)
		n = asprintf(&name, "%s:%s", variables_file_name(path),
			     hvar_image_str(img, img->sections[section - 1].name));
	else if (path[0] == '[')
		n = asprintf(&name, "%s", path); /* [anon:malloc] */
	else if (*path)
		n = asprintf(&name, "%s:[%s]", variables_file_name(path), hvar_kind_name(kind));
	else
		n = asprintf(&name, "[%s]", hvar_kind_name(kind));
	return n < 0 ? NULL : name;
}

int variables_describe(struct variables *v, uint32_t i, struct variable *out)
{
	const struct hvar_hot_key *key = &v->t.v[i].key;
	const char *path = images_path(v->images, key->module);
	struct fact *f = &v->facts[i];
	const struct hvar_image *img = NULL;
	uint32_t why;

	if (key->module && !is_frame(key))
		img = images_of(v->images, key->module, &why);
	if (!f->name)
		f->name = make_name(v, key, img, path);
	if (!f->name)
		return -ENOMEM;
	memset(out, 0, sizeof(*out));
	out->name = f->name;
	out->module = *path ? path : NULL;
	out->deleted = f->deleted && *path;
	out->kind = hvar_kind_name(key->kind & KIND_MASK);
	out->mapped = (key->kind & KIND_MASK) != HVAR_KIND_UNMAPPED;
	out->is_private = hvar_key_private(&f->key);
	out->key = v->per_process && key->symbol != HVAR_HOT_NONE && img && (key->kind & KIND_MASK) != HVAR_KIND_TLS ? &f->key : NULL;
	out->mm = v->per_process ? key->mm : 0;
	out->phase = key->mm && !v->per_process ? said_text(v->said, key->mm) : NULL;
	out->pid = f->pid;
	out->comm = f->comm;
	out->first_ns = f->first_ns;
	out->last_ns = f->last_ns;
	if (key->symbol != HVAR_HOT_NONE && img) {
		const struct hvar_image_sym *y = (key->kind & KIND_MASK) == HVAR_KIND_TLS ? img->tls_syms : img->syms;

		out->symbol = hvar_image_str(img, y[key->symbol].name);
		out->size = y[key->symbol].size;
		if (v->members && key->kind >> KIND_BITS) {
			out->member = members_path(v->members, key->kind >> KIND_BITS);
			out->type = members_type(v->members, key->kind >> KIND_BITS);
		}
	} else if (is_frame(key)) {
		frames_describe(v->frames, key->symbol, out);
	} else if (heap_number(key)) {
		const char *part = heap_sites_part(v->heap, heap_number(key));

		out->heap = heap_sites_get(v->heap, heap_number(key));
		out->member = *part ? part : NULL;
	} else if (!name_number(key)) {
		out->reason = hvar_reason_name(f->reason);
	}
	return 0;
}

struct variables *variables_new(struct images *images, bool per_process, bool by_member)
{
	struct variables *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->images = images;
	v->per_process = per_process;
	if (by_member)
		v->members = members_new();
	v->tls = tls_blocks_new();
	v->frames = frames_new(images, by_member);
	v->seen = tls_seen_new();
	v->heap = heap_sites_new();
	v->said = said_new();
	if (!v->heap || !v->said || !v->tls || !v->frames || !v->seen || (by_member && !v->members) || grow(v)) {
		variables_free(v);
		return NULL;
	}
	return v;
}

void variables_free(struct variables *v)
{
	uint32_t i;

	if (!v)
		return;
	for (i = 0; i < v->t.n; i++)
		free(v->facts[i].name);
	free(v->hot);
	free(v->facts);
	free(v->slots);
	free(v->tids);
	comms_fini(&v->comms);
	members_free(v->members);
	tls_blocks_free(v->tls);
	frames_free(v->frames);
	tls_seen_free(v->seen);
	heap_sites_free(v->heap);
	said_free(v->said);
	free(v);
}
