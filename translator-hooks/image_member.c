// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "image_member.h"

#include <stdio.h>
#include <string.h>

static void put(struct image_member *m)
{
	const char *type = hvar_image_str(m->img, m->img->types[m->walk.type].name);

	m->rest = m->walk.offset;
	m->type = *type ? type : NULL;
	/* a name cut somewhere would be a wrong one */
	if (hvar_type_text(m->img, &m->walk, m->path, sizeof(m->path)) >= sizeof(m->path)) {
		m->path[0] = '\0';
		m->type = NULL;
		m->rest = m->walk.level[0].offset - m->var->at;
	}
}

void image_member(const struct hvar_image *img, uint32_t symbol, bool tls, uint64_t offset,
		  struct image_member *m)
{
	m->img = img;
	m->var = hvar_type_var(img, symbol, tls);
	m->path[0] = '\0';
	m->rest = offset;
	m->type = NULL;
	if (!m->var)
		return;
	hvar_type_first(img, m->var->type, m->var->at + offset, &m->walk);
	put(m);
	/* a part of a variable, and no member in it: from the symbol on */
	if (!m->path[0])
		m->rest = offset;
}

bool image_member_next(struct image_member *m)
{
	if (!m->var || !hvar_type_next(m->img, &m->walk))
		return false;
	put(m);
	return true;
}

char *image_member_decl(const struct image_member *m)
{
	const char *file = m->var ? hvar_image_str(m->img, m->var->file) : "";
	char *out;

	if (!*file)
		return NULL;
	return asprintf(&out, "%s:%u", file, m->var->line) < 0 ? NULL : out;
}
