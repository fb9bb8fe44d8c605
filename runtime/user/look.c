// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * look.c - what is mapped in an address space at this moment.
 *
 * The kernel lets go of the address space between two questions, and between
 * two pages of /proc/PID/maps.  An area that starts before the last one ended
 * shows that the map moved meanwhile: then all is asked again, a few times, and
 * at last the overlap is cut off, which leaves what was true a moment ago.
 */
#include "config.h"

#include "look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "grow.h"
#include "proc.h"

/* include/uapi/linux/fs.h, since Linux 6.11: not in every distribution's headers yet */
struct query {
	uint64_t size;
	uint64_t flags;
	uint64_t addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t name_size, build_id_size;
	uint64_t name_addr, build_id_addr;
};
#define QUERY		  _IOWR('f', 17, struct query)
#define QUERY_SHARED	  0x08 /* below it: HVAR_PROT_READ WRITE EXEC's own bits */
#define QUERY_OR_NEXT	  0x10

/* The kernel's half: only [vsyscall] is there, and no question finds it. */
#define USER_END ((uint64_t)1 << 63)
#define TRIES	 4
/* How much more than is wanted one range look may go through before it reads all. */
#define MANY	 4096

static bool without_query; /* the kernel has it not, or a test says so */

void look_without_query(bool without)
{
	without_query = without;
}

bool look_is_cheap(const struct look *l)
{
	return l->fd >= 0 && !without_query;
}

static int ask(const struct look *l, struct query *q)
{
	q->size = sizeof(*q);
	if (!ioctl(l->fd, QUERY, q))
		return 0;
	return -errno;
}

int look_open(struct look *l, pid_t tid)
{
	struct query q = { .flags = QUERY_OR_NEXT };
	int fd = proc_open(tid, "maps", O_RDONLY);

	l->fd = fd < 0 ? -1 : fd;
	if (fd < 0)
		return fd;
	/* Found out here whether it can be asked at all: a filter may refuse it, too. */
	if (!without_query) {
		int r = ask(l, &q);

		without_query = r && r != -ENOENT && r != -ESRCH;
	}
	return 0;
}

