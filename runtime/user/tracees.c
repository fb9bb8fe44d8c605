// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracees.c - a hash table of pointers, never more than half full; a dropped
 * entry's followers move up, so there are no tombstones.
 */
#include "config.h"

#include "tracees.h"

#include <stdlib.h>

static size_t home_of(const struct tracees *t, pid_t tid)
{
	return ((uint32_t)tid * 2654435769u) & (t->nslots - 1);
}

static size_t slot_of(const struct tracees *t, pid_t tid)
{
	size_t i = home_of(t, tid);

	while (t->slots[i] && t->slots[i]->tid != tid)
		i = (i + 1) & (t->nslots - 1);
	return i;
}

void tracees_fini(struct tracees *t)
{
	size_t i;

	for (i = 0; i < t->nslots; i++)
		free(t->slots[i]);
	free(t->slots);
	*t = (struct tracees){ 0 };
}

struct tracee *tracees_find(const struct tracees *t, pid_t tid)
{
	return t->nslots ? t->slots[slot_of(t, tid)] : NULL;
}

static bool grow(struct tracees *t)
{
	struct tracees old = *t;
	size_t i;

	t->nslots = old.nslots ? old.nslots * 2 : 64;
	t->slots = calloc(t->nslots, sizeof(*t->slots));
	if (!t->slots) {
		*t = old;
		return false;
	}
	for (i = 0; i < old.nslots; i++)
		if (old.slots[i])
			t->slots[slot_of(t, old.slots[i]->tid)] = old.slots[i];
	free(old.slots);
	return true;
}

struct tracee *tracees_get(struct tracees *t, pid_t tid)
{
	struct tracee *x = tracees_find(t, tid);

	if (x || ((t->n + 1) * 2 > t->nslots && !grow(t)))
		return x;
	x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	x->tid = x->pid = tid;
	t->slots[slot_of(t, tid)] = x;
	t->n++;
	return x;
}

void tracees_drop(struct tracees *t, struct tracee *x)
{
	size_t hole = slot_of(t, x->tid), mask = t->nslots - 1, i = hole;

	for (;;) {
		i = (i + 1) & mask;
		if (!t->slots[i])
			break;
		/* Move up what may stand in the hole: its home is not between the hole and it. */
		if (((i - home_of(t, t->slots[i]->tid)) & mask) >= ((i - hole) & mask)) {
			t->slots[hole] = t->slots[i];
			hole = i;
		}
	}
	t->slots[hole] = NULL;
	t->n--;
	free(x);
}

struct tracee *tracees_next(const struct tracees *t, size_t *i)
{
	while (*i < t->nslots) {
		struct tracee *x = t->slots[(*i)++];

		if (x)
			return x;
	}
	return NULL;
}

size_t tracees_alive(const struct tracees *t, pid_t pid)
{
	const struct tracee *x;
	size_t i = 0, n = 0;

	while ((x = tracees_next(t, &i)))
		n += x->pid == pid && !x->exiting;
	return n;
}
