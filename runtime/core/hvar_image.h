/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_image.h - a symbol image: one ELF file's names, packed for look-up in place.
 *
 * Position-independent, read-only, without pointers: mapped from the cache by
 * the user host, loaded by the kernel host.  hvar_image_open() checks it once
 * against anything a hostile file could hold (checksum, bounds, order, string
 * ends); every later call then trusts it and cannot fail or run away.
 *
 * Overlaps are settled when an image is built: look-up sees disjoint extents,
 * each owned by the symbol whose name is the right one there.  A page index
 * leads from a page of vaddrs straight to its extents.
 */
#ifndef HVAR_IMAGE_H
#define HVAR_IMAGE_H

#include "hvar_env.h"
#include "hvar_module.h"
#include "hvar_vmas.h"

#define HVAR_IMAGE_NONE ((uint32_t)-1)

/* Kind of memory an address is, as the JSON names it: region or ELF section. */
enum hvar_kind {
	HVAR_KIND_UNMAPPED,
	HVAR_KIND_TEXT,
	HVAR_KIND_DATA,
	HVAR_KIND_RODATA,
	HVAR_KIND_RELRO,
	HVAR_KIND_BSS,
	HVAR_KIND_TLS,
	HVAR_KIND_HEAP,
	HVAR_KIND_STACK,
	HVAR_KIND_ANON,
	HVAR_KIND_SHM,
	HVAR_KIND_VDSO,
	HVAR_KIND_VVAR,
	HVAR_KIND_VSYSCALL,
	HVAR_KIND_JIT,
	HVAR_KIND_FILE,
	HVAR_KINDS
};

/* One PT_LOAD (or PT_TLS, see hvar_image.tls). */
struct hvar_image_seg {
	uint64_t offset, vaddr, filesz, memsz, align;
	uint32_t prot; /* enum hvar_prot READ WRITE EXEC */
	uint32_t zero;
};

struct hvar_image_section {
	uint64_t vaddr, size;
	uint32_t name; /* string */
	uint32_t kind; /* enum hvar_kind TEXT DATA RODATA RELRO BSS TLS (.tbss only: it takes no memory) */
};

enum hvar_sym_binding { HVAR_BIND_LOCAL, HVAR_BIND_GLOBAL, HVAR_BIND_WEAK, HVAR_BIND_UNIQUE };
enum hvar_sym_type { HVAR_SYM_NOTYPE, HVAR_SYM_OBJECT, HVAR_SYM_FUNC, HVAR_SYM_TLS, HVAR_SYM_IFUNC, HVAR_SYM_COMMON };
enum hvar_sym_flags {
	HVAR_SYM_LABEL = 1,	/* size 0: names its own address only */
	HVAR_SYM_SAME_NAME = 2, /* another variable of this module has this name: say its file */
	HVAR_SYM_DYNSYM = 4,	/* from .dynsym (or PT_DYNAMIC): no better table was there */
	HVAR_SYM_DEBUG = 8,	/* no table has it: a variable of the debug information */
};

/* Where a symbol is known from, the best of them if several. */
enum hvar_sym_origin {
	HVAR_ORIGIN_NONE,	/* not known: an older image */
	HVAR_ORIGIN_SYMTAB,	/* .symtab of the file itself */
	HVAR_ORIGIN_DYNSYM,	/* .dynsym, or what PT_DYNAMIC leads to */
	HVAR_ORIGIN_BUILD_ID,	/* the debug file that was found by build-id */
	HVAR_ORIGIN_DEBUGLINK,	/* that which .gnu_debuglink names */
	HVAR_ORIGIN_DEBUGINFOD,	/* that which a debuginfod server had */
	HVAR_ORIGIN_DEBUGDATA,	/* .gnu_debugdata */
	HVAR_ORIGIN_DWARF,	/* debug information alone */
	HVAR_ORIGIN_DWZ,	/* likewise, named in dwz's common file */
	HVAR_ORIGINS
};

/* Sorted by (vaddr, size, rank): an alias group, same start and size, is a run, its canonical name first. */
struct hvar_image_sym {
	uint64_t vaddr; /* of TLS: offset in the module's TLS block */
	uint64_t size;	/* bytes; 0: a label */
	uint32_t name;	/* string */
	uint32_t file;	/* string: source file by STT_FILE, 0: not known */
	uint32_t section; /* index, HVAR_IMAGE_NONE: none */
	uint8_t binding, type, flags;
	uint8_t origin; /* enum hvar_sym_origin */
};

/* [start, end) of code that is one function, or one of its parts, without a sized symbol of a function. */
struct hvar_image_range {
	uint64_t start, end;
};

/* The bytes themselves: hvar_image_format.h, for the builder. */
struct hvar_image_header;
/* Types and what is known of variables: hvar_type.h. */
struct hvar_image_type;
struct hvar_image_member;
struct hvar_image_var;

