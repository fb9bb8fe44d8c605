// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "near_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
	for (i = 0; i < n; i++) {
		out[given] = image_name(v[i].img, v[i].symbol);
		given += out[given] != NULL;
	}
	return given;
}
