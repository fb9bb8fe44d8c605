/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sym_table.h - symbols gathered from a file, and the choice of one name for each address.
 *
 * The choice, the same whatever order the file has them in: a sized symbol
 * before a label, the innermost (which starts last, then the shortest), then
 * fewest leading underscores, global before weak before local, the shortest
 * name, the alphabetically first.
 *
 * Names are not looked at one by one: the string table of the file is taken as a whole, and a
 * name is where it stands in it.  So one name may have several numbers; by its hash, kept in its row, others are
 * found that are the same.
 */
#ifndef SYM_TABLE_H
#define SYM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_symtab.h"
#include "runtime/core/hvar_image.h"

/* Bytes before the strings, where the header of an image will be. */
#define SYM_STRS_HEAD 768
/* Set in the number of a name that stands in sym_table.spare. */
#define SYM_SPARE ((uint32_t)1 << 31)

struct sym_slot {
	uint32_t id; /* 0: free */
	uint32_t hash;
};

/* Strings; the number of one is how many bytes are before it.  0 is the empty one. */
struct sym_strs {
	char *buf; /* SYM_STRS_HEAD bytes, then the strings */
	uint64_t used, cap; /* of the strings */
	struct sym_slot *slots; /* of those that came one by one: these stand here once */
	uint32_t n, n_slots;  /* a power of 2 */
};

/* As in the image, but for hash and version. */
struct sym_row {
	uint64_t vaddr, size;
	uint32_t name, file, section;
	uint32_t hash;	  /* of the name */
	uint32_t version; /* "@V_1", "@@V_2"; 0: none */
	uint8_t binding, flags, origin;
	uint8_t type : 6;
	uint8_t tls : 1;
	uint8_t apart : 1; /* the version is at the end of the name */
};

struct sym_extent {
	uint64_t start;
	uint32_t owner;
};

struct sym_rows {
	struct sym_row *v;
	uint32_t n, cap;
	struct sym_extent *extents; /* by sym_table_settle() */
	uint32_t n_extents, cap_extents;
};

struct sym_table {
	struct sym_strs strs;
	struct sym_rows syms, tls;
	const char *block; /* borrowed: the string table whose symbols are being added; NULL: none is taken as a whole */
	uint32_t base;	   /* where it stands, or SYM_SPARE */
	char *spare;	   /* owned: the string table of names that most likely are there already */
	uint64_t length;   /* of all names in such tables: they may overlap */
	bool any_debug;	   /* a row is of the debug information */
};

int sym_table_init(struct sym_table *t);
void sym_table_fini(struct sym_table *t);

/* The number of the string; -ENOMEM, or -EFBIG past 2 GiB of them. */
int sym_table_str(struct sym_table *t, const char *s, size_t len, uint32_t *out);

/* String @id, good until the next one is added. */
static inline const char *sym_table_text(const struct sym_table *t, uint32_t id)
{
	return id & SYM_SPARE ? t->spare + (id & ~SYM_SPARE) : t->strs.buf + SYM_STRS_HEAD + id;
}

/* The name of @y, and how long it is without its version. */
size_t sym_table_plain(const struct sym_table *t, const struct sym_row *y, const char **name);

/*
 * @s is the first symbol of its table, whether or not it will be added: take the string table as a whole, if it is
 * likely to hold little else than names.  Returns 0, -ENOMEM or -EFBIG.
 */
int sym_table_begin(struct sym_table *t, const struct elf_sym *s);

/* Add @s, whose section in the image is @section.  Returns 0, -ENOMEM or -EFBIG. */
int sym_table_add(struct sym_table *t, const struct elf_sym *s, uint32_t section);

/*
 * Sort, drop what stands in two tables, tell same-named ones apart, choose, and
 * lay out extents.  @segs, @n, by vaddr: no extent crosses the end of one.
 */
int sym_table_settle(struct sym_table *t, const struct hvar_image_seg *segs,
		     uint32_t n, uint64_t tls_size);

#endif /* SYM_TABLE_H */
