// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "watched.h"

#include <stdlib.h>
#include <string.h>

#include "code_access.h"
#include "comms.h"
#include "runtime/user/grow.h"

enum { FIRST_SLOTS = 256, MOST = 1 << 22, KNOWN = 1024 };

/* Which instruction it was: the code of a file does not change, and to find it takes a function's decoding. */
struct known {
	struct code_site next; /* where control came to; module 0: free */
	struct stream_watched_at at;
	uint64_t start;
	uint32_t size, mm;
	struct access_insn in;
};

struct watched {
	const struct estimate_env *env;
	struct spaces *spaces;
	struct images *images;
	struct comms comms;
	struct watched_spot *spots;
	size_t n_spots, cap_spots;
	struct watched_cell *cells;
	size_t n_cells, cap_cells;
	uint32_t *slots; /* index + 1 of cells */
	size_t n_slots;
	struct known known[KNOWN];
	bool sorted; /* spots, and their cells */
	uint64_t lost;
};

struct watched *watched_new(const struct estimate_env *env, struct spaces *spaces, struct images *images)
{
	struct watched *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->env = env;
	w->spaces = spaces;
	w->images = images;
	return w;
}

void watched_free(struct watched *w)
{
	if (!w)
		return;
	comms_fini(&w->comms);
	free(w->spots);
	free(w->cells);
	free(w->slots);
	free(w);
}

void watched_comm(struct watched *w, const struct stream_comm *c)
{
	if (c->pid && c->tid == c->pid)
		comms_set(&w->comms, c->pid, c->comm);
}

/* A process begins as a copy of its parent, and is called so. */
void watched_event(struct watched *w, const struct hvar_event *ev)
{
	char comm[16];

	if (ev->type != HVAR_EVENT_FORK || ev->pid == ev->u.task.child_pid)
		return;
	comms_get(&w->comms, ev->pid, comm);
	if (*comm)
		comms_set(&w->comms, ev->u.task.child_pid, comm);
}

/* ---- spots ---- */

static struct watched_spot *spot_of(struct watched *w, const struct stream_watched *rec, const struct hvar_vmas *vmas)
{
	const struct hvar_vma *v;
	struct watched_spot *s;
	size_t i;

	for (i = w->n_spots; i-- > 0;) {
		s = &w->spots[i];
		if (s->watch == rec->watch && s->mm == rec->mm && s->start == rec->start && s->size == rec->size)
			return s;
	}
	if (w->n_spots >= MOST || grow_array((void **)&w->spots, &w->cap_spots, w->n_spots + 1, sizeof(*w->spots)))
		return NULL;
	s = &w->spots[w->n_spots++];
	v = vmas ? hvar_vmas_find(vmas, rec->start) : NULL;
	*s = (struct watched_spot){ .watch = rec->watch, .mm = rec->mm, .pid = rec->pid, .start = rec->start, .size = rec->size,
				    .module = v ? images_canon(w->images, v->module) : 0 };
	return s;
}

/* ---- cells ---- */

static bool is_cell(const struct watched_cell *a, const struct watched_cell *b)
{
	return a->spot == b->spot && a->tid == b->tid && a->known == b->known && a->at.module == b->at.module &&
	       a->at.mm == b->at.mm && a->at.where == b->at.where;
}

static uint32_t *slot_of(const struct watched *w, const struct watched_cell *like)
{
	uint64_t h = (like->at.where ^ (uint64_t)like->tid << 32 ^ like->spot ^ (uint64_t)like->at.module << 48) *
		     0x9e3779b97f4a7c15ull;
	size_t i = (size_t)(h >> 20) & (w->n_slots - 1);

	while (w->slots[i] && !is_cell(&w->cells[w->slots[i] - 1], like))
		i = (i + 1) & (w->n_slots - 1);
	return &w->slots[i];
}

static bool make_room(struct watched *w)
{
	size_t n = w->n_slots ? 2 * w->n_slots : FIRST_SLOTS, i;
	uint32_t *slots;

	if (grow_array((void **)&w->cells, &w->cap_cells, w->n_cells + 1, sizeof(*w->cells)))
		return false;
	if (2 * (w->n_cells + 1) <= w->n_slots)
		return true;
	slots = n > MOST ? NULL : calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	free(w->slots);
	w->slots = slots;
	w->n_slots = n;
	for (i = 0; i < w->n_cells; i++)
		*slot_of(w, &w->cells[i]) = (uint32_t)i + 1;
	return true;
}

static struct watched_cell *cell_of(struct watched *w, const struct watched_cell *like)
{
	uint32_t *slot;

