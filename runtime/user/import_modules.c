// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import_modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grow.h"
#include "modules_open.h"

enum { MOST_FILES = 1 << 16 };

struct file {
	char *path;
	uint64_t ino;
	uint32_t dev_major, dev_minor;
	uint8_t build_id[20], build_id_len;
	bool deleted;
};

struct import_modules {
	struct stream *out;
	uint64_t text_ns;
	struct file *v; /* number - 1 */
	size_t n, cap;
	uint32_t *slots; /* number, by path */
	size_t n_slots;
	uint64_t unproven;
};

static size_t hash(const char *path, uint64_t ino)
{
	uint64_t h = 1469598103934665603ull ^ ino;

	for (; *path; path++)
		h = (h ^ (uint8_t)*path) * 1099511628211ull;
	return (size_t)(h ^ h >> 29);
}

static bool same(const struct file *f, const struct import_line *l, const struct mapstext *a)
{
	return f->ino == l->u.map.ino && f->dev_major == l->u.map.dev_major && f->dev_minor == l->u.map.dev_minor &&
	       f->build_id_len == l->u.map.build_id_len && !memcmp(f->build_id, l->u.map.build_id, f->build_id_len) &&
	       f->deleted == !!(a->v.flags & HVAR_VMA_DELETED) && !strcmp(f->path, a->path);
}

static int grow_slots(struct import_modules *m)
{
	size_t n = m->n_slots ? 2 * m->n_slots : 64, i, at;
	uint32_t *slots;

	if (m->n * 2 < m->n_slots)
		return 0;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(m->slots);
	m->slots = slots;
	m->n_slots = n;
	for (i = 0; i < m->n; i++) {
		for (at = hash(m->v[i].path, m->v[i].ino) & (n - 1); slots[at]; at = (at + 1) & (n - 1))
			;
		slots[at] = (uint32_t)i + 1;
	}
	return 0;
}

/* What the file that is there now says, if it is the one. */
static void look_at_file(struct import_modules *m, const struct import_line *l, const struct mapstext *a, struct stream_module *out)
{
	struct hvar_module want = { .build_id_len = l->u.map.build_id_len };
	struct modules_file f = {
		.dev_major = l->u.map.dev_major, .dev_minor = l->u.map.dev_minor, .ino = l->u.map.ino, .path = a->path,
		.deleted = a->v.flags & HVAR_VMA_DELETED,
	};
	int fd;

	memcpy(want.build_id, l->u.map.build_id, want.build_id_len);
	memcpy(out->m.build_id, want.build_id, want.build_id_len);
	out->m.build_id_len = want.build_id_len;
	out->m.flags |= HVAR_MODULE_UNREAD;
	if (!want.build_id_len && !l->u.map.has_ino) {
		m->unproven++;
		return;
	}
	if (want.build_id_len)
		f.want = &want;
	fd = modules_open(&f);
	if (fd < 0)
		return;
	close(fd);
	out->m.flags &= ~(uint32_t)HVAR_MODULE_UNREAD;
	out->m.flags |= f.elf ? HVAR_MODULE_ELF : 0;
	out->m.ino = (uint64_t)f.st.st_ino;
	out->m.size = (uint64_t)f.st.st_size;
	out->m.mtime_ns = modules_mtime_ns(&f.st);
	if (want.build_id_len)
		return;
	/* Its inode is that of then, but what is in it may be newer. */
	if (m->text_ns && out->m.mtime_ns > m->text_ns) {
		out->m.flags |= HVAR_MODULE_STALE;
		return;
	}
	out->m.build_id_len = (uint8_t)f.build_id_len;
	memcpy(out->m.build_id, f.build_id, f.build_id_len);
}

static void tell(struct import_modules *m, uint32_t id, const struct import_line *l, const struct mapstext *a)
{
	struct stream_module out = { .id = id, .path_len = a->path_len };

	out.m.dev_major = l->u.map.dev_major;
	out.m.dev_minor = l->u.map.dev_minor;
	out.m.ino = l->u.map.ino;
	if (a->v.flags & HVAR_VMA_DELETED)
		out.m.flags |= HVAR_MODULE_DELETED;
	if (a->pseudo)
		out.m.flags |= HVAR_MODULE_PSEUDO;
	else
		look_at_file(m, l, a, &out);
	stream_put(m->out, STREAM_MODULE, &out, sizeof(out), a->path, a->path_len);
}

int import_modules_number(struct import_modules *m, const struct import_line *l, struct mapstext *a)
{
	struct file *f;
	size_t at;

	a->v.module = 0;
	if (!a->path_len)
		return 0;
	if (m->n >= MOST_FILES || grow_slots(m) || grow_array((void **)&m->v, &m->cap, m->n + 1, sizeof(*m->v)))
		return -ENOMEM;
	for (at = hash(a->path, l->u.map.ino) & (m->n_slots - 1); m->slots[at]; at = (at + 1) & (m->n_slots - 1)) {
		if (same(&m->v[m->slots[at] - 1], l, a)) {
			a->v.module = m->slots[at];
			return 0;
		}
	}
	f = &m->v[m->n];
	memset(f, 0, sizeof(*f));
	f->path = strdup(a->path);
	if (!f->path)
		return -ENOMEM;
	f->ino = l->u.map.ino;
	f->dev_major = l->u.map.dev_major;
	f->dev_minor = l->u.map.dev_minor;
	f->build_id_len = l->u.map.build_id_len;
	memcpy(f->build_id, l->u.map.build_id, sizeof(f->build_id));
	f->deleted = a->v.flags & HVAR_VMA_DELETED;
	a->v.module = m->slots[at] = (uint32_t)++m->n;
	tell(m, a->v.module, l, a);
	return 0;
}

uint64_t import_modules_unproven(const struct import_modules *m)
{
	return m->unproven;
}

struct import_modules *import_modules_new(struct stream *out, uint64_t text_ns)
{
	struct import_modules *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->out = out;
	m->text_ns = text_ns;
	return m;
}

void import_modules_free(struct import_modules *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->n; i++)
		free(m->v[i].path);
	free(m->v);
	free(m->slots);
	free(m);
}
