// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * callers_print.c - the lines of code that access a row's variable, as text and JSON.
 *
 *	                 45.1%  scan() at hot_scan.c:40
 */
#include "config.h"

#include "callers_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "callers.h"
#include "printable.h"

enum { IN_TEXT = 3, MOST = 100000 };

/* At most @max of @row's; malloc'd, NULL without memory or if there are none. */
static struct caller *get(const struct analysis *a, const struct row *row, size_t max, size_t *n, size_t *all, uint64_t *bytes)
{
	struct callers *c = analysis_callers((struct analysis *)a);
	struct caller *v;

	*n = 0;
	*all = callers_of(c, row->entry, NULL, 0, bytes);
	if (!*all)
		return NULL;
	*n = *all < max ? *all : max;
	v = calloc(*n, sizeof(*v));
	if (v)
		callers_of(c, row->entry, v, *n, bytes);
	else
		*n = 0;
	return v;
}

void callers_print_name(FILE *f, const char *s)
{
	printable_put(f, s);
}

/* What a function's name goes on with: those of C++ have their parameters already. */
static const char *parentheses(const char *name)
{
	const char *last = strrchr(name, ')');

	return !*name || *name == '[' || (last && (!last[1] || last[1] == ' ')) ? "" : "()";
}

void callers_print_where(FILE *f, const struct caller *c)
{
	callers_print_name(f, *c->function ? c->function : "?");
	fputs(parentheses(c->function), f);
	if (!*c->file)
		return;
	fputs(" at ", f);
	callers_print_name(f, c->file);
	fprintf(f, ":%" PRIu32, c->line);
}

void callers_print_text(FILE *f, const struct analysis *a, const struct row *row, size_t max)
{
	size_t n, all, i;
	uint64_t bytes;
	struct caller *v = get(a, row, max == ROWS_CALLERS_DEFAULT ? IN_TEXT : max, &n, &all, &bytes);

	for (i = 0; i < n; i++) {
		fprintf(f, "%23s %5.1f%%  ", "", 100 * (double)(v[i].reads + v[i].writes + v[i].others) / (double)row->accesses);
		callers_print_where(f, &v[i]);
		putc('\n', f);
	}
	if (all > n)
		fprintf(f, "%30s  by %zu more lines of code\n", "", all - n);
	free(v);
}

void callers_print_json(struct json *j, const struct analysis *a, const struct row *row, size_t max)
{
	size_t n, all, i;
	uint64_t bytes;
	struct caller *v = get(a, row, max == ROWS_CALLERS_DEFAULT ? MOST : max, &n, &all, &bytes);

	if (all)
		json_u64(j, "bytes", bytes);
	else
		json_null(j, "bytes");
	json_u64(j, "callers_n", all);
	json_open(j, "callers", '[');
	for (i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		json_str(j, "function", *v[i].function ? v[i].function : NULL);
		json_str(j, "file", *v[i].file ? v[i].file : NULL);
		if (v[i].line)
			json_u64(j, "line", v[i].line);
		else
			json_null(j, "line");
		json_u64(j, "reads", v[i].reads);
		json_u64(j, "writes", v[i].writes);
		if (v[i].others)
			json_u64(j, "others", v[i].others);
		json_close(j, '}');
	}
	json_close(j, ']');
	free(v);
}
