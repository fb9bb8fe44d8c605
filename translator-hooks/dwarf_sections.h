/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_sections.h - debug sections out of an ELF file, unpacked where they are packed.
 */
#ifndef DWARF_SECTIONS_H
#define DWARF_SECTIONS_H

#include "dwarf_file.h"

/*
 * Into @sec[DWARF_SECS], each malloc'd, all the caller's, also after an error; *@bytes: how many in
 * all, as the file says.  As dwarf_file_open(), which see for @f, @split, @limit.
 */
int dwarf_sections_read(const struct elf_file *f, bool split, uint64_t limit,
			struct dwarf_bytes *sec, uint64_t *bytes);

#endif /* DWARF_SECTIONS_H */
