/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages_copies.h - which variables' pages were copied, by whom, at which instruction.
 */
#ifndef PAGES_COPIES_H
#define PAGES_COPIES_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/user/live.h"
#include "runtime/user/page_copies.h"

/*
 * Rows of @c, the most pages first; names are those of @l, the process that was watched: its children have
 * the same addresses.  Mappings that are shared are left out: there a fault is no copy.  *@n is their number.
 * Returns 0 or -ENOMEM.
 */
int pages_copies_write(FILE *f, bool json, const struct page_copies *c, struct live *l, size_t *n);

#endif /* PAGES_COPIES_H */
