// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "images.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/core/hvar_resolve.h"
#include "runtime/core/hvar_vmas.h"
#include "runtime/user/proc.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/image_cache.h"
#include "translator-hooks/image_inside.h"
#include "translator-hooks/tls_slots.h"

/* Module numbers are given out from 1 on; a larger one is damage. */
enum { MOST_MODULES = 1 << 20, HELD_FILES_MAX = 4096 };

struct module {
	struct hvar_module facts;
	uint32_t canon;
	char *path;
	struct image_file *image; /* NULL: not asked for, or none to be had */
	struct image_file *code;  /* of a file that was changed after it was mapped, as it is now */
	uint32_t why;		  /* enum hvar_reason of that, 0: not asked for yet */
	int fd;			  /* of the very file; -1: not open */
	bool tried_fd;		  /* what could be opened is open */
	bool own;		  /* the image came with the stream */
	bool looked_tls, has_tls; /* the layout is */
	struct tls_layout tls;
};

struct images {
	bool live;
	struct module **v; /* by number; [0] unused */
	uint32_t n;
	uint32_t *fresh;   /* numbers whose image was opened */
	size_t n_fresh, next_fresh;
	char **failures;
	size_t n_failures;
	unsigned held, may_hold; /* files */
	uint64_t lost;
};

bool images_live(const struct images *s)
{
	return s->live;
}

static struct module *get(const struct images *s, uint32_t id)
{
	return id < s->n ? s->v[id] : NULL;
}

uint32_t images_canon(const struct images *s, uint32_t id)
{
	const struct module *m = get(s, id);

	return m ? m->canon : id;
}

/* ---- files ---- */

/* Was the file changed while it was mapped, with nothing known of how it was before? */
static bool unproven(const struct hvar_module *facts)
{
	return facts->flags & HVAR_MODULE_STALE && !facts->build_id_len;
}

/* Of an ELF file inside the file it is that one's build-id that counts. */
static int build_id(int fd, const struct hvar_module *facts, uint8_t *id, size_t max)
{
	uint64_t size;

	return facts->elf_page ? image_inside_look(fd, (uint64_t)facts->elf_page << HVAR_PAGE_SHIFT, &size, id, max) :
				 image_build_id(fd, id, max);
}

static int get_image(const struct module *m, struct image_file **out, struct err *e)
{
	return m->facts.elf_page ? image_inside_get(m->fd, m->path, (uint64_t)m->facts.elf_page << HVAR_PAGE_SHIFT, out, e) :
				   image_cache_get(m->fd, m->path, out, e);
}

/*
 * Is the file at @fd the one with these @facts?  A build-id noted when it was mapped
 * decides; without one, inode, size and mtime must all be as they were.
 */
static bool file_is(int fd, const struct hvar_module *facts)
{
	uint8_t id[HVAR_BUILD_ID_MAX];
	struct stat st;
	uint64_t mtime;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	if (facts->build_id_len)
		return build_id(fd, facts, id, sizeof(id)) == facts->build_id_len &&
		       !memcmp(id, facts->build_id, facts->build_id_len);
	mtime = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	return facts->ino && st.st_ino == facts->ino && facts->mtime_ns == mtime &&
	       facts->size == (uint64_t)st.st_size;
}

/* Could the file at @fd be the one with these @facts, but that no image is made of one for that machine? */
static bool is_foreign(int fd, const struct hvar_module *facts)
{
	uint8_t id[HVAR_BUILD_ID_MAX];

	return facts->build_id_len && build_id(fd, facts, id, sizeof(id)) == -ENOTSUP;
}

