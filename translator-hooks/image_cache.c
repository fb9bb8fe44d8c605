// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image_cache.c - images on disk: what they are called, and when one still fits its file.
 *
 * An entry is called
 *
 *	6c9b2d...e1-8f02c4d2a9b1e07c.img	build-id, hash of size and headers
 *	no-fe00-11174157-8f02c4d2a9b1e07c.img	device and inode where there is no build-id
 *
 * A build-id says what was linked, not what was kept of it: a stripped copy has
 * the same.  Its size and headers differ, so both have entries of their own; and so has one
 * file before and after its debug file was installed.
 *
 * An entry fits if the file's device, inode, size, mtime and ctime are those it
 * was made from, and it was made well after the last of them; if they are not
 * (a copy, another container, a change), if the hash of the symbol tables is.
 *
 * All of an entry is checked once, by who made it or who first opens it after a boot (a crash may have
 * left holes in it).  The check is noted in it, with the boot and a time that is made its own mtime:
 * whoever writes to it later changes that.
 */
#include "config.h"

#include "image_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache_dir.h"
#include "debug_file.h"
#include "elf_content.h"
#include "image_build.h"
#include "image_layout.h"
#include "runtime/core/hvar_image_format.h"

/* Two changes of a file this close together may have one time stamp. */
#define RACY_NS 1000000000u

const char *image_cache_dir(void)
{
	return cache_dir_path();
}

const char *image_cache_why(void)
{
	return cache_dir_why();
}

void image_file_free(struct image_file *f)
{
	if (!f)
		return;
	if (f->mapped)
		munmap(f->data, f->size);
	else
		free(f->data);
	free(f);
}

/* Takes @data.  @known: it was made just now. */
static int new_file(void *data, size_t size, bool known, struct image_file **out)
{
	struct image_file *f = calloc(1, sizeof(*f));
	int r = !f ? -ENOMEM : known ? hvar_image_open_known(&f->img, data, size) :
				       hvar_image_open(&f->img, data, size);

	if (r) {
		free(f);
		free(data);
		return r;
	}
	f->data = data;
	f->size = size;
	*out = f;
	return 0;
}

int image_file_of_mem(void *data, size_t size, struct image_file **out, struct err *e)
{
	int r = new_file(data, size, false, out);

	if (r == -ENOMEM)
		return err_set(e, ENOMEM, "cannot use a symbol image: no memory: free some");
	if (r == -EPROTONOSUPPORT)
		return err_set(e, EPROTONOSUPPORT, "cannot use a symbol image: it was made by "
			       "another version of hotvar: record again with this one");
	if (r)
		return err_set(e, -r, "cannot use a symbol image: it is damaged or cut short: "
			       "record again");
	return 0;
}

static void set_path(struct image_file *f, const char *name)
{
	snprintf(f->path, sizeof(f->path), "%s/%s", cache_dir_path(), name);
}

static uint64_t ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

/* A number of this boot; 0: not known. */
static uint64_t this_boot(void)
{
	static uint64_t boot;
	static bool looked;
	char text[64];
	ssize_t n;
	int fd;

	if (looked)
		return boot;
	looked = true;
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text));
	if (n > 32)
		boot = hvar_image_hash(0, text, (uint64_t)n);
	close(fd);
	return boot;
}

/* Has it been checked since the boot, and not been changed since? */
static bool is_sealed(const void *data, const struct stat *st)
{
	const struct hvar_image_header *h = data;

	return (uint64_t)st->st_size >= sizeof(*h) && h->seal[0] && h->seal[0] == this_boot() &&
	       h->seal[1] == ns(&st->st_mtim);
}