	if (!make_room(w))
		return NULL;
	slot = slot_of(w, like);
	if (!*slot) {
		w->cells[w->n_cells] = *like;
		*slot = (uint32_t)++w->n_cells;
	}
	return &w->cells[*slot - 1];
}

static void add(struct watched_count *n, uint32_t flags, uint64_t count)
{
	n->accesses += count;
	n->reads += flags & HVAR_ACCESS_READ ? count : 0;
	n->writes += flags & HVAR_ACCESS_WRITE ? count : 0;
	n->untold += flags ? 0 : count;
}

/* The instruction of an access before control came to @at. */
static void find_insn(struct watched *w, const struct code_access *c, const struct stream_watched *rec,
		      const struct stream_watched_at *at, struct access_insn *in)
{
	struct known *k = &w->known[((at->ip ^ at->word * 31 ^ rec->start * 7) * 0x9e3779b97f4a7c15ull >> 40) % KNOWN];
	struct code_site next;
	struct access_code code;
	bool file = code_access_site(c, at->ip, &next) && next.module;

	if (file && k->next.module == next.module && k->next.where == next.where && k->at.ip == at->ip &&
	    k->at.word == at->word && k->at.flags == at->flags && k->start == rec->start && k->size == rec->size &&
	    k->mm == rec->mm) {
		*in = k->in;
		return;
	}
	code_access_init(c, at->flags & STREAM_WATCHED_32, &code);
	access_insn_before(&code, at, rec->start, rec->size, in);
	if (file)
		*k = (struct known){ next, *at, rec->start, rec->size, rec->mm, *in };
}

static void take_one(struct watched *w, size_t spot, const struct stream_watched *rec, const struct hvar_event *ev,
		     const struct stream_watched_at *at)
{
	struct code_access c = { w->env, ev };
	struct access_insn in;
	struct watched_cell like = { .spot = (uint32_t)spot, .tid = rec->tid }, *cell;

	find_insn(w, &c, rec, at, &in);
	like.known = in.ip && code_access_site(&c, in.ip, &like.at);
	cell = cell_of(w, &like);
	if (!cell) {
		w->lost += at->count;
		return;
	}
	add(&cell->n, in.flags, at->count);
	add(&w->spots[spot].n, in.flags, at->count);
}

void watched_take(struct watched *w, const struct stream_watched *rec, size_t len)
{
	struct hvar_event ev = { .time_ns = rec->time_ns, .type = HVAR_EVENT_ACCESS, .mm = rec->mm, .pid = rec->pid,
				 .tid = rec->tid };
	size_t n = (len - sizeof(*rec)) / sizeof(*rec->v), i;
	struct watched_spot *s = spot_of(w, rec, spaces_of(w->spaces, &ev));

	if (!s) {
		w->lost += rec->lost;
		for (i = 0; i < n; i++)
			w->lost += rec->v[i].count;
		return;
	}
	s->lost += rec->lost;
	for (i = 0; i < n; i++)
		take_one(w, (size_t)(s - w->spots), rec, &ev, &rec->v[i]);
}

/* ---- what came out ---- */

static int by_watch(const void *pa, const void *pb)
{
	const struct watched_spot *a = pa, *b = pb;

	if (a->watch != b->watch)
		return a->watch < b->watch ? -1 : 1;
	if (a->mm != b->mm)
		return a->mm < b->mm ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

static int by_spot(const void *pa, const void *pb)
{
	const struct watched_cell *a = pa, *b = pb;

	if (a->spot != b->spot)
		return a->spot < b->spot ? -1 : 1;
	if (a->n.accesses != b->n.accesses)
		return a->n.accesses > b->n.accesses ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->at.where > b->at.where) - (a->at.where < b->at.where);
}

const struct watched_spot *watched_spots(struct watched *w, size_t *n)
{
	size_t i;

	*n = w->n_spots;
	/* once: cells know their spots by number, which sorting changes */
	if (w->sorted)
		return w->spots;
	w->sorted = true;
	if (w->n_cells)
		qsort(w->cells, w->n_cells, sizeof(*w->cells), by_spot);
	for (i = 0; i < w->n_cells; i++) {
		struct watched_spot *s = &w->spots[w->cells[i].spot];

		if (!s->n_cells++)
			s->first = i;
	}
	for (i = 0; i < w->n_spots; i++)
		comms_get(&w->comms, w->spots[i].pid, w->spots[i].comm);
	if (w->n_spots)
		qsort(w->spots, w->n_spots, sizeof(*w->spots), by_watch);
	return w->spots;
}

const struct watched_cell *watched_cells(const struct watched *w, const struct watched_spot *s)
{
	return s->n_cells ? w->cells + s->first : NULL;
}

uint64_t watched_lost(const struct watched *w)
{
	return w->lost;
}
