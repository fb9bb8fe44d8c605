/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_key.c - what memory an address really is.
 *
 *	mapping		page		key
 *	shared		any		the file's (or shm's) device, inode, offset
 *	shared, SysV	any		IPC namespace, segment, offset: their numbers count anew in each namespace,
 *					and are no inodes, though maps prints them like those of the same device
 *	private file	still the file's	the same: a write to the file is seen
 *	private file	copied		address space, address
 *	private, no file	any	address space, address
 *	shared, identity not known	address space, address, but not private
 *
 * A copy-on-write page that a fork shares is nobody else's memory: a write by
 * one is not seen by the other, so parent and child have two keys from the fork on.
 */
#include "hvar_key.h"

/* No file's device: the kernel's majors have 12 bits. */
#define HVAR_KEY_SPACE	((uint64_t)1 << 63)
#define HVAR_KEY_SHARED ((uint64_t)1)
#define HVAR_KEY_SYSV	((uint64_t)1 << 62)

/* Does private memory of this area come from a file or shm object at all? */
static bool hvar_key_has_file(const struct hvar_vma *v,
			      const struct hvar_module *module)
{
	if (!module || (!module->ino && !(module->flags & HVAR_MODULE_SYSV)))
		return false;
	/* All of "anon_inode:[perf_event]" have one inode, and a device may show
	   each opener other memory: whether that is shared cannot be told. */
	if ((module->flags & HVAR_MODULE_PSEUDO) && v->region == HVAR_REGION_FILE)
		return false;
	if (v->prot & HVAR_PROT_SHARED)
		return true;
	/* A private mapping of /dev/zero or of huge pages names a file it never shows. */
	return v->region == HVAR_REGION_FILE || v->region == HVAR_REGION_SHM;
}

HVAR_API struct hvar_key hvar_key_of(const struct hvar_vma *v,
				     const struct hvar_module *module,
				     uint32_t mm_id, uint64_t addr,
				     enum hvar_page_state page)
{
	struct hvar_key key;
	bool shared = v->prot & HVAR_PROT_SHARED;
	bool files = shared;

	if (!shared) {
		if (page == HVAR_PAGE_UNKNOWN)
			files = !(v->prot & HVAR_PROT_WRITE);
		else
			files = page == HVAR_PAGE_FILES;
	}
	if (files && hvar_key_has_file(v, module)) {
		key.object = module->ino;
		key.dev = (uint64_t)(module->dev_major & 0x3fffffff) << 32 |
			  module->dev_minor;
		if (module->flags & HVAR_MODULE_SYSV)
			key.dev = HVAR_KEY_SYSV | (uint32_t)module->mtime_ns;
		key.where = v->pgoff + (addr - v->start);
	} else {
		key.object = mm_id;
		key.dev = HVAR_KEY_SPACE | (shared ? HVAR_KEY_SHARED : 0);
		key.where = addr;
	}
	return key;
}

HVAR_API bool hvar_key_private(const struct hvar_key *key)
{
	return key->dev == HVAR_KEY_SPACE;
}

HVAR_API bool hvar_key_same(const struct hvar_key *a, const struct hvar_key *b)
{
	return a->object == b->object && a->where == b->where &&
	       a->dev == b->dev;
}
