/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_vmas.h - the mappings of one address space, as a sorted interval map.
 *
 * Always true between calls: sorted by start, none empty, none overlapping, and
 * canonical: no two neighbours that hvar_vma_joins() would make one.  So two
 * lists that cover the same bytes alike are equal entry by entry, whatever
 * calls made them.
 *
 * The storage is the caller's and holds no pointers: a caller may copy it to a
 * larger place and say so with hvar_vmas_moved().  The caller also locks.
 */
#ifndef HVAR_VMAS_H
#define HVAR_VMAS_H

#include "hvar_env.h"

/* What an area may be used for, and whether writes are seen by others. */
enum hvar_prot {
	HVAR_PROT_READ = 1,
	HVAR_PROT_WRITE = 2,
	HVAR_PROT_EXEC = 4,
	HVAR_PROT_SHARED = 8, /* MAP_SHARED: VM_MAYSHARE, the "s" of maps */
};

/* What kind of memory an area is, by its origin, not by an ELF section. */
enum hvar_region {
	HVAR_REGION_NONE, /* unmapped */
	HVAR_REGION_FILE,
	HVAR_REGION_ANON,
	HVAR_REGION_HEAP,     /* brk: "[heap]" */
	HVAR_REGION_STACK,    /* the main thread's: "[stack]" */
	HVAR_REGION_SHM,      /* memfd, SysV, shared anonymous, /dev/shm */
	HVAR_REGION_VDSO,
	HVAR_REGION_VVAR,     /* "[vvar]", "[vvar_vclock]" */
	HVAR_REGION_VSYSCALL,
	HVAR_REGION_JIT,      /* anonymous and executable, named by a perf map */
	HVAR_REGIONS
};

struct hvar_vma {
	uint64_t start;	 /* first byte */
	uint64_t end;	 /* one past the last byte */
	uint64_t pgoff;	 /* of start, in bytes into the module's file; 0 without a file */
	uint32_t module; /* number in the host's module table, 0: no file and no name */
	uint8_t prot;	 /* enum hvar_prot bits */
	uint8_t region;	 /* enum hvar_region */
	uint16_t flags;	 /* enum hvar_vma_flags */
};

/* Facts of an area that change neither what it may be used for nor its kind. */
enum hvar_vma_flags {
	HVAR_VMA_DELETED = 1, /* the file had no name any more when last looked at */
	HVAR_VMA_NAMED = 2,   /* its module is a name, no file ("[anon:x]"): no pgoff */
};

struct hvar_vmas {
	void *mem;	/* borrowed */
	uint64_t size;	/* bytes of it */
	uint32_t n;	/* areas in the list */
	uint32_t cap;	/* areas it takes at most: hvar_vmas_room() */
	uint32_t root;	/* private from here on: how the list lies in mem */
	uint32_t height;
	uint32_t used;
	uint32_t free_leaf;
	uint32_t free_inner;
	uint64_t lost;	/* changes refused for want of room */
};

/*
 * Make @m empty, in the @size bytes at @mem (aligned to 64), which must outlive
 * it.  hvar_vmas_bytes() says how many bytes are always enough for @n areas.
 */
HVAR_API void hvar_vmas_init(struct hvar_vmas *m, void *mem, uint64_t size);
HVAR_API uint64_t hvar_vmas_bytes(uint32_t n);

/* How many more areas surely fit, whatever the calls. */
HVAR_API uint32_t hvar_vmas_room(const struct hvar_vmas *m);

/* The caller has copied the list's bytes to @mem, of @size bytes, not fewer. */
HVAR_API void hvar_vmas_moved(struct hvar_vmas *m, void *mem, uint64_t size);

/* The area that holds the byte at @addr, or NULL.  Good until the next change. */
HVAR_API const struct hvar_vma *hvar_vmas_find(const struct hvar_vmas *m,
					       uint64_t addr);

/*
 * The first area that ends above @addr, or NULL: it holds @addr, or is the next
 * one above.  Walk a list from next(m, 0) by next(m, v->end).
 */
HVAR_API const struct hvar_vma *hvar_vmas_next(const struct hvar_vmas *m,
					       uint64_t addr);

/* The last area that starts below @addr, or NULL.  For walking down. */
HVAR_API const struct hvar_vma *hvar_vmas_prev(const struct hvar_vmas *m,
					       uint64_t addr);

/*
 * Make [@start, @end) one area like @as, whose own start and end are not read
 * (its pgoff is that of @start), over whatever was there.  NULL @as leaves a
 * hole: munmap().
 *
 * Returns 0, -EINVAL if the range is empty, or -ENOSPC with only @m->lost
 * changed: give it more room and call again.
 */
HVAR_API int hvar_vmas_set(struct hvar_vmas *m, uint64_t start, uint64_t end,
			   const struct hvar_vma *as);

/*
 * Would @b, which starts where @a ends, be one area with it?  Alike in module,
 * prot, region and flags, and with @b's pgoff following @a's where there is
 * one: without a module, with HVAR_VMA_NAMED, and in the regions heap, stack, vdso,
 * vvar and vsyscall there is none (set() keeps it 0), as in /proc/PID/maps.
 */
HVAR_API bool hvar_vma_joins(const struct hvar_vma *a, const struct hvar_vma *b);

/* The attributes (all but start and end) of @v at @addr, inside it, into @out. */
HVAR_API void hvar_vma_at(const struct hvar_vma *v, uint64_t addr,
			  struct hvar_vma *out);

#endif /* HVAR_VMAS_H */
