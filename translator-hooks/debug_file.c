// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debug_file.c - look for the debug file of a stripped one, and believe it or not.
 */
#include "config.h"

#include "debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "debug_server.h"
#include "dwarf_file.h"
#include "runtime/core/hvar_image_format.h"
#include "runtime/core/hvar_module.h"

#define USUAL_DIR "/usr/lib/debug"
#define DIRS_MAX  16
#define PIECE	  ((size_t)1 << 18)

/* What is being looked for. */
struct want {
	uint8_t id[HVAR_BUILD_ID_MAX];
	int id_len;	 /* 0: the file has no build-id */
	bool has_link;
	char link[256];
	uint32_t crc;
	char dir[PATH_MAX]; /* the file's own folder; "": not known */
	uint64_t dev, ino;  /* the file itself, which is no debug file of its own */
};

/* Takes one place; non-zero ends the search with that value. */
typedef int (*place_fn)(void *ctx, const char *path, enum debug_origin origin);

bool debug_file_link(const struct elf_file *f, char name[256], uint32_t *crc)
{
	uint32_t i = elf_file_section(f, ".gnu_debuglink");
	const Elf64_Shdr *s = &f->sh[i];
	char text[256 + 8];
	size_t len, at;

	if (!i || s->sh_size < 6 || s->sh_size > sizeof(text) ||
	    elf_file_read(f, s->sh_offset, text, s->sh_size, NULL))
		return false;
	len = strnlen(text, s->sh_size);
	at = (len + 4) & ~(size_t)3;
	if (!len || len > 255 || at + 4 > s->sh_size || memchr(text, '/', len))
		return false;
	if (!strcmp(text, ".") || !strcmp(text, ".."))
		return false;
	memcpy(name, text, len + 1);
	memcpy(crc, text + at, 4);
	return true;
}

static void look_at(const struct elf_file *f, struct want *w)
{
	char proc[64], *slash;
	struct stat st;
	ssize_t n = -1;

	memset(w, 0, sizeof(*w));
	w->id_len = elf_file_build_id(f, w->id, sizeof(w->id));
	w->has_link = debug_file_link(f, w->link, &w->crc);
	if (f->fd < 0)
		return;
	if (!fstat(f->fd, &st)) {
		w->dev = st.st_dev;
		w->ino = st.st_ino;
	}
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", f->fd);
	n = readlink(proc, w->dir, sizeof(w->dir) - 1);
	w->dir[n < 0 ? 0 : n] = '\0';
	slash = w->dir[0] == '/' ? strrchr(w->dir, '/') : w->dir;
	*slash = '\0';
}

/* The next of the folders that @dirs names, into @out; NULL at the end. */
static const char *next_dir(const char *dirs, char *out, size_t size)
{
	size_t n;

	for (; *dirs; dirs += n) {
		while (*dirs == ':')
			dirs++;
		n = strcspn(dirs, ":");
		if (dirs[0] != '/' || n >= size)
			continue; /* relative to what? */
		memcpy(out, dirs, n);
		out[n] = '\0';
		return dirs + n;
	}
	return NULL;
}

static int in_build_ids(const struct want *w, const char *dir, place_fn fn, void *ctx)
{
	char path[PATH_MAX], hex[2 * HVAR_BUILD_ID_MAX + 1];
	int i;

	if (w->id_len < 2)
		return 0;
	for (i = 0; i < w->id_len; i++)
		sprintf(hex + 2 * i, "%02x", w->id[i]);
	if (snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", dir, hex, hex + 2) >=
	    (int)sizeof(path))
		return 0;
	return fn(ctx, path, DEBUG_BY_BUILD_ID);
}

/* What debuginfod brought once is as good as any, and costs no look into the net. */
static int in_servers_cache(const struct want *w, place_fn fn, void *ctx)
{
	char path[PATH_MAX];

	return debug_server_path(w->id, (size_t)w->id_len, path, sizeof(path)) ?
		       fn(ctx, path, DEBUG_BY_SERVER) : 0;
}

static int beside(const char *dir, const char *sub, const char *name, place_fn fn, void *ctx)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s/%s", dir, sub, name) >= (int)sizeof(path))
		return 0;
	return fn(ctx, path, DEBUG_BY_LINK);
}

/* Every place where the debug file may be, the best first. */
static int each_place(const struct want *w, place_fn fn, void *ctx)
{
	const char *env = getenv("HOTVAR_DEBUGDIR"), *dirs = env && *env ? env : USUAL_DIR, *at;
	char dir[PATH_MAX];
	int r = 0, n;

	for (n = 0, at = dirs; !r && n < DIRS_MAX && (at = next_dir(at, dir, sizeof(dir))); n++)
		r = in_build_ids(w, dir, fn, ctx);
	if (!r && w->has_link && w->dir[0]) {
		r = beside(w->dir, "", w->link, fn, ctx);
		if (!r)
			r = beside(w->dir, "/.debug", w->link, fn, ctx);
		for (n = 0, at = dirs; !r && n < DIRS_MAX && (at = next_dir(at, dir, sizeof(dir))); n++)
			r = beside(dir, w->dir, w->link, fn, ctx);
	}
	return r ? r : in_servers_cache(w, fn, ctx);
}

/* ---- whether to believe one ---- */

struct search {
	const struct elf_file *f;
	const struct want *w;
	struct debug_file *out;
	struct err *e;
	bool refused;
};

