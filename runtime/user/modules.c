// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules.c - numbers for mapped files, and the very files behind them.
 *
 * Two tables: the core's, by identity, which gives the numbers, and here one
 * from (device, inode, name as the kernel writes it) to the number last given
 * for it, so that an area of a known file costs one look-up and no system call.
 */
#include "config.h"

#include "modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grow.h"
#include "modules_open.h"
#include "translator-hooks/image_inside.h"

/* A program that maps a new piece of shared memory each time must not fill ours. */
#define MOST 1000000

/* A module, known by the name under which the kernel showed it. */
struct name {
	uint32_t dev_major, dev_minor;
	uint64_t ino;
	uint32_t raw;	/* string: with " (deleted)" if that was shown */
	uint32_t id;	/* module; 0: free */
	bool truly;	/* " (deleted)" is the end of its true name */
};

/* What is kept of each module beside its identity. */
struct kept {
	int fd;		    /* -1: none open */
	uint32_t used;	    /* clock when fd was last asked for */
	bool told, changed; /* changed: was told, and has news */
	bool lost;	    /* once closed, it could not be opened again */
	pid_t pid;	    /* where it was mapped, for opening it again */
	uint64_t start, end;
	uint32_t misses;    /* offsets of it at which no ELF file begins */
};

/*
 * An offset at which module @outer was mapped, and what is there: an ELF file inside of it, @id, up to @end; or the
 * module itself, @id == @outer.
 */
struct inside {
	uint32_t outer, id; /* id 0: free */
	uint64_t offset, end;
};
/* Of one file so many are looked at; a data base is mapped at any number of them. */
#define INSIDE_MISSES 256

struct modules {
	struct hvar_modules t;
	struct hvar_strs strs;
	struct name *names; /* open-addressed, nnames a power of 2 */
	uint32_t nnames, used_names;
	struct inside *inside; /* likewise, by outer and offset */
	uint32_t ninside, used_inside;
	struct inside *found; /* those that are one */
	size_t nfound, found_cap;
	struct kept *kept;  /* by module number */
	size_t kept_cap;
	uint32_t nopen, max_open, clock;
	uint32_t nchanged;
};

struct modules *modules_new(void)
{
	struct modules *m = calloc(1, sizeof(*m));
	struct rlimit rl = { 0 };

	if (!m)
		return NULL;
	m->nnames = 64;
	m->names = calloc(m->nnames, sizeof(*m->names));
	if (!m->names || grow_modules_init(&m->t) || grow_strs_init(&m->strs)) {
		modules_free(m);
		return NULL;
	}
	/* A quarter of what may be open: the rest is the engine's, and the windows'. */
	getrlimit(RLIMIT_NOFILE, &rl);
	m->max_open = rl.rlim_cur / 4 > 512 ? 512 : (uint32_t)(rl.rlim_cur / 4);
	return m;
}

void modules_free(struct modules *m)
{
	if (!m)
		return;
	for (uint32_t id = 1; id <= m->t.n && id < m->kept_cap; id++)
		if (m->kept[id].fd >= 0)
			close(m->kept[id].fd);
	if (m->t.v)
		grow_modules_fini(&m->t);
	if (m->strs.bytes)
		grow_strs_fini(&m->strs);
	free(m->names);
	free(m->inside);
	free(m->found);
	free(m->kept);
	free(m);
}

const struct hvar_module *modules_get(const struct modules *m, uint32_t id)
{
	return hvar_modules_get(&m->t, id);
}

const char *modules_path(const struct modules *m, uint32_t id)
{
	const struct hvar_module *v = hvar_modules_get(&m->t, id);

	return v ? hvar_strs_get(&m->strs, v->path) : "";
}

bool modules_news(const struct modules *m, uint32_t id)
{
	return id && id <= m->t.n && !m->kept[id].told;
}

void modules_told(struct modules *m, uint32_t id)
{
	if (!id || id > m->t.n)
		return;
	m->nchanged -= m->kept[id].changed;
	m->kept[id].changed = false;
	m->kept[id].told = true;
}

uint32_t modules_changed(const struct modules *m)
{
	for (uint32_t id = 1; m->nchanged && id <= m->t.n; id++)
		if (m->kept[id].changed)
			return id;
	return 0;
}

