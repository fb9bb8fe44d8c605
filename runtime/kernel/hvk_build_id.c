// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_build_id.c - the build-id in an ELF file's notes, by reading its bytes.
 *
 * ELF header, program headers, PT_NOTE (elf(5)); one note of it:
 *
 *	namesz=4  descsz=20  type=3 (NT_GNU_BUILD_ID)  "GNU\0"  20 bytes of id
 *
 * Nothing in the file is trusted: each offset and length is checked against what was read.
 */
#include <linux/elf.h>
#include "hvk_host.h"

#define HVK_NOTE_BUILD_ID 3
#define HVK_MAX_PHDRS	  64

/* Read up to @n bytes at @pos; returns how many there are. */
static u32 hvk_file_read(struct file *file, void *to, u32 n, u64 pos)
{
	loff_t at = pos;
	ssize_t got;

	if (at < 0)
		return 0;
	got = kernel_read(file, to, n, &at);
	return got > 0 ? got : 0;
}

static u32 hvk_notes_find(const u8 *p, u32 n, u8 id[HVAR_BUILD_ID_MAX])
{
	while (n >= 12) {
		u32 name, desc, type;

		memcpy(&name, p, 4);
		memcpy(&desc, p + 4, 4);
		memcpy(&type, p + 8, 4);
		p += 12;
		n -= 12;
		if (name > n || ((name + 3) & ~3u) > n)
			return 0;
		n -= (name + 3) & ~3u;
		if (desc > n)
			return 0;
		if (type == HVK_NOTE_BUILD_ID && name == 4 && !memcmp(p, "GNU", 4) &&
		    desc && desc <= HVAR_BUILD_ID_MAX) {
			memcpy(id, p + 4, desc);
			return desc;
		}
		p += (name + 3) & ~3u;
		if (((desc + 3) & ~3u) > n)
			return 0;
		p += (desc + 3) & ~3u;
		n -= (desc + 3) & ~3u;
	}
	return 0;
}

/*
 * The build-id of @file into @id, by way of the page at @buf.  Returns its length,
 * 0 if it has none, -ENOEXEC if it is no ELF file, -EIO if it cannot be read.
 */
HVK_API int hvk_build_id(struct file *file, u8 *buf, u8 id[HVAR_BUILD_ID_MAX])
{
	u32 got = hvk_file_read(file, buf, PAGE_SIZE, 0), i, n, size, len;
	u64 table, note[8], notes[8];
	u32 n_notes = 0;
	bool wide;

	if (!got)
		return file->f_mode & FMODE_READ ? -ENOEXEC : -EIO;
	if (got < sizeof(struct elf32_hdr) || memcmp(buf, ELFMAG, SELFMAG))
		return -ENOEXEC;
	wide = buf[EI_CLASS] == ELFCLASS64;
	if (wide && got < sizeof(struct elf64_hdr))
		return -ENOEXEC;
	table = wide ? ((struct elf64_hdr *)buf)->e_phoff : ((struct elf32_hdr *)buf)->e_phoff;
	n = wide ? ((struct elf64_hdr *)buf)->e_phnum : ((struct elf32_hdr *)buf)->e_phnum;
	size = wide ? sizeof(struct elf64_phdr) : sizeof(struct elf32_phdr);
	if (n > HVK_MAX_PHDRS)
		n = HVK_MAX_PHDRS;
	got = hvk_file_read(file, buf, n * size, table);
	for (i = 0; i < n && (i + 1) * size <= got && n_notes < ARRAY_SIZE(note); i++) {
		const struct elf64_phdr *p = (const void *)(buf + i * size);
		const struct elf32_phdr *q = (const void *)(buf + i * size);

		if ((wide ? p->p_type : q->p_type) != PT_NOTE)
			continue;
		note[n_notes] = wide ? p->p_offset : q->p_offset;
		notes[n_notes++] = wide ? p->p_filesz : q->p_filesz;
	}
	for (i = 0; i < n_notes; i++) {
		got = hvk_file_read(file, buf, min_t(u64, notes[i], PAGE_SIZE), note[i]);
		len = hvk_notes_find(buf, got, id);
		if (len)
			return len;
	}
	return 0;
}
