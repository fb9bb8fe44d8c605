/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate.h - a seccomp filter that stops a program at its mapping calls only.
 *
 * SECCOMP_RET_TRACE for the calls of hvar_call_numbers(), of each of the three
 * ABIs, and for those that ask for or set a CPU mask (see pin.h).  Every other
 * call is a constant ALLOW, which the kernel keeps in a bitmap and does not even
 * run the filter for.  A filter cannot be taken off again: without a tracer the
 * gated calls fail with ENOSYS, so the tracer must live as long as the program, or
 * take it along (PTRACE_O_EXITKILL).  What a program can notice: its status shows a
 * filter, it cannot enter seccomp's strict mode, and without CAP_SYS_ADMIN it has
 * no_new_privs.
 */
#ifndef GATE_H
#define GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/core/hvar_call.h"

/* SECCOMP_RET_DATA of our stops: tells them from those of a filter of the program's own. */
#define GATE_MARK 0x4856

struct gate;

/* Is it sched_getaffinity or sched_setaffinity? */
bool gate_is_affinity(enum hvar_abi abi, uint64_t nr);

struct gate *gate_new(void); /* NULL and errno: no memory, no descriptor, or libseccomp cannot make it */
void gate_free(struct gate *g);

/*
 * Gate the calling process, with no_new_privs only where CAP_SYS_ADMIN is
 * missing.  System calls only, for the time between fork and exec.  Returns 0 or -errno.
 */
int gate_install(const struct gate *g);

#endif /* GATE_H */