static void set_flags(struct modules *m, uint32_t id, uint32_t flags)
{
	if ((m->t.v[id].flags & flags) == flags)
		return;
	m->t.v[id].flags |= flags;
	if (m->kept[id].told) {
		m->kept[id].changed = true;
		m->nchanged++;
	}
	m->kept[id].told = false;
}

/* ---- names ---- */

static uint32_t name_hash(uint32_t major, uint32_t minor, uint64_t ino, uint32_t raw)
{
	uint64_t h = ino * 0x9e3779b97f4a7c15ull;

	h ^= (uint64_t)raw * 0xd6e8feb86659fd93ull;
	h ^= ((uint64_t)major << 32 | minor) * 0xff51afd7ed558ccdull;
	return (uint32_t)(h ^ (h >> 32));
}

/* Where that name is, or the free place where it belongs. */
static struct name *name_find(const struct modules *m, uint32_t major,
			      uint32_t minor, uint64_t ino, uint32_t raw)
{
	uint32_t mask = m->nnames - 1;
	uint32_t i = name_hash(major, minor, ino, raw) & mask;

	for (; m->names[i].id; i = (i + 1) & mask) {
		const struct name *n = &m->names[i];

		if (n->raw == raw && n->ino == ino && n->dev_major == major &&
		    n->dev_minor == minor)
			break;
	}
	return &m->names[i];
}

static int names_room(struct modules *m)
{
	struct name *old = m->names, *v;
	uint32_t n = m->nnames;

	if (m->used_names < n / 2)
		return 0;
	v = calloc((size_t)n * 2, sizeof(*v));
	if (!v)
		return -ENOMEM;
	m->names = v;
	m->nnames = n * 2;
	for (uint32_t i = 0; i < n; i++)
		if (old[i].id)
			*name_find(m, old[i].dev_major, old[i].dev_minor,
				   old[i].ino, old[i].raw) = old[i];
	free(old);
	return 0;
}

/* The string of @a's name as the kernel shows it. */
static int raw_name(struct modules *m, struct mapstext *a, uint32_t *out)
{
	struct mapstext whole = *a;
	char end;
	int r;

	if (!(a->v.flags & HVAR_VMA_DELETED))
		return grow_strs_add(&m->strs, a->path, a->path_len, out);
	end = a->path[a->path_len];
	mapstext_not_deleted(&whole);
	r = grow_strs_add(&m->strs, whole.path, whole.path_len, out);
	a->path[a->path_len] = end;
	return r;
}

/* ---- the file ---- */

/* The descriptor not asked for the longest makes room for another. */
static void close_oldest(struct modules *m)
{
	uint32_t oldest = 0;

	for (uint32_t id = 1; id <= m->t.n; id++)
		if (m->kept[id].fd >= 0 &&
		    (!oldest || m->clock - m->kept[id].used >
					m->clock - m->kept[oldest].used))
			oldest = id;
	if (!oldest)
		return;
	close(m->kept[oldest].fd);
	m->kept[oldest].fd = -1;
	m->nopen--;
}

/* Take @fd, of module @id, which has none. */
static void keep_fd(struct modules *m, uint32_t id, int fd)
{
	if (m->nopen >= m->max_open)
		close_oldest(m);
	m->kept[id].fd = fd;
	m->kept[id].used = ++m->clock;
	m->nopen++;
}

/* What fstat(2) says now is not what was numbered. */
static bool changed(const struct hvar_module *v, const struct stat *st)
{
	return v->size != (uint64_t)st->st_size ||
	       v->mtime_ns != modules_mtime_ns(st);
}

/* Fill @v's facts from the file behind @a, as far as it can be had. */
static int open_facts(struct mapstext *a, const struct modules_where *where,
		      struct hvar_module *v)
{
	struct modules_file f = {
		.dev_major = a->dev_major, .dev_minor = a->dev_minor, .ino = a->ino,
		.path = a->path, .deleted = a->v.flags & HVAR_VMA_DELETED,
		.pid = where->pid, .look = where->look,
		.start = a->v.start, .end = a->v.end,
	};
	int fd = modules_open(&f);

