/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_split.h - all files that hold debug information of one program: its own, dwz's common one, .dwo, .dwp.
 *
 * A .dwo file is looked for where the compiler left it, then beside the program; PROGRAM.dwp before
 * both.  It is believed when the id in it is the one that the program names, and opened only if it is a regular file.
 */
#ifndef DWARF_SPLIT_H
#define DWARF_SPLIT_H

#include "dwarf_file.h"

struct dwarf_set {
	struct dwarf_file **v; /* the program's own first */
	struct dwarf_file *alt; /* NULL: none */
	uint32_t n, cap;
	uint64_t left;	   /* bytes that may still be read */
	uint64_t bytes;	   /* read so far */
	uint32_t missing;  /* units whose .dwo was not found, or is not theirs */
	bool too_big;	   /* one was found, and is more than may be read */
};

/*
 * Open the debug sections of @f and all that they refer to, up to @limit bytes in all.  @path: the
 * program's, @debug_path: that of @f; NULL: no other file is looked for.
 * Returns 0 or as dwarf_file_open(); dwarf_set_close() it after 0 only.
 */
int dwarf_set_open(struct dwarf_set *s, const struct elf_file *f, const char *path,
		   const char *debug_path, uint64_t limit);
void dwarf_set_close(struct dwarf_set *s);

#endif /* DWARF_SPLIT_H */
