/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sym_table.h - symbols gathered from a file, and the choice of one name for each address.
 *
 * The choice, the same whatever order the file has them in: a sized symbol
 * before a label, the innermost (which starts last, then the shortest), then
 * fewest leading underscores, global before weak before local, the shortest
 * name, the alphabetically first.
 */
#ifndef SYM_TABLE_H
#define SYM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_symtab.h"
#include "runtime/core/hvar_image.h"

struct sym_slot {
	uint32_t id; /* number + 1; 0: free */
	uint32_t hash;
};

/* Strings, each once.  A string's number counts up from 0, the empty one. */
struct sym_strs {
	char *bytes;
	uint64_t used, cap;
	uint32_t *offsets; /* by number */
	uint32_t n, n_cap;
	struct sym_slot *slots;
	uint32_t n_slots;  /* a power of 2 */
};

/* As in the image, but that name and file are numbers of sym_strs. */
struct sym_row {
	uint64_t vaddr, size;
	uint32_t name, file, section;
	uint32_t version; /* "@V_1", "@@V_2"; 0: none */
	uint32_t plain;	  /* the name without it, by which it is ranked */
	uint8_t binding, type, flags, origin, tls;
	bool known; /* sym_table_settle(): of the debug information, and a table has it */
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
	const char *last_file; /* the file whose number last_file_id is */
	uint32_t last_file_id;
};

int sym_table_init(struct sym_table *t);
void sym_table_fini(struct sym_table *t);

/* The number of the string; -ENOMEM, or -EFBIG past 4 GiB of them. */
int sym_table_str(struct sym_table *t, const char *s, size_t len, uint32_t *out);

/* Add @s, whose section in the image is @section.  Returns 0, -ENOMEM or -EFBIG. */
int sym_table_add(struct sym_table *t, const struct elf_sym *s, uint32_t section);

/*
 * Sort, drop what stands in two tables, tell same-named ones apart, choose, and
 * lay out extents.  @segs, @n, by vaddr: no extent crosses the end of one.
 */
int sym_table_settle(struct sym_table *t, const struct hvar_image_seg *segs,
		     uint32_t n, uint64_t tls_size);

#endif /* SYM_TABLE_H */
