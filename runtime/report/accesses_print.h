/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses_print.h - what a PMU tells of a row's accesses beside their number: latency, cache, TLB.
 */
#ifndef ACCESSES_PRINT_H
#define ACCESSES_PRINT_H

#include <stdio.h>

#include "json.h"
#include "rows.h"

/* Does any row have a latency or a source?  Else there are no columns. */
bool accesses_print_any(const struct rows *r);
/* Two columns, by their heads: mean latency in cycles, hits of lines modified in another core's cache; how wide. */
#define ACCESSES_PRINT_HEAD " latency  hitm"
enum { ACCESSES_PRINT_WIDTH = 14 };
int accesses_print_text(FILE *f, const struct row *row);

/* Keys of a row, with rows.addressed. */
void accesses_print_json(struct json *j, const struct row *row);

#endif /* ACCESSES_PRINT_H */