/* @why: what is at @path is not that. */
static int open_as(const char *path, const struct hvar_module *facts, uint32_t *why)
{
	struct stat st;
	int fd;

	/*
	 * A recording may name anything: to open a device can have effects, and
	 * a FIFO that took the file's place must not hold us.
	 */
	if (stat(path, &st))
		return -1;
	if (!S_ISREG(st.st_mode)) {
		*why = HVAR_REASON_STALE;
		return -1;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (file_is(fd, facts))
		return fd;
	*why = is_foreign(fd, facts) ? HVAR_REASON_BAD_ELF : HVAR_REASON_STALE;
	close(fd);
	return -1;
}

/* Open the file of @m; by way of the process of @ev, if that is not NULL. */
static void open_file(struct images *s, struct module *m, const struct hvar_event *ev)
{
	uint32_t why = HVAR_REASON_NO_ACCESS;
	pid_t living;
	char *path;

	if (m->fd >= 0 || m->tried_fd || (m->facts.flags & HVAR_MODULE_PSEUDO))
		return;
	living = ev ? proc_living((pid_t)ev->pid) : 0;
	if (ev && asprintf(&path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)living,
			   ev->u.map.start, ev->u.map.end) > 0) {
		m->fd = open_as(path, &m->facts, &why);
		free(path);
	}
	if (m->fd < 0 && ev && asprintf(&path, "/proc/%d/root%s", (int)living, m->path) > 0) {
		m->fd = open_as(path, &m->facts, &why);
		free(path);
	}
	if (m->fd < 0)
		m->fd = open_as(m->path, &m->facts, &why);
	/* With a process to ask, another mapping of the file may do better later. */
	m->tried_fd = !ev || m->fd >= 0;
	if (m->fd >= 0)
		s->held++;
	else if (!ev)
		m->why = why;
}

void images_mapped(struct images *s, const struct hvar_event *ev)
{
	struct module *m = get(s, images_canon(s, ev->module));

	if (!s->live || !m || m->fd >= 0 || m->tried_fd || s->held >= s->may_hold ||
	    !(m->facts.flags & HVAR_MODULE_ELF) || ev->u.map.region != HVAR_REGION_FILE)
		return;
	open_file(s, m, ev);
}

const struct tls_layout *images_tls_layout(struct images *s, uint32_t id, bool *none)
{
	struct module *m = get(s, images_canon(s, id));

	if (m && m->fd >= 0 && !m->looked_tls) {
		m->looked_tls = true;
		m->has_tls = !m->facts.elf_page && !unproven(&m->facts) && file_is(m->fd, &m->facts) &&
			     tls_layout_look(m->fd, &m->tls);
	}
	*none = !m || (m->looked_tls && !m->has_tls);
	return m && m->has_tls ? &m->tls : NULL;
}

size_t images_read(struct images *s, uint32_t id, uint64_t offset, void *buf, size_t n)
{
	struct module *m = get(s, images_canon(s, id));
	uint32_t why;
	ssize_t got;

	if (!m || offset > INT64_MAX)
		return 0;
	why = m->why;
	open_file(s, m, NULL);
	m->why = why; /* that is the image's */
	if (m->fd < 0)
		return 0;
	do
		got = pread(m->fd, buf, n, (off_t)offset);
	while (got < 0 && errno == EINTR);
	return got < 0 ? 0 : (size_t)got;
}

int images_file(struct images *s, uint32_t id)
{
	struct module *m = get(s, images_canon(s, id));
	uint32_t why;

	if (!m || m->facts.elf_page || unproven(&m->facts))
		return -1;
	why = m->why;
	open_file(s, m, NULL);
	m->why = why; /* that is the image's */
	return m->fd >= 0 && file_is(m->fd, &m->facts) ? m->fd : -1;
}

/* ---- images ---- */

static void note_failure(struct images *s, const struct module *m, const char *text)
{
	char **v = realloc(s->failures, (s->n_failures + 1) * sizeof(*v));
	char *line;

	if (!v)
		return;
	s->failures = v;
	if (asprintf(&line, "%s: %s", m->path, text) > 0)
		s->failures[s->n_failures++] = line;
}

static void note_fresh(struct images *s, uint32_t id)
{
	uint32_t *v = realloc(s->fresh, (s->n_fresh + 1) * sizeof(*v));

	if (!v) {
		s->lost++;
		return;
	}
	s->fresh = v;
	s->fresh[s->n_fresh++] = id;
}

