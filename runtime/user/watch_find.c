// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watch_find.c - where a variable of a given name is, in what is loaded.
 *
 * Its place is believed once looking it up by address gives the same symbol, in memory of the
 * protection that its segment has.
 */
#include "config.h"

#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "translator-hooks/image_member.h"
#include "translator-hooks/image_name.h"

enum { MOST_NAMED = 8 };

struct find {
	struct watch *w;
	const struct hvar_vmas *vmas;
	hvar_image_of_fn image_of;
	const char *(*path_of)(void *ctx, uint32_t id);
	void *ctx;
	const char *name;	/* of the variable, with its members */
	char symbol[1024];	/* without them */
	const char *members;	/* in name; "" : none */
	const char *file;	/* the module's path or the end of it; NULL: any */
	size_t file_len;
	uint32_t found, tls;
	FILE *list;		/* of all found */
};

/* "libfoo.so.1:NAME"; "::" is C++'s. */
static void split_module(struct find *f)
{
	const char *p = f->w->name;

	f->name = p;
	while ((p = strchr(p, ':')) != NULL && p[1] == ':')
		p += 2;
	if (p && p[1]) {
		f->file = f->name;
		f->file_len = (size_t)(p - f->name);
		f->name = p + 1;
	}
}

static bool is_module(const struct find *f, uint32_t id)
{
	const char *path = f->path_of(f->ctx, id);
	size_t n = strlen(path);

	if (!f->file)
		return true;
	return n >= f->file_len && !memcmp(path + n - f->file_len, f->file, f->file_len) &&
	       (n == f->file_len || path[n - f->file_len - 1] == '/');
}

/* By the name the file has, or as hotvar writes it: without a signature, with its source file. */
static bool is_named(const struct find *f, const struct hvar_image *img, uint32_t i)
{
	const char *raw = hvar_image_str(img, img->syms[i].name);
	size_t n = strlen(raw);
	char *written;
	bool same;

	if (!strcmp(raw, f->symbol))
		return true;
	if (strncmp(raw, "_Z", 2) && strncmp(raw, "_R", 2) &&
	    !(!strncmp(f->symbol, raw, n) && f->symbol[n] == '@'))
		return false;
	written = image_name(img, i);
	same = written && !strcmp(written, f->symbol);
	free(written);
	return same;
}

/* Is [@start, @start + @size) mapped as symbol @i of @img is to be? */
static bool is_loaded(const struct find *f, uint32_t id, const struct hvar_image *img, uint32_t i,
		      uint64_t start, uint64_t size)
{
	uint64_t vaddr = img->syms[i].vaddr, at[2] = { 0, size ? size - 1 : 0 };
	const struct hvar_image_seg *seg = hvar_image_seg_at(img, vaddr);
	struct hvar_place p;
	int k;

	for (k = 0; k < 2; k++) {
		hvar_resolve(f->vmas, start + at[k], f->image_of, f->ctx, &p);
		if (p.module != id || !(p.flags & HVAR_PLACE_VADDR) || p.vaddr != vaddr + at[k] || !seg)
			return false;
		if ((p.vma.prot ^ seg->prot) & HVAR_PROT_EXEC)
			return false;
		/* What is read-only after relocation has been writable before. */
		if ((p.vma.prot ^ seg->prot) & HVAR_PROT_WRITE &&
		    !(vaddr - img->relro < img->relro_size))
			return false;
	}
	return true;
}

