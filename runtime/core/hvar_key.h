/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_key.h - what memory an address really is.
 *
 * Two tasks' addresses have equal keys exactly when a write by one is seen by
 * the other: (file, offset) for shared mappings and for pages of a private
 * mapping not yet copied, (address space, address) for everything private.
 */
#ifndef HVAR_KEY_H
#define HVAR_KEY_H

#include "hvar_env.h"
#include "hvar_module.h"
#include "hvar_vmas.h"

/* Has this page of a private file mapping been copied on write? */
enum hvar_page_state {
	HVAR_PAGE_UNKNOWN, /* taken as copied where the area is writable */
	HVAR_PAGE_COPIED,
	HVAR_PAGE_FILES,
};

struct hvar_key {
	uint64_t object; /* inode of the file or shm, or the address space's number */
	uint64_t where;	 /* offset in the file, or address */
	uint64_t dev;	 /* major << 32 | minor; high bit set: @object is an address space; the one below set: a
			    SysV segment's number in the IPC namespace of the inode in the low half */
};

/*
 * The key of @addr, which @v holds, in address space @mm_id; @module is that of
 * @v, NULL if it has none.  A shared area whose identity is not known has keys
 * like no other address space's, but is not private.
 */
HVAR_API struct hvar_key hvar_key_of(const struct hvar_vma *v,
				     const struct hvar_module *module,
				     uint32_t mm_id, uint64_t addr,
				     enum hvar_page_state page);

/* Is @key's memory one address space's own? */
HVAR_API bool hvar_key_private(const struct hvar_key *key);

HVAR_API bool hvar_key_same(const struct hvar_key *a, const struct hvar_key *b);

#endif /* HVAR_KEY_H */
