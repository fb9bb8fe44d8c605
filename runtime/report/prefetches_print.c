// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prefetches_print.c - what prefetch instructions asked for, as text and JSON.
 *
 *	prefetches   unmapped   unused   at end   in use  code
 *	      1024         16        -        -      896  walk() at prefetch_past.c:22
 *	           unmapped: right behind table
 */
#include "config.h"

#include "prefetches_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "prefetches.h"
#include "printable.h"

enum { IN_TEXT = 30 };

static const char *const bads[] = {
	[STREAM_PREFETCH_UNMAPPED] = "unmapped",
	[STREAM_PREFETCH_UNUSED] = "unused",
};

static const char *const positions[] = {
	[PREFETCH_AT] = "in",
	[PREFETCH_BEFORE] = "before",
	[PREFETCH_PAST] = "past",
};

static void column(FILE *f, int width, uint64_t n)
{
	if (n)
		fprintf(f, " %*" PRIu64, width, n);
	else
		fprintf(f, " %*s", width, "-");
}

static void put_code(FILE *f, const struct prefetch_line *l)
{
	const char *last = strrchr(l->function, ')');

	printable_put(f, *l->function ? l->function : "?");
	if (*l->function && (!last || (last[1] && last[1] != ' '))) /* those of C++ have their parameters already */
		fputs("()", f);
	if (*l->file) {
		fputs(" at ", f);
		printable_put(f, l->file);
		fprintf(f, ":%" PRIu32, l->line);
	} else if (l->ip) {
		fprintf(f, " at 0x%" PRIx64, l->ip);
		if (l->module) {
			fputs(" in ", f);
			printable_put(f, l->module);
		}
	} else {
		fputs(": all that there was no room for", f);
	}
	putc('\n', f);
}

static void put_place(FILE *f, const struct prefetch_place *at)
{
	fprintf(f, "%18s%s: ", "", bads[at->what]);
	if (!at->base)
		fprintf(f, "0x%" PRIx64 " ", at->addr);
	else if (at->position == PREFETCH_PAST && !at->distance)
		fputs("right behind ", f);
	else if (at->position != PREFETCH_AT)
		fprintf(f, "%" PRIu64 " byte%s %s ", at->distance, at->distance == 1 ? "" : "s",
			at->position == PREFETCH_PAST ? "past the end of" : "before");
	printable_put(f, at->base && (at->position != PREFETCH_AT || at->what != STREAM_PREFETCH_UNMAPPED) ? at->base : at->name);
	if (at->base && at->position != PREFETCH_AT && at->what != STREAM_PREFETCH_UNMAPPED) {
		fputs(", in ", f);
		printable_put(f, at->name);
	}
	if (at->position == PREFETCH_AT && at->base && at->what == STREAM_PREFETCH_UNMAPPED)
		fputs(", which may not be read", f);
	putc('\n', f);
}

static void put_line(FILE *f, const struct prefetch_line *l)
{
	size_t i;

	column(f, 10, l->executed);
	column(f, 10, l->unmapped);
	column(f, 10, l->unused);
	column(f, 8, prefetches_waiting(l));
	column(f, 10, l->redundant);
	fputs("  ", f);
	put_code(f, l);
	for (i = 0; i < l->n_places; i++)
		put_place(f, &l->places[i]);
}

static bool samples(const struct analysis *a)
{
	struct analysis_totals t;

	analysis_totals(a, &t);
	return t.samples;
}

/* What samples prove. */
static void text_sampled(FILE *f, const struct prefetch_line *v, size_t n)
{
	uint64_t proven = 0;
	size_t i, k, bad = 0;

	for (i = 0; i < n; i++) {
		proven += v[i].executed;
		bad += v[i].unmapped > 0;
	}
	if (!bad) {
		fprintf(f, "prefetches: samples prove the addresses of %" PRIu64 ", by %zu line%s of code: none is of unmapped memory\n", proven, n, n == 1 ? "" : "s");
		return;
	}
	fprintf(f, " %10s %10s  code\n", "prefetches", "unmapped");
	for (i = 0; i < bad && i < IN_TEXT; i++) {
		column(f, 10, v[i].executed);
		column(f, 10, v[i].unmapped);
		fputs("  ", f);
		put_code(f, &v[i]);
		for (k = 0; k < v[i].n_places; k++)
			put_place(f, &v[i].places[k]);
	}
	if (i < bad)
		fprintf(f, "%23s in %zu more lines of code, not shown\n", "", bad - i);
	fputs("prefetches: those whose addresses samples prove; likely, for the map may have changed since:\n"
	      "  --exact counts them, and says which are not used\n", f);
}

/* Loads and stores of what is not there, which come last. */
static void text_wild(FILE *f, const struct prefetch_line *v, size_t n)
{
	size_t i, k;

	if (!n)
		return;
	fprintf(f, " %10s  code\n", "wild");
	for (i = 0; i < n && i < IN_TEXT; i++) {
		column(f, 10, v[i].unmapped);
		fputs("  ", f);
		put_code(f, &v[i]);
		for (k = 0; k < v[i].n_places; k++)
			put_place(f, &v[i].places[k]);
	}
	if (i < n)
		fprintf(f, "%12s in %zu more lines of code, not shown\n", "", n - i);
	fputs("wild: loads and stores of memory that is not mapped, or may not be touched\n", f);
}

