// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "comms.h"

#include <stdlib.h>
#include <string.h>

struct comm {
	uint32_t pid; /* 0: free */
	char comm[16];
};

static size_t slot_of(const struct comm *v, size_t cap, uint32_t pid)
{
	size_t i = (pid * 2654435769u) & (cap - 1);

	while (v[i].pid && v[i].pid != pid)
		i = (i + 1) & (cap - 1);
	return i;
}

void comms_set(struct comms *c, uint32_t pid, const char comm[16])
{
	struct comm *at;

	if (2 * (c->n + 1) > c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 64, i;
		struct comm *bigger = calloc(cap, sizeof(*bigger));

		if (!bigger)
			return;
		for (i = 0; i < c->cap; i++)
			if (c->v[i].pid)
				bigger[slot_of(bigger, cap, c->v[i].pid)] = c->v[i];
		free(c->v);
		c->v = bigger;
		c->cap = cap;
	}
	at = &c->v[slot_of(c->v, c->cap, pid)];
	c->n += !at->pid;
	at->pid = pid;
	memcpy(at->comm, comm, sizeof(at->comm));
	at->comm[sizeof(at->comm) - 1] = '\0';
}

void comms_get(const struct comms *c, uint32_t pid, char comm[16])
{
	memset(comm, 0, 16);
	if (c->cap)
		memcpy(comm, c->v[slot_of(c->v, c->cap, pid)].comm, 16);
}

void comms_fini(struct comms *c)
{
	free(c->v);
	c->v = NULL;
	c->n = c->cap = 0;
}