	if (fd < 0) {
		v->flags |= fd == -ENXIO ? HVAR_MODULE_PSEUDO : HVAR_MODULE_UNREAD;
		/* The kernel may still tell what its owner would not show. */
		v->build_id_len = (uint8_t)f.build_id_len;
		memcpy(v->build_id, f.build_id, f.build_id_len);
		if (f.build_id_len)
			v->flags |= HVAR_MODULE_ELF;
		return -1;
	}
	v->size = (uint64_t)f.st.st_size;
	v->mtime_ns = modules_mtime_ns(&f.st);
	v->build_id_len = (uint8_t)f.build_id_len;
	memcpy(v->build_id, f.build_id, f.build_id_len);
	if (f.elf)
		v->flags |= HVAR_MODULE_ELF;
	/* Modified while it was mapped, for all that is known: its pages are the new file's. */
	if (f.elf && where->mapped_ns && v->mtime_ns > where->mapped_ns) {
		v->flags |= HVAR_MODULE_STALE;
		v->build_id_len = 0; /* that of the new one proves nothing */
		memset(v->build_id, 0, sizeof(v->build_id));
	}
	return fd;
}

/* Number what @a maps, seen under a name not known yet, or a file that has changed. */
static int number_new(struct modules *m, struct mapstext *a,
		      const struct modules_where *where, uint32_t *out)
{
	struct hvar_module v = { .dev_major = a->dev_major,
				 .dev_minor = a->dev_minor, .ino = a->ino };
	int fd = -1, r;

	r = grow_strs_add(&m->strs, a->path, a->path_len, &v.path);
	if (r)
		return r;
	if (m->t.n >= MOST)
		return -ENOMEM;
	/* A program may be run from a memfd; shared memory is looked at as a file never. */
	if (!a->pseudo || (a->v.region == HVAR_REGION_SHM &&
			   !(a->v.prot & HVAR_PROT_SHARED)))
		fd = open_facts(a, where, &v);
	if (a->pseudo && a->v.region == HVAR_REGION_SHM && !strncmp(a->path, "/SYSV", 5)) {
		v.flags |= HVAR_MODULE_SYSV;
		v.mtime_ns = modules_ipc_namespace(where->pid);
	}
	if (a->pseudo)
		v.flags |= HVAR_MODULE_PSEUDO;
	else if (a->v.flags & HVAR_VMA_DELETED)
		v.flags |= HVAR_MODULE_DELETED;
	/* Gone and out of reach, but known from before: it is that one still. */
	if (v.flags & HVAR_MODULE_UNREAD && v.flags & HVAR_MODULE_DELETED) {
		struct name *n = name_find(m, a->dev_major, a->dev_minor, a->ino, v.path);

		if (n->id) {
			*out = n->id;
			set_flags(m, n->id, HVAR_MODULE_DELETED);
			return 0;
		}
	}
	r = grow_array((void **)&m->kept, &m->kept_cap, (size_t)m->t.n + 2,
		       sizeof(*m->kept));
	if (!r) {
		uint32_t before = m->t.n;

		r = grow_modules_add(&m->t, &v, out);
		if (!r && *out > before)
			m->kept[*out] = (struct kept){ .fd = -1 };
	}
	if (r) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	set_flags(m, *out, v.flags);
	m->kept[*out].pid = where->pid;
	m->kept[*out].start = a->v.start;
	m->kept[*out].end = a->v.end;
	if (fd >= 0 && v.flags & HVAR_MODULE_ELF && m->kept[*out].fd < 0)
		keep_fd(m, *out, fd);
	else if (fd >= 0)
		close(fd);
	return 0;
}

/* ---- ELF files inside others ---- */

static struct inside *inside_find(const struct modules *m, uint32_t outer, uint64_t offset)
{
	uint32_t mask = m->ninside - 1;
	uint32_t i = name_hash(0, 0, offset >> HVAR_PAGE_SHIFT, outer) & mask;

	while (m->inside[i].id && (m->inside[i].outer != outer || m->inside[i].offset != offset))
		i = (i + 1) & mask;
	return &m->inside[i];
}

static int inside_room(struct modules *m)
{
	struct inside *old = m->inside, *v;
	uint32_t n = m->ninside, more = n ? 2 * n : 64;

	if (n && m->used_inside < n / 2)
		return 0;
	v = calloc(more, sizeof(*v));
	if (!v)
		return -ENOMEM;
	m->inside = v;
	m->ninside = more;
	for (uint32_t i = 0; i < n; i++)
		if (old[i].id)
			*inside_find(m, old[i].outer, old[i].offset) = old[i];
	free(old);
	return 0;
}

