/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_text.h - a type as the source writes it: "struct stats", "char *", "int (*[4])(void *)".
 */
#ifndef DWARF_TEXT_H
#define DWARF_TEXT_H

#include "dwarf_file.h"

enum { DWARF_TEXT_MAX = 1024 };

/* The type at @at of @u (NULL: void) into @buf; one that is too long ends in "...". */
void dwarf_text(struct dwarf_unit *u, const uint8_t *at, char buf[DWARF_TEXT_MAX]);

/* "struct " before a tag's name where the language has it so, else "". */
const char *dwarf_text_keyword(const struct dwarf_unit *u, unsigned tag);

#endif /* DWARF_TEXT_H */
