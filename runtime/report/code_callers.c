// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "code_callers.h"

#include <stdio.h>
#include <stdlib.h>

#include "code_names.h"

enum { FIRST_SITES = 1024, MOST_SITES = 1 << 22, TEXT = 4096 };

/* Code that has done something, once: it is number @caller of the callers. */
struct site {
	struct code_site at;
	bool used, kernel;
	uint32_t caller;
};

struct code_callers {
	struct images *images;
	struct callers *callers;
	struct site *sites; /* open addressing */
	size_t n_sites, cap_sites;
	bool named;
};

struct code_callers *code_callers_new(struct images *images, struct callers *callers)
{
	struct code_callers *c = calloc(1, sizeof(*c));

	if (c) {
		c->images = images;
		c->callers = callers;
		c->named = true;
	}
	return c;
}

void code_callers_free(struct code_callers *c)
{
	if (!c)
		return;
	free(c->sites);
	free(c);
}

static struct site *slot_of(struct site *v, size_t n, const struct site *like)
{
	uint64_t h = (like->at.where ^ (uint64_t)like->at.module << 40 ^ (uint64_t)like->at.mm << 20 ^ like->kernel) *
		     0x9e3779b97f4a7c15ull;
	size_t i = (size_t)(h >> 20) & (n - 1);

	while (v[i].used && (v[i].at.module != like->at.module || v[i].at.mm != like->at.mm ||
			     v[i].at.where != like->at.where || v[i].kernel != like->kernel))
		i = (i + 1) & (n - 1);
	return &v[i];
}

static bool make_room(struct code_callers *c)
{
	size_t cap = c->cap_sites ? 2 * c->cap_sites : FIRST_SITES, i;
	struct site *v;

	if (2 * (c->n_sites + 1) <= c->cap_sites)
		return true;
	v = cap > MOST_SITES ? NULL : calloc(cap, sizeof(*v));
	if (!v)
		return false;
	for (i = 0; i < c->cap_sites; i++)
		if (c->sites[i].used)
			*slot_of(v, cap, &c->sites[i]) = c->sites[i];
	free(c->sites);
	c->sites = v;
	c->cap_sites = cap;
	return true;
}

bool code_callers_number(struct code_callers *c, const struct code_site *at, bool kernel, uint32_t *caller)
{
	struct site like = { .at = *at, .used = true, .kernel = kernel }, *s;

	if (!make_room(c))
		return false;
	s = slot_of(c->sites, c->cap_sites, &like);
	if (!s->used) {
		*s = like;
		s->caller = (uint32_t)c->n_sites++;
		c->named = false;
	}
	*caller = s->caller;
	return true;
}

void code_callers_name(struct code_callers *c)
{
	struct code_names *names = c->named ? NULL : code_names_new(c->images);
	union {
		struct stream_caller head;
		char room[sizeof(struct stream_caller) + TEXT];
	} rec;
	size_t i;

	if (!names)
		return;
	for (i = 0; i < c->cap_sites; i++) {
		const struct site *s = &c->sites[i];
		struct code_name name = { .function = "", .file = "" };
		char *text = rec.room + sizeof(rec.head);
		int n;

		if (!s->used)
			continue;
		if (s->kernel)
			name.function = "[system call]";
		else
			code_names_find(names, &s->at, &name);
		rec.head = (struct stream_caller){ .caller = s->caller };
		n = snprintf(text, TEXT, "%.2000s%c%.1000s%c%u", name.function, 0, name.file, 0, name.line);
		callers_name(c->callers, &rec.head, sizeof(rec.head) + (size_t)n + 1);
	}
	code_names_free(names);
	c->named = true;
}
