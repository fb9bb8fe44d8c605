// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "accesses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comms.h"
#include "runtime/core/hvar_event.h"
#include "runtime/user/grow.h"

enum { MOST_NAMES = 1 << 20, TIDS = 64 };

#define KERNEL_HALF ((uint64_t)1 << 63)
#define Z95	    1.959964 /* of a normal distribution */

/* A name of perf's, of a process whose map is not known. */
struct told_name {
	char *symbol, *module;
	uint32_t pid, mm;
	uint32_t threads;
	uint32_t tids[TIDS]; /* the first of them; of more than that the number is a lower bound */
	char comm[16];
	struct accesses_sum sum;
};

struct accesses {
	struct variables *variables;
	bool per_process;
	struct accesses_sum *v; /* by entry of the hot table */
	size_t n, cap;
	struct told_name **names;
	size_t n_names, cap_names;
	uint32_t *slots; /* index + 1, by name */
	size_t n_slots;
	struct comms comms;
	struct accesses_sum un[ACCESSES_REASONS], total;
};

const char *accesses_reason_name(enum accesses_reason reason)
{
	static const char *const names[ACCESSES_REASONS] = {
		"no-address", "no-map", "not-mapped", "kernel-memory", "table-full",
	};

	return names[reason];
}

const char *accesses_reason_text(enum accesses_reason reason)
{
	static const char *const texts[ACCESSES_REASONS] = {
		"the processor could not tell the address",
		"what is mapped in its process is not known",
		"no memory is known at that address",
		"memory of the kernel's own",
		"no memory for more variables",
	};

	return texts[reason];
}

static void add(struct accesses_sum *s, const struct stream_access *rec)
{
	double w = (double)rec->ev.u.access.weight / 65536, l = (double)rec->latency * w;

	s->weight += w;
	s->squares += w * w;
	if (rec->ev.u.access.flags & HVAR_ACCESS_READ)
		s->reads += w;
	if (rec->ev.u.access.flags & HVAR_ACCESS_WRITE)
		s->writes += w;
	if (rec->latency) {
		s->latency += l;
		s->latency_squares += l * l;
		s->latency_weight += w;
	}
	s->samples++;
	if (!rec->source)
		return;
	s->hitm += pmu_source_hitm(rec->source);
	s->hitm_remote += pmu_source_hitm(rec->source) && pmu_source_remote(rec->source);
	s->tlb_misses += pmu_source_tlb_miss(rec->source);
	s->locked += pmu_source_locked(rec->source);
	s->levels[pmu_source_level(rec->source)]++;
}

/* ---- names of perf's ---- */

static size_t hash(const char *symbol, const char *module, uint32_t mm)
{
	uint64_t h = 1469598103934665603ull ^ mm;

	for (; *symbol; symbol++)
		h = (h ^ (uint8_t)*symbol) * 1099511628211ull;
	h = (h ^ 256) * 1099511628211ull;
	for (; *module; module++)
		h = (h ^ (uint8_t)*module) * 1099511628211ull;
	return (size_t)(h ^ h >> 32);
}

/* The slot where it is, or belongs. */
static size_t slot_of(const struct accesses *a, const char *symbol, const char *module, uint32_t mm)
{
	size_t mask = a->n_slots - 1, i = hash(symbol, module, mm) & mask;

	for (; a->slots[i]; i = (i + 1) & mask) {
		const struct told_name *t = a->names[a->slots[i] - 1];

		if (t->mm == mm && !strcmp(t->symbol, symbol) && !strcmp(t->module, module))
			break;
	}
	return i;
}

static int grow_slots(struct accesses *a)
{
	size_t n = a->n_slots ? 2 * a->n_slots : 64, i;
	uint32_t *slots;

	if (a->n_names * 4 < a->n_slots * 3)
		return 0;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -1;
	free(a->slots);
	a->slots = slots;
	a->n_slots = n;
	for (i = 0; i < a->n_names; i++) {
		const struct told_name *t = a->names[i];

		slots[slot_of(a, t->symbol, t->module, t->mm)] = (uint32_t)i + 1;
	}
	return 0;
}

static void note_thread(struct told_name *t, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < t->threads; i++)
		if (t->tids[i] == tid)
			return;
	if (t->threads < TIDS)
		t->tids[t->threads++] = tid;
}

static struct told_name *name_of(struct accesses *a, const char *symbol, const char *module, const struct hvar_event *ev)
{
	uint32_t mm = a->per_process ? ev->mm : 0;
	struct told_name *t;
	size_t slot;

	if (grow_slots(a))
		return NULL;
	slot = slot_of(a, symbol, module, mm);
	if (a->slots[slot])
		return a->names[a->slots[slot] - 1];
	if (a->n_names >= MOST_NAMES || grow_array((void **)&a->names, &a->cap_names, a->n_names + 1, sizeof(*a->names)))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->symbol = strdup(symbol);
	t->module = strdup(module);
	t->mm = mm;
	if (mm) {
		t->pid = ev->pid;
		comms_get(&a->comms, ev->pid, t->comm);
	}
	if (!t->symbol || !t->module) {
		free(t->symbol);
		free(t->module);
		free(t);
		return NULL;
	}
	a->names[a->n_names++] = t;
	a->slots[slot] = (uint32_t)a->n_names;
	return t;
}

