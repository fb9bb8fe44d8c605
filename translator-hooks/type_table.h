/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * type_table.h - types and members of a symbol image as they are gathered, each once.
 *
 * Two types that look the same in every way are one, whichever units they come from.  Want of memory
 * is noted in @error, and type 0, of which nothing is known, stands for what could not be entered.
 */
#ifndef TYPE_TABLE_H
#define TYPE_TABLE_H

#include "runtime/core/hvar_type.h"
#include "sym_table.h"

struct dwarf_virtual;

enum { TYPE_NAME_MAX = 1024 };
#define TYPE_TABLE_IN_WORK UINT32_MAX

/* A place in the debug information, and the type there. */
struct type_known {
	const uint8_t *at; /* NULL: free */
	uint32_t id;	   /* TYPE_TABLE_IN_WORK: is being made */
	uint32_t base;	   /* what it is where it is a base class: without its virtual base classes */
};

struct type_table {
	struct hvar_image_type *v;	   /* names are numbers of sym_strs */
	struct hvar_image_member *members; /* likewise */
	uint32_t n, cap, n_members, cap_members;
	uint32_t opaque;		   /* cut short: too deep, too many, not declared in full */
	int error;
	/* of structs that are being made, the innermost last */
	struct hvar_image_member *pending;
	uint32_t n_pending, cap_pending;
	/* of who fills it: classes with virtual base classes */
	struct dwarf_virtual *virtuals;    /* borrowed; NULL: where those are is not known */
	bool any_virtual;		   /* of the class that is being made */
	uint32_t base;			   /* of the class that was made last, as a base class; 0: as it is */
	/* private */
	struct sym_table *strs;
	struct type_known *known;
	uint32_t n_known, n_known_slots;
	uint32_t *same; /* by content: number + 1 */
	uint32_t n_same_slots;
};

/* @strs is borrowed: it takes the names.  Returns 0 or -ENOMEM; type_table_fini() it in any case. */
int type_table_init(struct type_table *t, struct sym_table *strs);
void type_table_fini(struct type_table *t);

/* What is known of @at: its entry, or a free one, good until the next is made known. */
struct type_known *type_table_known(struct type_table *t, const uint8_t *at);
void type_table_know(struct type_table *t, const uint8_t *at, uint32_t id, uint32_t base);

/* The number of the string "@keyword@name"; a long one is cut and ends in "...". */
uint32_t type_table_name(struct type_table *t, const char *keyword, const char *name);

/* The type @k with the @k.n members at @m (arrays have none): the one that is there, or a new one. */
uint32_t type_table_enter(struct type_table *t, struct hvar_image_type k,
			  const struct hvar_image_member *m);
uint32_t type_table_scalar(struct type_table *t, uint32_t name, uint64_t size);
/* Type @id under @name and with @flags. */
uint32_t type_table_variant(struct type_table *t, uint32_t id, uint32_t name, uint16_t flags);

#endif /* TYPE_TABLE_H */
