/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache_dir.h - the folder that symbol images are kept in, and whether it can be trusted.
 *
 * $XDG_CACHE_HOME/hotvar, else ~/.cache/hotvar (XDG Base Directory
 * Specification).  It is used only if it is a folder of this user's own that
 * nobody else may write to; it is looked at once and then kept open, so it
 * cannot be exchanged.  Used by one thread.
 */
#ifndef CACHE_DIR_H
#define CACHE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The open folder, made if need be; -1 if there is none to be had. */
int cache_dir_fd(void);
const char *cache_dir_path(void); /* of it, NULL if there is none */
const char *cache_dir_why(void);  /* why there is none, or why it cannot be written; NULL: all is well */

/*
 * Keep the @size bytes at @data under @name, whole or not at all, as if last changed @mtime_ns after 1970.  Failure is
 * remembered for cache_dir_why() and costs no more than the next look-up's time.
 */
bool cache_dir_put(const char *name, const void *data, size_t size, uint64_t mtime_ns);

/* For tests: forget the folder, look again at the environment. */
void cache_dir_forget(void);

#endif /* CACHE_DIR_H */