/* Get the image of @m, which is asked for the first time, or set why not. */
static void find_image(struct images *s, uint32_t id, struct module *m)
{
	struct err e = { 0, "" };
	int ret = -ENOENT;
	bool overwritten;

	if (m->facts.flags & HVAR_MODULE_PSEUDO) {
		m->why = HVAR_REASON_NO_FILE;
		return;
	}
	if (!(m->facts.flags & (HVAR_MODULE_ELF | HVAR_MODULE_UNREAD))) {
		m->why = HVAR_REASON_NO_ELF;
		return;
	}
	open_file(s, m, NULL);
	/* Written over since: what of it is mapped is the old one's and what the new one's, nobody knows. */
	overwritten = unproven(&m->facts) || (m->fd >= 0 && !file_is(m->fd, &m->facts));
	if (overwritten) {
		m->why = HVAR_REASON_STALE;
		if (m->fd >= 0 && !m->code && get_image(m, &m->code, NULL))
			m->code = NULL;
	} else if (m->fd >= 0) {
		ret = get_image(m, &m->image, &e);
	} else if (m->facts.build_id_len && !m->facts.elf_page) {
		ret = image_cache_find(m->facts.build_id, m->facts.build_id_len, &m->image);
	}
	if (!ret) {
		m->why = HVAR_REASON_NONE;
		note_fresh(s, id);
		return;
	}
	m->image = NULL;
	if (ret == -ENOEXEC)
		m->why = HVAR_REASON_NO_ELF;
	else if (ret == -EBADMSG || ret == -ENOTSUP)
		m->why = HVAR_REASON_BAD_ELF;
	else if (!m->why)
		m->why = HVAR_REASON_NO_ACCESS;
	note_failure(s, m, *e.text ? e.text : overwritten ?
		     "the file was changed after it was mapped: its variables have no names; start the program again" :
		     m->why == HVAR_REASON_BAD_ELF ?
		     "the file is an ELF file for another machine than x86: its variables have no names here" :
		     m->why == HVAR_REASON_STALE ?
		     "the file at this path is not the one that was mapped: its variables have no names; start the program again" :
		     "the file cannot be opened: its variables have no names; run hotvar where the file is, with the right to read it");
}

const struct hvar_image *images_of(void *ctx, uint32_t id, uint32_t *why)
{
	struct images *s = ctx;
	uint32_t canon = images_canon(s, id);
	struct module *m = get(s, canon);

	if (!m) {
		*why = HVAR_REASON_NO_ACCESS;
		return NULL;
	}
	if (!m->image && !m->why)
		find_image(s, canon, m);
	*why = m->why;
	return m->image ? &m->image->img : NULL;
}

const struct hvar_image *images_code_of(struct images *s, uint32_t id)
{
	const struct hvar_image *img;
	const struct module *m;
	uint32_t why;

	img = images_of(s, id, &why);
	m = img ? NULL : get(s, images_canon(s, id));
	return m && m->code ? &m->code->img : img;
}

bool images_fresh(struct images *s, uint32_t *id, const void **data, size_t *size)
{
	const struct module *m;

	if (s->next_fresh == s->n_fresh)
		return false;
	*id = s->fresh[s->next_fresh++];
	m = s->v[*id];
	*data = m->image->img.base;
	*size = m->image->img.size;
	return true;
}

/* ---- records ---- */

static int make_room(struct images *s, uint32_t id)
{
	uint32_t n = s->n ? s->n : 64;
	struct module **v;

	if (id >= MOST_MODULES)
		return -ENOMEM;
	while (n <= id)
		n *= 2;
	if (n == s->n)
		return 0;
	v = realloc(s->v, n * sizeof(*v));
	if (!v)
		return -ENOMEM;
	memset(v + s->n, 0, (n - s->n) * sizeof(*v));
	s->v = v;
	s->n = n;
	return 0;
}

