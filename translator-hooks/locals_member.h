/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locals_member.h - which part of a local variable a byte is in: "[].st.misses", the elements of arrays together.
 */
#ifndef LOCALS_MEMBER_H
#define LOCALS_MEMBER_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* The type of entry @die into *@out; its bytes, 0: not known. */
uint64_t locals_member_type(Dwarf_Die *die, Dwarf_Die *out);

/* The path from a variable of @type to its byte @offset into @path, and the name of the type there into @name. */
void locals_member_path(const Dwarf_Die *type, uint64_t offset, char *path, size_t path_size, char *name, size_t name_size);

#endif /* LOCALS_MEMBER_H */