/* Number the ELF file that begins where @a maps @outer, if one does; else *@id is left. */
static int inside_new(struct modules *m, struct mapstext *a, const struct modules_where *where,
		      uint32_t outer, uint64_t *size, uint32_t *id)
{
	struct modules_file f = {
		.dev_major = a->dev_major, .dev_minor = a->dev_minor, .ino = a->ino,
		.path = a->path, .deleted = a->v.flags & HVAR_VMA_DELETED,
		.pid = where->pid, .look = where->look,
		.start = a->v.start, .end = a->v.end,
	};
	struct hvar_module v = m->t.v[outer];
	uint32_t before = m->t.n;
	int fd = m->kept[outer].fd, own = -1, r;

	if (fd < 0)
		fd = own = modules_open(&f);
	if (fd < 0)
		return 0;
	v.build_id_len = 0;
	memset(v.build_id, 0, sizeof(v.build_id));
	r = image_inside_look(fd, a->v.pgoff, size, v.build_id, sizeof(v.build_id));
	if (own >= 0)
		close(own);
	if (r < 0)
		return 0;
	v.build_id_len = (uint8_t)r;
	v.elf_page = (uint32_t)(a->v.pgoff >> HVAR_PAGE_SHIFT);
	v.flags |= HVAR_MODULE_ELF;
	if (where->mapped_ns && v.mtime_ns > where->mapped_ns)
		v.flags |= HVAR_MODULE_STALE;
	if (v.flags & HVAR_MODULE_STALE)
		v.build_id_len = 0; /* it proves nothing */
	r = m->t.n >= MOST ? -ENOMEM : grow_array((void **)&m->kept, &m->kept_cap, (size_t)before + 2, sizeof(*m->kept));
	if (!r)
		r = grow_modules_add(&m->t, &v, id);
	if (!r && *id > before)
		m->kept[*id] = (struct kept){ .fd = -1 };
	if (r)
		return r;
	set_flags(m, *id, v.flags);
	m->kept[*id].pid = where->pid;
	m->kept[*id].start = a->v.start;
	m->kept[*id].end = a->v.end;
	return 0;
}

/* *@id, the file that @a maps, becomes the ELF file inside of it that @a maps a part of, if there is one. */
static int number_inside(struct modules *m, struct mapstext *a, const struct modules_where *where,
			 uint32_t *id)
{
	uint64_t offset = a->v.pgoff, size = 0;
	struct inside in = { .outer = *id, .id = *id, .offset = offset };
	const struct inside *known;
	int r;

	for (size_t i = 0; i < m->nfound; i++)
		if (m->found[i].outer == *id && offset >= m->found[i].offset && offset < m->found[i].end) {
			*id = m->found[i].id;
			return 0;
		}
	known = m->ninside ? inside_find(m, *id, offset) : NULL;
	if ((known && known->id) || m->kept[*id].misses >= INSIDE_MISSES || offset >> HVAR_PAGE_SHIFT > UINT32_MAX)
		return 0;
	r = inside_room(m);
	if (!r)
		r = grow_array((void **)&m->found, &m->found_cap, m->nfound + 1, sizeof(*m->found));
	if (!r)
		r = inside_new(m, a, where, *id, &size, &in.id);
	if (r)
		return r;
	in.end = offset + size;
	*inside_find(m, in.outer, offset) = in;
	m->used_inside++;
	if (in.id == in.outer)
		m->kept[in.outer].misses++;
	else
		m->found[m->nfound++] = in;
	*id = in.id;
	return 0;
}

/* Is module @id, an ELF file, another one by now? */
static bool is_renewed(struct modules *m, uint32_t id)
{
	const struct hvar_module *v = &m->t.v[id];
	struct stat st;

	/* What was stale for who had it mapped already is the file as it is for who maps it now. */
	if (v->flags & HVAR_MODULE_STALE)
		return true;
	if (!(v->flags & HVAR_MODULE_ELF) || m->kept[id].fd < 0 ||
	    fstat(m->kept[id].fd, &st) || !changed(v, &st))
		return false;
	set_flags(m, id, HVAR_MODULE_STALE);
	return true;
}

