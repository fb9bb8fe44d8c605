/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * printable.h - names of files, symbols and programs, which may hold any byte, for a terminal.
 */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stdio.h>

/* Is there a control character, C0, DEL or C1 in UTF-8, at @s?  Its bytes, else 0. */
int printable_control(const char *s);

/* Write @s (NULL: nothing) with each byte of a control character as \xNN.  Returns the columns taken: one for each other character. */
int printable_put(FILE *f, const char *s);

#endif /* PRINTABLE_H */
