/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_lines.h - names of source files, by their number in a unit's line table.
 */
#ifndef DWARF_LINES_H
#define DWARF_LINES_H

#include "dwarf_file.h"

struct dwarf_tables; /* those read so far */

struct dwarf_tables *dwarf_tables_new(void); /* NULL: no memory */
void dwarf_tables_free(struct dwarf_tables *t);

/*
 * File @number of @u as the compiler was told of it, into @buf of @size bytes: "parser.c" where it
 * lies in the folder that it was compiled in, else with its folder.  False: not known, or too long.
 */
bool dwarf_tables_file(struct dwarf_tables *t, struct dwarf_unit *u, uint64_t number, char *buf,
		       size_t size);

#endif /* DWARF_LINES_H */
