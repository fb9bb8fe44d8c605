/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prefetches_print.h - what prefetch instructions asked for, written out.
 */
#ifndef PREFETCHES_PRINT_H
#define PREFETCHES_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis.h"

/*
 * A table of the lines of code with bad ones, the worst, and a sentence on the others; if none were watched, only
 * @asked says so.
 */
void prefetches_print_text(FILE *f, struct analysis *a, bool asked);

/* A "prefetch" record for each line of code. */
void prefetches_print_json(FILE *f, struct analysis *a);

#endif /* PREFETCHES_PRINT_H */