/* Note that the entry @name, as @st has it, was checked; if that fails it is checked again next time. */
static void seal(const char *name, const struct stat *st)
{
	const struct timespec times[2] = { st->st_mtim, st->st_mtim };
	uint64_t note[2] = { this_boot(), ns(&st->st_mtim) };
	struct stat now;
	int fd = openat(cache_dir_fd(), name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	if (note[0] && !fstat(fd, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino &&
	    ns(&now.st_mtim) == note[1] &&
	    pwrite(fd, note, sizeof(note), offsetof(struct hvar_image_header, seal)) == sizeof(note))
		futimens(fd, times);
	close(fd);
}

static int open_entry(struct image_file *f, const char *name, void *data, const struct stat *st)
{
	size_t size = (size_t)st->st_size;
	int r;

	if (is_sealed(data, st))
		return hvar_image_open_known(&f->img, data, size);
	madvise(data, size, MADV_POPULATE_READ); /* older kernels cannot */
	r = hvar_image_open(&f->img, data, size);
	if (!r)
		seal(name, st);
	return r;
}

/* Map the entry @name; NULL if there is none, or none that opens. */
static struct image_file *map_entry(const char *name)
{
	struct image_file *f;
	struct stat st;
	void *p = MAP_FAILED;
	int fd;

	if (cache_dir_fd() < 0)
		return NULL;
	fd = openat(cache_dir_fd(), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f || open_entry(f, name, p, &st) || f->img.h->rules != IMAGE_RULES) {
		munmap(p, (size_t)st.st_size);
		free(f);
		return NULL;
	}
	f->data = p;
	f->size = (size_t)st.st_size;
	f->mapped = f->cached = true;
	set_path(f, name);
	return f;
}

/* ---- which file an entry is of ---- */

static int look_source(int fd, const char *name, struct hvar_image_source *src,
		       struct err *e)
{
	struct timespec now;
	struct stat st;

	memset(src, 0, sizeof(*src));
	if (fstat(fd, &st))
		return err_set(e, errno, "cannot read '%s': %s", name, strerror(errno));
	clock_gettime(CLOCK_REALTIME, &now);
	src->dev = st.st_dev;
	src->ino = st.st_ino;
	src->size = (uint64_t)st.st_size;
	src->mtime_ns = ns(&st.st_mtim);
	src->ctime_ns = ns(&st.st_ctim);
	src->made_ns = ns(&now);
	return 0;
}

static bool same_source(const struct hvar_image_source *a,
			const struct hvar_image_source *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns &&
	       a->mtime_ns < a->made_ns - RACY_NS && a->ctime_ns < a->made_ns - RACY_NS;
}

static bool belongs(const struct image_file *f, const struct elf_file *elf,
		    const struct hvar_image_source *now)
{
	const struct hvar_image_source *was;
	uint64_t content;
	uint32_t n;

	was = hvar_image_table(&f->img, HVAR_IMAGE_SOURCE, sizeof(*was), &n);
	if (!n || was->size != now->size)
		return false;
	return same_source(was, now) ||
	       (!elf_content_hash(elf, &content, NULL) && content == was->content);
}

/* Does it have all the debug information that is wanted now?  Split files may have come since. */
static bool complete(const struct image_file *f)
{
	const struct hvar_image_debug *d;
	uint64_t limit = image_build_debug_limit();
	uint32_t n;

	d = hvar_image_table(&f->img, HVAR_IMAGE_DEBUG, sizeof(*d), &n);
	if (!n || d->state == HVAR_DEBUG_NONE)
		return true;
	if (d->state == HVAR_DEBUG_TOO_BIG && d->limit < limit)
		return false;
	return !d->missing || limit < IMAGE_BUILD_DEBUG_ALL;
}

static void hex(const uint8_t *id, size_t n, char *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		sprintf(out + 2 * i, "%02x", id[i]);
	out[2 * n] = '\0';
}

static void entry_name(const struct elf_file *elf, const struct hvar_image_source *src,
		       char *out, size_t n)
{
	uint8_t id[HVAR_BUILD_ID_MAX];
	int len = elf_file_build_id(elf, id, sizeof(id));
	char text[2 * HVAR_BUILD_ID_MAX + 1];
	uint64_t debug = debug_file_key(elf), h = elf_content_headers(elf);

	if (debug)
		h = hvar_image_hash(h, &debug, sizeof(debug));
	hex(id, (size_t)len, text);
	if (len)
		snprintf(out, n, "%s-%016" PRIx64 ".img", text, h);
	else
		snprintf(out, n, "no-%" PRIx64 "-%" PRIu64 "-%016" PRIx64 ".img", src->dev,
			 src->ino, h);
}

/* ---- getting one ---- */

/* Build it, and enter it under @name (NULL: it cannot be kept). */
static int make(int fd, const char *file, const char *name, const struct elf_file *elf,
		struct hvar_image_source *src, struct image_file **out, struct err *e)
{
	struct hvar_image_header *h;
	size_t size;
	void *data;
	bool kept;
	int r;

	/* hashed before it is read for good: a change in between only costs time */
	r = name ? elf_content_hash(elf, &src->content, e) : 0;
	if (!r)
		r = image_build_of(fd, file, src, &data, &size, e);
	if (r)
		return r;
	h = data;
	h->seal[0] = this_boot();
	h->seal[1] = src->made_ns;
	kept = name && cache_dir_put(name, data, size, src->made_ns);
	r = new_file(data, size, true, out);
	if (r)
		return err_set(e, -r, "cannot use the symbol image of '%s': %s: this is a fault "
			       "of hotvar: report it with the file", file, strerror(-r));
	if (kept)
		set_path(*out, name);
	return 0;
}

int image_cache_get(int fd, const char *file, struct image_file **out, struct err *e)
{
	struct hvar_image_source src;
	struct image_file *f;
	struct elf_file elf;
	char name[160];
	int r;

	r = elf_file_open(&elf, fd, NULL, 0, file, true, e);
	if (r)
		return r;
	debug_file_fetch(&elf);
	r = look_source(fd, file, &src, e);
	if (!r && cache_dir_fd() >= 0) {
		entry_name(&elf, &src, name, sizeof(name));
		f = map_entry(name);
		if (f && belongs(f, &elf, &src) && complete(f)) {
			*out = f;
		} else {
			image_file_free(f);
			r = make(fd, file, name, &elf, &src, out, e);
		}
	} else if (!r) {
		r = make(fd, file, NULL, &elf, &src, out, e);
	}
	elf_file_close(&elf);
	return r;
}

/* Of two copies of one program the one that knows more. */
static bool richer(const struct hvar_image *a, const struct hvar_image *b)
{
	bool x = a->flags & HVAR_IMAGE_STRIPPED, y = b->flags & HVAR_IMAGE_STRIPPED;

	return x != y ? y : a->n_syms > b->n_syms;
}

int image_cache_find(const uint8_t *build_id, size_t len, struct image_file **out)
{
	char want[2 * HVAR_BUILD_ID_MAX + 1];
	struct image_file *best = NULL, *f;
	struct dirent *e;
	DIR *d = NULL;
	int fd;

	if (!len || len > HVAR_BUILD_ID_MAX || cache_dir_fd() < 0)
		return -ENOENT;
	hex(build_id, len, want);
	fd = openat(cache_dir_fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		d = fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return -ENOENT;
	}
	while ((e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, want, 2 * len) || e->d_name[2 * len] != '-')
			continue;
		f = map_entry(e->d_name);
		if (f && f->img.build_id_len == len && !memcmp(f->img.build_id, build_id, len) &&
		    (!best || richer(&f->img, &best->img))) {
			image_file_free(best);
			best = f;
		} else {
			image_file_free(f);
		}
	}
	closedir(d);
	if (!best)
		return -ENOENT;
	*out = best;
	return 0;
}