void look_close(struct look *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

void look_areas_fini(struct look_areas *a)
{
	free(a->v);
	free(a->text);
	memset(a, 0, sizeof(*a));
}

/* Room for @more bytes of text; the paths found so far move along. */
static int text_room(struct look_areas *a, size_t more)
{
	char *old = a->text;
	int r = grow_array((void **)&a->text, &a->size, a->used + more, 1);

	if (!r && old && a->text != old)
		for (size_t i = 0; i < a->n; i++)
			a->v[i].path = a->text + (a->v[i].path - old);
	return r;
}

static int area_room(struct look_areas *a)
{
	return grow_array((void **)&a->v, &a->cap, a->n + 1, sizeof(*a->v));
}

/*
 * The area that holds @addr, or the next above, into a->v[a->n].  1: there is
 * one; 0: there is none; or -errno.
 */
static int next_area(const struct look *l, uint64_t addr, struct look_areas *a)
{
	struct query q = { .flags = QUERY_OR_NEXT, .addr = addr };
	struct mapstext *m;
	int r = area_room(a);

	if (!r)
		r = text_room(a, PATH_MAX + 1);
	if (r)
		return r;
	q.name_addr = (uint64_t)(uintptr_t)(a->text + a->used);
	q.name_size = PATH_MAX;
	r = ask(l, &q);
	if (r)
		return r == -ENOENT ? 0 : r;
	m = &a->v[a->n];
	memset(m, 0, sizeof(*m));
	m->v.start = q.vma_start;
	m->v.end = q.vma_end;
	m->v.pgoff = q.vma_offset;
	m->v.prot = q.vma_flags & (HVAR_PROT_READ | HVAR_PROT_WRITE | HVAR_PROT_EXEC);
	if (q.vma_flags & QUERY_SHARED)
		m->v.prot |= HVAR_PROT_SHARED;
	m->dev_major = q.dev_major;
	m->dev_minor = q.dev_minor;
	m->ino = q.inode;
	if (!q.name_size) {
		a->text[a->used] = '\0';
		q.name_size = 1;
	}
	mapstext_name(m, a->text + a->used, q.name_size - 1);
	/* Room for a name that turns out to be longer by " (deleted)" is within it. */
	a->used += q.name_size;
	return 1;
}

/* Cut off what @m has in common with what ended at @end; false if nothing is left. */
static bool cut(struct mapstext *m, uint64_t end)
{
	if (m->v.end <= end)
		return false;
	if (m->v.start < end) {
		if (m->ino)
			m->v.pgoff += end - m->v.start;
		m->v.start = end;
	}
	return true;
}

static int ask_range(const struct look *l, uint64_t lo, uint64_t hi,
		     struct look_areas *out, bool last_try)
{
	uint64_t at = lo;
	int r;

	out->n = 0;
	out->used = 0;
	while (at < hi) {
		struct mapstext *m;

		r = next_area(l, at, out);
		if (r <= 0)
			return r;
		m = &out->v[out->n];
		if (m->v.start >= hi)
			return 0;
		if (out->n && m->v.start < at) {
			if (!last_try)
				return -EAGAIN;
			out->torn++;
			cut(m, at);
		}
		at = m->v.end;
		if (++out->n > MANY)
			return -E2BIG;
	}
	return 0;
}

/* All of the file's text into @out->text.  */
static int read_all(const struct look *l, struct look_areas *out)
{
	out->n = 0;
	out->used = 0;
	for (;;) {
		ssize_t n;
		int r = text_room(out, 8192);

		if (r)
			return r;
		n = pread(l->fd, out->text + out->used, out->size - out->used - 1,
			  (off_t)out->used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return out->used ? 0 : -ESRCH;
		out->used += (size_t)n;
	}
}

static int read_range(const struct look *l, uint64_t lo, uint64_t hi,
		      struct look_areas *out, bool last_try)
{
	uint64_t end = 0;
	size_t at = 0;
	int r = read_all(l, out);

	if (r)
		return r;
	while (at < out->used) {
		char *line = out->text + at;
		char *stop = memchr(line, '\n', out->used - at);
		struct mapstext *m;
		bool bad;

		if (!stop)
			stop = out->text + out->used; /* there is a byte beyond */
		at = (size_t)(stop - out->text) + 1;
		r = area_room(out);
		if (r)
			return r;
		m = &out->v[out->n];
		bad = mapstext_line(line, (size_t)(stop - line), m) ||
		      m->v.start < end;
		if (bad) {
			if (!last_try)
				return -EAGAIN;
			out->torn++;
			if (m->v.start >= m->v.end || !cut(m, end))
				continue;
		}
		end = m->v.end;
		if (m->v.start < hi && m->v.end > lo)
			out->n++;
	}
	return 0;
}

int look_at(const struct look *l, uint64_t lo, uint64_t hi, struct look_areas *out)
{
	bool whole = !lo && hi == UINT64_MAX;
	int r = -EAGAIN;

	if (l->fd < 0)
		return -ESRCH;
	if (!whole && hi > USER_END)
		hi = USER_END;
	for (int i = 0; i < TRIES && r == -EAGAIN && !whole && !without_query; i++)
		r = ask_range(l, lo, hi, out, i == TRIES - 1);
	/* What the ioctl cannot tell (a path of more than PATH_MAX) the file can. */
	if (!r || r == -ESRCH || r == -ENOMEM)
		return r;
	r = -EAGAIN;
	for (int i = 0; i < TRIES && r == -EAGAIN; i++)
		r = read_range(l, lo, hi, out, i == TRIES - 1);
	return r;
}

int look_extent(const struct look *l, uint64_t addr, uint64_t *start, uint64_t *end)
{
	struct query q = { .addr = addr };
	int r;

	if (!look_is_cheap(l))
		return -ENOTSUP;
	r = ask(l, &q);
	if (!r) {
		*start = q.vma_start;
		*end = q.vma_end;
	}
	return r;
}

size_t look_build_id(const struct look *l, uint64_t addr, uint8_t *id, size_t max)
{
	struct query q = { .addr = addr };
	uint8_t found[64]; /* more than the kernel's BUILD_ID_SIZE_MAX */

	if (!look_is_cheap(l))
		return 0;
	q.build_id_size = sizeof(found);
	q.build_id_addr = (uint64_t)(uintptr_t)found;
	if (ask(l, &q) || q.build_id_size > max)
		return 0;
	memcpy(id, found, q.build_id_size);
	return q.build_id_size;
}