static int crc_of(int fd, uint32_t *out)
{
	uint8_t *piece = malloc(PIECE);
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n = piece ? 1 : -1;

	while (n > 0) {
		n = pread(fd, piece, PIECE, at);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n > 0) {
			crc = crc32(crc, piece, (uInt)n);
			at += n;
		}
	}
	free(piece);
	*out = (uint32_t)crc;
	return n < 0 ? -1 : 0;
}

/* Why @d cannot be the debug file of @s->f; NULL if it is. */
static const char *objection(const struct search *s, const struct debug_file *d)
{
	uint8_t id[HVAR_BUILD_ID_MAX];
	int len = elf_file_build_id(&d->f, id, sizeof(id));
	uint32_t crc;

	if (d->f.eh.e_machine != s->f->eh.e_machine || d->f.is32 != s->f->is32)
		return "it is for another machine";
	if (s->w->id_len && len && (len != s->w->id_len || memcmp(id, s->w->id, (size_t)len)))
		return "its build-id is another";
	if (d->origin != DEBUG_BY_LINK)
		return len ? NULL : "it has no build-id";
	if (s->w->id_len && len)
		return NULL; /* a better proof than the CRC */
	if (crc_of(d->fd, &crc))
		return "it cannot be read";
	return crc == s->w->crc ? NULL : "its CRC is not the one that .gnu_debuglink says";
}

static int try_place(void *ctx, const char *path, enum debug_origin origin)
{
	struct search *s = ctx;
	struct debug_file *d = s->out;
	const char *why;
	struct stat st;
	int r;

	/* A FIFO must not hold us, nor a device be touched. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	/* libdebuginfod's note that no server has it */
	if (origin == DEBUG_BY_SERVER && !st.st_size)
		return 0;
	if (st.st_dev == s->w->dev && st.st_ino == s->w->ino)
		return 0;
	d->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (d->fd < 0) {
		s->refused = true;
		err_set(s->e, errno, "cannot use the debug file '%s': %s: make it readable", path,
			strerror(errno));
		return 0;
	}
	d->origin = origin;
	snprintf(d->path, sizeof(d->path), "%s", path);
	r = elf_file_open(&d->f, d->fd, NULL, 0, d->path, true, s->e);
	if (r == -ENOMEM) {
		close(d->fd);
		return r;
	}
	why = r ? NULL : objection(s, d);
	if (!r && !why)
		return 1;
	if (why)
		err_set(s->e, ENOENT, "cannot use the debug file '%s' of '%s': %s: install the one that "
			"belongs to it", path, s->f->name, why);
	s->refused = true;
	if (!r)
		elf_file_close(&d->f);
	close(d->fd);
	return 0;
}

int debug_file_open(const struct elf_file *f, struct debug_file *out, struct err *e)
{
	struct want w;
	struct search s = { .f = f, .w = &w, .out = out, .e = e };
	int r;

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	if (e)
		e->text[0] = '\0';
	look_at(f, &w);
	r = each_place(&w, try_place, &s);
	if (r > 0)
		return 0;
	out->fd = -1;
	return r ? r : -ENOENT;
}

int debug_file_fetch(const struct elf_file *f)
{
	struct want w;
	struct debug_file d;
	int r;

	if (!debug_server_asked() || (elf_file_section(f, ".symtab") && dwarf_file_bytes(f)))
		return -ENOENT;
	r = debug_file_open(f, &d, NULL);
	if (!r)
		debug_file_close(&d);
	if (r != -ENOENT)
		return r;
	look_at(f, &w);
	r = w.id_len > 0 ? debug_server_get(w.id, (size_t)w.id_len, f->name) : -ENOENT;
	if (r)
		return r;
	r = debug_file_open(f, &d, NULL);
	if (!r)
		debug_file_close(&d);
	else
		debug_server_wrong(w.id, (size_t)w.id_len, f->name);
	return r;
}

void debug_file_close(struct debug_file *d)
{
	elf_file_close(&d->f);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

/* Is it there, and something?  Then its path. */
static int is_there(void *ctx, const char *path, enum debug_origin origin)
{
	struct stat st;

	(void)origin;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	snprintf(ctx, PATH_MAX, "%s", path);
	return 1;
}

bool debug_file_by_id(const uint8_t *id, size_t len, const char *name, char *path)
{
	struct want w = { .id_len = (int)len };

	if (len < 2 || len > sizeof(w.id))
		return false;
	memcpy(w.id, id, len);
	return each_place(&w, is_there, path) ||
	       (!debug_server_get(id, len, name) && each_place(&w, is_there, path));
}

static int add_place(void *ctx, const char *path, enum debug_origin origin)
{
	uint64_t *h = ctx, v[6];
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || (origin == DEBUG_BY_SERVER && !st.st_size))
		return 0;
	v[0] = st.st_dev;
	v[1] = st.st_ino;
	v[2] = (uint64_t)st.st_size;
	v[3] = (uint64_t)st.st_mtim.tv_sec;
	v[4] = (uint64_t)st.st_mtim.tv_nsec;
	v[5] = origin;
	*h = hvar_image_hash(*h ? *h : 1, v, sizeof(v));
	return 0;
}

uint64_t debug_file_key(const struct elf_file *f)
{
	uint64_t h = 0;
	struct want w;

	look_at(f, &w);
	each_place(&w, add_place, &h);
	return h;
}
