/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_image_format.h - how a symbol image lies in its bytes: for hvar_image.c and the builder.
 *
 *	+--------+-----------+-------+-------+ ... +-------+
 *	| header | directory | table | table |     | table |
 *	+--------+-----------+-------+-------+ ... +-------+
 *
 * Little-endian, every table 8-aligned, the whole a multiple of 8 bytes.  The
 * directory says what each table is, how large one entry is and how many there
 * are.  A reader skips tables it does not know, so a table may be added
 * without a new version; HVAR_IMAGE_VERSION changes when the header or the
 * meaning of a table below does.
 */
#ifndef HVAR_IMAGE_FORMAT_H
#define HVAR_IMAGE_FORMAT_H

#include "hvar_env.h"
#include "hvar_image.h"

#define HVAR_IMAGE_MAGIC      "hvarimg\n"
#define HVAR_IMAGE_VERSION    3
#define HVAR_IMAGE_MAX_TABLES 64

enum hvar_image_table_id {
	HVAR_IMAGE_SEGS = 1,   /* struct hvar_image_seg, PT_LOADs by vaddr, disjoint */
	HVAR_IMAGE_SECTIONS,   /* struct hvar_image_section: by vaddr, disjoint; then those of kind TLS */
	HVAR_IMAGE_SYMS,       /* struct hvar_image_sym */
	HVAR_IMAGE_TLS_SYMS,   /* struct hvar_image_sym */
	HVAR_IMAGE_STARTS,     /* uint64_t: first vaddr of each extent, ascending */
	HVAR_IMAGE_OWNERS,     /* uint32_t: its symbol, HVAR_IMAGE_NONE: nobody's */
	HVAR_IMAGE_PAGES,      /* uint32_t: see below */
	HVAR_IMAGE_TLS_STARTS, /* uint64_t */
	HVAR_IMAGE_TLS_OWNERS, /* uint32_t */
	HVAR_IMAGE_STRS,       /* NUL-terminated strings, the first one empty */
	HVAR_IMAGE_SOURCE,     /* struct hvar_image_source, one: for the cache; not looked at here */
	HVAR_IMAGE_RANGES,     /* struct hvar_image_range: functions that no symbol names, ascending, disjoint */
	HVAR_IMAGE_TYPES,      /* struct hvar_image_type: each refers to earlier ones only */
	HVAR_IMAGE_MEMBERS,    /* struct hvar_image_member */
	HVAR_IMAGE_VARS,       /* struct hvar_image_var, by symbol */
	HVAR_IMAGE_TLS_VARS,   /* the same of tls_syms */
	HVAR_IMAGE_TLS_SLOTS,  /* struct hvar_image_tls_slot; not looked at here */
	HVAR_IMAGE_DEBUG,      /* struct hvar_image_debug, one, if debug information was looked for; not looked at here */
};

/*
 * An extent reaches from its start to the next one's, but no further than its
 * owner does (a label reaches over one byte), so gaps between symbols need no
 * extents of their own:
 *
 *	outer  [------------------)          starts   a      b      c
 *	inner         [----)                 owners   outer  inner  outer
 *	       a      b    c      end(outer)
 *
 * PAGES has n + 1 entries for n pages of 2^page_shift bytes from first_page on:
 * entry k is the number of the first extent that starts at or after page k; the last
 * entry is the number of extents.  Pages are as small as there can be of them one for each two extents.
 */
#define HVAR_IMAGE_PAGE_SHIFT 6 /* the least */

struct hvar_image_header {
	uint8_t magic[8];
	uint32_t version;
	uint32_t n_tables;
	uint64_t size;	   /* of the whole image */
	uint64_t checksum; /* hvar_image_checksum() */
	uint64_t seal[2];  /* the cache's own note that it has checked the image; not looked at here */
	/* the checksum covers all that is before it and everything from here on */
	uint32_t flags;	   /* enum hvar_image_flags */
	uint32_t page_shift;
	uint64_t first_page;
	struct hvar_image_seg tls;
	uint64_t relro, relro_size; /* PT_GNU_RELRO */
	uint8_t build_id[HVAR_BUILD_ID_MAX];
	uint32_t build_id_len;
	uint32_t rules;	   /* of naming, that it was built by: the builder's own number */
};

struct hvar_image_table {
	uint32_t id;	/* enum hvar_image_table_id */
	uint32_t entry; /* bytes of one */
	uint64_t offset;
	uint64_t count;
};

/* The file an image was made from, so that a change of it is noticed. */
struct hvar_image_source {
	uint64_t dev, ino, size;
	uint64_t mtime_ns, ctime_ns; /* since 1970 */
	uint64_t made_ns;	     /* when it was looked at */
	uint64_t content;	     /* hash of all that the image was made from */
};

/* What became of the debug information: bounds are said, not kept secret. */
enum hvar_image_debug_state {
	HVAR_DEBUG_NONE,    /* the file has none */
	HVAR_DEBUG_READ,
	HVAR_DEBUG_TOO_BIG, /* more than was to be read */
	HVAR_DEBUG_BAD,	    /* damaged, or of a kind that is not known */
	HVAR_DEBUG_STATES
};

struct hvar_image_debug {
	uint32_t state;	   /* enum hvar_image_debug_state */
	uint32_t missing;  /* units whose .dwo file, or dwz common file, was not found */
	uint32_t broken;   /* units that could not be read to their end */
	uint32_t unplaced; /* variables whose place is no plain address (split over time, optimised away in part) */
	uint32_t opaque;   /* types cut short: too deep, too many, or not declared in full */
	uint32_t added;	   /* symbols that only the debug information has */
	uint64_t bytes;	   /* of debug information */
	uint64_t limit;	   /* bytes that were allowed */
};

/* A word of the loaded file that the dynamic linker fills: how its thread-local block is found. */
enum hvar_image_tls_slot_kind {
	HVAR_TLS_SLOT_OFFSET, /* @value less the word is the block's distance below the thread pointer */
	HVAR_TLS_SLOT_MODULE, /* the word is the file's number in each thread's table of blocks */
	HVAR_TLS_SLOT_DESC,   /* the second word is that offset, below 0, or where { that number, @value } is */
};

struct hvar_image_tls_slot {
	uint64_t vaddr;
	uint64_t value;
	uint32_t kind;
	uint32_t zero;
};

#define HVAR_IMAGE_SUMMED 48 /* offset of the first byte after the checksum and the seal */

/*
 * The 64-bit checksum of the image at @data, @size bytes (8-aligned, a multiple
 * of 8, at least HVAR_IMAGE_SUMMED).  Any one changed word changes it; it is no
 * defence against who wants to deceive: hvar_image_open()'s other checks are.
 */
HVAR_API uint64_t hvar_image_checksum(const void *data, uint64_t size);

/* The same hash of any @n bytes at @p, going on from @seed. */
HVAR_API uint64_t hvar_image_hash(uint64_t seed, const void *p, uint64_t n);

/*
 * The table @id of an open image whose entries are @entry bytes, its length
 * into *@count; NULL and 0 if there is none.
 */
HVAR_API const void *hvar_image_table(const struct hvar_image *img, uint32_t id,
				      uint32_t entry, uint32_t *count);

#endif /* HVAR_IMAGE_FORMAT_H */
