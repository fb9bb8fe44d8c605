// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_split.c - all files that hold debug information of one program: its own, dwz's common one, .dwo, .dwp.
 */
#include "config.h"

#include "dwarf_split.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debug_file.h"
#include "dwarf_die.h"

static int keep(struct dwarf_set *s, struct dwarf_file *d)
{
	if (s->n == s->cap) {
		uint32_t n = s->cap ? s->cap * 2 : 8;
		struct dwarf_file **v = realloc(s->v, n * sizeof(*v));

		if (!v)
			return -ENOMEM;
		s->v = v;
		s->cap = n;
	}
	s->v[s->n++] = d;
	s->left -= d->bytes;
	s->bytes += d->bytes;
	return 0;
}

static int open_regular(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Open the split file at @path; NULL: it is none, or not to be read. */
static struct dwarf_file *open_split(struct dwarf_set *s, const char *path)
{
	struct dwarf_file *d = NULL;
	struct elf_file f;
	int fd = open_regular(path), r;

	if (fd < 0)
		return NULL;
	if (!elf_file_open_debug(&f, fd, path, NULL)) {
		r = dwarf_file_open(&f, true, s->left, &d);
		s->too_big |= r == -EFBIG;
		elf_file_close(&f);
	}
	close(fd);
	if (d && keep(s, d)) {
		dwarf_file_free(d);
		d = NULL;
	}
	return d;
}

static struct dwarf_unit *unit_of(const struct dwarf_file *d, const struct dwarf_unit *u)
{
	return d ? dwarf_file_by_id(d, u->id, true) : NULL;
}

static struct dwarf_file *open_in(struct dwarf_set *s, const char *dir, size_t dir_len,
				  const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%.*s/%s", (int)dir_len, dir, name) >= (int)sizeof(path))
		return NULL;
	return open_split(s, path);
}

/* The file beside the program, or where the compiler left it. */
static struct dwarf_file *find(struct dwarf_set *s, const struct dwarf_unit *u, const char *path)
{
	const char *slash = strrchr(u->dwo_name, '/'), *dir = strrchr(path, '/');
	struct dwarf_file *d = NULL;

	if (*u->dwo_name == '/')
		d = open_split(s, u->dwo_name);
	else if (u->comp_dir && *u->comp_dir == '/')
		d = open_in(s, u->comp_dir, strlen(u->comp_dir), u->dwo_name);
	if (unit_of(d, u) || !dir || dir - path > PATH_MAX)
		return d;
	return open_in(s, path, (size_t)(dir - path), slash ? slash + 1 : u->dwo_name);
}

/* Find the other half of each skeleton in the program. */
static void join(struct dwarf_set *s, const char *path)
{
	struct dwarf_file *own = s->v[0], *package = NULL, *last = NULL;
	bool looked = false;
	char name[PATH_MAX];
	uint32_t i;

	for (i = 0; i < own->n_info; i++) {
		struct dwarf_unit *u = &own->units[i], *other;

		if (!dwarf_unit_attrs(u) || !u->dwo_name || !u->has_id)
			continue;
		if (!looked && path && snprintf(name, sizeof(name), "%s.dwp", path) < (int)sizeof(name))
			package = open_split(s, name);
		looked = true;
		other = unit_of(package, u);
		if (!other)
			other = unit_of(last, u);
		if (!other && path && !s->too_big) {
			last = find(s, u, path);
			other = unit_of(last, u);
		}
		if (other)
			other->skeleton = u;
		else
			s->missing++;
	}
}

/* The attributes of all units that type units of the same file share their address tables with. */
static void join_types(struct dwarf_set *s)
{
	uint32_t i, k;

	for (k = 1; k < s->n; k++) {
		struct dwarf_unit *skeleton = NULL;

		for (i = 0; i < s->v[k]->n_units; i++)
			if (s->v[k]->units[i].skeleton)
				skeleton = s->v[k]->units[i].skeleton;
		for (i = 0; i < s->v[k]->n_units; i++)
			if (!s->v[k]->units[i].skeleton)
				s->v[k]->units[i].skeleton = skeleton;
	}
}

/* What a common file is known by: its build-id, or (DWARF 5) the bytes in its own .debug_sup. */
struct alt {
	const char *name; /* its path, from the file that refers to it */
	const uint8_t *id;
	size_t id_len;
	bool sup;
};

/*
 * DWARF 5, 7.3.6: version, "is it the common file itself", path, length of the checksum, checksum.
 * False: it is not well made, or of the other kind.
 */
static bool read_sup(const struct dwarf_bytes *b, bool common, struct alt *out)
{
	struct dwarf_cursor c = dwarf_cursor_at(b, 0);

	if (!b->n || dwarf_fixed(&c, 2) != 5 || dwarf_fixed(&c, 1) != common)
		return false;
	out->name = dwarf_string(&c);
	out->id_len = dwarf_uleb(&c);
	out->id = c.p;
	out->sup = true;
	return !c.bad && out->id_len && out->id_len <= (size_t)(c.end - c.p);
}

/* .gnu_debugaltlink: a path, a NUL, and the build-id of what is meant. */
static bool read_altlink(const struct dwarf_bytes *b, struct alt *out)
{
	size_t len = b->n ? strnlen((const char *)b->p, b->n) : 0;

	if (!len || len >= b->n)
		return false;
	out->name = (const char *)b->p;
	out->id = b->p + len + 1;
	out->id_len = b->n - len - 1;
	out->sup = false;
	return true;
}

/* Take the file at @path, if it is the one that @a means. */
static bool take_alt(struct dwarf_set *s, const char *path, const struct alt *a)
{
	struct alt its = { .sup = false };
	uint8_t id[64];
	struct elf_file f;
	int fd = open_regular(path), n, r;

	if (fd < 0)
		return false;
	if (!elf_file_open_debug(&f, fd, path, NULL)) {
		n = a->sup ? 0 : elf_file_build_id(&f, id, sizeof(id));
		if (a->sup || (n > 0 && (size_t)n == a->id_len && !memcmp(a->id, id, a->id_len))) {
			r = dwarf_file_open(&f, false, s->left, &s->alt);
			s->too_big |= r == -EFBIG;
		}
		elf_file_close(&f);
	}
	close(fd);
	if (s->alt && a->sup && (!read_sup(&s->alt->sec[DWARF_SUP], true, &its) || its.id_len != a->id_len ||
				 memcmp(its.id, a->id, a->id_len))) {
		dwarf_file_free(s->alt);
		s->alt = NULL;
	}
	return s->alt;
}

/*
 * dwz's common file.  Where its path leads nowhere, it is looked for by its build-id, as debug files are.
 */
static void open_alt(struct dwarf_set *s, const char *debug_path)
{
	const char *slash = debug_path ? strrchr(debug_path, '/') : NULL;
	char path[PATH_MAX];
	struct alt a;
	bool is = false;
	int n = PATH_MAX;

	if (!read_altlink(&s->v[0]->sec[DWARF_ALTLINK], &a) && !read_sup(&s->v[0]->sec[DWARF_SUP], false, &a))
		return;
	if (debug_path && *a.name == '/')
		n = snprintf(path, sizeof(path), "%s", a.name);
	else if (debug_path && slash)
		n = snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - debug_path), debug_path, a.name);
	if (n < PATH_MAX)
		is = take_alt(s, path, &a);
	if (!is && !s->too_big && debug_path && !a.sup && debug_file_by_id(a.id, a.id_len, a.name, path))
		take_alt(s, path, &a);
	if (!s->alt) {
		s->missing++;
		return;
	}
	s->left -= s->alt->bytes;
	s->bytes += s->alt->bytes;
	s->v[0]->alt = s->alt;
}

int dwarf_set_open(struct dwarf_set *s, const struct elf_file *f, const char *path,
		   const char *debug_path, uint64_t limit)
{
	struct dwarf_file *d;
	int r;

	memset(s, 0, sizeof(*s));
	s->left = limit;
	r = dwarf_file_open(f, false, limit, &d);
	if (r)
		return r;
	if (keep(s, d)) {
		dwarf_file_free(d);
		return -ENOMEM;
	}
	open_alt(s, debug_path);
	join(s, path);
	join_types(s);
	return 0;
}

void dwarf_set_close(struct dwarf_set *s)
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		dwarf_file_free(s->v[i]);
	dwarf_file_free(s->alt);
	free(s->v);
	memset(s, 0, sizeof(*s));
}