/* The lowest number of an ELF file that is this one, or @id. */
static uint32_t find_canon(const struct images *s, uint32_t id, const struct hvar_module *facts)
{
	uint32_t i;

	if (!(facts->flags & HVAR_MODULE_ELF))
		return id;
	for (i = 1; i < id && i < s->n; i++) {
		const struct module *m = s->v[i];

		if (m && m->canon == i && (m->facts.flags & HVAR_MODULE_ELF) &&
		    unproven(&m->facts) == unproven(facts) &&
		    hvar_module_same(&m->facts, facts))
			return i;
	}
	return id;
}

void images_module(struct images *s, const struct stream_module *r)
{
	char *path = strndup(r->path, r->path_len);
	struct module *m;

	if (!path || make_room(s, r->id)) {
		free(path);
		s->lost++;
		return;
	}
	m = s->v[r->id];
	if (m) {
		/* A fact changed: what could not be opened before may be now. */
		free(m->path);
		m->path = path;
		m->facts = r->m;
		m->tried_fd = false;
		if (!m->image)
			m->why = HVAR_REASON_NONE;
		return;
	}
	m = calloc(1, sizeof(*m));
	if (!m) {
		free(path);
		s->lost++;
		return;
	}
	m->path = path;
	m->facts = r->m;
	m->fd = -1;
	m->canon = find_canon(s, r->id, &r->m);
	s->v[r->id] = m;
}

void images_image(struct images *s, const struct stream_image *im, size_t len)
{
	size_t n = len - sizeof(*im);
	struct module *m = get(s, images_canon(s, im->module));
	struct err e = { 0, "" };
	void *copy;

	if (!m || m->image)
		return;
	copy = malloc(n);
	if (!copy) {
		s->lost++;
		return;
	}
	memcpy(copy, im->bytes, n);
	if (image_file_of_mem(copy, n, &m->image, &e)) {
		m->image = NULL;
		note_failure(s, m, e.text);
		return;
	}
	m->why = HVAR_REASON_NONE;
	m->own = true;
}

/* ---- what is known ---- */

const struct hvar_module *images_facts(const struct images *s, uint32_t id)
{
	const struct module *m = get(s, id);

	return m ? &m->facts : NULL;
}

bool images_deleted(const struct images *s, uint32_t id)
{
	const struct hvar_module *facts = images_facts(s, id);

	return facts && facts->flags & HVAR_MODULE_DELETED;
}

const char *images_path(const struct images *s, uint32_t id)
{
	const struct module *m = get(s, id);

	return m ? m->path : "";
}

size_t images_failed(const struct images *s)
{
	return s->n_failures;
}

const char *images_failure(const struct images *s, size_t i)
{
	return s->failures[i];
}

void images_fail(struct images *s, uint32_t id, const char *text)
{
	const struct module *m = get(s, id);

	if (m)
		note_failure(s, m, text);
}

uint64_t images_lost(const struct images *s)
{
	return s->lost;
}

struct images *images_new(bool live)
{
	struct images *s = calloc(1, sizeof(*s));
	struct rlimit lim;

	if (!s)
		return NULL;
	s->live = live;
	s->may_hold = 256;
	if (!getrlimit(RLIMIT_NOFILE, &lim)) /* the engine needs some too */
		s->may_hold = lim.rlim_cur / 4 > HELD_FILES_MAX ? HELD_FILES_MAX :
								 (unsigned)(lim.rlim_cur / 4);
	return s;
}

void images_free(struct images *s)
{
	uint32_t i;
	size_t j;

	if (!s)
		return;
	for (i = 0; i < s->n; i++) {
		struct module *m = s->v[i];

		if (!m)
			continue;
		image_file_free(m->image);
		image_file_free(m->code);
		if (m->fd >= 0)
			close(m->fd);
		free(m->path);
		free(m);
	}
	for (j = 0; j < s->n_failures; j++)
		free(s->failures[j]);
	free(s->failures);
	free(s->fresh);
	free(s->v);
	free(s);
}
