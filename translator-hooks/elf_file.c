// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elf_file.c - the headers of an ELF file, read with bounds.
 *
 * 32-bit headers are widened as they are read; nothing else here knows the class.
 */
#include "config.h"

#include "elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More of any table than a real file has. */
#define TABLE_MAX   ((uint64_t)2 << 30)
/* A file system that packs its files does not pack a table smaller than by this. */
#define PACKED_MAX  64
#define PACKED_FROM ((uint64_t)32 << 20)
#define HEADERS_MAX ((uint64_t)8 << 20)
#define NOTES_MAX   64

int elf_file_bad(const struct elf_file *f, struct err *e, const char *what)
{
	return err_set(e, EBADMSG,
		       "cannot read the symbols of '%s': %s; the file is damaged or "
		       "cut short: get a whole copy of it", f->name, what);
}

int elf_file_read(const struct elf_file *f, uint64_t offset, void *buf,
		  uint64_t n, struct err *e)
{
	uint64_t done = 0;

	if (offset > f->size || n > f->size - offset)
		return elf_file_bad(f, e, "a table lies past its end");
	if (f->fd < 0) {
		if (n)
			memcpy(buf, f->mem + offset, n);
		return 0;
	}
	while (done < n) {
		ssize_t r = pread(f->fd, (char *)buf + done, n - done,
				  (off_t)(offset + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_set(e, errno, "cannot read '%s': %s", f->name,
				       strerror(errno));
		if (!r)
			return elf_file_bad(f, e, "it became shorter while it was read");
		done += (uint64_t)r;
	}
	return 0;
}

bool elf_file_has(const struct elf_file *f, uint64_t offset, uint64_t n)
{
	if (offset > f->size || n > f->size - offset)
		return false;
	return n < PACKED_FROM || n / PACKED_MAX <= f->backed;
}

int elf_file_get(const struct elf_file *f, uint64_t offset, uint64_t n,
		 void *out, struct err *e)
{
	char *p;
	int r;

	if (!elf_file_has(f, offset, n))
		return elf_file_bad(f, e, "a table lies past its end");
	if (n > TABLE_MAX)
		return err_set(e, EFBIG,
			       "cannot read the symbols of '%s': one of its tables has %llu "
			       "bytes, more than any real one: strip the file", f->name,
			       (unsigned long long)n);
	p = malloc(n + 1);
	if (!p)
		return err_set(e, ENOMEM, "cannot read the symbols of '%s': no memory for "
			       "%llu bytes: free some", f->name, (unsigned long long)n);
	r = elf_file_read(f, offset, p, n, e);
	if (r) {
		free(p);
		return r;
	}
	p[n] = 0;
	*(void **)out = p;
	return 0;
}

static void widen_ehdr(Elf64_Ehdr *to, const Elf32_Ehdr *from)
{
	memcpy(to->e_ident, from->e_ident, EI_NIDENT);
	to->e_type = from->e_type;
	to->e_machine = from->e_machine;
	to->e_version = from->e_version;
	to->e_entry = from->e_entry;
	to->e_phoff = from->e_phoff;
	to->e_shoff = from->e_shoff;
	to->e_flags = from->e_flags;
	to->e_ehsize = from->e_ehsize;
	to->e_phentsize = from->e_phentsize;
	to->e_phnum = from->e_phnum;
	to->e_shentsize = from->e_shentsize;
	to->e_shnum = from->e_shnum;
	to->e_shstrndx = from->e_shstrndx;
}

static void widen_phdr(Elf64_Phdr *to, const Elf32_Phdr *from)
{
	to->p_type = from->p_type;
	to->p_flags = from->p_flags;
	to->p_offset = from->p_offset;
	to->p_vaddr = from->p_vaddr;
	to->p_paddr = from->p_paddr;
	to->p_filesz = from->p_filesz;
	to->p_memsz = from->p_memsz;
	to->p_align = from->p_align;
}

static void widen_shdr(Elf64_Shdr *to, const Elf32_Shdr *from)
{
	to->sh_name = from->sh_name;
	to->sh_type = from->sh_type;
	to->sh_flags = from->sh_flags;
	to->sh_addr = from->sh_addr;
	to->sh_offset = from->sh_offset;
	to->sh_size = from->sh_size;
	to->sh_link = from->sh_link;
	to->sh_info = from->sh_info;
	to->sh_addralign = from->sh_addralign;
	to->sh_entsize = from->sh_entsize;
}

/* The file's own refusal: what kind of ELF file this is not. */
static int check_kind(const struct elf_file *f, struct err *e)
{
	const Elf64_Ehdr *h = &f->eh;

	if (h->e_ident[EI_DATA] == ELFDATA2MSB)
		return err_set(e, ENOTSUP, "cannot use '%s': it is a big-endian ELF file, "
			       "whose variables no process of this machine has; give a file "
			       "made for x86", f->name);
	if (h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
		return elf_file_bad(f, e, "its ELF header holds impossible values");
	if (h->e_machine != EM_X86_64 && h->e_machine != EM_386)
		return err_set(e, ENOTSUP, "cannot use '%s': it is an ELF file for another "
			       "machine (number %u); give a file made for x86", f->name,
			       h->e_machine);
	if (h->e_machine == EM_386 && !f->is32)
		return elf_file_bad(f, e, "its ELF header holds impossible values");
	if (h->e_type == ET_REL)
		return err_set(e, ENOTSUP, "cannot use '%s': it is an object file, whose "
			       "variables have no addresses yet; give what was linked from it",
			       f->name);
	if (h->e_type == ET_CORE)
		return err_set(e, ENOTSUP, "cannot use '%s': it is a core dump; give the "
			       "program that it is of", f->name);
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
		return elf_file_bad(f, e, "its ELF header holds an impossible type");
	return 0;
}

static int read_ehdr(struct elf_file *f, struct err *e)
{
	union {
		Elf64_Ehdr h64;
		Elf32_Ehdr h32;
	} u;
	uint64_t need;
	int r;

	if (f->size < EI_NIDENT)
		goto no_elf;
	r = elf_file_read(f, 0, u.h64.e_ident, EI_NIDENT, e);
	if (r)
		return r;
	if (memcmp(u.h64.e_ident, ELFMAG, SELFMAG))
		goto no_elf;
	if (u.h64.e_ident[EI_CLASS] != ELFCLASS32 &&
	    u.h64.e_ident[EI_CLASS] != ELFCLASS64)
		return elf_file_bad(f, e, "its ELF header has an impossible class");
	f->is32 = u.h64.e_ident[EI_CLASS] == ELFCLASS32;
	need = f->is32 ? sizeof(u.h32) : sizeof(u.h64);
	r = elf_file_read(f, 0, &u, need, e);
	if (r)
		return r;
	if (f->is32)
		widen_ehdr(&f->eh, &u.h32);
	else
		f->eh = u.h64;
	return check_kind(f, e);
no_elf:
	return err_set(e, ENOEXEC, "cannot use '%s': it is %s; give a program or a shared "
		       "library", f->name, f->size ? "no ELF file" : "empty");
}

/* One section header, widened. */
static int read_shdr(const struct elf_file *f, uint64_t offset, Elf64_Shdr *out,
		     struct err *e)
{
	Elf32_Shdr s32;
	int r;

	if (!f->is32)
		return elf_file_read(f, offset, out, sizeof(*out), e);
	r = elf_file_read(f, offset, &s32, sizeof(s32), e);
	if (!r)
		widen_shdr(out, &s32);
	return r;
}

/* The numbers of headers; those that do not fit stand in section header 0. */
static int count_headers(struct elf_file *f, uint64_t *n_ph, uint64_t *n_sh,
			 struct err *e)
{
	const Elf64_Ehdr *h = &f->eh;
	uint32_t entry = f->is32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
	Elf64_Shdr zero;
	int r;

	*n_ph = h->e_phoff ? h->e_phnum : 0;
	*n_sh = h->e_shoff ? h->e_shnum : 0;
	f->shstrndx = h->e_shstrndx;
	if (*n_ph && h->e_phentsize != (f->is32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr)))
		return elf_file_bad(f, e, "its program headers have an impossible size");
	if (!h->e_shoff) {
		if (*n_ph == PN_XNUM)
			return elf_file_bad(f, e, "the number of its program headers is missing");
		return 0;
	}
	if (h->e_shnum && h->e_shentsize != entry)
		return elf_file_bad(f, e, "its section headers have an impossible size");
	if (h->e_shnum && h->e_phnum != PN_XNUM && h->e_shstrndx != SHN_XINDEX)
		return 0;
	r = read_shdr(f, h->e_shoff, &zero, e);
	if (r)
		return r;
	if (!h->e_shnum)
		*n_sh = zero.sh_size;
	if (h->e_phnum == PN_XNUM)
		*n_ph = zero.sh_info;
	if (h->e_shstrndx == SHN_XINDEX)
		f->shstrndx = zero.sh_link;
	return 0;
}

static int read_phdrs(struct elf_file *f, uint64_t n, struct err *e)
{
	uint64_t entry = f->is32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	void *raw;
	uint64_t i;
	int r;

	if (n > f->size / entry || n > HEADERS_MAX)
		return elf_file_bad(f, e, "its program headers lie past its end");
	r = elf_file_get(f, f->eh.e_phoff, n * entry, &raw, e);
	if (r)
		return r;
	f->n_ph = (uint32_t)n;
	if (!f->is32) {
		f->ph = raw;
		return 0;
	}
	f->ph = calloc(n, sizeof(*f->ph));
	for (i = 0; f->ph && i < n; i++)
		widen_phdr(&f->ph[i], (const Elf32_Phdr *)raw + i);
	free(raw);
	return f->ph || !n ? 0 : err_set(e, ENOMEM, "cannot read '%s': no memory", f->name);
}

static int read_shdrs(struct elf_file *f, uint64_t n, struct err *e)
{
	uint64_t entry = f->is32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
	void *raw;
	uint64_t i;
	int r;

	if (n > f->size / entry || n > HEADERS_MAX)
		return elf_file_bad(f, e, "its section headers lie past its end");
	r = elf_file_get(f, f->eh.e_shoff, n * entry, &raw, e);
	if (r)
		return r;
	f->n_sh = (uint32_t)n;
	if (!f->is32) {
		f->sh = raw;
		return 0;
	}
	f->sh = calloc(n, sizeof(*f->sh));
	for (i = 0; f->sh && i < n; i++)
		widen_shdr(&f->sh[i], (const Elf32_Shdr *)raw + i);
	free(raw);
	return f->sh || !n ? 0 : err_set(e, ENOMEM, "cannot read '%s': no memory", f->name);
}

int elf_file_open(struct elf_file *f, int fd, const void *mem, uint64_t size,
		  const char *name, bool sections, struct err *e)
{
	uint64_t n_ph, n_sh;
	struct stat st;
	int r;

	memset(f, 0, sizeof(*f));
	f->fd = fd;
	f->mem = mem;
	f->size = f->backed = size;
	f->name = name;
	if (fd >= 0) {
		if (fstat(fd, &st))
			return err_set(e, errno, "cannot read '%s': %s", name, strerror(errno));
		if (!S_ISREG(st.st_mode))
			return err_set(e, EINVAL, "cannot use '%s': it is %s, not a regular "
				       "file; give a program or a shared library", name,
				       S_ISDIR(st.st_mode) ? "a directory" :
				       S_ISFIFO(st.st_mode) ? "a FIFO" : "a device or socket");
		f->size = (uint64_t)st.st_size;
		/* 0 and 1 are said of what is not counted (FUSE), or not yet (ZFS) */
		f->backed = st.st_blocks > 1 ? (uint64_t)st.st_blocks * 512 : f->size;
	}
	r = read_ehdr(f, e);
	if (!r)
		r = count_headers(f, &n_ph, &n_sh, e);
	if (!r)
		r = read_phdrs(f, n_ph, e);
	if (!r && sections)
		r = read_shdrs(f, n_sh, e);
	if (r)
		elf_file_close(f);
	return r;
}

void elf_file_close(struct elf_file *f)
{
	free(f->ph);
	free(f->sh);
	f->ph = NULL;
	f->sh = NULL;
	f->n_ph = f->n_sh = 0;
}

bool elf_file_vaddr(const struct elf_file *f, uint64_t vaddr, uint64_t *offset,
		    uint64_t *left)
{
	uint32_t i;

	for (i = 0; i < f->n_ph; i++) {
		const Elf64_Phdr *p = &f->ph[i];

		if (p->p_type != PT_LOAD || vaddr - p->p_vaddr >= p->p_filesz)
			continue;
		*offset = p->p_offset + (vaddr - p->p_vaddr);
		*left = p->p_filesz - (vaddr - p->p_vaddr);
		return true;
	}
	return false;
}

/*
 * Notes: a header of three words, name and descriptor, each padded to @align.
 *
 *	04 00 00 00  14 00 00 00  03 00 00 00  "GNU\0"  20 bytes of build-id
 *	namesz       descsz       type
 */
static int note_build_id(const uint8_t *p, uint64_t n, uint64_t align,
			 uint8_t *id, size_t max)
{
	uint64_t at = 0;

	while (n - at >= sizeof(Elf64_Nhdr)) {
		uint64_t name = at + sizeof(Elf64_Nhdr), desc;
		Elf64_Nhdr h;

		memcpy(&h, p + at, sizeof(h));
		desc = (name + h.n_namesz + align - 1) & ~(align - 1);
		if (desc > n || h.n_descsz > n - desc)
			return 0;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    !memcmp(p + name, "GNU", 4) && h.n_descsz &&
		    h.n_descsz <= max) {
			memcpy(id, p + desc, h.n_descsz);
			return (int)h.n_descsz;
		}
		at = (desc + h.n_descsz + align - 1) & ~(align - 1);
		if (at > n)
			return 0;
	}
	return 0;
}

static int read_note(const struct elf_file *f, uint64_t offset, uint64_t n,
		     uint64_t align, uint8_t *id, size_t max)
{
	uint8_t *note;
	int len;

	if (n > 65536 || elf_file_get(f, offset, n, &note, NULL))
		return 0;
	len = note_build_id(note, n, align == 8 ? 8 : 4, id, max);
	free(note);
	return len;
}

int elf_file_build_id(const struct elf_file *f, uint8_t *id, size_t max)
{
	unsigned left = NOTES_MAX;
	uint32_t i;
	int len = 0;

	for (i = 0; i < f->n_ph && left && !len; i++)
		if (f->ph[i].p_type == PT_NOTE && left--)
			len = read_note(f, f->ph[i].p_offset, f->ph[i].p_filesz,
					f->ph[i].p_align, id, max);
	for (i = 0; i < f->n_sh && left && !len; i++)
		if (f->sh[i].sh_type == SHT_NOTE && left--)
			len = read_note(f, f->sh[i].sh_offset, f->sh[i].sh_size,
					f->sh[i].sh_addralign, id, max);
	return len;
}
