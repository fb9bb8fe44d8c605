/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_content.h - hashes that tell whether an ELF file would give the same image.
 */
#ifndef ELF_CONTENT_H
#define ELF_CONTENT_H

#include "elf_file.h"

/* Of its size and headers: a stripped copy differs from the whole one here. */
uint64_t elf_content_headers(const struct elf_file *f);

/*
 * Of all that an image is made from: headers, symbol tables and their strings,
 * unwind information.  Reads those tables,
 * which costs a small part of making an image.  Returns 0, -EBADMSG or -errno.
 */
int elf_content_hash(const struct elf_file *f, uint64_t *out, struct err *e);

#endif /* ELF_CONTENT_H */
