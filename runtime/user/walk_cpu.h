/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk_cpu.h - may this CPU be asked to do an instruction?
 *
 * Private to the walker.  Programs hold code for CPUs of all kinds.  Sources: gcc's list of features that
 * __builtin_cpu_supports() knows, which asks for what the kernel has turned on, too.
 */
#ifndef WALK_CPU_H
#define WALK_CPU_H

#include <Zydis/Zydis.h>
#include <stdbool.h>

bool walk_cpu_has(const ZydisDecodedInstruction *z);

#endif /* WALK_CPU_H */
