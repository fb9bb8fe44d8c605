// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stap_ldcache.c - read /etc/ld.so.cache.
 *
 *	"glibc-ld.so.cache1.1"  nlibs  len_strings  flags, extensions: 48 bytes in all
 *	nlibs times: flags  key  value  osversion  hwcap: 24 bytes; key and value are
 *	offsets, from the magic on, of two strings: libc.so.6, /lib/x86_64-linux-gnu/libc.so.6
 *
 * An older list, "ld.so-1.7.0" with nlibs and 12 bytes an entry, may stand before it.
 */
#include "config.h"

#include "stap_ldcache.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC	  "glibc-ld.so.cache1.1"
#define OLD_MAGIC "ld.so-1.7.0"
enum { HEAD = 48, ENTRY = 24, OLD_HEAD = 16, OLD_ENTRY = 12, MOST = 64 << 20 };

static uint32_t u32(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static int read_file(struct stap_ldcache *c, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size < MOST)
		c->data = malloc((size_t)st.st_size + 1);
	if (c->data)
		n = pread(fd, c->data, (size_t)st.st_size, 0);
	close(fd);
	if (n < 0)
		return -1;
	c->size = (size_t)n;
	c->data[n] = '\0';
	return 0;
}

void stap_ldcache_read(struct stap_ldcache *c, const char *path)
{
	size_t base = 0;

	*c = (struct stap_ldcache){ 0 };
	if (read_file(c, path))
		goto none;
	if (c->size >= OLD_HEAD && !memcmp(c->data, OLD_MAGIC, strlen(OLD_MAGIC)))
		base = (OLD_HEAD + (size_t)u32(c->data + 12) * OLD_ENTRY + 7) & ~(size_t)7;
	if (base > c->size || c->size - base < HEAD ||
	    memcmp(c->data + base, MAGIC, strlen(MAGIC)))
		goto none;
	c->base = base;
	c->entries = u32(c->data + base + 20);
	if (c->entries > (c->size - base - HEAD) / ENTRY)
		goto none;
	return;
none:
	stap_ldcache_fini(c);
}

void stap_ldcache_fini(struct stap_ldcache *c)
{
	free(c->data);
	*c = (struct stap_ldcache){ 0 };
}

const char *stap_ldcache_next(const struct stap_ldcache *c, const char *name, size_t *at)
{
	while (*at < c->entries) {
		const char *entry = c->data + c->base + HEAD + *at * ENTRY;
		size_t key = u32(entry + 4), value = u32(entry + 8);

		(*at)++;
		if (key < c->size - c->base && value < c->size - c->base &&
		    !strcmp(c->data + c->base + key, name))
			return c->data + c->base + value;
	}
	return NULL;
}
