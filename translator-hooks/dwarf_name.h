/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_name.h - a type's name with what it stands in: "std::array<int, 3>", "(anonymous namespace)::local".
 *
 * Entries do not say what they stand in, so a unit's namespaces and classes are noted when the first name of it is asked
 * for; not in C, which has none.  For one thread at a time.
 */
#ifndef DWARF_NAME_H
#define DWARF_NAME_H

#include "dwarf_die.h"

enum { DWARF_NAME_MAX = 1024 };

/* The name of type @d into @buf; one that is too long ends in "...".  False: it has none. */
bool dwarf_name(const struct dwarf_die *d, char buf[DWARF_NAME_MAX]);

/*
 * The name of class @d as the Itanium C++ ABI writes it for the linker, "N2ns3outE", into @buf.  False: of a template or in
 * one, local to a function, without a name, or too long.
 */
bool dwarf_name_mangled(const struct dwarf_die *d, char buf[DWARF_NAME_MAX]);

/* What was noted of @u; for dwarf_file_free(). */
void dwarf_name_forget(struct dwarf_unit *u);

#endif /* DWARF_NAME_H */