void accesses_comm(struct accesses *a, const struct stream_comm *c)
{
	if (c->pid && c->tid == c->pid)
		comms_set(&a->comms, c->pid, c->comm);
}

/* ---- records ---- */

static struct accesses_sum *sum_of(struct accesses *a, uint32_t entry)
{
	size_t had = a->n;

	if (entry >= a->n) {
		if (grow_array((void **)&a->v, &a->cap, (size_t)entry + 1, sizeof(*a->v)))
			return NULL;
		a->n = (size_t)entry + 1;
		memset(a->v + had, 0, (a->n - had) * sizeof(*a->v));
	}
	return &a->v[entry];
}

void accesses_take(struct accesses *a, struct spaces *spaces, const struct stream_access *rec, size_t len)
{
	const char *symbol = len > sizeof(*rec) ? rec->text : "", *module = *symbol || len > sizeof(*rec) ? symbol + strlen(symbol) + 1 : "";
	const struct hvar_event *ev = &rec->ev;
	struct accesses_sum *sum = NULL;
	struct told_name *name;
	uint32_t i;

	add(&a->total, rec);
	if (rec->flags & STREAM_ACCESS_NO_ADDRESS) {
		sum = &a->un[ACCESSES_NO_ADDRESS];
	} else if (ev->u.access.addr >= KERNEL_HALF) {
		sum = &a->un[ACCESSES_KERNEL];
	} else if (rec->flags & STREAM_ACCESS_NO_MAP) {
		name = *symbol || *module ? name_of(a, symbol, module, ev) : NULL;
		if (name)
			note_thread(name, ev->tid);
		sum = name ? &name->sum : &a->un[*symbol || *module ? ACCESSES_TABLE_FULL : ACCESSES_NO_MAP];
	} else {
		i = variables_touched(a->variables, spaces_of(spaces, ev), ev, ev->u.access.addr, 0);
		if (i == VARIABLES_UNMAPPED) {
			sum = &a->un[ACCESSES_NOT_MAPPED];
		} else if (i != HVAR_HOT_NONE) {
			sum = sum_of(a, i);
			if (sum)
				variables_thread(a->variables, i, ev->tid);
		}
	}
	add(sum ? sum : &a->un[ACCESSES_TABLE_FULL], rec);
}

/* ---- what came out ---- */

size_t accesses_rows(const struct accesses *a)
{
	return a->n + a->n_names;
}

void accesses_row(const struct accesses *a, size_t i, struct accesses_row *out)
{
	const struct told_name *t;

	memset(out, 0, sizeof(*out));
	if (i < a->n) {
		out->entry = (uint32_t)i;
		out->threads = variables_hot(a->variables, (uint32_t)i)->threads;
		out->sum = a->v[i];
		return;
	}
	t = a->names[i - a->n];
	out->entry = HVAR_HOT_NONE;
	out->symbol = t->symbol;
	out->module = t->module;
	out->pid = t->pid;
	out->mm = t->mm;
	out->comm = t->comm;
	out->threads = t->threads;
	out->sum = t->sum;
}

const struct accesses_sum *accesses_unattributed(const struct accesses *a, enum accesses_reason reason)
{
	return &a->un[reason];
}

const struct accesses_sum *accesses_total(const struct accesses *a)
{
	return &a->total;
}

void accesses_interval(const struct accesses_sum *part, const struct accesses_sum *all, double ci[2])
{
	double n, p, mid, half;

	ci[0] = ci[1] = NAN;
	if (!(all->weight > 0))
		return;
	n = all->weight * all->weight / all->squares;
	p = fmin(part->weight / all->weight, 1);
	mid = (p + Z95 * Z95 / (2 * n)) / (1 + Z95 * Z95 / n);
	half = Z95 * sqrt(p * (1 - p) / n + Z95 * Z95 / (4 * n * n)) / (1 + Z95 * Z95 / n);
	ci[0] = fmax(fmin(mid - half, p), 0);
	ci[1] = fmin(fmax(mid + half, p), 1);
}

void accesses_latency_interval(const struct accesses_sum *part, const struct accesses_sum *all, double ci[2])
{
	double r, half, var;

	ci[0] = ci[1] = NAN;
	if (!(all->latency > 0))
		return;
	r = fmin(part->latency / all->latency, 1);
	var = (1 - r) * (1 - r) * part->latency_squares + r * r * fmax(all->latency_squares - part->latency_squares, 0);
	half = Z95 * sqrt(var) / all->latency;
	ci[0] = fmax(r - half, 0);
	ci[1] = fmin(r + half, 1);
}

struct accesses *accesses_new(struct variables *variables, bool per_process)
{
	struct accesses *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->variables = variables;
	a->per_process = per_process;
	return a;
}

void accesses_free(struct accesses *a)
{
	size_t i;

	if (!a)
		return;
	for (i = 0; i < a->n_names; i++) {
		free(a->names[i]->symbol);
		free(a->names[i]->module);
		free(a->names[i]);
	}
	free(a->names);
	free(a->slots);
	free(a->v);
	comms_fini(&a->comms);
	free(a);
}
