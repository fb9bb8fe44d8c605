/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * members.h - numbers for members of variables: "slots[].key", all elements of an array together.
 */
#ifndef MEMBERS_H
#define MEMBERS_H

#include <stdint.h>

#include "runtime/core/hvar_image.h"

struct members;

struct members *members_new(void); /* NULL: no memory */
void members_free(struct members *m);

/*
 * The number, from 1 on, of the member at byte @offset of symbol @symbol of @img (of tls_syms if @tls), which is
 * module @module's; the same for the same one.  0: the variable itself, no debug information, or no room.
 */
uint32_t members_at(struct members *m, uint32_t module, const struct hvar_image *img, uint32_t symbol, bool tls,
		    uint64_t offset);

/* "[].key", "" for 0; its type's name, NULL: not known.  Good until members_free(). */
const char *members_path(const struct members *m, uint32_t member);
const char *members_type(const struct members *m, uint32_t member);

#endif /* MEMBERS_H */
