// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_sections.c - debug sections out of an ELF file, unpacked where they are packed.
 *
 *	.debug_info			plain
 *	.debug_info, SHF_COMPRESSED	Elf64_Chdr (type, size), then zlib's or zstd's bytes
 *	.zdebug_info			"ZLIB", size as 8 bytes big-endian, then zlib's
 *	.debug_info.dwo			in the files of -gsplit-dwarf
 */
#include "config.h"

#include "dwarf_sections.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* zlib makes at most 1032 bytes of one; zstd can make more, but no compiler's output is like that. */
#define UNPACK_MOST 1100

static const char *const names[DWARF_SECS] = {
	[DWARF_INFO] = "info",
	[DWARF_TYPES] = "types",
	[DWARF_ABBREV] = "abbrev",
	[DWARF_STR] = "str",
	[DWARF_LINE] = "line",
	[DWARF_LINE_STR] = "line_str",
	[DWARF_ADDR] = "addr",
	[DWARF_STR_OFFSETS] = "str_offsets",
	[DWARF_CU_INDEX] = "cu_index",
	[DWARF_TU_INDEX] = "tu_index",
	[DWARF_SUP] = "sup",
};

/* Which section of ours is called @name; DWARF_SECS: none.  *@old: of the .zdebug form. */
static int which(const char *name, bool split, bool *old)
{
	int i;

	*old = false;
	if (!strcmp(name, ".gnu_debugaltlink"))
		return split ? DWARF_SECS : DWARF_ALTLINK;
	if (!strncmp(name, ".zdebug_", 8))
		*old = true, name += 8;
	else if (!strncmp(name, ".debug_", 7))
		name += 7;
	else
		return DWARF_SECS;
	for (i = 0; i < DWARF_ALTLINK; i++) {
		size_t n = strlen(names[i]);

		if (strncmp(name, names[i], n))
			continue;
		/* a package's indexes go without .dwo */
		if (!strcmp(name + n, split && i != DWARF_CU_INDEX && i != DWARF_TU_INDEX ? ".dwo" : ""))
			return i;
	}
	return DWARF_SECS;
}

/* What is packed in a section: where it begins, by what, how large it will be. */
struct packed {
	uint64_t skip, size;
	uint32_t type; /* ELFCOMPRESS_, 0: not packed */
};

static int look(const struct elf_file *f, const Elf64_Shdr *s, bool old, struct packed *out)
{
	uint8_t head[sizeof(Elf64_Chdr)];
	Elf64_Chdr h;
	Elf32_Chdr h32;
	int i, r;

	memset(out, 0, sizeof(*out));
	out->size = s->sh_size;
	if (!old && !(s->sh_flags & SHF_COMPRESSED))
		return 0;
	out->skip = old ? 12 : f->is32 ? sizeof(h32) : sizeof(h);
	if (s->sh_size < out->skip)
		return -EBADMSG;
	r = elf_file_read(f, s->sh_offset, head, out->skip, NULL);
	if (r)
		return r;
	if (old) {
		if (memcmp(head, "ZLIB", 4))
			return -EBADMSG;
		out->type = ELFCOMPRESS_ZLIB;
		for (i = 4, out->size = 0; i < 12; i++)
			out->size = out->size << 8 | head[i];
	} else if (f->is32) {
		memcpy(&h32, head, sizeof(h32));
		out->type = h32.ch_type;
		out->size = h32.ch_size;
	} else {
		memcpy(&h, head, sizeof(h));
		out->type = h.ch_type;
		out->size = h.ch_size;
	}
	return !out->type || out->size / UNPACK_MOST > s->sh_size ? -EBADMSG : 0;
}

static int unzip(const uint8_t *in, uint64_t n, uint8_t *out, uint64_t size)
{
	z_stream z;
	int r;

	memset(&z, 0, sizeof(z));
	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	do {
		/* avail_in and avail_out are 32 bits wide */
		uInt was_in = n > 1 << 30 ? 1 << 30 : (uInt)n;
		uInt was_out = size > 1 << 30 ? 1 << 30 : (uInt)size;

		z.next_in = (uint8_t *)in;
		z.avail_in = was_in;
		z.next_out = out;
		z.avail_out = was_out;
		r = inflate(&z, Z_NO_FLUSH);
		in += was_in - z.avail_in;
		n -= was_in - z.avail_in;
		out += was_out - z.avail_out;
		size -= was_out - z.avail_out;
		if (was_in == z.avail_in && was_out == z.avail_out && r == Z_OK)
			r = Z_BUF_ERROR;
	} while (r == Z_OK && size);
	inflateEnd(&z);
	return size ? -EBADMSG : 0;
}

/*
 * size_t ZSTD_decompress(void *dst, size_t dst_size, const void *src, size_t src_size): zstd.h.  A
 * library that most machines have and hotvar does not depend on.
 */
