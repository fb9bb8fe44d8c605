/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_strs.h - a string pool: equal strings are stored once and have one number.
 *
 * A number is the string's offset in the pool's bytes; 0 is the empty string.
 * Numbers stay good when the storage is moved.  Strings may hold any byte but NUL.
 */
#ifndef HVAR_STRS_H
#define HVAR_STRS_H

#include "hvar_env.h"

struct hvar_strs {
	char *bytes;	 /* borrowed, @cap of them */
	uint32_t cap;
	uint32_t used;
	uint32_t *slots; /* borrowed: hash table of offsets, @nslots (a power of 2) */
	uint32_t nslots;
	uint32_t n;	 /* strings held, the empty one not counted */
	uint64_t lost;	 /* strings refused for want of room */
};

/* @slots is cleared here.  @nslots must be a power of two, @cap at least 1. */
HVAR_API void hvar_strs_init(struct hvar_strs *p, char *bytes, uint32_t cap,
			     uint32_t *slots, uint32_t nslots);

/*
 * Go on in larger storage: @bytes already holds a copy of the old @used bytes;
 * @slots is cleared and filled anew.
 */
HVAR_API void hvar_strs_moved(struct hvar_strs *p, char *bytes, uint32_t cap,
			      uint32_t *slots, uint32_t nslots);

/*
 * The number of the @len bytes at @s, added if new, into @out.
 * Returns 0, -EINVAL if they hold a NUL, or -ENOSPC with only @p->lost changed.
 */
HVAR_API int hvar_strs_add(struct hvar_strs *p, const char *s, uint32_t len,
			   uint32_t *out);

/* The string of number @id, NUL-terminated; "" for a number never given out. */
HVAR_API const char *hvar_strs_get(const struct hvar_strs *p, uint32_t id);

#endif /* HVAR_STRS_H */
