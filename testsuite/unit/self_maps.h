/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * self_maps.h - what /proc/self/maps shows, as areas, read without any memory of the heap.
 *
 * Modules are numbered by device, inode and path.  The user says, in self_maps_die(), what
 * happens when that cannot be done.
 */
#ifndef SELF_MAPS_H
#define SELF_MAPS_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/hvar_vmas.h"

enum { SELF_AREAS = 4096, SELF_NAMES = 2048 };

static struct {
	struct hvar_vma area[SELF_AREAS];
	uint32_t n;
	char names[SELF_NAMES][128];
	uint32_t nnames;
} self_maps;

static _Noreturn void self_maps_die(const char *what);

static uint32_t self_module(const char *dev_ino_path)
{
	uint32_t i;

	for (i = 0; i < self_maps.nnames; i++)
		if (!strcmp(self_maps.names[i], dev_ino_path))
			return i + 1;
	if (self_maps.nnames == SELF_NAMES || strlen(dev_ino_path) > 127)
		self_maps_die("too many names");
	strcpy(self_maps.names[self_maps.nnames++], dev_ino_path);
	return self_maps.nnames;
}

/* Module, region and flags of a line's "dev ino path". */
static void self_classify(unsigned maj, unsigned min, unsigned long ino, const char *path,
		     struct hvar_vma *v)
{
	char text[512];
	size_t n;

	snprintf(text, sizeof(text), "%x:%x %lu %s", maj, min, ino, path);
	v->region = HVAR_REGION_FILE;
	v->flags = 0;
	n = strlen(text);
	if (n > 10 && !strcmp(text + n - 10, " (deleted)")) {
		text[n - 10] = 0;
		v->flags = HVAR_VMA_DELETED;
	}
	if (!*path || !strcmp(path, "/dev/zero"))
		v->region = HVAR_REGION_ANON;
	else if (!strcmp(path, "[heap]"))
		v->region = HVAR_REGION_HEAP;
	else if (!strcmp(path, "[stack]"))
		v->region = HVAR_REGION_STACK;
	else if (!strcmp(path, "[vdso]"))
		v->region = HVAR_REGION_VDSO;
	else if (!strncmp(path, "[vvar", 5))
		v->region = HVAR_REGION_VVAR;
	else if (!strcmp(path, "[vsyscall]"))
		v->region = HVAR_REGION_VSYSCALL;
	else if (!strncmp(path, "/memfd:", 7) || !strncmp(path, "/SYSV", 5) ||
		 !strncmp(path, "/dev/zero", 9))
		v->region = HVAR_REGION_SHM;
	v->module = *path && *path != '[' ? self_module(text) : 0;
}

/* What maps shows now, into self_maps. */
static void self_look(void)
{
	static char text[1 << 20];
	size_t n = 0;
	ssize_t got;
	char *line, *next;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		self_maps_die("no maps");
	while ((got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += got;
	close(fd);
	text[n] = 0;
	self_maps.n = 0;
	for (line = text; *line; line = next) {
		unsigned long start, end, pgoff, ino;
		unsigned maj, min;
		char prot[5];
		int at;
		struct hvar_vma *v = &self_maps.area[self_maps.n++];

		next = strchr(line, '\n');
		*next++ = 0;
		if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, prot, &pgoff,
			   &maj, &min, &ino, &at) != 7 || self_maps.n == SELF_AREAS)
			self_maps_die("maps not understood");
		memset(v, 0, sizeof(*v));
		v->start = start;
		v->end = end;
		v->pgoff = pgoff;
		v->prot = (prot[0] == 'r' ? HVAR_PROT_READ : 0) |
			  (prot[1] == 'w' ? HVAR_PROT_WRITE : 0) |
			  (prot[2] == 'x' ? HVAR_PROT_EXEC : 0) |
			  (prot[3] == 's' ? HVAR_PROT_SHARED : 0);
		self_classify(maj, min, ino, line + at, v);
	}
}

#endif /* SELF_MAPS_H */
