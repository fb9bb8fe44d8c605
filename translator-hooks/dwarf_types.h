/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_types.h - types of debug information -> types of a symbol image.
 *
 * Only types that somebody asks for, and what they are made of, are made.
 */
#ifndef DWARF_TYPES_H
#define DWARF_TYPES_H

#include "dwarf_file.h"
#include "type_table.h"

/* The number of the type at @at of @u; 0: not known.  After want of memory or room @t->error is set. */
uint32_t dwarf_types_of(struct type_table *t, struct dwarf_unit *u, const uint8_t *at);

#endif /* DWARF_TYPES_H */
