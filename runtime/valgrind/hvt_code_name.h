/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_code_name.h - what the code at an address is called, as messages have it: function, file, line, each with its NUL.
 */
#ifndef HVT_CODE_NAME_H
#define HVT_CODE_NAME_H

#include "pub_tool_basics.h"

#include "hvt_wire.h"

/* Of the code at @ip, into @text: what is not known is "", the line then "0"; 0: all of it.  Returns its length. */
UInt hvt_code_name(Addr ip, HChar text[HVT_TEXT_MAX]);

#endif /* HVT_CODE_NAME_H */
