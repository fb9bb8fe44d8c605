// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jit.c - read perf maps and jitdumps, as far as they have been written.
 *
 * Entries go into an interval map in the order in which they were written, each over what was there.
 * An entry whose interval is not whole any more has been overwritten.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "grow.h"
#include "jit.h"
#include "proc.h"
#include "runtime/core/hvar_vmas.h"

#define ENTRIES_MAX ((size_t)4 << 20)
#define NAMES_MAX   ((size_t)256 << 20)
#define NAME_MAX_BYTES 1024
#define PIECE	    ((size_t)1 << 16)

/* jitdump: file header and records, in the byte order of the machine. */
#define DUMP_MAGIC 0x4A695444u
enum { DUMP_LOAD, DUMP_MOVE };
struct dump_header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};
struct dump_record {
	uint32_t id, size;
	uint64_t time;
};
struct dump_load {
	uint32_t pid, tid;
	uint64_t vma, addr, size, index; /* then the name, then the code */
};
struct dump_move {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

struct entry {
	uint64_t start, end;
	size_t name; /* in names */
	bool dumped;
};

/* A file that grows. */
struct source {
	int fd;
	uint64_t dev, ino;
	uint64_t done; /* bytes of it that are taken in */
	bool refused;  /* what it is was wrong; not looked at again */
};

struct jit {
	pid_t pid;
	uint32_t ns_pid;
	uid_t uid;
	struct source map, dump;
	struct entry *v;
	size_t n, cap;
	char *names;
	size_t names_used, names_cap;
	struct hvar_vmas list;
	void *mem;
	uint64_t lost;
};

/* ---- entries ---- */

/* Make the list's storage fit for twice as many. */
static int more_room(struct jit *j)
{
	uint64_t n = j->list.cap ? (uint64_t)j->list.cap * 2 : 1024;
	uint64_t size = n < UINT32_MAX / 4 ? hvar_vmas_bytes((uint32_t)n) : 0;
	void *mem;

	if (!size || posix_memalign(&mem, 64, size))
		return -ENOMEM;
	if (j->mem) {
		memcpy(mem, j->mem, j->list.size);
		hvar_vmas_moved(&j->list, mem, size);
	} else {
		hvar_vmas_init(&j->list, mem, size);
	}
	free(j->mem);
	j->mem = mem;
	return 0;
}

static int keep_name(struct jit *j, const char *name, size_t len, size_t *at)
{
	if (len > NAME_MAX_BYTES)
		len = NAME_MAX_BYTES;
	if (j->names_used + len + 1 > NAMES_MAX ||
	    grow_array((void **)&j->names, &j->names_cap, j->names_used + len + 1, 1))
		return -ENOMEM;
	memcpy(j->names + j->names_used, name, len);
	j->names[j->names_used + len] = '\0';
	*at = j->names_used;
	j->names_used += len + 1;
	return 0;
}

static void add(struct jit *j, uint64_t start, uint64_t size, const char *name, size_t len, bool dumped)
{
	struct hvar_vma as = {
		.region = HVAR_REGION_ANON, .flags = HVAR_VMA_NAMED, .prot = HVAR_PROT_EXEC,
	};
	size_t at;
	int r;

	if (!size || start + size < start || !len || j->n == ENTRIES_MAX ||
	    grow_array((void **)&j->v, &j->cap, j->n + 1, sizeof(*j->v)) ||
	    keep_name(j, name, len, &at)) {
		j->lost++;
		return;
	}
	as.module = (uint32_t)j->n + 1;
	r = j->mem ? -ENOSPC : more_room(j);
	if (j->mem)
		do
			r = hvar_vmas_set(&j->list, start, start + size, &as);
		while (r == -ENOSPC && !more_room(j));
	if (r) {
		j->lost++;
		return;
	}
	j->v[j->n++] = (struct entry){ start, start + size, at, dumped };
}

bool jit_find(const struct jit *j, uint64_t addr, struct jit_code *out)
{
	const struct hvar_vma *v = j->mem ? hvar_vmas_find(&j->list, addr) : NULL;
	const struct entry *e = v ? &j->v[v->module - 1] : NULL;

	if (!e || e->start != v->start || e->end != v->end)
		return false;
	out->start = e->start;
	out->end = e->end;
	out->name = j->names + e->name;
	out->dumped = e->dumped;
	return true;
}

uint64_t jit_lost(const struct jit *j)
{
	return j->lost;
}

/* ---- files ---- */

/* The number that the process has for itself: the last of NSpid. */
static uint32_t own_pid(pid_t pid)
{
	char text[4096], *s, *last;

	if (proc_read(pid, "status", text, sizeof(text)) <= 0 || !(s = strstr(text, "\nNSpid:")))
		return (uint32_t)pid;
	s += strlen("\nNSpid:");
	s[strcspn(s, "\n")] = '\0';
	last = strrchr(s, '\t');
	return (uint32_t)strtoul(last ? last + 1 : s, NULL, 10);
}

struct jit *jit_new(pid_t pid)
{
	struct jit *j = calloc(1, sizeof(*j));
	char path[64];
	struct stat st;

