/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locals_frames.h - is call frame information fit to be given to libdw?
 *
 * libdw makes a table as long as the largest number of a register that instructions name, copies it at each
 * DW_CFA_remember_state, and reads operands wherever they end: a few damaged bytes have it need gigabytes.  So what it
 * would take is read before: a linker's work passes, whatever is not understood does not.
 */
#ifndef LOCALS_FRAMES_H
#define LOCALS_FRAMES_H

#include <libelf.h>
#include <stdbool.h>

/* Registers have smaller numbers, everywhere (x86-64: 130); no more states than these are remembered at a time. */
enum { LOCALS_FRAMES_REGISTERS = 1024, LOCALS_FRAMES_STATES = 256 };

/* What dwarf_getcfi_elf() takes from @elf, which has section headers: .eh_frame, and .eh_frame_hdr's table. */
bool locals_frames_fit(Elf *elf);

/* What dwarf_getcfi() takes, after dwarf_begin_elf(), which has undone the compression of what it takes: .debug_frame. */
bool locals_frames_debug_fit(Elf *elf);

#endif /* LOCALS_FRAMES_H */
