// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "locals_die.h"

#include <dwarf.h>
#include <libelf.h>
#include <string.h>

/* Does @s begin in a section of @elf?  *@ends: and end there. */
static bool begins(Elf *elf, const char *s, bool *ends)
{
	Elf_Scn *scn = NULL;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		const Elf_Data *d = elf_rawdata(scn, NULL);
		const char *buf = d ? d->d_buf : NULL;

		if (buf && s >= buf && (size_t)(s - buf) < d->d_size) {
			*ends = memchr(s, '\0', d->d_size - (size_t)(s - buf));
			return true;
		}
	}
	return false;
}

const char *locals_die_text(Dwarf_Attribute *attr)
{
	const char *s = dwarf_formstring(attr);
	Dwarf *dw = s ? dwarf_cu_getdwarf(attr->cu) : NULL;
	bool ends = false;

	if (!dw)
		return NULL;
	if (!begins(dwarf_getelf(dw), s, &ends) && (dw = dwarf_getalt(dw)))
		begins(dwarf_getelf(dw), s, &ends);
	return ends ? s : NULL;
}

bool locals_die_next(Dwarf_Die *die)
{
	Dwarf_Off at = dwarf_dieoffset(die);
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) || dwarf_dieoffset(&next) <= at)
		return false;
	*die = next;
	return true;
}

size_t locals_die_unit_size(Dwarf_Die *die)
{
	Dwarf_Off start = dwarf_dieoffset(die) - dwarf_cuoffset(die), next;
	size_t head;

	if (dwarf_next_unit(dwarf_cu_getdwarf(die->cu), start, &next, &head, NULL, NULL, NULL, NULL, NULL, NULL) || next < start)
		return 0;
	return next - start;
}
