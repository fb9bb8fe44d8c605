/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callers_print.h - the lines of code that access a row's variable, written out.
 */
#ifndef CALLERS_PRINT_H
#define CALLERS_PRINT_H

#include <stddef.h>
#include <stdio.h>

#include "analysis.h"
#include "json.h"
#include "rows.h"

/* At most @max of them, one a line. */
void callers_print_text(FILE *f, const struct analysis *a, const struct row *row, size_t max);

/* The keys "callers", "callers_n" and "bytes" of @row. */
void callers_print_json(struct json *j, const struct analysis *a, const struct row *row, size_t max);

#endif /* CALLERS_PRINT_H */
