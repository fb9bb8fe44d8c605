// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules_open.c - open the very file that an area maps, or none.
 *
 *	/proc/PID/map_files/START-END	is that file, deleted or not; needs a capability
 *	/proc/PID/exe			is the program's own, deleted or not
 *	/proc/PID/root/PATH, PATH	another file may have that name by now
 *
 * The last three are believed when device and inode are those of the map.  On
 * btrfs and overlayfs stat(2) tells others than the map does: so a file that does not
 * agree is mapped here, and what the map of this process says of it counts; or
 * the build-id does, which the kernel tells of what is mapped there.
 */
#include "config.h"

#include "modules_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "proc.h"
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

	f->elf = false;
	f->build_id_len = 0;
	if (f->unread)
		return;
	f->elf = pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		 !memcmp(magic, "\177ELF", sizeof(magic));
	if (!f->elf)
		return;
	n = image_build_id(fd, f->build_id, sizeof(f->build_id));
	if (n > 0)
		f->build_id_len = (size_t)n;
}

/* Does the kernel call the file at @fd, when it is mapped, by @f's device and inode? */
static bool shown_alike(const struct modules_file *f, int fd)
{
	struct look_areas a = { 0 };
	struct look l;
	bool alike = false;
	void *p = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		return false;
	if (!look_open(&l, getpid())) {
		uint64_t at = (uint64_t)(uintptr_t)p;

		alike = !look_at(&l, at, at + 1, &a) && a.n &&
			a.v[0].ino == f->ino && a.v[0].dev_major == f->dev_major &&
			a.v[0].dev_minor == f->dev_minor;
		look_areas_fini(&a);
		look_close(&l);
	}
	munmap(p, 1);
	return alike;
}

/*
 * Is the file of @st and @fd the one in the map?  @id is the mapped one's build-id as
 * the kernel tells it, @len 0 if it does not.
 */
static bool believed(const struct modules_file *f, const struct stat *st, int fd,
		     const uint8_t *id, size_t len)
{
	if (st->st_ino == f->ino && major(st->st_dev) == f->dev_major &&
	    minor(st->st_dev) == f->dev_minor)
		return true;
	if (len && f->build_id_len)
		return len == f->build_id_len && !memcmp(id, f->build_id, len);
	return shown_alike(f, fd);
}

/* Open @where; @very: the way there leads to the mapped file and no other. */
static int try(struct modules_file *f, const char *where, bool very,
	       const uint8_t *id, size_t len)
{
	int fd = open_path(where, &f->st);

	if (fd < 0)
		return fd;
	fd = reopen(fd, &f->st);
	if (fd < 0)
		return fd;
	read_facts(f, fd);
	if (very || believed(f, &f->st, fd, id, len))
		return fd;
	close(fd);
	return -ESTALE;
}

/* Is the program of @f's process called as the file that is mapped? */
static bool is_program(const struct modules_file *f, const char *exe)
{
	char name[PATH_MAX];
	size_t len = strlen(f->path);
	ssize_t n = readlink(exe, name, sizeof(name));

	return n >= 0 && (size_t)n >= len && !memcmp(name, f->path, len);
}

int modules_open(struct modules_file *f)
{
	uint8_t kernel_id[HVAR_BUILD_ID_MAX];
	size_t kernel_len = 0;
	char where[PATH_MAX + 64];
	bool path = f->path[0] == '/' && !f->deleted;
	int r, n;

	/* An address may be another file's by now: a window that is open knows. */
	if (f->look && !f->unread)
		kernel_len = look_build_id(f->look, f->start, kernel_id,
					   sizeof(kernel_id));
	if (f->want) {
		kernel_len = f->want->build_id_len;
		memcpy(kernel_id, f->want->build_id, kernel_len);
	}
	if (f->pid > 0) {
		pid_t living = proc_living(f->pid);

		snprintf(where, sizeof(where), "/proc/%d/map_files/%llx-%llx",
			 (int)living, (unsigned long long)f->start,
			 (unsigned long long)f->end);
		/* Once the mapping is known from before, the place may have changed hands. */
		r = try(f, where, !f->want, kernel_id, kernel_len);
		if (r >= 0 || r == -ENXIO)
			return r;
		snprintf(where, sizeof(where), "/proc/%d/exe", (int)living);
		r = is_program(f, where) ?
			    try(f, where, false, kernel_id, kernel_len) : -ENOENT;
		if (r >= 0)
			return r;
		n = snprintf(where, sizeof(where), "/proc/%d/root%s", (int)living,
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
	if (asprintf(&where, "/proc/%d/root%s", (int)proc_living(pid), whole.path) > 0) {
		is = !stat(where, &st) && st.st_ino == a->ino &&
		     major(st.st_dev) == a->dev_major &&
		     minor(st.st_dev) == a->dev_minor;
		free(where);
	}
	a->path[a->path_len] = '\0';
	return is;
}

uint64_t modules_ipc_namespace(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/ipc", (int)proc_living(pid));
	return stat(path, &st) ? 0 : st.st_ino;
}
