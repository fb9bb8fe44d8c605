// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules_open.c - open the very file that an area maps, or none.
 *
 *	/proc/PID/map_files/START-END	is that file, deleted or not; needs a capability
 *	/proc/PID/exe			is the program's own, deleted or not
 *	/proc/PID/root/PATH, PATH	another file may have that name by now
 *
 * The last three are believed when device and inode are those of the map.  On
 * btrfs and overlayfs stat(2) tells another device than the map does: then the
 * inode and the build-id must agree, the mapped one told by the kernel.
 */
#include "config.h"

#include "modules_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "translator-hooks/image_build.h"

/* Open what @where names for looking only: that opens no device and waits for no FIFO. */
static int open_path(const char *where, struct stat *st)
{
	int fd = open(where, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, st)) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

/* The file behind the O_PATH descriptor @fd, which is closed, for reading. */
static int reopen(int fd, const struct stat *st)
{
	char self[32];
	int r = -ENXIO;

	if (S_ISREG(st->st_mode)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		r = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (r < 0)
			r = -errno;
	}
	close(fd);
	return r;
}

/* What can be read of the file at @fd. */
static void read_facts(struct modules_file *f, int fd)
{
	char magic[4];
	int n;

	f->elf = pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		 !memcmp(magic, "\177ELF", sizeof(magic));
	f->build_id_len = 0;
	if (!f->elf)
		return;
	n = image_build_id(fd, f->build_id, sizeof(f->build_id));
	if (n > 0)
		f->build_id_len = (size_t)n;
}

static bool same_build_id(const uint8_t *a, size_t na, const uint8_t *b, size_t nb)
{
	return na && na == nb && !memcmp(a, b, na);
}

/*
 * Is the file of @st and @fd the one in the map?  @kernel_id is the mapped one's
 * build-id as the kernel tells it, @kernel_len 0 if it does not.
 */
static bool believed(const struct modules_file *f, const struct stat *st,
		     const uint8_t *kernel_id, size_t kernel_len)
{
	if (st->st_ino != f->ino)
		return false;
	if (major(st->st_dev) == f->dev_major && minor(st->st_dev) == f->dev_minor)
		return true;
	return same_build_id(kernel_id, kernel_len, f->build_id, f->build_id_len);
}

/* Open @where; @very: the way there leads to the mapped file and no other. */
static int try(struct modules_file *f, const char *where, bool very,
	       const uint8_t *kernel_id, size_t kernel_len)
{
	int fd = open_path(where, &f->st);

	if (fd < 0)
		return fd;
	/* An inode that differs needs no more looking; the right one may be no file. */
	if (!very && f->st.st_ino != f->ino) {
		close(fd);
		return -ESTALE;
	}
	fd = reopen(fd, &f->st);
	if (fd < 0)
		return fd;
	read_facts(f, fd);
	if (very || believed(f, &f->st, kernel_id, kernel_len))
		return fd;
	close(fd);
	return -ESTALE;
}

int modules_open(struct modules_file *f)
{
	uint8_t kernel_id[HVAR_BUILD_ID_MAX];
	size_t kernel_len = 0;
	char where[PATH_MAX + 64];
	bool path = f->path[0] == '/' && !f->deleted;
	int r, n;

	/* An address may be another file's by now: a window that is open knows. */
	if (f->look)
		kernel_len = look_build_id(f->look, f->start, kernel_id,
					   sizeof(kernel_id));
	if (f->want) {
		kernel_len = f->want->build_id_len;
		memcpy(kernel_id, f->want->build_id, kernel_len);
	}
	if (f->pid > 0) {
		snprintf(where, sizeof(where), "/proc/%d/map_files/%llx-%llx",
			 (int)f->pid, (unsigned long long)f->start,
			 (unsigned long long)f->end);
		/* Once the mapping is known from before, the place may have changed hands. */
		r = try(f, where, !f->want, kernel_id, kernel_len);
		if (r >= 0 || r == -ENXIO)
			return r;
		snprintf(where, sizeof(where), "/proc/%d/exe", (int)f->pid);
		r = try(f, where, false, kernel_id, kernel_len);
		if (r >= 0)
			return r;
		n = snprintf(where, sizeof(where), "/proc/%d/root%s", (int)f->pid,
			     f->path);
		if (path && n < (int)sizeof(where)) {
			r = try(f, where, false, kernel_id, kernel_len);
			if (r >= 0 || r == -ENXIO)
				return r;
		}
	}
	r = path ? try(f, f->path, false, kernel_id, kernel_len) : -ENOENT;
	if (r < 0 && r != -ENXIO) {
		f->build_id_len = kernel_len;
		memcpy(f->build_id, kernel_id, kernel_len);
	}
	return r;
}

bool modules_truly_named(const struct mapstext *a, pid_t pid)
{
	struct mapstext whole = *a;
	struct stat st;
	char *where;
	bool is = false;

	/* Put the end back to ask, and take it off again: the name is the caller's. */
	mapstext_not_deleted(&whole);
	if (asprintf(&where, "/proc/%d/root%s", (int)pid, whole.path) > 0) {
		is = !stat(where, &st) && st.st_ino == a->ino &&
		     major(st.st_dev) == a->dev_major &&
		     minor(st.st_dev) == a->dev_minor;
		free(where);
	}
	a->path[a->path_len] = '\0';
	return is;
}
