/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_ldcache.h - /etc/ld.so.cache, where ldconfig(8) tells the dynamic linker the places of libraries.
 *
 * The form is glibc's, "glibc-ld.so.cache1.1" (elf/dl-cache.h there); a file of another form, or a damaged
 * one, tells nothing.
 */
#ifndef STAP_LDCACHE_H
#define STAP_LDCACHE_H

#include <stddef.h>

/* All zero: not read. */
struct stap_ldcache {
	char *data; /* the file and a NUL, or NULL */
	size_t size, base; /* bytes; where offsets count from */
	size_t entries; /* how many */
};

/* Read @path.  What cannot be read is an empty cache. */
void stap_ldcache_read(struct stap_ldcache *c, const char *path);
void stap_ldcache_fini(struct stap_ldcache *c);

/*
 * The path of the next library called @name, of any machine; *@at is 0 at first, and moved on.
 * NULL: no more.  Borrowed from @c.
 */
const char *stap_ldcache_next(const struct stap_ldcache *c, const char *name, size_t *at);

#endif /* STAP_LDCACHE_H */
