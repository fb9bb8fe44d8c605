/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_symtab.h - the symbols of an ELF file, whichever table they stand in.
 *
 * .symtab and .dynsym where there are section headers; the table that
 * PT_DYNAMIC leads to where there are none.  Only what names an address of the
 * file is told: no undefined, absolute, section, file or mapping symbols.
 */
#ifndef ELF_SYMTAB_H
#define ELF_SYMTAB_H

#include "elf_file.h"

/* All strings are borrowed until the walk of their table ends. */
struct elf_sym {
	const char *name;    /* without version */
	size_t len;
	const char *version; /* NULL: none */
	size_t version_len;
	bool is_default;     /* "name@@version" */
	bool dynamic;	     /* from .dynsym or PT_DYNAMIC */
	bool debug;	     /* no table's: a variable of the debug information */
	const char *file;    /* STT_FILE before it, for locals; NULL: not known */
	uint64_t value, size;
	uint32_t shndx;	     /* 0: not known */
	uint8_t binding;     /* STB_ */
	uint8_t type;	     /* STT_ */
	uint8_t origin;	     /* enum hvar_sym_origin; NONE: as dynamic and debug say */
	bool first;	     /* no other symbol of its table was told before */
	char *strs;	     /* the string table that name and file stand in; NULL: none does */
	uint64_t strs_size;
	bool *taken;	     /* whoever sets it frees @strs, with big_free() */
	uint64_t n_syms;     /* symbols that the file seems to have, in all tables */
};

/* Takes one symbol; non-zero ends the walk with that code. */
typedef int (*elf_sym_fn)(void *ctx, const struct elf_sym *s);

/*
 * Tell every symbol of @f to @fn.  *@stripped: there was no .symtab.
 * Returns 0, -EBADMSG, -ENOMEM or what @fn returned.
 */
int elf_symtab_walk(const struct elf_file *f, elf_sym_fn fn, void *ctx,
		    bool *stripped, struct err *e);

#endif /* ELF_SYMTAB_H */
