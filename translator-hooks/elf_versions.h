/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_versions.h - symbol versions of an ELF file: what it defines, what it needs.
 *
 * Layout: "Linux Standard Base Core, Symbol Versioning"; elf.h.
 */
#ifndef ELF_VERSIONS_H
#define ELF_VERSIONS_H

#include "elf_file.h"

struct elf_versions {
	const char **names; /* by version index; NULL: none; borrowed from @strs */
	bool *needed;	    /* by version index: of another file */
	uint32_t n;
};

/* Where a table lies in the file; size 0: there is none. */
struct elf_span {
	uint64_t offset, size;
};

/* Read both tables; damage in them costs versions, nothing else.  Returns 0 or -ENOMEM. */
int elf_versions_init(struct elf_versions *v, const struct elf_file *f,
		      struct elf_span def, struct elf_span need, const char *strs,
		      uint64_t strs_size);
void elf_versions_fini(struct elf_versions *v);

/* Is the @len bytes' string one of them? */
bool elf_versions_has(const struct elf_versions *v, const char *s, size_t len);

#endif /* ELF_VERSIONS_H */
