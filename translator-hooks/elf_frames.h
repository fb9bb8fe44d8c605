/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_frames.h - where functions start and end, by a file's .eh_frame.
 *
 * It is there in stripped files too, as exceptions need it.  PT_GNU_EH_FRAME leads to it, or where a
 * program was linked without that, its section.
 */
#ifndef ELF_FRAMES_H
#define ELF_FRAMES_H

#include "elf_file.h"

/* Place of .eh_frame: in the file, and as a vaddr. */
struct elf_frames {
	uint64_t offset, size, vaddr;
};

/* False if the file has none, or none of a size that can be. */
bool elf_frames_find(const struct elf_file *f, struct elf_frames *out);

/* The bytes of a pointer of that encoding (DW_EH_PE_*); 0: LEB128, whose length is not fixed, or none: nobody makes them. */
size_t elf_frames_width(bool is32, uint8_t encoding);

/* One function, or a part of one; what is said is as the file has it, but start < end.  0: go on. */
typedef int (*elf_frames_fn)(void *ctx, uint64_t start, uint64_t end);

/*
 * Call @fn for each FDE, in the file's order, up to the first entry that cannot be: a file that is
 * damaged there has fewer, which is no error.  Returns 0, what @fn returned if not 0, -ENOMEM, or
 * -errno if the file cannot be read.
 */
int elf_frames_walk(const struct elf_file *f, elf_frames_fn fn, void *ctx, struct err *e);

#endif /* ELF_FRAMES_H */
