// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_code_name.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcprint.h"

/* Append @s and its NUL to the @len bytes of @text, as far as there is room. */
static UInt append(HChar *text, UInt len, const HChar *s)
{
	do {
		if (len == HVT_TEXT_MAX - 1)
			break;
		text[len++] = *s;
	} while (*s++);
	return len;
}

UInt hvt_code_name(Addr ip, HChar text[HVT_TEXT_MAX])
{
	DiEpoch ep = VG_(current_DiEpoch)();
	const HChar *name = "", *file = "", *folder;
	HChar number[16] = "";
	UInt line = 0, len;

	if (!ip || !VG_(get_fnname)(ep, ip, &name))
		name = "";
	len = append(text, 0, name);
	if (!ip || !VG_(get_filename_linenum)(ep, ip, &file, &folder, &line))
		file = "";
	len = append(text, len, file);
	VG_(sprintf)(number, "%u", *file ? line : 0);
	return append(text, len, number);
}
