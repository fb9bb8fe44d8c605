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

/*
 * What is needed to find a file's own blocks in a process, without its symbols.  Of a program, by the ABI's "variant II",
 * the block is next to the thread pointer, below it.
 */
struct tls_layout {
	uint64_t memsz; /* of the block */
	uint64_t code_offset, code_size, code_vaddr; /* the one executable segment, in the file and in memory */
	struct hvar_image_tls_slot slots[2];
	uint32_t n_slots;
	bool program;
	uint64_t distance; /* of a program's block: from its start to the thread pointer; 0: not known */
};
/* That of the file at @fd; false if nothing tells, or it has not just one executable segment. */
bool tls_layout_look(int fd, struct tls_layout *out);

/* The distance of a program with such a segment; 0: the ABI does not say. */
uint64_t tls_layout_distance(uint64_t memsz, uint64_t vaddr, uint64_t align);

#endif /* TLS_SLOTS_H */
