/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_dynamic.h - the symbol table that PT_DYNAMIC leads to, as the dynamic linker sees it.
 */
#ifndef ELF_DYNAMIC_H
#define ELF_DYNAMIC_H

#include "elf_file.h"
#include "elf_versions.h"

/* A symbol table and what belongs to it, as places in the file. */
struct elf_table {
	uint64_t syms;	/* offset of symbol 0 */
	uint32_t count;
	bool dynamic;	/* .dynsym or PT_DYNAMIC */
	struct elf_span strs, version_strs, versym, verdef, verneed, xindex;
};

/*
 * Find it by the program headers alone: for files without section headers.  Its
 * length stands nowhere: it is the hash table's (DT_HASH says it, DT_GNU_HASH implies it), or, without
 * one, ends where the next table of the dynamic section begins.
 * False if there is none, or it makes no sense.
 */
bool elf_dynamic_table(const struct elf_file *f, struct elf_table *t);

/* Is it a program, and no library: linked to its addresses, or as one that may be put anywhere (DF_1_PIE)? */
bool elf_dynamic_program(const struct elf_file *f);

#endif /* ELF_DYNAMIC_H */
