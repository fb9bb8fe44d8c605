// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "locals_member.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "locals_die.h"

enum { STEPS_MAX = 64, DIMENSIONS_MAX = 8, MEMBERS_MAX = 1 << 14 };

static bool get_type(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), out) != NULL;
}

/* Do the types that libdw follows from @type for its size come to an end? */
static bool ends(Dwarf_Die type)
{
	int steps;

	for (steps = 0; steps < STEPS_MAX; steps++) {
		switch (dwarf_tag(&type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
		case DW_TAG_immutable_type:
		case DW_TAG_packed_type:
		case DW_TAG_shared_type:
		case DW_TAG_subrange_type:
		case DW_TAG_array_type:
			break;
		default:
			return true;
		}
		if (!get_type(&type, &type))
			return true;
	}
	return false;
}

static uint64_t size_of(Dwarf_Die *type)
{
	Dwarf_Word size;

	return !ends(*type) || dwarf_aggregate_size(type, &size) ? 0 : size;
}

uint64_t locals_member_type(Dwarf_Die *die, Dwarf_Die *out)
{
	return get_type(die, out) ? size_of(out) : 0;
}

static void append(char *to, size_t size, const char *what)
{
	size_t n = strlen(to);

	snprintf(to + n, size - n, "%s", what);
}

/* One step into an array: the element's type and the byte in it. */
static bool into_array(Dwarf_Die *type, uint64_t *offset, char *path, size_t size)
{
	Dwarf_Die element, child;
	unsigned dimensions = 0;
	uint64_t bytes;

	if (!get_type(type, &element) || !(bytes = size_of(&element)) || dwarf_child(type, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_subrange_type && dimensions++ < DIMENSIONS_MAX)
			append(path, size, "[]");
	} while (locals_die_next(&child));
	*offset %= bytes;
	*type = element;
	return true;
}

/* One step into a struct, class or union: the first member that has the byte. */
static bool into_struct(Dwarf_Die *type, uint64_t *offset, char *path, size_t size)
{
	unsigned left = MEMBERS_MAX;
	Dwarf_Die member, of;

	if (dwarf_child(type, &member))
		return false;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word at = 0;
		const char *name;
		uint64_t bytes;

		if ((dwarf_tag(&member) != DW_TAG_member && dwarf_tag(&member) != DW_TAG_inheritance) ||
		    dwarf_hasattr(&member, DW_AT_external))
			continue;
		if (dwarf_attr(&member, DW_AT_data_member_location, &attr)) {
			if (dwarf_formudata(&attr, &at))
				continue;
		} else if (dwarf_attr(&member, DW_AT_data_bit_offset, &attr)) {
			if (dwarf_formudata(&attr, &at))
				continue;
			at /= 8;
		}
		bytes = locals_member_type(&member, &of);
		if (*offset < at || *offset - at >= bytes)
			continue;
		name = locals_die_text(dwarf_attr_integrate(&member, DW_AT_name, &attr));
		if (dwarf_tag(&member) == DW_TAG_member && name) {
			append(path, size, ".");
			append(path, size, name);
		}
		*offset -= at;
		*type = of;
		return true;
	} while (--left && locals_die_next(&member));
	return false;
}

static const char *keyword(int tag)
{
	return tag == DW_TAG_structure_type ? "struct " : tag == DW_TAG_union_type ? "union " :
	       tag == DW_TAG_enumeration_type ? "enum " : "";
}

static void type_name(Dwarf_Die type, char *name, size_t size)
{
	char stars[STEPS_MAX] = "";
	const char *own;
	int steps;

	for (steps = 0; steps < STEPS_MAX - 2; steps++) {
		int tag = dwarf_tag(&type);
		Dwarf_Attribute attr;
		Dwarf_Die next;

		own = locals_die_text(dwarf_attr_integrate(&type, DW_AT_name, &attr));
		if (own && tag != DW_TAG_pointer_type) {
			snprintf(name, size, "%s%s%s%s", keyword(tag), own, *stars ? " " : "", stars);
			return;
		}
		if (tag != DW_TAG_pointer_type && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type)
			return;
		if (tag == DW_TAG_pointer_type)
			strcat(stars, "*");
		if (!get_type(&type, &next)) {
			snprintf(name, size, "void %s", stars);
			return;
		}
		type = next;
	}
}

void locals_member_path(const Dwarf_Die *start, uint64_t offset, char *path, size_t path_size, char *name, size_t name_size)
{
	Dwarf_Die type = *start;
	int steps;

	*path = *name = '\0';
	for (steps = 0; steps < STEPS_MAX; steps++) {
		Dwarf_Die peeled;
		bool more;

		type_name(type, name, name_size);
		if (!ends(type) || dwarf_peel_type(&type, &peeled))
			return;
		switch (dwarf_tag(&peeled)) {
		case DW_TAG_array_type:
			more = into_array(&peeled, &offset, path, path_size);
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			more = into_struct(&peeled, &offset, path, path_size);
			break;
		default:
			more = false;
			break;
		}
		if (!more)
			return;
		type = peeled;
		*name = '\0';
	}
}