struct hvar_image {
	const uint8_t *base; /* borrowed, @size bytes */
	uint64_t size;
	const struct hvar_image_header *h;
	const struct hvar_image_seg *segs;
	const struct hvar_image_section *sections;
	const struct hvar_image_sym *syms;     /* text and data */
	const struct hvar_image_sym *tls_syms; /* STT_TLS, by offset */
	const struct hvar_image_range *ranges; /* ascending, disjoint, each in an executable segment */
	const struct hvar_image_type *types;
	const struct hvar_image_member *members;
	const struct hvar_image_var *vars, *tls_vars; /* by symbol */
	const char *strs;
	uint32_t n_ranges;
	uint32_t n_types, n_members, n_vars, n_tls_vars;
	uint32_t n_segs, n_sections, n_syms, n_tls_syms;
	struct hvar_image_seg tls;	       /* PT_TLS; memsz 0: none */
	uint64_t relro, relro_size;	       /* PT_GNU_RELRO: vaddr and bytes; 0: none */
	const uint64_t *starts, *tls_starts;   /* private: see hvar_image_format.h */
	const uint32_t *owners, *tls_owners, *pages;
	uint32_t n_extents, n_tls_extents, n_pages;
	uint32_t n_mem_sections;	       /* sections that are no TLS ones come first */
	uint32_t page_shift;
	uint64_t first_page;
	uint32_t flags;			       /* enum hvar_image_flags */
	uint8_t build_id_len;
	uint8_t build_id[HVAR_BUILD_ID_MAX];
};

enum hvar_image_flags {
	HVAR_IMAGE_STRIPPED = 1, /* there was no .symtab: locals are not known */
	HVAR_IMAGE_ELF32 = 2,
	HVAR_IMAGE_EXEC = 4,	 /* ET_EXEC: bias 0 */
	HVAR_IMAGE_PROGRAM = 8,	 /* no library: its thread-local block is next to the thread pointer */
};

/*
 * Check the @size bytes at @data (8-aligned, borrowed by @img) and set @img up.
 * Returns 0, -EINVAL (not an image, or damaged), -EPROTONOSUPPORT (another
 * version of the format), -ENODATA (cut short).  @img is set only on 0.
 */
HVAR_API int hvar_image_open(struct hvar_image *img, const void *data, uint64_t size);

/*
 * The same for bytes that hvar_image_open() has accepted before, or that were made just now, and that nobody
 * has changed since: it looks at the header and the directory, not at every symbol.
 */
HVAR_API int hvar_image_open_known(struct hvar_image *img, const void *data, uint64_t size);

/*
 * The symbol that owns @vaddr, or HVAR_IMAGE_NONE.  A sized symbol that holds
 * @vaddr wins over a label, the innermost over the outer; a label owns its own
 * address only.  O(1) in the size of the file but for a search within one page.
 */
HVAR_API uint32_t hvar_image_find(const struct hvar_image *img, uint64_t vaddr);
/* Up to where all addresses from @vaddr on have the same owner as it has; @vaddr + 1 where it has none. */
HVAR_API uint64_t hvar_image_same_until(const struct hvar_image *img, uint64_t vaddr);
/* As hvar_image_find(), for @offset in the TLS block; an index into tls_syms. */
HVAR_API uint32_t hvar_image_find_tls(const struct hvar_image *img, uint64_t offset);

/*
 * Where the function that holds @vaddr starts and ends: the sized symbol's of a function that owns
 * it, else what the file's unwind information says.  Returns false, and sets nothing, if neither
 * knows one: so it is with entries of a PLT.
 */
HVAR_API bool hvar_image_function(const struct hvar_image *img, uint64_t vaddr,
				  uint64_t *start, uint64_t *end);

/* The section that holds @vaddr (never a TLS one), or HVAR_IMAGE_NONE. */
HVAR_API uint32_t hvar_image_section(const struct hvar_image *img, uint64_t vaddr);

/* String @id; "" for 0. */
HVAR_API const char *hvar_image_str(const struct hvar_image *img, uint32_t id);

/* How many symbols from @i on (the canonical one first) are one alias group. */
HVAR_API uint32_t hvar_image_aliases(const struct hvar_image *img, uint32_t i);

/* The PT_LOAD that holds @vaddr in [p_vaddr, p_vaddr + p_memsz), or NULL. */
HVAR_API const struct hvar_image_seg *hvar_image_seg_at(const struct hvar_image *img,
							uint64_t vaddr);

HVAR_API const char *hvar_kind_name(uint32_t kind);

/* "symtab", "debuginfod"; NULL: not known. */
HVAR_API const char *hvar_origin_name(uint32_t origin);

#endif /* HVAR_IMAGE_H */
