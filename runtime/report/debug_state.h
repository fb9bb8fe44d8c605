/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_state.h - what became of a file's debug information: read, how much, and what was left out.
 */
#ifndef DEBUG_STATE_H
#define DEBUG_STATE_H

#include <stdio.h>

#include "json.h"
#include "runtime/core/hvar_image.h"

/* "  members   ..." as a line, or nothing if the file has no debug information. */
void debug_state_text(FILE *f, const struct hvar_image *img);
/* As object "debug"; null if it has none. */
void debug_state_json(struct json *j, const struct hvar_image *img);

#endif /* DEBUG_STATE_H */