void prefetches_print_text(FILE *f, struct analysis *a, bool asked)
{
	const char *lines = analysis_meta(a, "prefetch_lines");
	uint64_t executed = 0;
	const struct prefetch_line *v;
	size_t n, i, bad = 0, wild = 0;

	v = prefetches_lines(analysis_prefetches(a), &n);
	if (prefetches_are_sampled(analysis_prefetches(a))) {
		text_sampled(f, v, n);
		return;
	}
	if (!lines && !n) {
		if (asked)
			fputs(samples(a) ? "prefetches: samples prove no address of any\n" :
			      "no prefetches: record with --exact --prefetches to have them\n", f);
		return;
	}
	while (wild < n && v[n - 1 - wild].access)
		wild++;
	n -= wild;
	if (wild)
		text_wild(f, v + n, wild);
	for (i = 0; i < n; i++) {
		executed += v[i].executed;
		bad += v[i].unmapped + v[i].unused > 0;
	}
	if (!executed) {
		fputs("prefetches: none was executed\n", f);
		return;
	}
	if (!bad) {
		fprintf(f, "prefetches: %" PRIu64 " by %zu line%s of code, none of unmapped memory, none unused\n", executed, n, n == 1 ? "" : "s");
		return;
	}
	fprintf(f, " %10s %10s %10s %8s %10s  code\n", "prefetches", "unmapped", "unused", "at end", "in use");
	for (i = 0; i < bad && i < IN_TEXT; i++)
		put_line(f, &v[i]);
	if (i < bad)
		fprintf(f, "%54s in %zu more lines of code, not shown\n", "", bad - i);
	if (n > bad)
		fprintf(f, "%54s %zu more line%s of code without bad ones\n", "", n - bad, n - bad == 1 ? "" : "s");
	fprintf(f, "unused: not touched before %s other lines of 64 bytes were, or it was gone;\n"
		   "  at end: not touched yet when the program ended; in use: touched or asked for\n"
		   "  shortly before\n", lines ? lines : "many");
}

static void count_exact(struct json *j, const char *key, bool sampled, uint64_t n)
{
	if (sampled)
		json_null(j, key);
	else
		json_u64(j, key, n);
}

static void json_place(struct json *j, const struct prefetch_place *at)
{
	json_open(j, NULL, '{');
	json_str(j, "bad", bads[at->what]);
	json_hex(j, "addr", at->addr);
	json_str(j, "name", at->name);
	json_str(j, "base", at->base);
	json_str(j, "position", at->base ? positions[at->position] : NULL);
	if (at->base)
		json_u64(j, "distance", at->distance);
	else
		json_null(j, "distance");
	json_close(j, '}');
}

/* The places, and the end of the record. */
static void json_places(struct json *j, const struct prefetch_line *l)
{
	size_t k;

	json_open(j, "places", '[');
	for (k = 0; k < l->n_places; k++)
		json_place(j, &l->places[k]);
	json_close(j, ']');
	json_end(j);
}

void prefetches_print_json(FILE *f, struct analysis *a)
{
	const char *lines = analysis_meta(a, "prefetch_lines");
	const struct prefetch_line *v;
	bool sampled = prefetches_are_sampled(analysis_prefetches(a));
	struct json j;
	size_t n, i;

	v = prefetches_lines(analysis_prefetches(a), &n);
	for (i = 0; i < n; i++) {
		json_begin(&j, f, v[i].access ? "wild" : "prefetch");
		json_hex(&j, "ip", v[i].ip);
		json_str(&j, "module", v[i].module);
		json_str(&j, "function", *v[i].function ? v[i].function : NULL);
		json_str(&j, "file", *v[i].file ? v[i].file : NULL);
		if (v[i].line)
			json_u64(&j, "line", v[i].line);
		else
			json_null(&j, "line");
		if (v[i].access) {
			json_u64(&j, "accesses", v[i].unmapped);
			json_places(&j, &v[i]);
			continue;
		}
		json_str(&j, "mode", sampled ? "sampled" : "exact");
		if (sampled)
			json_u64(&j, "proven", v[i].executed);
		count_exact(&j, "executed", sampled, v[i].executed);
		json_u64(&j, "unmapped", v[i].unmapped);
		count_exact(&j, "unused", sampled, v[i].unused);
		count_exact(&j, "at_end", sampled, prefetches_waiting(&v[i]));
		count_exact(&j, "redundant", sampled, v[i].redundant);
		count_exact(&j, "used", sampled, v[i].used);
		count_exact(&j, "unjudged", sampled, v[i].unjudged);
		if (lines)
			json_u64(&j, "lines", strtoull(lines, NULL, 10));
		else
			json_null(&j, "lines");
		json_places(&j, &v[i]);
	}
}
