// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "line_file.h"

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug_file.h"

struct line_file {
	int fd; /* our own, of the file that has the debug information */
	Elf *elf;
	Dwarf *dw;
};

static bool begin(struct line_file *f, int fd)
{
	f->fd = dup(fd);
	f->elf = f->fd < 0 ? NULL : elf_begin(f->fd, ELF_C_READ, NULL);
	f->dw = f->elf && elf_kind(f->elf) == ELF_K_ELF ? dwarf_begin_elf(f->elf, DWARF_C_READ, NULL) : NULL;
	return f->dw;
}

static void end(struct line_file *f)
{
	if (f->dw)
		dwarf_end(f->dw);
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct line_file){ .fd = -1 };
}

/* Of the debug file of the one that is open as @fd. */
static bool begin_debug(struct line_file *f, int fd, const char *path)
{
	struct elf_file own;
	struct debug_file d;
	struct err e = { 0, "" };
	bool found = false;

	if (elf_file_open(&own, fd, NULL, 0, path, true, &e))
		return false;
	if (!debug_file_open(&own, &d, &e)) {
		found = begin(f, d.fd);
		debug_file_close(&d);
	}
	elf_file_close(&own);
	return found;
}

struct line_file *line_file_open(int fd, const char *path)
{
	struct line_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->fd = -1;
	elf_version(EV_CURRENT);
	if (begin(f, fd))
		return f;
	end(f);
	if (begin_debug(f, fd, path))
		return f;
	line_file_close(f);
	return NULL;
}

void line_file_close(struct line_file *f)
{
	if (!f)
		return;
	end(f);
	free(f);
}

/* The unit of @vaddr: by .debug_aranges, which not every compiler makes, else by what each unit says itself. */
static bool find_unit(struct line_file *f, uint64_t vaddr, Dwarf_Die *unit)
{
	Dwarf_Off off = 0, next;
	size_t header;

	if (dwarf_addrdie(f->dw, vaddr, unit))
		return true;
	for (; !dwarf_nextcu(f->dw, off, &next, &header, NULL, NULL, NULL); off = next)
		if (dwarf_offdie(f->dw, off + header, unit) && dwarf_haspc(unit, vaddr) > 0)
			return true;
	return false;
}

bool line_file_find(struct line_file *f, uint64_t vaddr, const char **file, uint32_t *line)
{
	Dwarf_Die unit;
	Dwarf_Line *l = find_unit(f, vaddr, &unit) ? dwarf_getsrc_die(&unit, vaddr) : NULL;
	const char *path = l ? dwarf_linesrc(l, NULL, NULL) : NULL;
	int n;

	if (!path || dwarf_lineno(l, &n) || n <= 0)
		return false;
	*file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	*line = (uint32_t)n;
	return true;
}
