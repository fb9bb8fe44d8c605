// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import_tasks.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 256, MOST_TASKS = 1 << 23 };

static size_t slot_of(const struct import_tasks *t, int32_t tid)
{
	size_t mask = t->n_slots - 1, i = ((uint32_t)tid * 2654435761u >> 4) & mask;

	while (t->v[i].used && t->v[i].tid != tid)
		i = (i + 1) & mask;
	return i;
}

static int make_room(struct import_tasks *t)
{
	struct import_tasks bigger = *t;
	size_t i;

	if (t->n * 2 < t->n_slots)
		return 0;
	if (t->n >= MOST_TASKS)
		return -1;
	bigger.n_slots = t->n_slots ? 2 * t->n_slots : FIRST_SLOTS;
	bigger.v = calloc(bigger.n_slots, sizeof(*bigger.v));
	if (!bigger.v)
		return -1;
	for (i = 0; i < t->n_slots; i++)
		if (t->v[i].used)
			bigger.v[slot_of(&bigger, t->v[i].tid)] = t->v[i];
	free(t->v);
	*t = bigger;
	return 0;
}

struct import_task *import_tasks_get(struct import_tasks *t, int32_t tid)
{
	size_t i;

	if (make_room(t))
		return NULL;
	i = slot_of(t, tid);
	if (!t->v[i].used) {
		t->v[i] = (struct import_task){ .tid = tid, .pid = tid, .used = true };
		t->n++;
	}
	return &t->v[i];
}

struct import_task *import_tasks_process(struct import_tasks *t, int32_t pid)
{
	struct import_task *p = import_tasks_get(t, pid);

	if (p && !p->mm)
		p->mm = ++t->last_mm;
	return p;
}

void import_tasks_fini(struct import_tasks *t)
{
	free(t->v);
	t->v = NULL;
	t->n = t->n_slots = 0;
}