typedef size_t unzstd_fn(void *, size_t, const void *, size_t);
static unzstd_fn *unzstd;

static void find_unzstd(void)
{
	void *lib = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

	if (lib)
		*(void **)&unzstd = dlsym(lib, "ZSTD_decompress");
}

static int unpack(const struct packed *k, const uint8_t *in, uint64_t n, uint8_t *out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (k->type == ELFCOMPRESS_ZLIB)
		return unzip(in, n, out, k->size);
	if (k->type != ELFCOMPRESS_ZSTD)
		return -EBADMSG;
	pthread_once(&once, find_unzstd);
	return unzstd && unzstd(out, k->size, in, n) == k->size ? 0 : -EBADMSG;
}

/* The section's bytes, @k->size of them, to @to. */
static int read_one(const struct elf_file *f, const Elf64_Shdr *s, const struct packed *k,
		    uint8_t *to)
{
	uint8_t *raw;
	int r;

	if (!k->type)
		return elf_file_read(f, s->sh_offset, to, k->size, NULL);
	r = elf_file_get(f, s->sh_offset, s->sh_size, &raw, NULL);
	if (r)
		return r;
	r = unpack(k, raw + k->skip, s->sh_size - k->skip, to);
	free(raw);
	return r;
}

/* The names of all sections, or NULL. */
static char *section_names(const struct elf_file *f, uint64_t *n)
{
	char *p = NULL;

	*n = 0;
	if (f->shstrndx && f->shstrndx < f->n_sh && f->sh[f->shstrndx].sh_type == SHT_STRTAB) {
		*n = f->sh[f->shstrndx].sh_size;
		if (elf_file_get(f, f->sh[f->shstrndx].sh_offset, *n, &p, NULL))
			p = NULL, *n = 0;
	}
	return p;
}

/* One of our sections, in the order of the file. */
struct found {
	const Elf64_Shdr *s;
	struct packed k;
	int which;
};

/*
 * Find our sections: malloc'd into *@out, *@n of them.  Object files, and so .dwo files, have a
 * section of units for each group of type units: together they are one.
 */
static int find(const struct elf_file *f, bool split, struct found **out, uint32_t *n,
		uint64_t *bytes)
{
	struct found *v = malloc((f->n_sh + 1) * sizeof(*v));
	bool have[DWARF_SECS + 1] = { false };
	uint64_t size;
	char *strs = section_names(f, &size);
	uint32_t i;
	int r = v ? 0 : -ENOMEM;

	*bytes = 0;
	*n = 0;
	for (i = 1; i < f->n_sh && !r && strs; i++) {
		const Elf64_Shdr *s = &f->sh[i];
		bool old;
		int w;

		if (s->sh_type == SHT_NOBITS || !s->sh_size || s->sh_flags & SHF_ALLOC ||
		    s->sh_name >= size)
			continue;
		w = which(strs + s->sh_name, split, &old);
		if (w == DWARF_SECS || (have[w] && w != DWARF_INFO && w != DWARF_TYPES))
			continue;
		r = look(f, s, old, &v[*n].k);
		if (!r && !elf_file_has(f, s->sh_offset, s->sh_size))
			r = -EBADMSG;
		if (r)
			break;
		have[w] = true;
		v[*n].s = s;
		v[*n].which = w;
		*bytes = *bytes + v[*n].k.size < *bytes ? UINT64_MAX : *bytes + v[*n].k.size;
		(*n)++;
	}
	free(strs);
	if (!r && (!have[DWARF_INFO] || !have[DWARF_ABBREV]))
		r = -ENODATA;
	*out = v;
	return r;
}

uint64_t dwarf_file_bytes(const struct elf_file *f)
{
	struct found *v;
	uint64_t bytes;
	uint32_t n;
	int r = find(f, false, &v, &n, &bytes);

	free(v);
	return r == -ENODATA ? 0 : bytes;
}

int dwarf_sections_read(const struct elf_file *f, bool split, uint64_t limit,
			struct dwarf_bytes *sec, uint64_t *bytes)
{
	struct found *v;
	uint32_t i, n;
	int r = find(f, split, &v, &n, bytes);

	if (!r && *bytes > limit)
		r = -EFBIG;
	for (i = 0; i < n && !r; i++) {
		struct dwarf_bytes *b = &sec[v[i].which];
		/* a NUL follows the last byte */
		uint8_t *p = realloc(b->p, b->n + v[i].k.size + 1);

		if (!p) {
			r = -ENOMEM;
			break;
		}
		b->p = p;
		r = read_one(f, v[i].s, &v[i].k, p + b->n);
		if (r)
			break;
		b->n += v[i].k.size;
		p[b->n] = 0;
	}
	free(v);
	return r;
}
