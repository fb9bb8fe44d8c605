/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_text.h - a small file as a string.
 */
#ifndef STAP_TEXT_H
#define STAP_TEXT_H

#include <stddef.h>

/*
 * All of the regular file @path, malloc'd, a NUL behind it; *@size, if @size is not NULL, without
 * that.  NULL if it cannot be read, with errno; EFBIG: it has more than some megabytes.
 */
char *stap_text_read(const char *path, size_t *size);

#endif /* STAP_TEXT_H */
