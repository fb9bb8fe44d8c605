// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int told_module(struct told_modules *t, const struct stream_module *m)
{
	size_t want = (size_t)m->id + 1;
	struct told *x;

	if (want > t->n) {
		size_t n = want < 2 * t->n ? 2 * t->n : want;
		struct told **v = realloc(t->v, n * sizeof(struct told *));

		if (!v)
			return -ENOMEM;
		memset(v + t->n, 0, (n - t->n) * sizeof(struct told *));
		t->v = v;
		t->n = n;
	}
	x = malloc(sizeof(*x) + m->path_len);
	if (!x)
		return -ENOMEM;
	x->m = m->m;
	x->path = (char *)(x + 1);
	x->path_len = m->path_len;
	memcpy(x->path, m->path, m->path_len);
	free(t->v[m->id]);
	t->v[m->id] = x;
	return 0;
}

const struct told *told_get(const struct told_modules *t, uint32_t id)
{
	return id < t->n ? t->v[id] : NULL;
}

void told_fini(struct told_modules *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->v[i]);
	free(t->v);
	memset(t, 0, sizeof(*t));
}
