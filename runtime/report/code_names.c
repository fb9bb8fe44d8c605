// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "code_names.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/user/grow.h"
#include "translator-hooks/image_name.h"
#include "translator-hooks/locals_child.h"

struct known {
	struct code_site at;
	struct code_name name;
	char *function, *file; /* malloc'd, or NULL */
};

struct lines {
	uint32_t module;
	struct locals_child *file; /* reads it; NULL: it is not at hand */
};

struct code_names {
	struct images *images;
	struct known *v;
	size_t n, cap;
	struct lines *lines;
	size_t n_lines, cap_lines;
};

static struct locals_child *lines_of(struct code_names *n, uint32_t module)
{
	int fd;
	size_t i;

	for (i = 0; i < n->n_lines; i++)
		if (n->lines[i].module == module)
			return n->lines[i].file;
	if (grow_array((void **)&n->lines, &n->cap_lines, n->n_lines + 1, sizeof(*n->lines)))
		return NULL;
	fd = images_file(n->images, module);
	n->lines[n->n_lines] = (struct lines){ module, fd < 0 ? NULL : locals_child_open(fd, images_path(n->images, module)) };
	return n->lines[n->n_lines++].file;
}

static bool link_address(const struct hvar_image *img, uint64_t offset, uint64_t *vaddr)
{
	uint32_t i;

	for (i = 0; i < img->n_segs; i++) {
		const struct hvar_image_seg *s = &img->segs[i];

		if (!(s->prot & HVAR_PROT_EXEC) || offset < s->offset || offset - s->offset >= s->filesz)
			continue;
		*vaddr = offset - s->offset + s->vaddr;
		return true;
	}
	return false;
}

static void describe(struct code_names *n, struct known *k)
{
	const struct hvar_image *img = k->at.module ? images_code_of(n->images, k->at.module) : NULL;
	struct locals_child *lines;
	const char *file;
	uint32_t sym, line;

	k->name = (struct code_name){ .function = "", .file = "", .module = "", .vaddr = k->at.where };
	if (!k->at.module)
		return;
	k->name.module = images_path(n->images, k->at.module);
	if (!img || !link_address(img, k->at.where, &k->name.vaddr))
		return;
	sym = hvar_image_find(img, k->name.vaddr);
	if (sym != HVAR_IMAGE_NONE && (img->syms[sym].type == HVAR_SYM_FUNC || img->syms[sym].type == HVAR_SYM_IFUNC))
		k->function = image_name(img, sym);
	if (k->function)
		k->name.function = k->function;
	lines = lines_of(n, k->at.module);
	if (!lines || locals_child_line(lines, k->name.vaddr, &file, &line))
		return;
	k->file = strdup(file);
	if (!k->file)
		return;
	k->name.file = k->file;
	k->name.line = line;
}

void code_names_find(struct code_names *n, const struct code_site *at, struct code_name *out)
{
	struct known *k;
	size_t i;

	for (i = 0; i < n->n; i++) {
		k = &n->v[i];
		if (k->at.module == at->module && k->at.mm == at->mm && k->at.where == at->where) {
			*out = k->name;
			return;
		}
	}
	*out = (struct code_name){ .function = "", .file = "", .module = "" };
	if (grow_array((void **)&n->v, &n->cap, n->n + 1, sizeof(*n->v)))
		return;
	k = &n->v[n->n++];
	*k = (struct known){ .at = *at };
	describe(n, k);
	*out = k->name;
}

struct code_names *code_names_new(struct images *images)
{
	struct code_names *n = calloc(1, sizeof(*n));

	if (n)
		n->images = images;
	return n;
}

void code_names_free(struct code_names *n)
{
	size_t i;

	if (!n)
		return;
	for (i = 0; i < n->n; i++) {
		free(n->v[i].function);
		free(n->v[i].file);
	}
	for (i = 0; i < n->n_lines; i++)
		locals_child_close(n->lines[i].file);
	free(n->v);
	free(n->lines);
	free(n);
}
