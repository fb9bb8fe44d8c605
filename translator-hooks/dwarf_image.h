/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_image.h - debug information -> what a symbol image has of it: types, members, variables, and symbols that
 * no table has.
 */
#ifndef DWARF_IMAGE_H
#define DWARF_IMAGE_H

#include "dwarf_vars.h"
#include "image_layout.h"
#include "type_table.h"

struct dwarf_image {
	bool open;
	struct dwarf_set set;
	struct dwarf_vars vars;
	uint32_t *types; /* of each of vars */
	struct type_table table;
	struct dwarf_virtual *virtuals;
	struct hvar_image_debug debug;
};

/*
 * Read the debug information of @f, which is @loaded itself or a file that belongs to it, if with all it refers to it is no more than @limit bytes, and add
 * to @syms the variables that it places in @p's sections and segments.  @path, @debug_path: the program's and that of
 * @f, or NULL: no other file is looked for.
 * What cannot be read is noted in @d->debug; an error is only -ENOMEM or -EFBIG.
 * dwarf_image_fini() it in any case.
 */
int dwarf_image_read(struct dwarf_image *d, const struct elf_file *f, const struct elf_file *loaded, const char *path,
		     const char *debug_path, uint64_t limit, const struct image_parts *p,
		     struct sym_table *syms);

/* With @syms settled: types, members and variables into @p, which borrows them.  -ENOMEM, -EFBIG. */
int dwarf_image_put(struct dwarf_image *d, struct sym_table *syms, struct image_parts *p);

void dwarf_image_fini(struct dwarf_image *d, struct image_parts *p);

#endif /* DWARF_IMAGE_H */
