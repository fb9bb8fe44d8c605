/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk_memory.h - a copy of the pages of another process that a walk comes to, and which bytes of them are known.
 *
 * Private to the walker.  What the walk writes is written into the copy.
 */
#ifndef WALK_MEMORY_H
#define WALK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct walk_memory;

struct walk_memory *walk_memory_new(void); /* NULL: no memory */
void walk_memory_free(struct walk_memory *m);

/* From now on it is that of @pid, as it is when a page is first come to. */
void walk_memory_begin(struct walk_memory *m, pid_t pid);

enum walk_memory_result {
	WALK_MEMORY_NONE,
	WALK_MEMORY_KNOWN,
	WALK_MEMORY_UNKNOWN
};

/* @len <= 64 bytes at @addr; UNKNOWN if one of them is. */
enum walk_memory_result walk_memory_read(struct walk_memory *m, uint64_t addr,
					 void *to, size_t len);

/* @from NULL: with bytes that are not known.  False: there is no such memory, or no room for more. */
bool walk_memory_write(struct walk_memory *m, uint64_t addr, const void *from,
		       size_t len);

#endif /* WALK_MEMORY_H */
