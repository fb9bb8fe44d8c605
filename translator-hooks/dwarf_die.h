/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_die.h - one debugging information entry: its attributes, those that matter here.
 *
 * Entries are read in place and never kept: 1 KB on the stack each.  Whatever stands in the
 * sections, nothing outside them is read, and every step goes forward or is counted.
 */
#ifndef DWARF_DIE_H
#define DWARF_DIE_H

#include "dwarf_file.h"

enum dwarf_slot {
	DWARF_A_NONE, /* an attribute that does not matter */
	DWARF_A_SIBLING,
	DWARF_A_NAME,
	DWARF_A_LINKAGE_NAME,
	DWARF_A_TYPE,
	DWARF_A_LOCATION,
	DWARF_A_BYTE_SIZE,
	DWARF_A_BIT_SIZE,
	DWARF_A_BIT_OFFSET,
	DWARF_A_DATA_BIT_OFFSET,
	DWARF_A_MEMBER_LOCATION,
	DWARF_A_DECL_FILE,
	DWARF_A_DECL_LINE,
	DWARF_A_DECLARATION,
	DWARF_A_EXTERNAL,
	DWARF_A_SPECIFICATION,
	DWARF_A_ORIGIN,
	DWARF_A_SIGNATURE,
	DWARF_A_COUNT,
	DWARF_A_UPPER_BOUND,
	DWARF_A_LOWER_BOUND,
	DWARF_A_BYTE_STRIDE,
	DWARF_A_BIT_STRIDE,
	DWARF_A_LANGUAGE,
	DWARF_A_STMT_LIST,
	DWARF_A_COMP_DIR,
	DWARF_A_STR_OFFSETS_BASE,
	DWARF_A_ADDR_BASE,
	DWARF_A_DWO_NAME,
	DWARF_A_DWO_ID,
	DWARF_A_PROTOTYPED,
	DWARF_A_CONST_VALUE,
	DWARF_A_ORDERING,
	DWARF_A_DATA_LOCATION,
	DWARF_SLOTS
};

enum dwarf_class {
	DWARF_C_OTHER,	/* of a form that says nothing here */
	DWARF_C_UINT,
	DWARF_C_SINT,
	DWARF_C_ADDR,
	DWARF_C_ADDRX,
	DWARF_C_BLOCK,	/* u bytes at p */
	DWARF_C_STRING, /* at p */
	DWARF_C_STRP,	/* at u of a section */
	DWARF_C_LINE_STRP,
	DWARF_C_ALT_STRP,
	DWARF_C_STRX,
	DWARF_C_REF,	/* u from the unit's start */
	DWARF_C_REF_ADDR,
	DWARF_C_REF_ALT,
	DWARF_C_REF_SIG,
	DWARF_C_FLAG,
	DWARF_C_SEC_OFFSET,
};

struct dwarf_value {
	uint64_t u;
	const uint8_t *p;
	uint8_t cls;
	bool ones; /* a number of 4 or 8 bytes with all bits set, which may mean -1 */
};

struct dwarf_die {
	struct dwarf_unit *unit;
	const uint8_t *at;   /* its first byte */
	const uint8_t *next; /* behind its attributes: its first child's, if it has any */
	const struct dwarf_abbrev *ab; /* NULL: it ends a list of children */
	uint16_t tag;	     /* DW_TAG_; 0: it ends a list */
	bool children;
	uint64_t have;	     /* bit of each slot that is set */
	struct dwarf_value v[DWARF_SLOTS];
};

/* For abbreviations: the slot of attribute @name; bytes of @form (addresses of 8, offsets of 4), or UINT32_MAX. */
uint8_t dwarf_slot(uint64_t name);
unsigned dwarf_form_size(uint16_t form);

/*
 * From now on this thread may read @n attributes and pass over entries; then nothing can be read any more, until
 * it is allowed some again (UINT64_MAX: as many as it likes).  Real files need a part of what their
 * size allows; others could make each byte cost a walk over all.
 */
void dwarf_work(uint64_t n);

/* Read what the unit's first entry says of it, once.  False: it cannot be read. */
bool dwarf_unit_attrs(struct dwarf_unit *u);

/* The entry at @at of @u.  False: it cannot be read, and nothing that follows. */
bool dwarf_die_read(struct dwarf_unit *u, const uint8_t *at, struct dwarf_die *d);

/*
 * Only what the entry at @at is; *@attrs is where its attributes begin.  dwarf_die_pass() then gives
 * what follows them.  Both NULL: it cannot be read; an abbreviation of tag 0 ends a list.
 */
const struct dwarf_abbrev *dwarf_die_head(struct dwarf_unit *u, const struct dwarf_abbrevs *t,
					  const uint8_t *at, const uint8_t **attrs);
const uint8_t *dwarf_die_pass(struct dwarf_unit *u, const struct dwarf_abbrevs *t,
			      const struct dwarf_abbrev *a, const uint8_t *attrs);

/* Where the entry after @d and all below it is; NULL: cannot be read. */
const uint8_t *dwarf_die_after(const struct dwarf_die *d);

static inline bool dwarf_die_has(const struct dwarf_die *d, enum dwarf_slot s)
{
	return d->have >> s & 1;
}

/* The string of @s, or NULL. */
const char *dwarf_die_str(const struct dwarf_die *d, enum dwarf_slot s);
/* The number of @s; false: none, or not a constant. */
bool dwarf_die_num(const struct dwarf_die *d, enum dwarf_slot s, uint64_t *out);
bool dwarf_die_flag(const struct dwarf_die *d, enum dwarf_slot s);
/* The entry that @s refers to; false: none. */
bool dwarf_die_ref(const struct dwarf_die *d, enum dwarf_slot s, struct dwarf_unit **u,
		   const uint8_t **at);

/* The class or struct that @d's DW_AT_type leads to, by other names and other units, read into *@out; false: none. */
bool dwarf_die_class(const struct dwarf_die *d, struct dwarf_die *out);

/* Address @index of the unit's table; false: it is not there. */
bool dwarf_unit_addr(const struct dwarf_unit *u, uint64_t index, uint64_t *out);

/*
 * dwz's partial units do not say their language: it is that of who refers to them, @from.  For one thread at a time, in an
 * order that is always the same.
 */
static inline void dwarf_unit_inherit(struct dwarf_unit *u, const struct dwarf_unit *from)
{
	if (!u->language)
		u->language = from->language;
}

/* Where attribute values' languages have C's rules. */
bool dwarf_language_is_c(const struct dwarf_unit *u);

#endif /* DWARF_DIE_H */
