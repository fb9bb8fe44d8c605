// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "near_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/user/watch.h"
#include "translator-hooks/image_member.h"
#include "translator-hooks/image_name.h"

enum { LONGEST = 128 };

struct near {
	const struct hvar_image *img;
	uint32_t symbol;
	unsigned far;
};

/* How many characters must be put in, left out or changed; other than by case alone.  More than @most: no matter how many. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb, unsigned most)
{
	unsigned row[LONGEST + 1];
	size_t i, k;

	if (na > nb + most || nb > na + most)
		return most + 1;
	for (k = 0; k <= nb; k++)
		row[k] = (unsigned)k;
	for (i = 1; i <= na; i++) {
		unsigned last = row[0], best;

		row[0] = (unsigned)i;
		best = row[0];
		for (k = 1; k <= nb; k++) {
			unsigned d = last + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[k - 1]));

			last = row[k];
			d = d < row[k] + 1 ? d : row[k] + 1;
			row[k] = d < row[k - 1] + 1 ? d : row[k - 1] + 1;
			best = best < row[k] ? best : row[k];
		}
		if (best > most)
			return most + 1;
	}
	return row[nb];
}

static void offer(struct near v[NEAR_NAMES_MAX], size_t *n, const struct near *x)
{
	const char *name = hvar_image_str(x->img, x->img->syms[x->symbol].name);
	size_t i;

	for (i = 0; i < *n; i++)
		if (!strcmp(name, hvar_image_str(v[i].img, v[i].img->syms[v[i].symbol].name)))
			return;
	for (i = *n; i > 0 && v[i - 1].far > x->far; i--)
		if (i < NEAR_NAMES_MAX)
			v[i] = v[i - 1];
	if (i == NEAR_NAMES_MAX)
		return;
	v[i] = *x;
	*n += *n < NEAR_NAMES_MAX;
}

/* ---- members ---- */

enum { MOST_STEPS = 1 << 20 }; /* members looked at, in all */

struct sought {
	const struct hvar_image *img;
	const char *name;
	uint64_t steps;
};

/* The first byte, in @type, of a member of that name, however deep; false: there is none. */
static bool member_in(struct sought *s, uint32_t type, uint64_t *offset)
{
	const struct hvar_image_type *t = &s->img->types[type];
	uint64_t in;

	if (t->kind == HVAR_TYPE_ARRAY && t->count)
		return member_in(s, t->first, offset);
	for (uint32_t i = 0; (t->kind == HVAR_TYPE_STRUCT || t->kind == HVAR_TYPE_UNION) && i < t->n; i++) {
		const struct hvar_image_member *m = &s->img->members[t->first + i];

		if (s->steps++ > MOST_STEPS)
			return false;
		in = 0;
		if (strcmp(hvar_image_str(s->img, m->name), s->name) && !member_in(s, m->type, &in))
			continue;
		*offset = m->offset + in;
		return true;
	}
	return false;
}

static bool has_member(const struct hvar_image *img, const char *name)
{
	for (uint32_t i = 0; i < img->n_members; i++)
		if (!strcmp(hvar_image_str(img, img->members[i].name), name))
			return true;
	return false;
}

/* "sh.lockcount", malloc'd, of variable @v; NULL: it has no such member at @offset. */
static char *path_of_member(const struct hvar_image *img, const struct hvar_image_var *v, uint64_t offset, const char *name)
{
	char *whole, *text = NULL, *from;
	struct image_member m;

	image_member(img, v->symbol, false, offset, &m);
	do {
		size_t n = strlen(name);

		for (from = m.path; (from = strstr(from, name)) != NULL; from++)
			if (from > m.path && from[-1] == '.' && (!from[n] || from[n] == '.' || from[n] == '['))
				break;
		if (!from)
			continue;
		from[n] = '\0';
		whole = image_name(img, v->symbol);
		if (!whole || asprintf(&text, "%s%s", whole, m.path) < 0)
			text = NULL;
		free(whole);
		return text;
	} while (image_member_next(&m));
	return NULL;
}

/* Variables with a member @name, into @out from @n on; how many there are then. */
static size_t near_members(struct images *images, const char *name, char *out[NEAR_NAMES_MAX], size_t n)
{
	struct sought s = { .name = name };
	uint32_t id, why;

	for (id = 1; images_facts(images, id) && n < NEAR_NAMES_MAX; id++) {
		s.img = images_of(images, id, &why);
		if (!s.img || !has_member(s.img, name))
			continue;
		for (uint32_t i = 0; i < s.img->n_vars && n < NEAR_NAMES_MAX; i++) {
			const struct hvar_image_var *v = &s.img->vars[i];
			uint64_t offset = 0;

			if (!v->at && s.img->syms[v->symbol].size <= WATCH_MEMBERS_MAX && member_in(&s, v->type, &offset) &&
			    (out[n] = path_of_member(s.img, v, offset, name)) != NULL)
				n++;
		}
	}
	return n;
}

size_t near_names(struct images *images, const char *name, char *out[NEAR_NAMES_MAX])
{
	size_t len = strcspn(name, ".[+"), n = 0, i, given = 0;
	unsigned most = (unsigned)(len < 2 ? 0 : len < 4 ? 1 : len / 3);
	struct near v[NEAR_NAMES_MAX];
	uint32_t id, why, s;

	if (!len || len > LONGEST)
		return 0;
	for (id = 1; images_facts(images, id); id++) {
		const struct hvar_image *img = images_of(images, id, &why);

		for (s = 0; img && s < img->n_syms; s++) {
			const struct hvar_image_sym *y = &img->syms[s];
			const char *known = hvar_image_str(img, y->name);
			struct near x = { img, s, 0 };
			size_t n_known = strlen(known);

			if (y->type == HVAR_SYM_FUNC || y->type == HVAR_SYM_IFUNC || !y->size || n_known > LONGEST)
				continue;
			x.far = distance(name, len, known, n_known, most);
			if (x.far <= most)
				offer(v, &n, &x);
		}
	}
	/* a member of just that name is nearer than what is spelt like it */
	if (!name[len] && !(n && !v[0].far))
		given = near_members(images, name, out, 0);
	for (i = 0; i < n && given < NEAR_NAMES_MAX; i++) {
		out[given] = image_name(v[i].img, v[i].symbol);
		given += out[given] != NULL;
	}
	return given;
}
