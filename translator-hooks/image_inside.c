// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image_inside.c - an ELF file that lies inside another file, from a page boundary on: a library in an archive.
 */
#include "config.h"

#include "image_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_file.h"
#include "image_build.h"

/* Program headers and notes lie near the start. */
#define HEAD_BYTES ((uint64_t)256 << 10)
/* More than any library in an archive has. */
#define WHOLE_MAX  ((uint64_t)1 << 30)

/* The @n bytes at @offset, malloc'd; NULL with -errno in *@r. */
static uint8_t *get(int fd, uint64_t offset, uint64_t n, int *r)
{
	uint8_t *p = malloc(n ? n : 1);
	uint64_t done = 0;
	ssize_t k;

	*r = p ? 0 : -ENOMEM;
	while (!*r && done < n) {
		k = pread(fd, p + done, n - done, (off_t)(offset + done));
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			*r = k ? -errno : -EBADMSG;
		else
			done += (uint64_t)k;
	}
	if (!*r)
		return p;
	free(p);
	return NULL;
}

/* How far @f reaches, by all its headers, in a file that has @left bytes from its start on. */
static uint64_t reach(const struct elf_file *f, uint64_t left)
{
	uint64_t end = left < sizeof(Elf64_Ehdr) ? left : sizeof(Elf64_Ehdr), at;
	uint32_t i;

	for (i = 0; i < f->n_ph; i++) {
		const Elf64_Phdr *p = &f->ph[i];

		if (p->p_offset <= left && p->p_filesz <= left - p->p_offset && p->p_offset + p->p_filesz > end)
			end = p->p_offset + p->p_filesz;
	}
	/* the section headers are the last thing in a file that has them; how many, the first of them may say */
	if (f->eh.e_shoff && !f->eh.e_shnum)
		return left;
	at = f->eh.e_shoff + (uint64_t)f->eh.e_shnum * f->eh.e_shentsize;
	if (f->eh.e_shoff && f->eh.e_shoff <= left && at <= left && at > end)
		end = at;
	return end;
}

static int left_of(int fd, uint64_t offset, uint64_t *left)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || offset >= (uint64_t)st.st_size)
		return -ENOEXEC;
	*left = (uint64_t)st.st_size - offset;
	return 0;
}

int image_inside_look(int fd, uint64_t offset, uint64_t *size, uint8_t *id, size_t max)
{
	char magic[SELFMAG];
	struct elf_file f;
	uint8_t *head;
	uint64_t left = 0;
	int r = left_of(fd, offset, &left);

	if (r)
		return r;
	/* most often there is none */
	if (pread(fd, magic, sizeof(magic), (off_t)offset) != sizeof(magic) || memcmp(magic, ELFMAG, SELFMAG))
		return -ENOEXEC;
	head = get(fd, offset, left < HEAD_BYTES ? left : HEAD_BYTES, &r);
	if (!head)
		return r;
	r = elf_file_open(&f, -1, head, left < HEAD_BYTES ? left : HEAD_BYTES, "", false, NULL);
	if (!r) {
		*size = reach(&f, left);
		r = elf_file_build_id(&f, id, max);
		elf_file_close(&f);
	}
	free(head);
	return r;
}

int image_inside_get(int fd, const char *name, uint64_t offset, struct image_file **out, struct err *e)
{
	uint8_t id[HVAR_BUILD_ID_MAX], *whole;
	uint64_t n = 0;
	size_t size;
	void *data;
	int r = image_inside_look(fd, offset, &n, id, sizeof(id));

	if (r == -ENOEXEC)
		return err_set(e, ENOEXEC, "cannot use '%s' at offset 0x%llx: there is no ELF file; give the offset "
			       "that the memory map has for its first part", name, (unsigned long long)offset);
	if (r >= 0 && n > WHOLE_MAX)
		r = -EFBIG;
	whole = r < 0 ? NULL : get(fd, offset, n, &r);
	if (!whole)
		return err_set(e, -r, "cannot read the ELF file at offset 0x%llx of '%s': %s",
			       (unsigned long long)offset, name, strerror(-r));
	r = image_build_inside(whole, n, name, offset, &data, &size, e);
	free(whole);
	return r ? r : image_file_of_mem(data, size, out, e);
}

bool image_inside_name(const char *name, size_t *len, uint64_t *offset)
{
	const char *at = strrchr(name, '@');
	char *end;

	if (!at || at == name || strncmp(at, "@0x", 3) || !at[3] ||
	    at[3 + strspn(at + 3, "0123456789abcdefABCDEF")])
		return false;
	errno = 0;
	*offset = strtoull(at + 1, &end, 16);
	*len = (size_t)(at - name);
	return !errno && !(*offset & HVAR_PAGE_MASK) && *offset <= INT64_MAX;
}
