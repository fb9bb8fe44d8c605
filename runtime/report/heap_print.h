/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_print.h - what reports say of objects of the heap besides their accesses.
 */
#ifndef HEAP_PRINT_H
#define HEAP_PRINT_H

#include <stdio.h>

#include "heap_sites.h"
#include "json.h"

/* Add to a row's object. */
void heap_print_json(struct json *j, const struct heap_site *s);

/* "3 objects of 24 bytes, ..."; malloc'd, NULL: no memory. */
char *heap_print_text(const struct heap_site *s);

#endif /* HEAP_PRINT_H */
