/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locals_place.h - where in a frame variables and saved registers are: DWARF's locations and call frame information as numbers.
 */
#ifndef LOCALS_PLACE_H
#define LOCALS_PLACE_H

#include <elfutils/libdw.h>

#include "locals_file.h"
#include "locals_scope.h"

/* The CFA at one instruction: a register plus a number. */
struct locals_cfa {
	bool known;
	enum locals_base base;
	int64_t offset;
};

struct locals_cfa locals_place_cfa(Dwarf_CFI *cfi, uint64_t vaddr);

/* @offset from @base, from the CFA; false: cannot be told. */
bool locals_place_from_cfa(const struct locals_cfa *cfa, enum locals_base base, int64_t offset, int64_t *out);

/* Is a register of the caller's kept in the 8 bytes at @offset from the CFA, for code at @vaddr? */
bool locals_place_saved(Dwarf_CFI *cfi, uint64_t vaddr, int64_t offset);

/* A part of a variable that is in the frame. */
struct locals_part {
	enum locals_base base;
	int64_t offset;
	uint64_t at, size; /* where it is in the variable; size 0: all that follows */
};

enum { LOCALS_PARTS_MAX = 32 };

/* The parts of @v that are in memory at @pc, in function @f.  How many. */
unsigned locals_place_parts(struct locals_function *f, struct locals_var *v, uint64_t pc, struct locals_part *out);

/* The same of all its locations, wherever the code is, from the CFA, which is @cfa for code in the middle of the function. */
unsigned locals_place_all_parts(struct locals_function *f, struct locals_var *v, Dwarf_CFI *cfi, const struct locals_cfa *cfa,
				struct locals_part *out);

#endif /* LOCALS_PLACE_H */
