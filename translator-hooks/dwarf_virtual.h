/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_virtual.h - where the virtual base classes of a C++ class are, in a whole object of it.
 *
 * Debug information says "the object's first word points to a table; so many bytes before there is the distance".  In a whole
 * object, and not one that is itself a base class, the table is the class's own, and that is in the file (Itanium C++ ABI,
 * 2.5 and 2.6):
 *
 *	vtable for T     [ distances of virtual bases ][ 0 ][ type of T ][ functions ... ]
 *	                   and of functions                              ^ the first word of T points here
 *	                 [ ...           ][ -16 ][ type of T ][ functions ... ]
 *	                                                      ^ that of the base class that is at 16 in T
 *
 * Tables are found by their symbols, whose names are made here of the class's: of templates, of classes that are local to
 * functions, and of what another file has the tables of, nothing is known.
 */
#ifndef DWARF_VIRTUAL_H
#define DWARF_VIRTUAL_H

#include "dwarf_die.h"
#include "elf_file.h"
#include "sym_table.h"

struct dwarf_virtual;

/* Of the loaded file @f with the symbols @syms, both borrowed; nothing is read before it is needed.  NULL: no memory. */
struct dwarf_virtual *dwarf_virtual_new(const struct elf_file *f, const struct sym_table *syms);
void dwarf_virtual_free(struct dwarf_virtual *v);

/*
 * In a whole object of @class, its part at @part has a virtual base of which this many bytes, @back, before where the
 * part's first word points to it is told how far from the part it is: where in the object it is into *@out.  False: not known.
 */
bool dwarf_virtual_offset(struct dwarf_virtual *v, const struct dwarf_die *class, uint64_t part, uint64_t back,
			  uint64_t *out);

/* Is @d, an inheritance's place, of that form?  Then @back into *@out. */
bool dwarf_virtual_back(const struct dwarf_die *d, uint64_t *out);

#endif /* DWARF_VIRTUAL_H */