	if (!j)
		return NULL;
	j->pid = pid;
	j->map.fd = j->dump.fd = -1;
	j->ns_pid = own_pid(pid);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	j->uid = stat(path, &st) ? (uid_t)-1 : st.st_uid;
	return j;
}

static void source_close(struct source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	source_close(&j->map);
	source_close(&j->dump);
	free(j->v);
	free(j->names);
	free(j->mem);
	free(j);
}

/*
 * Open @path, as the process sees it, if it is a regular file of its owner or of root.  What
 * is no file, or a link, is not touched.
 */
static int source_open(const struct jit *j, struct source *s, const char *path)
{
	char full[PATH_MAX + 32];
	struct stat st;

	if (s->fd >= 0 || s->refused)
		return s->fd >= 0 ? 0 : -1;
	if (snprintf(full, sizeof(full), "/proc/%d/root%s", (int)proc_living(j->pid), path) >= (int)sizeof(full))
		return -1;
	s->fd = open(full, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (s->fd < 0)
		return -1;
	if (fstat(s->fd, &st) || !S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != j->uid)) {
		s->refused = true;
		source_close(s);
		return -1;
	}
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return 0;
}

/* Up to @n bytes at @s->done + @at; fewer only at the end. */
static size_t source_read(const struct source *s, uint64_t at, void *buf, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = pread(s->fd, (char *)buf + got, n - got, (off_t)(s->done + at + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		got += (size_t)r;
	}
	return got;
}

/* ---- the map ---- */

static bool hex(const char **s, uint64_t *out)
{
	const char *p = *s;
	int n;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (n = 0, *out = 0; n < 17; n++, p++) {
		int c = *p, v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
				c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;

		if (v < 0)
			break;
		*out = *out << 4 | (uint64_t)v;
	}
	*s = p;
	return n && n < 17;
}

/* "30000100 40 jit fn one(int)": names may hold blanks. */
static void take_line(struct jit *j, const char *line, size_t len)
{
	uint64_t start, size;
	const char *s = line;

	if (memchr(line, '\0', len) || !hex(&s, &start) || *s++ != ' ' || !hex(&s, &size) ||
	    *s++ != ' ') {
		j->lost += len > 0;
		return;
	}
	len -= (size_t)(s - line);
	if (len && s[len - 1] == '\r')
		len--;
	add(j, start, size, s, len, false);
}

void jit_look_map(struct jit *j)
{
	char path[64], *buf;
	struct stat st;
	size_t n;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", j->ns_pid);
	if (source_open(j, &j->map, path))
		return;
	if (!fstat(j->map.fd, &st) && (uint64_t)st.st_size < j->map.done)
		j->map.done = 0; /* begun anew */
	buf = malloc(PIECE + 1);
	if (!buf) {
		j->lost++;
		return;
	}
	while ((n = source_read(&j->map, 0, buf, PIECE)) > 0) {
		char *line = buf, *end;

		while ((end = memchr(line, '\n', n - (size_t)(line - buf))) != NULL) {
			*end = '\0';
			take_line(j, line, (size_t)(end - line));
			line = end + 1;
		}
		if (line == buf && n == PIECE) {
			j->lost++; /* no line is as long */
			line = buf + n;
		}
		if (line == buf)
			break; /* the rest is being written */
		j->map.done += (uint64_t)(line - buf);
	}
	free(buf);
}

/* ---- the dump ---- */

bool jit_is_dump(const char *path)
{
	const char *s = strrchr(path, '/');
	size_t n;

	s = s ? s + 1 : path;
	if (strncmp(s, "jit-", 4))
		return false;
	n = strspn(s + 4, "0123456789");
	return n && !strcmp(s + 4 + n, ".dump");
}

static void take_load(struct jit *j, const struct dump_record *r)
{
	char name[NAME_MAX_BYTES + 1];
	struct dump_load load;
	size_t n;

	if (r->size < sizeof(*r) + sizeof(load) ||
	    source_read(&j->dump, sizeof(*r), &load, sizeof(load)) != sizeof(load)) {
		j->lost++;
		return;
	}
	n = r->size - sizeof(*r) - sizeof(load);
	n = source_read(&j->dump, sizeof(*r) + sizeof(load), name, n < sizeof(name) ? n : sizeof(name));
	add(j, load.addr, load.size, name, strnlen(name, n), true);
}

/* The code has been moved, with its name. */
static void take_move(struct jit *j, const struct dump_record *r)
{
	char name[NAME_MAX_BYTES + 1];
	struct jit_code code;
	struct dump_move m;

	if (r->size < sizeof(*r) + sizeof(m) ||
	    source_read(&j->dump, sizeof(*r), &m, sizeof(m)) != sizeof(m) ||
	    !jit_find(j, m.from, &code) || code.start != m.from) {
		j->lost++;
		return;
	}
	snprintf(name, sizeof(name), "%s", code.name); /* names may move */
	hvar_vmas_set(&j->list, code.start, code.end, NULL);
	add(j, m.to, m.size, name, strlen(name), true);
}

void jit_look_dump(struct jit *j, const char *path, uint32_t major_nr, uint32_t minor_nr,
		   uint64_t ino)
{
	struct source *s = &j->dump;
	struct dump_header h;
	struct dump_record r;
	struct stat st;

	if (s->fd >= 0 && (s->ino != ino || major(s->dev) != major_nr || minor(s->dev) != minor_nr))
		return; /* one is enough: a process writes one */
	if (source_open(j, s, path))
		return;
	if (!s->done) {
		if (s->ino != ino || major(s->dev) != major_nr || minor(s->dev) != minor_nr) {
			source_close(s); /* another file has the name */
			return;
		}
		if (source_read(s, 0, &h, sizeof(h)) != sizeof(h))
			return;
		if (h.magic != DUMP_MAGIC || h.version != 1 || h.size < sizeof(h)) {
			j->lost++;
			s->refused = true;
			source_close(s);
			return;
		}
		s->done = h.size;
	}
	while (source_read(s, 0, &r, sizeof(r)) == sizeof(r)) {
		if (r.size < sizeof(r)) {
			j->lost++;
			s->refused = true; /* nobody knows where the next one is */
			source_close(s);
			return;
		}
		if (fstat(s->fd, &st) || s->done + r.size > (uint64_t)st.st_size)
			return; /* being written */
		if (r.id == DUMP_LOAD)
			take_load(j, &r);
		else if (r.id == DUMP_MOVE)
			take_move(j, &r);
		s->done += r.size;
	}
}