/* The bytes of member f->members of symbol @i: true if it has one. */
static bool find_member(const struct find *f, const struct hvar_image *img, uint32_t i,
			uint64_t *from, uint64_t *size)
{
	const struct hvar_image_sym *s = &img->syms[i];
	size_t n = strlen(f->members);
	struct image_member m;
	uint64_t at, first = UINT64_MAX, last = 0;

	if (!n) {
		*from = 0;
		*size = s->size;
		return true;
	}
	if (s->size > WATCH_MEMBERS_MAX)
		return false;
	for (at = 0; at < s->size; at++) {
		bool in;

		image_member(img, i, false, at, &m);
		do
			in = !strncmp(m.path, f->members, n) && (!m.path[n] || m.path[n] == '.' || m.path[n] == '[');
		while (!in && image_member_next(&m));
		if (!in)
			continue;
		if (first == UINT64_MAX)
			first = at;
		last = at;
	}
	*from = first;
	*size = last - first + 1;
	return first != UINT64_MAX;
}

/* What symbol @i has that begins with the first @n characters of f->members, one step further; false: nothing. */
static bool list_members(const struct find *f, const struct hvar_image *img, uint32_t i, size_t n, FILE *out)
{
	char last[IMAGE_MEMBER_MAX] = "";
	struct image_member m;
	unsigned listed = 0;

	for (uint64_t at = 0; at < img->syms[i].size && listed <= MOST_NAMED; at++) {
		image_member(img, i, false, at, &m);
		do {
			size_t len = n;

			if (strncmp(m.path, f->members, n) || (m.path[n] != '.' && m.path[n] != '['))
				continue;
			len += 1 + strcspn(m.path + n + 1, ".[");
			if (len >= sizeof(last) || (!strncmp(last, m.path, len) && !last[len]))
				continue;
			memcpy(last, m.path, len);
			last[len] = '\0';
			listed++;
			fprintf(out, listed > MOST_NAMED ? ", ..." : "%s%s%s", listed > 1 ? ", " : "", f->symbol, last);
		} while (image_member_next(&m));
	}
	return listed;
}

/* Debug information tells what the variable has, and that is not in it. */
static void note_no_member(struct find *f, const struct hvar_image *img, uint32_t i)
{
	size_t n = strlen(f->members), size;
	struct image_member m;
	char *text = NULL;
	FILE *out;

	image_member(img, i, false, 0, &m);
	if (!n || f->w->no_member || !m.var || !img->syms[i].size || img->syms[i].size > WATCH_MEMBERS_MAX)
		return;
	out = open_memstream(&text, &size);
	if (!out)
		return;
	do
		while (--n > 0 && f->members[n] != '.' && f->members[n] != '[')
			;
	while (!list_members(f, img, i, n, out) && n);
	fclose(out);
	if (text && *text)
		f->w->no_member = text;
	else
		free(text);
}

/* The variable is there, and nothing tells where in it that part is. */
static void note_no_part(struct find *f, uint64_t start, uint64_t size)
{
	struct watch *w = f->w;

	if (!*f->members || w->no_part)
		return;
	w->no_part = strndup(w->name, (size_t)(f->members - w->name));
	w->no_part_start = start;
	w->no_part_size = size;
}

/* Is what was found, at @from of symbol @i, a pointer and nothing else? */
static bool is_pointer(const struct find *f, const struct hvar_image *img, uint32_t i, uint64_t from, uint64_t size)
{
	struct image_member m;
	size_t n;

	if (size != 8 && size != 4)
		return false;
	image_member(img, i, false, from, &m);
	do {
		n = m.type ? strlen(m.type) : 0;
		if (m.var && n && !strcmp(m.path, f->members))
			return m.type[n - 1] == '*' || strstr(m.type, "(*)");
	} while (image_member_next(&m));
	return false;
}

