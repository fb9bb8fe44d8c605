/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_line_parts.h - where lines, their accounts, parts and sites are in the tool's own memory: by number.
 */
#ifndef HVT_LINE_PARTS_H
#define HVT_LINE_PARTS_H

#include "pub_tool_basics.h"

#include "hvt_line_wire.h"
#include "hvt_shadow.h"

static inline struct hvt_lines_head *hvt_line_head(void)
{
	return hvt_shadow_at(HVT_LINES);
}

static inline struct hvt_line *hvt_line_at(UWord number)
{
	return (struct hvt_line *)hvt_shadow_at(HVT_LINES_STATE) + number;
}

static inline struct hvt_line_shared *hvt_line_shared_at(UInt number)
{
	return (struct hvt_line_shared *)hvt_shadow_at(HVT_LINES_SHARED) + number;
}

static inline struct hvt_line_part *hvt_line_part_at(UInt number)
{
	return (struct hvt_line_part *)hvt_shadow_at(HVT_LINES_PARTS) + number;
}

static inline struct hvt_line_site *hvt_line_site_at(UInt number)
{
	return (struct hvt_line_site *)hvt_shadow_at(HVT_LINES_SITES) + number;
}

#endif /* HVT_LINE_PARTS_H */
