/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * near_names.h - variables whose names are like one that there is none of.
 */
#ifndef NEAR_NAMES_H
#define NEAR_NAMES_H

#include <stddef.h>

#include "images.h"

enum { NEAR_NAMES_MAX = 3 };

/*
 * Variables with a member @name, "sh.count" of "count", where debug information was read; then the nearest names to @name (without
 * its members, "table" of "table[3].hits") in all modules: up to NEAR_NAMES_MAX of them in @v, malloc'd, the nearest first, which is
 * @name itself if there is such a variable.  Returns how many.
 */
size_t near_names(struct images *images, const char *name, char *v[NEAR_NAMES_MAX]);

#endif /* NEAR_NAMES_H */
