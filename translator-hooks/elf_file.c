// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elf_file.c - the headers of an ELF file, read by libelf, with bounds.
 *
 * libelf shortens or leaves out in silence a table that does not fit, and makes 200 bytes
 * of every section that the ELF header claims, be it there or in a hole.  So the numbers
 * of headers are read and checked here first.
 */
#include "config.h"

#include "elf_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "big_alloc.h"

/* More of any table than a real file has. */
#define TABLE_MAX   ((uint64_t)2 << 30)
/* A file system that packs its files does not pack a table smaller than by this. */
#define PACKED_MAX  64
#define PACKED_FROM ((uint64_t)32 << 20)
#define HEADERS_MAX ((uint64_t)1 << 20)
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

int elf_file_check(const struct elf_file *f, uint64_t offset, uint64_t n, struct err *e)
{
	if (!elf_file_has(f, offset, n))
		return elf_file_bad(f, e, "a table lies past its end");
	if (n > TABLE_MAX)
		return err_set(e, EFBIG,
			       "cannot read the symbols of '%s': one of its tables has %llu "
			       "bytes, more than any real one: strip the file", f->name,
			       (unsigned long long)n);
	return 0;
}

int elf_file_get(const struct elf_file *f, uint64_t offset, uint64_t n,
		 void *out, struct err *e)
{
	int r = elf_file_check(f, offset, n, e);
	char *p;

	if (r)
		return r;
	p = big_alloc(n + 1);
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

/* For when libelf would not read what was there a moment ago. */
static int read_error(const struct elf_file *f, struct err *e)
{
	int err = errno;

	return err ? err_set(e, err, "cannot read '%s': %s", f->name, strerror(err)) :
		     elf_file_bad(f, e, "it changed while it was read");
}

int elf_file_data(const struct elf_file *f, uint64_t offset, uint64_t n, Elf_Type type,
		  Elf_Data **out, struct err *e)
{
	int r = elf_file_check(f, offset, n, e);

	if (r)
		return r;
	errno = 0;
	*out = elf_getdata_rawchunk(f->elf, (int64_t)offset, n, type);
	return *out ? 0 : read_error(f, e);
}

/* The file's own refusal: what kind of ELF file this is not. */
static int check_kind(const struct elf_file *f, struct err *e)
{
	const Elf64_Ehdr *h = &f->eh;

	if (h->e_ident[EI_DATA] == ELFDATA2MSB)
		return err_set(e, ENOTSUP, "cannot use '%s': it is a big-endian ELF file, "
			       "whose variables no process of this machine has; give a file "
			       "made for x86", f->name);
	if (h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
		return elf_file_bad(f, e, "its ELF header holds impossible values");
	if (h->e_machine != EM_X86_64 && h->e_machine != EM_386)
		return err_set(e, ENOTSUP, "cannot use '%s': it is an ELF file for another "
			       "machine (number %u); give a file made for x86", f->name,
			       h->e_machine);
	if (h->e_machine == EM_386 && !f->is32)
		return elf_file_bad(f, e, "its ELF header holds impossible values");
	if (h->e_type == ET_REL && f->any_type)
		return 0;
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

/* libelf gets the first bytes alone here: what it does with the whole depends on what they say. */
static int read_ehdr(struct elf_file *f, struct err *e)
{
	uint64_t n = f->size < sizeof(Elf64_Ehdr) ? f->size : sizeof(Elf64_Ehdr);
	Elf64_Ehdr head = { 0 };
	Elf *elf;
	int r = elf_file_read(f, 0, &head, n, e);

	if (r)
		return r;
	if (n < EI_NIDENT || memcmp(head.e_ident, ELFMAG, SELFMAG))
		return err_set(e, ENOEXEC, "cannot use '%s': it is %s; give a program or a "
			       "shared library", f->name, n ? "no ELF file" : "empty");
	elf = elf_memory((char *)&head, n);
	f->is32 = gelf_getclass(elf) == ELFCLASS32;
	r = gelf_getehdr(elf, &f->eh) ? check_kind(f, e) :
	    elf_file_bad(f, e, "its ELF header is cut short, or of an impossible class or byte order");
	elf_end(elf);
	return r;
}

/* Section header 0, of which the numbers are wanted. */
static int read_zero(const struct elf_file *f, Elf64_Shdr *out, struct err *e)
{
	Elf32_Shdr s = { 0 };
	int r;

	if (!f->is32)
		return elf_file_read(f, f->eh.e_shoff, out, sizeof(*out), e);
	r = elf_file_read(f, f->eh.e_shoff, &s, sizeof(s), e);
	out->sh_size = s.sh_size;
	out->sh_info = s.sh_info;
	out->sh_link = s.sh_link;
	return r;
}

/* The numbers of headers, and whether so many can be; some stand in section header 0. */
static int count_headers(struct elf_file *f, bool sections, uint64_t *n_ph, uint64_t *n_sh,
			 struct err *e)
{
	uint64_t ph_size = f->is32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	uint64_t sh_size = f->is32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
	const Elf64_Ehdr *h = &f->eh;
	Elf64_Shdr zero;
	int r;

	*n_ph = h->e_phoff ? h->e_phnum : 0;
	*n_sh = h->e_shoff ? h->e_shnum : 0;
	f->shstrndx = h->e_shstrndx;
	if (*n_ph && h->e_phentsize != ph_size)
		return elf_file_bad(f, e, "its program headers have an impossible size");
	if (*n_sh && h->e_shentsize != sh_size)
		return elf_file_bad(f, e, "its section headers have an impossible size");
	if (*n_ph == PN_XNUM && !h->e_shoff)
		return elf_file_bad(f, e, "the number of its program headers is missing");
	if (h->e_shoff && (!h->e_shnum || h->e_phnum == PN_XNUM ||
			   h->e_shstrndx == SHN_XINDEX)) {
		r = read_zero(f, &zero, e);
		if (r)
			return r;
		if (!h->e_shnum)
			*n_sh = zero.sh_size;
		if (h->e_phnum == PN_XNUM)
			*n_ph = zero.sh_info;
		if (h->e_shstrndx == SHN_XINDEX)
			f->shstrndx = zero.sh_link;
	}
	if (*n_ph > HEADERS_MAX || !elf_file_has(f, h->e_phoff, *n_ph * ph_size))
		return elf_file_bad(f, e, "its program headers lie past its end");
	/* without @sections, libelf makes none where they lie past the end */
	if (*n_sh > HEADERS_MAX || ((sections || !h->e_shnum) &&
				    !elf_file_has(f, h->e_shoff, *n_sh * sh_size)))
		return elf_file_bad(f, e, "its section headers lie past its end");
	return 0;
}

/* libelf wants to be told, before all else, which version of ELF its caller was made for. */
static void use_libelf(void)
{
	elf_version(EV_CURRENT);
}

/*
 * libelf reads the ELF header anew.  If that has changed since it was checked, the headers are
 * others or too few, as if the file had been opened later; only the memory for the sections
 * that it claims is then bounded by the size of the file alone.
 */
static int read_headers(struct elf_file *f, uint64_t n_ph, uint64_t n_sh, struct err *e)
{
	errno = 0;
	f->elf = f->fd < 0 ? elf_memory((char *)f->mem, f->size) :
			     elf_begin(f->fd, ELF_C_READ, NULL);
	f->ph = f->elf ? calloc(n_ph + 1, sizeof(*f->ph)) : NULL;
	f->sh = f->ph ? calloc(n_sh + 1, sizeof(*f->sh)) : NULL;
	if (!f->sh)
		return read_error(f, e);
	for (; f->n_ph < n_ph; f->n_ph++)
		if (!gelf_getphdr(f->elf, (int)f->n_ph, &f->ph[f->n_ph]))
			return read_error(f, e);
	for (; f->n_sh < n_sh; f->n_sh++)
		if (!gelf_getshdr(elf_getscn(f->elf, f->n_sh), &f->sh[f->n_sh]))
			return read_error(f, e);
	return 0;
}

static int open_file(struct elf_file *f, int fd, const void *mem, uint64_t size,
		     const char *name, bool sections, bool any_type, struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint64_t n_ph, n_sh;
	struct stat st;
	int r;

	pthread_once(&once, use_libelf);
	memset(f, 0, sizeof(*f));
	f->fd = fd;
	f->mem = mem;
	f->size = f->backed = size;
	f->name = name;
	f->any_type = any_type;
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
		r = count_headers(f, sections, &n_ph, &n_sh, e);
	if (!r)
		r = read_headers(f, n_ph, sections ? n_sh : 0, e);
	if (r)
		elf_file_close(f);
	return r;
}

int elf_file_open(struct elf_file *f, int fd, const void *mem, uint64_t size,
		  const char *name, bool sections, struct err *e)
{
	return open_file(f, fd, mem, size, name, sections, false, e);
}

int elf_file_open_debug(struct elf_file *f, int fd, const char *name, struct err *e)
{
	return open_file(f, fd, NULL, 0, name, true, true, e);
}

void elf_file_close(struct elf_file *f)
{
	elf_end(f->elf);
	free(f->ph);
	free(f->sh);
	f->elf = NULL;
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

uint32_t elf_file_section(const struct elf_file *f, const char *name)
{
	const Elf64_Shdr *strs = &f->sh[f->shstrndx];
	size_t len = strlen(name);
	uint32_t i, found = 0;
	char *text;

	if (!f->shstrndx || f->shstrndx >= f->n_sh || strs->sh_type != SHT_STRTAB ||
	    elf_file_get(f, strs->sh_offset, strs->sh_size, &text, NULL))
		return 0;
	for (i = 1; i < f->n_sh && !found; i++)
		if (f->sh[i].sh_name < strs->sh_size && strs->sh_size - f->sh[i].sh_name > len &&
		    !memcmp(text + f->sh[i].sh_name, name, len + 1))
			found = i;
	free(text);
	return found;
}

static int read_note(const struct elf_file *f, uint64_t offset, uint64_t n,
		     uint64_t align, uint8_t *id, size_t max)
{
	size_t at = 0, name, desc;
	Elf_Data *d;
	GElf_Nhdr h;

	if (!n || n > 65536 ||
	    elf_file_data(f, offset, n, align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR, &d, NULL))
		return 0;
	while ((at = gelf_getnote(d, at, &h, &name, &desc))) {
		if (h.n_type != NT_GNU_BUILD_ID || h.n_namesz != 4 ||
		    memcmp((char *)d->d_buf + name, "GNU", 4) || !h.n_descsz ||
		    h.n_descsz > max)
			continue;
		memcpy(id, (char *)d->d_buf + desc, h.n_descsz);
		return (int)h.n_descsz;
	}
	return 0;
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
