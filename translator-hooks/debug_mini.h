/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_mini.h - the small symbol table that .gnu_debugdata holds, packed by xz.
 *
 * Distributions put the functions of stripped programs there: an ELF file within the file.
 */
#ifndef DEBUG_MINI_H
#define DEBUG_MINI_H

#include "elf_file.h"

/*
 * Unpack .gnu_debugdata of @f and open it as @out; *@mem, malloc'd, is what @out reads and is to
 * be freed after elf_file_close().  Bounded in memory, whatever it unpacks to.
 *
 * Returns 0; -ENOENT: there is none; -EBADMSG: damaged, or larger than any real one; or -errno.
 */
int debug_mini_open(const struct elf_file *f, struct elf_file *out, void **mem, struct err *e);

#endif /* DEBUG_MINI_H */
