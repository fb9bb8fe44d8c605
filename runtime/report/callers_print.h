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

struct caller;

/* A name from the program's files, which may hold any byte: what would move the cursor as \xNN. */
void callers_print_name(FILE *f, const char *s);
/* "scan() at hot_scan.c:40" */
void callers_print_where(FILE *f, const struct caller *c);

/* At most @max of them, one a line. */
void callers_print_text(FILE *f, const struct analysis *a, const struct row *row, size_t max);

/* The keys "callers", "callers_n" and "bytes" of @row. */
void callers_print_json(struct json *j, const struct analysis *a, const struct row *row, size_t max);

#endif /* CALLERS_PRINT_H */
