/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locals_scope.h - the functions of a file's debug information, and the variables of each, with the code they are valid in.
 */
#ifndef LOCALS_SCOPE_H
#define LOCALS_SCOPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct locals_range {
	uint64_t start, end;
};

struct locals_var {
	Dwarf_Die die;	      /* the entry that has its location */
	const char *name;
	const char *function; /* whose it is: the innermost, inlined ones too; borrowed from the debug information */
	uint32_t first, n;    /* of the function's ranges: where it is valid; n 0: in all of the function */
	uint32_t depth;
	bool parameter;
};

struct locals_function {
	Dwarf_Die die;
	const char *name;
	bool read;	      /* its variables are known: */
	struct locals_var *v; /* inner ones later */
	size_t n, cap;
	struct locals_range *ranges;
	size_t n_ranges, cap_ranges;
};

struct locals_scopes;

/* @dw is borrowed; NULL: no memory. */
struct locals_scopes *locals_scopes_new(Dwarf *dw);
void locals_scopes_free(struct locals_scopes *s);

/* The function that has the code at @pc, with its variables; NULL: none is known. */
struct locals_function *locals_scopes_find(struct locals_scopes *s, uint64_t pc);

/* Is @v valid at @pc? */
bool locals_scopes_valid(const struct locals_function *f, const struct locals_var *v, uint64_t pc);

#endif /* LOCALS_SCOPE_H */
