/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_build.h - ELF -> symbol image.
 *
 * Reads .symtab and .dynsym, else, without section headers, PT_DYNAMIC.  Of a stripped file,
 * the .symtab of its debug file as well, or the functions in .gnu_debugdata.  The
 * file is foreign input: whatever it holds, the answer is an image that
 * hvar_image_open() accepts or an error, and never a wrong name.
 */
#ifndef IMAGE_BUILD_H
#define IMAGE_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/core/hvar_image_format.h"
#include "runtime/user/err.h"

/* What is read in passing: it takes a fraction of a second, once. */
#define IMAGE_BUILD_DEBUG ((uint64_t)64 << 20)
/* What somebody waits for who asked for it. */
#define IMAGE_BUILD_DEBUG_ALL ((uint64_t)2 << 30)

/*
 * Build the image of the regular file open at @fd (its offset is not used and
 * not moved), called @name in errors.  *@data is malloc'd, *@size bytes.
 *
 * Returns 0; -ENOEXEC: not an ELF file; -EBADMSG: damaged; -ENOTSUP: an ELF
 * file of a kind that holds no addresses of this machine (core, relocatable,
 * another machine or byte order); -EINVAL: not a regular file; or -errno.
 * Every error but 0 sets @e.
 */
int image_build_fd(int fd, const char *name, void **data, size_t *size,
		   struct err *e);
/* The same, with @src in it. */
int image_build_of(int fd, const char *name, const struct hvar_image_source *src, void **data,
		   size_t *size, struct err *e);
/* The same from an ELF image in memory ([vdso], the fuzzer). */
int image_build_mem(const void *elf, size_t n, const char *name, void **data,
		    size_t *size, struct err *e);
/* The same of one that lies at @offset of another file: so do its PT_LOADs then. */
int image_build_inside(const void *elf, size_t n, const char *name, uint64_t offset,
		       void **data, size_t *size, struct err *e);

/*
 * Debug information of more bytes than @limit, in one program, is not read from now on: its symbols have names
 * then, its members none.  Until told otherwise, IMAGE_BUILD_DEBUG.
 */
void image_build_debug(uint64_t limit);
uint64_t image_build_debug_limit(void);

/*
 * The build-id note of the ELF file at @fd into @id, read from its program
 * headers alone, cheaply.  Returns its length, 0 if it has none or one of more
 * than @max bytes, or -errno as image_build_fd() (-ENOEXEC: no ELF file).
 */
int image_build_id(int fd, uint8_t *id, size_t max);

#endif /* IMAGE_BUILD_H */
