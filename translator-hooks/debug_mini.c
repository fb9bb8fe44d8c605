// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debug_mini.c - unpack .gnu_debugdata.
 */
#include "config.h"

#include "debug_mini.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

/* More than any real one packs, unpacks to, or needs to be unpacked. */
#define PACKED_MAX   ((uint64_t)64 << 20)
#define UNPACKED_MAX ((size_t)256 << 20)
#define MEMORY_MAX   ((uint64_t)128 << 20)
#define FIRST_ROOM   ((size_t)1 << 20)

/* Room for more of what is unpacked; false: no memory, or enough is enough. */
static bool more_room(lzma_stream *z, uint8_t **out, size_t *room)
{
	size_t now = *room ? *room * 2 : FIRST_ROOM;
	uint8_t *p;

	if (now > UNPACKED_MAX)
		return false;
	p = realloc(*out, now);
	if (!p)
		return false;
	z->next_out = p + *room;
	z->avail_out = now - *room;
	*out = p;
	*room = now;
	return true;
}

static lzma_ret unpack(const uint8_t *in, size_t n, uint8_t **out, size_t *size)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret r = lzma_stream_decoder(&z, MEMORY_MAX, LZMA_CONCATENATED);
	size_t room = 0;

	if (r != LZMA_OK)
		return r;
	z.next_in = in;
	z.avail_in = n;
	while (r == LZMA_OK) {
		if (!z.avail_out && !more_room(&z, out, &room)) {
			r = room * 2 > UNPACKED_MAX ? LZMA_MEMLIMIT_ERROR : LZMA_MEM_ERROR;
			break;
		}
		r = lzma_code(&z, LZMA_FINISH);
	}
	*size = room - z.avail_out;
	lzma_end(&z);
	return r;
}

int debug_mini_open(const struct elf_file *f, struct elf_file *out, void **mem, struct err *e)
{
	uint32_t i = elf_file_section(f, ".gnu_debugdata");
	uint8_t *packed, *data = NULL;
	size_t size = 0;
	lzma_ret z;
	int r;

	if (!i || f->sh[i].sh_type == SHT_NOBITS || !f->sh[i].sh_size)
		return -ENOENT;
	if (f->sh[i].sh_size > PACKED_MAX)
		return elf_file_bad(f, e, ".gnu_debugdata is larger than any real one");
	r = elf_file_get(f, f->sh[i].sh_offset, f->sh[i].sh_size, &packed, e);
	if (r)
		return r;
	z = unpack(packed, f->sh[i].sh_size, &data, &size);
	free(packed);
	if (z == LZMA_MEM_ERROR)
		r = err_set(e, ENOMEM, "cannot unpack .gnu_debugdata of '%s': no memory: free some",
			    f->name);
	else if (z != LZMA_STREAM_END)
		r = elf_file_bad(f, e, ".gnu_debugdata does not unpack");
	if (!r)
		r = elf_file_open(out, -1, data, size, f->name, true, e);
	if (r) {
		free(data);
		return r;
	}
	*mem = data;
	return 0;
}
