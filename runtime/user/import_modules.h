/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_modules.h - numbers for the files that perf's text has mapped, and what the files here prove.
 *
 * A file here is the one that was mapped if perf has told its build-id, or its device and inode, and they are those of the file; and, without a
 * build-id, if it was not changed after the text was made.  Else it has no names, and why is said.
 */
#ifndef IMPORT_MODULES_H
#define IMPORT_MODULES_H

#include <stdint.h>

#include "import_line.h"
#include "mapstext.h"
#include "stream.h"

struct import_modules;

struct import_modules *import_modules_new(struct stream *out, uint64_t text_ns); /* NULL: no memory; @out is borrowed */
void import_modules_free(struct import_modules *m);

/*
 * The number of what @a, with mapstext_name() called, maps as @line says, into @a->v.module, told to the stream when it
 * is new.  0, or -ENOMEM with number 0.
 */
int import_modules_number(struct import_modules *m, const struct import_line *line, struct mapstext *a);

/* Files of which perf told neither build-id nor inode. */
uint64_t import_modules_unproven(const struct import_modules *m);

#endif /* IMPORT_MODULES_H */
