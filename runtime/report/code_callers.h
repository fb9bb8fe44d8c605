/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_callers.h - places in the code, each once, as numbers of callers.h: what samples and page faults tell of, which have no numbers of their own.
 */
#ifndef CODE_CALLERS_H
#define CODE_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "callers.h"
#include "images.h"
#include "runtime/user/estimate.h"

struct code_callers;

struct code_callers *code_callers_new(struct images *images, struct callers *callers); /* borrowed.  NULL: no memory */
void code_callers_free(struct code_callers *c);

/* The number of the code at @at; @kernel: of a system call.  False: no memory. */
bool code_callers_number(struct code_callers *c, const struct code_site *at, bool kernel, uint32_t *caller);

/* Name those that are new, for callers_get(). */
void code_callers_name(struct code_callers *c);

#endif /* CODE_CALLERS_H */
