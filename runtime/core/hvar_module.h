/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_module.h - identity of a mapped object: a file, shared memory, a named area.
 *
 * A module is what a VMA's number points at.  Its identity is device, inode,
 * build-id, mtime and size, never the path alone: one path may be several
 * modules (replaced, other namespace), one file several paths.
 */
#ifndef HVAR_MODULE_H
#define HVAR_MODULE_H

#include "hvar_env.h"

#define HVAR_BUILD_ID_MAX 32

enum hvar_module_flags {
	HVAR_MODULE_ELF = 1,	 /* its first bytes are an ELF header's */
	HVAR_MODULE_PSEUDO = 2,	 /* no file: "[vdso]", "[anon:x]" */
	HVAR_MODULE_UNREAD = 4,	 /* could not be opened: mtime, size, build-id unknown */
	HVAR_MODULE_STALE = 8,	 /* its file was changed after it was mapped: without a build-id, which
				    is from before that then, nobody knows what it was */
	HVAR_MODULE_DELETED = 16, /* no name any more when last seen */
	HVAR_MODULE_SYSV = 32,	 /* a SysV segment: ino is its number in its IPC namespace, which may be 0, and
				    mtime_ns that namespace's inode number, 0 if it is not known */
};

struct hvar_module {
	uint32_t dev_major, dev_minor; /* as /proc/PID/maps prints them */
	uint64_t ino;
	uint64_t size;		       /* bytes */
	uint64_t mtime_ns;	       /* since 1970 */
	uint32_t path;		       /* in the host's string pool; decoded, without " (deleted)" */
	uint32_t flags;		       /* enum hvar_module_flags */
	uint8_t build_id_len;	       /* 0: none known */
	uint8_t build_id[HVAR_BUILD_ID_MAX];
	uint8_t zero[3];
	uint32_t elf_page;	       /* the ELF file begins at that page of the file: 0 unless it lies inside another */
};

/* Modules are numbered from 1; number 0 is "no file and no name". */
struct hvar_modules {
	struct hvar_module *v; /* borrowed, @cap of them; v[0] unused */
	uint32_t cap;
	uint32_t n;	       /* highest number given out */
	uint32_t *slots;       /* borrowed: hash table, @nslots (a power of 2) */
	uint32_t nslots;
	uint64_t lost;	       /* modules refused for want of room */
};

HVAR_API void hvar_modules_init(struct hvar_modules *t, struct hvar_module *v,
				uint32_t cap, uint32_t *slots, uint32_t nslots);
HVAR_API void hvar_modules_moved(struct hvar_modules *t, struct hvar_module *v,
				 uint32_t cap, uint32_t *slots, uint32_t nslots);

/*
 * The number of the module that is @as in device, inode, path, size, mtime,
 * build-id and page, added if new, into @out.
 * Returns 0, or -ENOSPC with only @t->lost changed.
 */
HVAR_API int hvar_modules_add(struct hvar_modules *t,
			      const struct hvar_module *as, uint32_t *out);

/* Module number @id, or NULL for 0 and numbers never given out. */
HVAR_API const struct hvar_module *hvar_modules_get(const struct hvar_modules *t,
						    uint32_t id);

/* Same file, as far as both know?  A build-id on both sides decides. */
HVAR_API bool hvar_module_same(const struct hvar_module *a,
			       const struct hvar_module *b);

#endif /* HVAR_MODULE_H */
