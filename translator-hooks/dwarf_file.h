/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_file.h - the debug sections of one ELF file, in memory, and the units in them.
 *
 * A reader of our own, where elfutils has libdw: it must survive any bytes, be used by several
 * threads on one file, and know package files (.dwp), of which Debian 12's libdw can do none.  All
 * that is read is bounded by the size of the sections, and they by a limit that the caller sets.
 * DWARF 2 to 5, 32-bit and 64-bit; little-endian, as everything on this machine.
 */
#ifndef DWARF_FILE_H
#define DWARF_FILE_H

#include <pthread.h>

#include "elf_file.h"

enum dwarf_sec {
	DWARF_INFO,
	DWARF_TYPES,
	DWARF_ABBREV,
	DWARF_STR,
	DWARF_LINE,
	DWARF_LINE_STR,
	DWARF_ADDR,
	DWARF_STR_OFFSETS,
	DWARF_CU_INDEX,
	DWARF_TU_INDEX,
	DWARF_SUP,
	DWARF_ALTLINK,
	DWARF_SECS
};

struct dwarf_bytes {
	uint8_t *p; /* NULL: none; a NUL follows the last byte */
	uint64_t n;
};

/* A place to read from; past its end only zeros come, and @bad is set. */
struct dwarf_cursor {
	const uint8_t *p, *end;
	bool bad;
};

/* One attribute of an abbreviation. */
struct dwarf_spec {
	uint16_t form;
	uint8_t slot;	  /* enum dwarf_slot */
	int64_t implicit; /* DW_FORM_implicit_const */
};

struct dwarf_abbrev {
	uint64_t code;
	uint32_t first, n; /* specs */
	uint32_t fixed;	   /* bytes of all attributes, if that is the same for each; else UINT32_MAX */
	uint16_t tag;
	bool children, sibling;
};

struct dwarf_abbrevs {
	uint64_t offset;
	struct dwarf_abbrev *v; /* by code */
	struct dwarf_spec *specs;
	uint32_t n, n_specs;
	bool loaded, dense; /* dense: entry i has code i + 1 */
	bool bad;	    /* it ends before its end: the codes there are good */
};

/* Where a unit's parts are, within sections that several share (.dwp); else 0. */
struct dwarf_base {
	uint64_t abbrev, str_offsets, line;
};

struct dwarf_file;

struct dwarf_unit {
	struct dwarf_file *file;
	struct dwarf_unit *skeleton; /* of a split unit: the one that names it, or NULL */
	struct dwarf_abbrevs *abbrevs;
	const uint8_t *start, *die, *end; /* header, first entry, one past the last */
	uint64_t id;	   /* signature of a type unit, id of a split one */
	uint64_t type_die; /* type unit: the type, from @start */
	uint64_t addr_base, str_base, line;
	const char *name, *comp_dir, *dwo_name;
	uint32_t language;
	uint16_t version;
	uint8_t type;	   /* DW_UT_ */
	uint8_t addr_size, offset_size;
	bool attrs_known;  /* those of its first entry, above */
	bool unreadable;
	bool has_line, has_id;
	bool split;	   /* in a .dwo or .dwp file */
	bool scopes_known; /* what types stand in: dwarf_name.h */
	struct dwarf_scope *scopes;
	uint32_t n_scopes;
};

struct dwarf_file {
	struct dwarf_bytes sec[DWARF_SECS];
	bool split;	   /* sections are .dwo ones */
	struct dwarf_unit *units; /* those of INFO by place, then those of TYPES */
	uint32_t n_units, n_info;
	struct dwarf_abbrevs *abbrevs; /* by offset */
	uint32_t n_abbrevs;
	pthread_mutex_t lock; /* of loading them */
	uint64_t abbrev_left; /* bytes that may still be read as abbreviations */
	uint32_t *by_id;   /* type units and split ones, by id: numbers of units */
	uint32_t n_by_id;
	struct dwarf_file *alt; /* dwz's common file; borrowed, NULL: none */
	uint64_t bytes;	   /* read */
	uint32_t broken;   /* unit headers that ended the reading of a section */
};

/* Bytes of debug information that @f has, as the file says, unpacked; 0: none. */
uint64_t dwarf_file_bytes(const struct elf_file *f);

/*
 * Read the debug sections of @f (of .dwo ones if @split), as long as they are no more than @limit
 * bytes, into *@out (dwarf_file_free()).  Returns 0, -ENODATA: it has none; -EFBIG: more than @limit;
 * -EBADMSG: damaged or packed in a way that cannot be unpacked here; -ENOMEM or -errno.
 */
int dwarf_file_open(const struct elf_file *f, bool split, uint64_t limit, struct dwarf_file **out);
void dwarf_file_free(struct dwarf_file *d);

/* The unit that holds the byte at @p, or NULL. */
struct dwarf_unit *dwarf_file_unit(const struct dwarf_file *d, const uint8_t *p);
/* The type unit with signature @id (split unit with that id if @split), or NULL. */
struct dwarf_unit *dwarf_file_by_id(const struct dwarf_file *d, uint64_t id, bool split);

/* The unit's abbreviations, loaded when first asked for (by any thread); NULL: no memory. */
const struct dwarf_abbrevs *dwarf_unit_abbrevs(struct dwarf_unit *u);
const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *t, uint64_t code);

/* ---- cursors ---- */

static inline struct dwarf_cursor dwarf_cursor_at(const struct dwarf_bytes *b, uint64_t offset)
{
	struct dwarf_cursor c = { b->p, b->p, false };

	if (b->p)
		c.end = b->p + b->n;
	if (offset <= b->n && b->p)
		c.p += offset;
	else
		c.p = c.end, c.bad = true;
	return c;
}

uint64_t dwarf_fixed(struct dwarf_cursor *c, unsigned n);
uint64_t dwarf_uleb(struct dwarf_cursor *c);
int64_t dwarf_sleb(struct dwarf_cursor *c);
/* A NUL-terminated string; "" where there is none. */
const char *dwarf_string(struct dwarf_cursor *c);
void dwarf_skip(struct dwarf_cursor *c, uint64_t n);

#endif /* DWARF_FILE_H */
