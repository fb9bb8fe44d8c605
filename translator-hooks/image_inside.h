/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_inside.h - an ELF file that lies inside another file, from a page boundary on: a library in an archive.
 *
 *	base.apk  |  zip entry ..  | 7f 45 4c 46 ...  libgame.so  ... | zip entry .. |
 *	                           0x5000
 *
 * Loaders map its parts straight from the outer file.  Where it ends its own headers say.  Its image has the places of
 * its PT_LOADs in the outer file, as the memory map has them.
 */
#ifndef IMAGE_INSIDE_H
#define IMAGE_INSIDE_H

#include "image_cache.h"

/*
 * Is there a program or a shared library at @offset of the file at @fd?  Then its bytes into *@size, its build-id into
 * @id, and the length of that, 0 if it has none or one of more than @max.  Else -ENOEXEC or another -errno.
 */
int image_inside_look(int fd, uint64_t offset, uint64_t *size, uint8_t *id, size_t max);

/* Its image, made anew each time; @name is the outer file's.  As image_cache_get(). */
int image_inside_get(int fd, const char *name, uint64_t offset, struct image_file **out, struct err *e);

/* "base.apk@0x5000": the offset, which is whole pages, with *@len as the bytes of @name before it.  False if @name has none. */
bool image_inside_name(const char *name, size_t *len, uint64_t *offset);

#endif /* IMAGE_INSIDE_H */
