/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_text.h - a small file as a string, and a string as a word of a command.
 */
#ifndef STAP_TEXT_H
#define STAP_TEXT_H

#include <stddef.h>

/*
 * All of the regular file @path, malloc'd, a NUL behind it; *@size, if @size is not NULL, without
 * that.  NULL if it cannot be read, with errno; EFBIG: it has more than some megabytes.
 */
char *stap_text_read(const char *path, size_t *size);

/* @s as a person can give it to a shell, whatever is in it, on one line: malloc'd, or NULL. */
char *stap_text_word(const char *s);

#endif /* STAP_TEXT_H */
