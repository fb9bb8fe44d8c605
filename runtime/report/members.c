// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "members.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_image_format.h"
#include "runtime/core/hvar_type.h"

/* No table has as many symbols. */
#define THREAD_LOCAL ((uint32_t)1 << 31)

enum { PATH_MAX_BYTES = 1024, MOST = 1 << 22 };

struct member {
	uint32_t module, symbol; /* of a thread-local one with THREAD_LOCAL */
	char *path;
	const char *type; /* the image's */
};

struct members {
	struct member *v;
	uint32_t n, cap;
	uint32_t *slots; /* number, 0: free */
	uint32_t n_slots;
};

static uint32_t hash(uint32_t module, uint32_t symbol, const char *path)
{
	return (uint32_t)hvar_image_hash((uint64_t)module << 32 | symbol, path, strlen(path));
}

struct members *members_new(void)
{
	struct members *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->n_slots = 256;
	m->slots = calloc(m->n_slots, sizeof(*m->slots));
	if (!m->slots) {
		free(m);
		return NULL;
	}
	return m;
}

void members_free(struct members *m)
{
	uint32_t i;

	if (!m)
		return;
	for (i = 0; i < m->n; i++)
		free(m->v[i].path);
	free(m->v);
	free(m->slots);
	free(m);
}

static uint32_t *slot(const struct members *m, uint32_t *slots, uint32_t n, uint32_t module,
		      uint32_t symbol, const char *path)
{
	uint32_t k = hash(module, symbol, path) & (n - 1);

	for (; slots[k]; k = (k + 1) & (n - 1)) {
		const struct member *x = &m->v[slots[k] - 1];

		if (x->module == module && x->symbol == symbol && !strcmp(x->path, path))
			break;
	}
	return &slots[k];
}

static bool grow(struct members *m)
{
	uint32_t cap = m->cap ? m->cap * 2 : 64, i, n = m->n_slots * 2, *slots;
	struct member *v;

	if (m->n == m->cap) {
		v = m->n < MOST ? realloc(m->v, cap * sizeof(*v)) : NULL;
		if (!v)
			return false;
		m->v = v;
		m->cap = cap;
	}
	if (m->n < m->n_slots / 2)
		return true;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	for (i = 0; i < m->n; i++)
		*slot(m, slots, n, m->v[i].module, m->v[i].symbol, m->v[i].path) = i + 1;
	free(m->slots);
	m->slots = slots;
	m->n_slots = n;
	return true;
}

uint32_t members_at(struct members *m, uint32_t module, const struct hvar_image *img, uint32_t symbol,
		    bool tls, uint64_t offset)
{
	const struct hvar_image_var *var = hvar_type_var(img, symbol, tls);
	struct hvar_type_walk w;
	char path[PATH_MAX_BYTES];
	const char *type;
	uint32_t *at;

	if (!var)
		return 0;
	hvar_type_first(img, var->type, var->at + offset, &w);
	if (hvar_type_pattern(img, &w, path, sizeof(path)) >= sizeof(path) || !*path)
		return 0;
	symbol |= tls ? THREAD_LOCAL : 0;
	at = slot(m, m->slots, m->n_slots, module, symbol, path);
	if (*at)
		return *at;
	if (!grow(m))
		return 0;
	at = slot(m, m->slots, m->n_slots, module, symbol, path);
	m->v[m->n].path = strdup(path);
	if (!m->v[m->n].path)
		return 0;
	type = hvar_image_str(img, img->types[w.type].name);
	m->v[m->n].type = *type ? type : NULL;
	m->v[m->n].module = module;
	m->v[m->n].symbol = symbol;
	*at = ++m->n;
	return m->n;
}

const char *members_path(const struct members *m, uint32_t member)
{
	return member && member <= m->n ? m->v[member - 1].path : "";
}

const char *members_type(const struct members *m, uint32_t member)
{
	return member && member <= m->n ? m->v[member - 1].type : NULL;
}
