/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_vars.h - variables with a place in memory that is the same for the whole run, out of debug information.
 */
#ifndef DWARF_VARS_H
#define DWARF_VARS_H

#include "dwarf_split.h"

/* All strings and places in the debug information are borrowed from it. */
struct dwarf_var {
	uint64_t vaddr;	      /* of TLS: offset in the module's block */
	uint64_t at, piece;   /* a part: where it is in the variable, its bytes; piece 0: the whole */
	const char *name;     /* as the source has it */
	const char *linkage;  /* as the linker has it, where that differs; else NULL */
	const char *function; /* that it is a static of, or NULL */
	struct dwarf_unit *unit;      /* that it was found in */
	struct dwarf_unit *type_unit;
	const uint8_t *type;  /* NULL: not known */
	struct dwarf_unit *decl_unit; /* whose file numbers decl_file means; NULL: not known */
	uint64_t decl_file;
	uint32_t decl_line;
	uint32_t seq, seq_unit; /* where in the file: for an order that threads do not change */
	bool tls;
	bool external;
};

struct dwarf_vars {
	struct dwarf_var *v; /* by (tls, vaddr, place in the file) */
	uint32_t n, cap;
	uint32_t unplaced;   /* whose place changes, or is a value and no memory */
	uint32_t broken;     /* units that could not be read to their end */
};

/* Look through all units of @s, several at a time.  Returns 0 or -ENOMEM; dwarf_vars_fini() it. */
int dwarf_vars_scan(struct dwarf_set *s, struct dwarf_vars *out);
void dwarf_vars_fini(struct dwarf_vars *v);

#endif /* DWARF_VARS_H */
