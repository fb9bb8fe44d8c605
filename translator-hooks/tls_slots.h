/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tls_slots.h - where a loaded file says itself which thread-local block is its own.
 *
 * The dynamic linker writes into the file's table of addresses, for the code to read: how far from the
 * thread pointer a variable is (R_X86_64_TPOFF64), or the number of the file among those with thread-local
 * variables (R_X86_64_DTPMOD64); or a function to call and its argument, which is the first or leads to the second
 * (R_X86_64_TLSDESC).  One place of each of the first two kinds is enough to find the block in any process.
 */
#ifndef TLS_SLOTS_H
#define TLS_SLOTS_H

#include "elf_file.h"
#include "runtime/core/hvar_image_format.h"

/* Up to one of each kind, the last only without one of the first two, into @out[2]; returns how many.  Files of x86-64 with section headers only. */
uint32_t tls_slots(const struct elf_file *f, struct hvar_image_tls_slot out[2]);

/* What is needed to find a library's own block in a process, without its symbols. */
struct tls_layout {
	uint64_t memsz; /* of the block */
	uint64_t code_offset, code_size, code_vaddr; /* the one executable segment, in the file and in memory */
	struct hvar_image_tls_slot slot; /* an HVAR_TLS_SLOT_OFFSET */
};
/* That of the file at @fd; false if it has no such slot, or not just one executable segment. */
bool tls_layout_look(int fd, struct tls_layout *out);

#endif /* TLS_SLOTS_H */