/* @a maps module @id. */
static void set_area(struct modules *m, struct mapstext *a, uint32_t id)
{
	a->v.module = id;
	if (a->v.flags & HVAR_VMA_DELETED && !a->pseudo)
		set_flags(m, id, HVAR_MODULE_DELETED);
	/* A program run from a memfd or /dev/shm is a program. */
	if (a->v.region == HVAR_REGION_SHM && !(a->v.prot & HVAR_PROT_SHARED) &&
	    m->t.v[id].flags & HVAR_MODULE_ELF)
		a->v.region = HVAR_REGION_FILE;
}

int modules_number(struct modules *m, struct mapstext *a,
		   const struct modules_where *where)
{
	struct name *n;
	uint32_t raw, id;
	int r;

	a->v.module = 0;
	if (!a->path_len && !a->ino)
		return 0;
	r = raw_name(m, a, &raw);
	if (r)
		return r;
	n = name_find(m, a->dev_major, a->dev_minor, a->ino, raw);
	if (!n->id || (where->mapped_now && is_renewed(m, n->id))) {
		bool truly = a->v.flags & HVAR_VMA_DELETED && !a->pseudo &&
			     modules_truly_named(a, where->pid);

		if (truly)
			mapstext_not_deleted(a);
		r = number_new(m, a, where, &id);
		if (!r)
			r = names_room(m);
		if (r)
			return r;
		n = name_find(m, a->dev_major, a->dev_minor, a->ino, raw);
		if (!n->id)
			m->used_names++;
		*n = (struct name){ a->dev_major, a->dev_minor, a->ino, raw, id, truly };
	} else if (n->truly && a->v.flags & HVAR_VMA_DELETED) {
		mapstext_not_deleted(a);
	}
	id = n->id;
	if (a->v.pgoff && !a->pseudo && a->v.region == HVAR_REGION_FILE) {
		r = number_inside(m, a, where, &id);
		if (r)
			return r;
	}
	set_area(m, a, id);
	return 0;
}

bool modules_keep(struct modules *m, struct mapstext *a, uint32_t id)
{
	const struct hvar_module *v = hvar_modules_get(&m->t, id);

	if (!v || v->ino != a->ino || v->dev_major != a->dev_major ||
	    v->dev_minor != a->dev_minor ||
	    strcmp(hvar_strs_get(&m->strs, v->path), a->path))
		return false;
	set_area(m, a, id);
	return true;
}

int modules_fd(struct modules *m, uint32_t id)
{
	const struct hvar_module *v = hvar_modules_get(&m->t, id);
	struct kept *k;
	struct stat st;

	if (!v || !(v->flags & HVAR_MODULE_ELF) || v->flags & HVAR_MODULE_STALE)
		return -1;
	k = &m->kept[id];
	if (k->lost)
		return -1;
	if (k->fd < 0) {
		struct modules_file f = {
			.dev_major = v->dev_major, .dev_minor = v->dev_minor,
			.ino = v->ino, .path = hvar_strs_get(&m->strs, v->path),
			.deleted = v->flags & HVAR_MODULE_DELETED,
			.pid = k->pid, .start = k->start, .end = k->end,
			.want = v->elf_page ? NULL : v, /* that is the whole file's build-id */
		};
		int fd = modules_open(&f);

		if (fd >= 0 && v->elf_page) {
			uint64_t size;
			int n = image_inside_look(fd, (uint64_t)v->elf_page << HVAR_PAGE_SHIFT, &size, f.build_id,
						  sizeof(f.build_id));

			f.build_id_len = n > 0 ? (size_t)n : 0;
		}

		if (fd < 0) {
			/* Trying each time would cost much, and no process comes back. */
			k->lost = fd != -EMFILE && fd != -ENFILE && fd != -ENOMEM;
			return -1;
		}
		if (f.build_id_len != v->build_id_len ||
		    memcmp(f.build_id, v->build_id, f.build_id_len)) {
			close(fd);
			set_flags(m, id, HVAR_MODULE_STALE);
			return -1;
		}
		keep_fd(m, id, fd);
	}
	k->used = ++m->clock;
	/* What could not be opened when it was numbered has no size or time to compare. */
	if (fstat(k->fd, &st) || (!(v->flags & HVAR_MODULE_UNREAD) && changed(v, &st))) {
		set_flags(m, id, HVAR_MODULE_STALE);
		return -1;
	}
	return k->fd;
}
