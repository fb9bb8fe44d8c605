// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "metas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int metas_set(struct metas *m, const char *key, size_t n, char *value)
{
	struct meta *v;
	size_t i;

	for (i = 0; value && i < m->n; i++) {
		if (!strncmp(m->v[i].key, key, n) && !m->v[i].key[n]) {
			free(m->v[i].value);
			m->v[i].value = value;
			return 0;
		}
	}
	v = value ? realloc(m->v, (m->n + 1) * sizeof(*v)) : NULL;
	if (v) {
		m->v = v;
		v[m->n].key = strndup(key, n);
		v[m->n].value = value;
		if (v[m->n].key) {
			m->n++;
			return 0;
		}
	}
	free(value);
	return -ENOMEM;
}

const char *metas_get(const struct metas *m, const char *key)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (!strcmp(m->v[i].key, key))
			return m->v[i].value;
	return NULL;
}

void metas_fini(struct metas *m)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		free(m->v[i].key);
		free(m->v[i].value);
	}
	free(m->v);
	m->v = NULL;
	m->n = 0;
}
