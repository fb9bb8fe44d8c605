/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_cache.h - images on disk, by build-id, under $XDG_CACHE_HOME/hotvar.
 *
 * Entries are written to a temporary name and renamed, so a reader sees a whole
 * image or none, whoever else writes.  The key is the build-id and a hash of the
 * file's size and headers, so a stripped copy and the whole one keep an image each;
 * without a build-id, device and inode and that hash.  An entry that does not open
 * (damaged, other version) or does not belong to the file any more (its times differ, and the
 * hash of its symbol tables too) is made anew.  A cache that cannot be used
 * (missing, read-only, full, someone else's) costs time, never the answer:
 * image_cache_why() says what is wrong with it.  Used by one thread at a time.
 */
#ifndef IMAGE_CACHE_H
#define IMAGE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/core/hvar_image.h"
#include "runtime/user/err.h"

/* An image in use: mapped from the cache, or in our own memory. */
struct image_file {
	struct hvar_image img;
	void *data;
	size_t size;
	bool mapped;  /* data is from mmap, else from malloc */
	bool cached;  /* it was in the cache already */
	char path[4096]; /* of the cache entry; "" if it could not be kept */
};

/*
 * The image of the regular ELF file open at @fd, called @name in errors: from
 * the cache, or built and entered.  Returns 0 with *@out (free it with
 * image_file_free()), or as image_build_fd().
 */
int image_cache_get(int fd, const char *name, struct image_file **out, struct err *e);

/*
 * The image for a build-id alone, when the file is gone; of several copies the one
 * that knows most.  -ENOENT if it is not in the cache.
 */
int image_cache_find(const uint8_t *build_id, size_t len, struct image_file **out);

/* An image from bytes that the caller owns no more (malloc'd): a recording's. */
int image_file_of_mem(void *data, size_t size, struct image_file **out, struct err *e);

void image_file_free(struct image_file *f);

/* The cache's directory, made if need be; NULL if there is none to be had. */
const char *image_cache_dir(void);
/* Why the cache is not used or not written, with what to do; NULL if all is well. */
const char *image_cache_why(void);

#endif /* IMAGE_CACHE_H */
