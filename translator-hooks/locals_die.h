/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locals_die.h - steps through debug information that come to an end, whatever it says.
 */
#ifndef LOCALS_DIE_H
#define LOCALS_DIE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

/* The string that @attr (NULL: none) is; NULL: it is none, or reaches over the end of its section, which libdw does not see. */
const char *locals_die_text(Dwarf_Attribute *attr);

/* @die is its next sibling from here on; false: it has none, or none that comes later in its unit. */
bool locals_die_next(Dwarf_Die *die);

/* The bytes of the unit that has @die: it has no more entries than these. */
size_t locals_die_unit_size(Dwarf_Die *die);

#endif /* LOCALS_DIE_H */
