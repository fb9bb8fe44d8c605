/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keys.h - what memory a place of a recording is.
 */
#ifndef KEYS_H
#define KEYS_H

#include "images.h"
#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_key.h"
#include "runtime/core/hvar_resolve.h"

/*
 * The key of @p's variable, from its begin on, or of @p's area, as the access or sample @ev found it.  What was written
 * to was copied before, RELRO by the dynamic linker; of other pages of private mappings a recording does not tell.
 */
struct hvar_key keys_of_place(const struct images *images, const struct hvar_place *p, const struct hvar_event *ev);

#endif /* KEYS_H */
