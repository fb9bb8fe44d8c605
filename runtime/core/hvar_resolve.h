/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_resolve.h - address -> VMA -> file offset -> PT_LOAD -> vaddr -> symbol.
 *
 *	vaddr = addr - vm_start + pgoff - p_offset + p_vaddr
 *
 * with the PT_LOAD whose page-rounded file range holds the VMA's offset and
 * whose protection fits; each PT_LOAD has a bias of its own.  Memory past
 * p_filesz up to pageup(p_vaddr + p_memsz) is an anonymous VMA that follows and
 * belongs to the module, and not a page further, whatever it was merged with.
 * Slack and gaps name nothing.  A miss says why.
 *
 * Which PT_LOAD an area maps is not told by its own offset alone (small files
 * have all of them in one page): the load bias that most PT_LOADs of the file
 * agree on, looked up in the same map, decides.
 */
#ifndef HVAR_RESOLVE_H
#define HVAR_RESOLVE_H

#include "hvar_env.h"
#include "hvar_image.h"
#include "hvar_vmas.h"

/* Why no symbol covers an address. */
enum hvar_reason {
	HVAR_REASON_NONE,     /* one does */
	HVAR_REASON_UNMAPPED, /* no area holds it */
	HVAR_REASON_NO_SYMBOL, /* the file's tables have none there */
	HVAR_REASON_STRIPPED, /* as above, and locals are not in them */
	HVAR_REASON_GAP,      /* slack of a page, or between segments */
	HVAR_REASON_STALE,    /* the file is not what was mapped */
	HVAR_REASON_NO_ACCESS, /* the file, or the process, could not be read */
	HVAR_REASON_NO_ELF,   /* mapped file is no ELF file */
	HVAR_REASON_NO_FILE,  /* memory without a file: heap, stack, anonymous */
	HVAR_REASON_BAD_ELF,  /* the file is damaged, or of a class we cannot read */
	HVAR_REASON_NOT_LOADED, /* an ELF file mapped as plain data: its variables are not there */
	HVAR_REASONS
};

enum hvar_place_flags {
	HVAR_PLACE_VADDR = 1,	 /* vaddr, bias are set */
	HVAR_PLACE_OFFSET = 2,	 /* file_offset is set: the byte is in the file */
	HVAR_PLACE_TLS = 8,	 /* thread-local: symbol is an index into tls_syms, offset that in it */
	HVAR_PLACE_REMAPPED = 4, /* anonymous memory in place of the module's own pages */
};

struct hvar_place {
	struct hvar_vma vma;  /* a copy; region NONE if none holds the address */
	uint32_t module;      /* that the address belongs to; 0: none */
	uint32_t symbol;      /* index in the image, or HVAR_IMAGE_NONE */
	uint32_t section;     /* likewise */
	uint32_t kind;	      /* enum hvar_kind */
	uint32_t reason;      /* enum hvar_reason */
	uint32_t flags;	      /* enum hvar_place_flags */
	uint64_t vaddr, bias, file_offset;
	uint64_t offset, size; /* from the symbol's start; the symbol's */
};

/*
 * The image of module @id, borrowed until the next call, or NULL with the reason in *@why
 * (STALE NO_ACCESS NO_ELF BAD_ELF).
 */
typedef const struct hvar_image *(*hvar_image_of_fn)(void *ctx, uint32_t id,
						     uint32_t *why);

/* Fill *@out for @addr.  Always succeeds: what is not known has a reason. */
HVAR_API void hvar_resolve(const struct hvar_vmas *m, uint64_t addr,
			   hvar_image_of_fn image_of, void *ctx,
			   struct hvar_place *out);

/* The same for a link-time @vaddr of @img, without a map. */
HVAR_API void hvar_resolve_static(const struct hvar_image *img, uint64_t vaddr,
				  struct hvar_place *out);

HVAR_API const char *hvar_reason_name(uint32_t reason);

#endif /* HVAR_RESOLVE_H */
