/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_file.h - the headers of an ELF file, read with bounds, as 64-bit structures.
 *
 * libelf finds and widens the headers and the records of tables.  The file is foreign and may
 * change or shrink while it is read: libelf is told to read it, with pread(2), never to map
 * it, and gets to see no table before its place is checked against the size of the file and
 * of what is no hole in it.  It never moves the descriptor's offset.
 */
#ifndef ELF_FILE_H
#define ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/user/err.h"

struct elf_file {
	int fd;		    /* borrowed; -1: @mem is the file */
	const uint8_t *mem; /* borrowed */
	uint64_t size;
	uint64_t backed;    /* bytes of it that take room on the disk */
	const char *name;   /* borrowed, for errors */
	bool is32;
	bool any_type;	    /* object files are taken too */
	Elf *elf;	    /* NULL: closed */
	Elf64_Ehdr eh;	    /* phnum, shnum, shstrndx here may be escapes: use n_ph, n_sh */
	Elf64_Phdr *ph;
	Elf64_Shdr *sh;
	uint32_t n_ph, n_sh, shstrndx;
};

/*
 * Read the ELF header, the program headers, and, with @sections, the section
 * headers, of the file at @fd or in the @size bytes at @mem.
 *
 * Returns 0 (close it with elf_file_close()), -EINVAL: not a regular file;
 * -ENOEXEC: no ELF file; -EBADMSG: damaged or cut short; -ENOTSUP: core,
 * relocatable, another machine or byte order; or -errno.  @e says it.
 */
int elf_file_open(struct elf_file *f, int fd, const void *mem, uint64_t size,
		  const char *name, bool sections, struct err *e);
/* The same, with section headers, for debug information alone: object files (.dwo) are taken too. */
int elf_file_open_debug(struct elf_file *f, int fd, const char *name, struct err *e);
void elf_file_close(struct elf_file *f);

/* Exactly @n bytes at @offset into @buf.  Returns 0, -EBADMSG if the file ends before, or -errno. */
int elf_file_read(const struct elf_file *f, uint64_t offset, void *buf,
		  uint64_t n, struct err *e);

/*
 * Can the @n bytes at @offset be a table?  Not if the file ends before, nor if it is so much
 * hole that they cannot be there: a sparse file may claim terabytes.
 */
bool elf_file_has(const struct elf_file *f, uint64_t offset, uint64_t n);

/* May the @n bytes at @offset be a table?  0, -EBADMSG, or -EFBIG: it has more of them than any real one. */
int elf_file_check(const struct elf_file *f, uint64_t offset, uint64_t n, struct err *e);

/* elf_file_read() of what elf_file_has(), malloc'd and followed by a NUL, into *@out. */
int elf_file_get(const struct elf_file *f, uint64_t offset, uint64_t n,
		 void *out, struct err *e);

/* elf_file_get() of records of @type, for gelf_getsym(3) and its like, into *@out, which @f owns. */
int elf_file_data(const struct elf_file *f, uint64_t offset, uint64_t n, Elf_Type type,
		  Elf_Data **out, struct err *e);

/*
 * Where in the file vaddr @vaddr is, and how many bytes of the file follow it
 * there in its PT_LOAD.  False if it is in none.
 */
bool elf_file_vaddr(const struct elf_file *f, uint64_t vaddr, uint64_t *offset,
		    uint64_t *left);

/* The index of the section called @name; 0 if there is none.  The headers must have been read. */
uint32_t elf_file_section(const struct elf_file *f, const char *name);

/* The build-id note into @id; returns its length, 0 if there is none of at most @max bytes. */
int elf_file_build_id(const struct elf_file *f, uint8_t *id, size_t max);

/* The error for a file that is damaged at @what. */
int elf_file_bad(const struct elf_file *f, struct err *e, const char *what);

#endif /* ELF_FILE_H */