/* What of module @id is loaded where: any area of it tells its bias. */
static void find_in(struct find *f, uint32_t id, uint64_t bias)
{
	uint32_t why, i;
	const struct hvar_image *img = f->image_of(f->ctx, id, &why);
	const char *path = f->path_of(f->ctx, id);
	uint64_t from, size;
	char *written;

	for (i = 0; img && i < img->n_syms; i++) {
		const struct hvar_image_sym *s = &img->syms[i];

		if (s->type == HVAR_SYM_FUNC || s->type == HVAR_SYM_IFUNC || !is_named(f, img, i) ||
		    !is_loaded(f, id, img, i, s->vaddr + bias, s->size))
			continue;
		if (!find_member(f, img, i, &from, &size)) {
			note_no_member(f, img, i);
			note_no_part(f, s->vaddr + bias, s->size);
			continue;
		}
		if (f->found && f->w->start == s->vaddr + bias + from)
			continue; /* in two tables */
		if (!f->found++) {
			f->w->start = s->vaddr + bias + from;
			f->w->end = f->w->start + (size ? size : 1);
			f->w->pointer = is_pointer(f, img, i, from, size);
			free(f->w->module);
			f->w->module = strdup(path);
		}
		written = image_name(img, i);
		if (f->list && f->found <= MOST_NAMED)
			fprintf(f->list, "%s%s:%s%s", f->found > 1 ? ", " : "",
				strrchr(path, '/') ? strrchr(path, '/') + 1 : path,
				written ? written : f->symbol, f->members);
		else if (f->list && f->found == MOST_NAMED + 1)
			fputs(", ...", f->list);
		free(written);
	}
	for (i = 0; img && i < img->n_tls_syms; i++)
		f->tls += !strcmp(hvar_image_str(img, img->tls_syms[i].name), f->symbol);
}

/* Each module once, at its first area that is a loaded one's. */
static void find_all(struct find *f)
{
	const struct hvar_vma *v;
	struct hvar_place p;
	uint32_t done[64], n = 0, i;

	for (v = hvar_vmas_next(f->vmas, 0); v; v = hvar_vmas_next(f->vmas, v->end)) {
		/* [vdso] has no variables, and to look for some would bring its pages in */
		if (!v->module || v->region == HVAR_REGION_VDSO || !is_module(f, v->module))
			continue;
		/* Areas of a file lie together, though others may be between: a short memory will do. */
		for (i = 0; i < n && i < 64 && done[i] != v->module; i++)
			;
		if (i < n && i < 64)
			continue;
		hvar_resolve(f->vmas, v->start, f->image_of, f->ctx, &p);
		if (p.module != v->module || !(p.flags & HVAR_PLACE_VADDR))
			continue;
		done[n++ % 64] = v->module;
		find_in(f, v->module, p.bias);
	}
}

/* The name as it stands, then with a part of it taken for members: "table[3].misses", "counter.0". */
static void find_split(struct find *f)
{
	size_t n = strlen(f->name);

	while (!f->found && n > 0 && n < sizeof(f->symbol)) {
		memcpy(f->symbol, f->name, n);
		f->symbol[n] = '\0';
		f->members = f->name + n;
		find_all(f);
		while (--n > 0 && f->name[n] != '.' && f->name[n] != '[')
			;
	}
}

int watch_find(struct watch *w, const struct hvar_vmas *vmas, hvar_image_of_fn image_of,
	       const char *(*path_of)(void *ctx, uint32_t id), void *ctx)
{
	struct find f = { .w = w, .vmas = vmas, .image_of = image_of, .path_of = path_of, .ctx = ctx };
	char *text = NULL;
	size_t size;

	f.list = open_memstream(&text, &size);
	if (!f.list)
		return -ENOMEM;
	split_module(&f);
	find_split(&f);
	fclose(f.list);
	w->ambiguous = f.found > 1;
	if (w->ambiguous) {
		free(w->others);
		w->others = text;
		w->start = w->end = 0;
		return 0;
	}
	free(text);
	return f.found ? 0 : f.tls ? -EXDEV : -ENOENT;
}

static const char *path_of(void *ctx, uint32_t id)
{
	return live_path(ctx, id);
}

int watch_find_in(struct watch *w, pid_t pid, struct err *e)
{
	if (w->live)
		live_look(w->live, true);
	else
		w->live = live_open(pid, e);
	if (!w->live)
		return -errno;
	return watch_find(w, live_vmas(w->live), live_image, path_of, w->live);
}
