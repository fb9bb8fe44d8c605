// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report_text.c - the report for people.
 *
 *	  #   share     ±    time  wr%  kind    variable
 *	  1   41.0%   2.0   52.0%   30  bss     counts [app]
 *
 * Names and paths are the program's own and may hold any byte: what would
 * move the cursor or end the line is written as \xNN.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "accesses_print.h"
#include "callers.h"
#include "callers_print.h"
#include "heap_print.h"
#include "losses.h"
#include "prefetches_print.h"
#include "printable.h"
#include "report.h"
#include "translator-hooks/image_cache.h"

#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define NORMAL "\033[0m"

/* The smallest share that does not print as 0.0%. */
#define SEEN 0.0005
/* Seconds: below, beginning and ending are most of what hotvar costs. */
#define LONG_ENOUGH 0.2
/* Where more than MOST of as much CPU time has no samples, that is said. */
#define MUCH_CPU 0.1
#define MOST 0.5
/* Half of an interval, for that more samples are asked for. */
#define WIDE 0.1

enum { TEXT_WIDTH = 80, KIND_WIDTH = 8 };

struct out {
	FILE *f;
	const struct report_options *o;
};

static void style(const struct out *out, const char *code)
{
	if (out->o->color)
		fputs(code, out->f);
}

/* ---- text that may hold anything ---- */

/* @s made printable; malloc'd, NULL without memory. */
static char *printable(const char *s)
{
	char *text = malloc(4 * strlen(s) + 1), *to = text;

	while (text && *s) {
		int n = printable_control(s);

		if (!n)
			*to++ = *s++;
		while (n--)
			to += sprintf(to, "\\x%02x", (unsigned char)*s++);
	}
	if (text)
		*to = '\0';
	return text;
}

/* Columns that @s takes; a character of several bytes is taken as one column. */
static int columns(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* Write @s in at most @room columns (0: all of it). */
static void cut_to(FILE *f, const char *s, int room)
{
	int n = 0;

	if (room <= 0 || columns(s) <= room) {
		fputs(s, f);
		return;
	}
	for (; *s; s++) {
		n += (*s & 0xc0) != 0x80;
		if (n == room)
			break;
		putc(*s, f);
	}
	fputs("…", f);
}

/* ---- paragraphs ---- */

/* Words filled to the width, later lines indented by two. */
static void paragraph(const struct out *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void paragraph(const struct out *out, const char *fmt, ...)
{
	int width = out->o->width ? out->o->width : TEXT_WIDTH, at = 0;
	char *raw = NULL, *text, *word, *rest;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&raw, fmt, ap) < 0)
		raw = NULL;
	va_end(ap);
	text = raw ? printable(raw) : NULL;
	free(raw);
	if (!text)
		return;
	for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		int n = columns(word);

		if (at && at + 1 + n > width) {
			fputs("\n  ", out->f);
			at = 2;
		} else if (at) {
			putc(' ', out->f);
			at++;
		}
		fputs(word, out->f);
		at += n;
	}
	putc('\n', out->f);
	free(text);
}

/* 3012 as "3,012". */
static const char *grouped(uint64_t n, char buf[32])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), i;
	char *to = buf;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buf;
}

/* In at most 6 columns: 999999, 12.3M, 5.10G. */
static const char *short_count(uint64_t n, char buf[32])
{
	static const char units[] = "kMGTPE";
	double x = (double)n;
	int unit = -1;

	if (n < 1000000) {
		snprintf(buf, 32, "%" PRIu64, n);
		return buf;
	}
	while (x >= 999.95 && units[unit + 1]) {
		x /= 1000;
		unit++;
	}
	snprintf(buf, 32, "%.*f%c", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x, units[unit]);
	return buf;
}

/* ---- the table ---- */

static void percent(FILE *f, double x, int width)
{
	if (isnan(x))
		fprintf(f, "%*s", width, "-");
	else
		fprintf(f, "%*.1f%%", width - 1, 100 * x);
}

/* With -v: by how many threads it was touched, and when, as far as that is known. */
static bool has_more(const struct out *out, const struct rows *r)
{
	return r->exact && out->o->verbose;
}

static int since_begin(FILE *f, const struct rows *r, uint64_t ns)
{
	if (!ns || ns < r->totals.first_ns)
		return fprintf(f, " %8s", "-");
	return fprintf(f, " %8.3f", (double)(ns - r->totals.first_ns) / 1e9);
}

/* A row up to its kind; returns how many columns. */
static int numbers(const struct out *out, const struct rows *r, const struct row *row)
{
	FILE *f = out->f;
	char buf[32];
	int used = 0;

	percent(f, row->share, 7);
	if (r->exact)
		fprintf(f, " %8s", short_count(row->accesses, buf));
	else if (isnan(row->ci[0]))
		fprintf(f, " %5s", "-");
	else
		fprintf(f, " %5.1f", 50 * (row->ci[1] - row->ci[0]));
	if (!r->exact) {
		putc(' ', f);
		percent(f, row->time_share, 7);
		if (isnan(row->time_ci[0]))
			fprintf(f, " %5s", "-");
		else
			fprintf(f, " %5.1f", 50 * (row->time_ci[1] - row->time_ci[0]));
	}
	if (isnan(row->write_share))
		fprintf(f, " %4s", "-");
	else
		fprintf(f, " %4.0f", 100 * row->write_share);
	if (accesses_print_any(r))
		used += accesses_print_text(f, row);
	if (has_more(out, r)) {
		used += fprintf(f, " %7" PRIu32, row->threads);
		used += since_begin(f, r, row->var.first_ns);
		used += since_begin(f, r, row->var.last_ns);
	}
	return used + 7 + (r->exact ? 9 : 6 + 8 + 6) + 5;
}

static void one_row(const struct out *out, const struct rows *r, size_t i)
{
	const struct row *row = &r->v[i];
	const struct variable *v = &row->var;
	bool in_name = v->module && !v->symbol; /* the module stands in the name already */
	char *raw = NULL, *name = NULL, process[64] = "";
	int used = 4, room;

	if (v->mm)
		snprintf(process, sizeof(process), " (%s%s%" PRIu32 ")", v->comm, *v->comm ? " " : "", v->pid);
	if (asprintf(&raw, "%s%s%s%s%s%s%s%s%s", v->name, v->module && !in_name ? " [" : "",
		     v->module && !in_name ? variables_file_name(v->module) : "",
		     v->module && !in_name ? "]" : "", v->deleted && strcmp(v->kind, "shm") ? " (deleted)" : "",
		     v->phase ? " in " : "", v->phase ? v->phase : "", row->told && v->symbol ? " (named by perf)" : "", process) > 0)
		name = printable(raw);
	free(raw);
	style(out, row->share >= 0.1 ? BOLD : "");
	fprintf(out->f, "%4zu", i + 1);
	used += numbers(out, r, row);
	used += fprintf(out->f, "  %-*s ", KIND_WIDTH, v->kind);
	room = out->o->width > used + 8 ? out->o->width - used : 0;
	cut_to(out->f, name ? name : "?", room);
	style(out, row->share >= 0.1 ? NORMAL : "");
	putc('\n', out->f);
	free(name);
}

/* What is in no row, in the table's columns. */
static void other_line(const struct out *out, const struct rows *r, double share,
		       double time_share, const char *text)
{
	style(out, DIM);
	fprintf(out->f, "    ");
	percent(out->f, share, 7);
	if (r->exact) {
		fprintf(out->f, " %8s", "");
	} else {
		fprintf(out->f, " %5s ", "");
		percent(out->f, time_share, 7);
		fprintf(out->f, " %5s", "");
	}
	fprintf(out->f, " %4s%*s  ", "", has_more(out, r) ? 26 : accesses_print_any(r) ? ACCESSES_PRINT_WIDTH : 0, "");
	cut_to(out->f, text, out->o->width > 40 ? out->o->width - (r->exact ? 27 : 38) : 0);
	style(out, NORMAL);
	putc('\n', out->f);
}

static void table(const struct out *out, const struct rows *r, const struct analysis *a)
{
	char text[96];
	size_t i;

	style(out, BOLD);
	fprintf(out->f, "   #   share%s  wr%%%s  %-*s variable [module]\n",
		r->faults ? "   faults" : r->exact ? " accesses" : "  ±95%    time  ±95%",
		has_more(out, r) ? " threads    first     last" : accesses_print_any(r) ? ACCESSES_PRINT_HEAD : "",
		KIND_WIDTH, "kind");
	style(out, NORMAL);
	for (i = 0; i < r->n; i++) {
		one_row(out, r, i);
		if (r->callers && r->exact)
			callers_print_text(out->f, a, &r->v[i], r->callers);
	}
	if (r->hidden) {
		snprintf(text, sizeof(text), "in %zu more variable%s not shown", r->hidden,
			 r->hidden == 1 ? "" : "s");
		other_line(out, r, r->hidden_share, r->hidden_time_share, text);
	}
	for (i = 0; i < r->n_un; i++)
		if (out->o->verbose || r->un[i].share >= SEEN || r->un[i].time_share >= SEEN)
			other_line(out, r, r->un[i].share, r->un[i].time_share,
				   r->un[i].text);
}

/* ---- around it ---- */

static const char *what_ran(const struct analysis *a, char **tofree)
{
	const char *argv = analysis_meta(a, "argv"), *pid = analysis_meta(a, "pid"), *input = analysis_meta(a, "input");

	*tofree = NULL;
	if (argv && *argv)
		return argv;
	if (pid && asprintf(tofree, "process %s", pid) > 0)
		return *tofree;
	if (input && *input)
		return input;
	return "a recording";
}

static void heading(const struct out *out, const struct rows *r, const struct analysis *a)
{
	const char *hz = analysis_meta(a, "hz");
	char n[32], *tofree;
	const char *what = what_ran(a, &tofree);

	if (r->faults)
		paragraph(out, "%s: first touches of pages, not accesses: %s page fault%s in %.2f s", what, grouped(r->accesses, n),
			  r->accesses == 1 ? "" : "s", r->seconds);
	else if (r->exact)
		paragraph(out, "%s: every access counted, %s in %.2f s", what,
			  grouped(r->accesses, n), r->seconds);
	else if (r->addressed)
		paragraph(out, "%s: %s access%s sampled in %.2f s", what, grouped(r->samples, n), r->samples == 1 ? "" : "es", r->seconds);
	else
		paragraph(out, "%s: %.2f s, %s sample%s%s%s%s", what, r->seconds,
			  grouped(r->samples, n), r->samples == 1 ? "" : "s", hz ? " at " : "", hz ? hz : "",
			  hz ? " Hz of CPU time" : "");
	free(tofree);
}

/* @whole: nothing else says that something is missing. */
static void losses(const struct out *out, const struct rows *r, bool whole)
{
	char *text = losses_text(&r->totals);

	if (text && *text)
		paragraph(out, "losses: %s", text);
	else if (!out->o->quiet && whole)
		paragraph(out, "losses: none");
	free(text);
}

/* What was measured with, and its cost. */
static void how(const struct out *out, const struct rows *r, const struct analysis *a)
{
	const char *source = analysis_meta(a, "source"), *maps = analysis_meta(a, "maps");
	char cost[200] = "", each[40] = "";

	if (!source)
		return;
	if (r->faults) {
		const char *which = analysis_meta(a, "faults");

		paragraph(out, "faults: the first touch of each page since it was mapped, given back or copied, at its exact address; pages that are there already, or that the kernel brings along with a neighbour, make none%s; map by %s",
			  which && !strcmp(which, "user") ? "; those in system calls are not among them, as kernel.perf_event_paranoid is 2 or more for this user" : "", maps ? maps : "perf");
		return;
	}
	if (r->exact) {
		if (has_more(out, r))
			paragraph(out, "first, last: seconds from the begin to when counters that had it were looked at, some 10 times a second");
		paragraph(out, "counted by %s: every load and store of the program's own code; what the kernel accesses for it is not among them", source);
		return;
	}
	if (r->own_cpu_share > 0 && r->seconds >= LONG_ENOUGH)
		snprintf(cost, sizeof(cost), "; hotvar itself used %.1f %% of a CPU",
			 100 * r->own_cpu_share);
	if (r->sample_ns)
		snprintf(each, sizeof(each), " (%.1f us each here)", 1e-3 * (double)r->sample_ns);
	if (r->slowdown > 0)
		snprintf(cost + strlen(cost), sizeof(cost) - strlen(cost), "; about %.1f %% of the program's time went into samples%s%s",
			 100 * r->slowdown, each, r->hits && r->walks ? ", breakpoints and walks" : r->hits ? " and breakpoints" : r->walks ? " and walks" : "");
	paragraph(out, "samples by %s%s%s%s%s", source, !strcmp(source, "perf") ? "'s timer" :
		  !strcmp(source, "ptrace") ? "'s stops" : "", maps ? ", map by " : "",
		  maps ? maps : "", cost);
}

static const char no_samples_of[] = "what it does in the kernel has none, nor have threads that end before they have used as much as one sample stands for";

static bool most_unsampled(const struct rows *r)
{
	return r->samples && r->cpu_seconds >= MUCH_CPU && r->unsampled > MOST;
}

/* Most of the program's time has no samples: shares are of the rest. */
static void unsampled(const struct out *out, const struct rows *r)
{
	if (most_unsampled(r))
		paragraph(out, "note: samples stand for %.2f of the %.2f seconds of CPU time that the program used: %s: for these raise the rate with -F, or count each access with --exact",
			  (1 - r->unsampled) * r->cpu_seconds, r->cpu_seconds, no_samples_of);
}

/* Half of the width of an interval is large, and at least half of that is of a part @p of @n samples by chance. */
static bool wants_samples(const double ci[2], double p, double n)
{
	double half = (ci[1] - ci[0]) / 2; /* NaN: not known */

	return half > WIDE && 1.96 * sqrt(p * (1 - p) / n) > half / 2;
}

/* More samples would narrow intervals; where most of the time has none, it was said already how to have them. */
static void few_samples(const struct out *out, const struct rows *r)
{
	double n = (double)r->samples;
	bool few = false;
	size_t i;

	if (r->exact || r->addressed || !r->samples || most_unsampled(r))
		return;
	for (i = 0; i < r->n; i++) {
		const struct row *row = &r->v[i];

		few = few || wants_samples(row->ci, row->share, n) || wants_samples(row->time_ci, row->time_share, n);
	}
	if (few)
		paragraph(out, "note: these intervals are wide for want of samples: more narrow them, of a longer run or of a higher rate (-F)");
}

/* ---- what -v adds ---- */

/* What a module's rows without a symbol want done, by their reason; the others' files failed, which is said of those. */
static const struct {
	const char *reason, *text;
} unnamed_texts[] = {
	{ "stripped", "it is stripped, so its own variables have no names: link it without -s, do not strip it, and measure again" },
	{ "no-symbol", "its symbols cover nothing there, as with the linker's tables and unnamed constants: there is nothing to mend" },
};

static const char *unnamed_text(const struct variable *v)
{
	size_t i;

	for (i = 0; v->module && !v->symbol && v->reason && i < sizeof(unnamed_texts) / sizeof(unnamed_texts[0]); i++)
		if (!strcmp(v->reason, unnamed_texts[i].reason))
			return unnamed_texts[i].text;
	return NULL;
}

/* Each module of a shown row that has no symbol, once, with the share of all its rows like that. */
static void unnamed(const struct out *out, const struct rows *r)
{
	size_t i, j;

	for (i = 0; i < r->n; i++) {
		const struct variable *v = &r->v[i].var;
		const char *text = unnamed_text(v);
		double share = 0;
		bool said = false;

		for (j = 0; text && j < r->n; j++) {
			const struct variable *w = &r->v[j].var;

			if (unnamed_text(w) != text || strcmp(w->module, v->module))
				continue;
			said = said || j < i;
			share += r->v[j].share;
		}
		if (text && !said)
			paragraph(out, "no names for %.1f%% of accesses, in %s: %s", 100 * share,
				  v->module, text);
	}
}

/* Objects of the heap: how many, of what size, and who made them. */
static void objects(const struct out *out, const struct rows *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct variable *v = &r->v[i].var;
		char *text = v->heap && !v->member ? heap_print_text(v->heap) : NULL;

		if (text)
			paragraph(out, "%s: %s", v->name, text);
		free(text);
	}
}

static void details(const struct out *out, const struct rows *r, const struct analysis *a)
{
	const struct images *images = analysis_images(a);
	const char *kernel = analysis_meta(a, "kernel");
	char n[32], m[32];
	size_t i;

	if (!r->exact)
		paragraph(out, "%s of %s samples attributed, of %" PRIu64 " address space%s%s%s",
			  grouped(r->attributed, n), grouped(r->samples, m), r->totals.processes,
			  r->totals.processes == 1 ? "" : "s", kernel ? ", on Linux " : "",
			  kernel ? kernel : "");
	unnamed(out, r);
	objects(out, r);
	for (i = 0; i < images_failed(images); i++)
		paragraph(out, "no names: %s", images_failure(images, i));
	if (image_cache_why())
		paragraph(out, "%s", image_cache_why());
}

static void closing(const struct out *out, const struct rows *r, const struct analysis *a)
{
	const char *note = analysis_meta(a, "note");
	const struct images *images = analysis_images(a);

	if (r->addressed && r->n)
		paragraph(out, "share: of the accesses that were sampled, ±95%% its confidence interval in points; wr%%: how many of them write%s",
			  accesses_print_any(r) ? "; time: of the cycles they took, latency: the mean of those; hitm: samples that found their line modified in another core's cache" : "");
	else if (!r->exact && r->n)
		paragraph(out, "share: of all accesses, estimated, ±95%% its confidence interval in points; time: of the CPU time, likewise; wr%%: how many of its accesses write");
	how(out, r, a);
	unsampled(out, r);
	few_samples(out, r);
	if (r->callers && !callers_any(analysis_callers((struct analysis *)a)))
		paragraph(out, "no lines of code: record with %s--callers to have them", r->exact ? "" : "--exact ");
	if (r->by_phase && !r->phases)
		paragraph(out, "no phases: %s", r->exact ? "the program told of none (hotvar.h)" : "record with --exact to have them");
	if (note && *note)
		paragraph(out, "note: %s", note);
	losses(out, r, !analysis_why(a));
	if (out->o->verbose)
		details(out, r, a);
	else if (images_failed(images))
		paragraph(out, "no names for %zu file%s; -v says which and why", images_failed(images),
			  images_failed(images) == 1 ? "" : "s");
}

/* No sample at @hz. */
static void no_sample(const struct out *out, const struct rows *r, const char *hz)
{
	const char *at = hz ? " at " : "", *unit = hz ? " Hz" : "";

	if (!hz)
		hz = "";
	if (r->unsampled > 0 && r->cpu_seconds * atof(hz) >= 1)
		paragraph(out, "nothing found: no sample was taken%s%s%s of the %.3g seconds of CPU time that the program used: %s: raise the rate with -F, or count each access with --exact",
			  at, hz, unit, r->cpu_seconds, no_samples_of);
	else
		paragraph(out, "nothing found: no sample was taken%s%s%s: the program%s used less CPU time than one stands for: let it do more, raise the rate with -F, or count each access with --exact",
			  at, hz, unit, r->cpu_seconds > 0 ? "" : ", or each of its threads,");
}

static void nothing(const struct out *out, const struct rows *r, const struct analysis *a)
{
	const char *hz = analysis_meta(a, "hz"), *stopped = analysis_meta(a, "stopped");

	if (stopped && !r->samples)
		paragraph(out, "nothing found: process %s is stopped, so it does nothing: let it go on with \"kill -CONT %s\"",
			  stopped, stopped);
	else if (r->hidden)
		paragraph(out, "no variable has as large a share as was asked for; %zu have less: lower --min-share", r->hidden);
	else if (r->samples)
		paragraph(out, "no access could be attributed to a variable: the reasons are above");
	else if (r->faults)
		paragraph(out, "nothing found: no page was touched for the first time");
	else if (r->exact)
		paragraph(out, "nothing found: no access was counted");
	else if (analysis_why(a))
		paragraph(out, "nothing found in what there is of the recording");
	else if (analysis_meta(a, "unmeasured"))
		paragraph(out, "nothing found: no sample was taken, since the kernel tells of this program to root alone: run hotvar as root");
	else
		no_sample(out, r, hz);
}

void report_text(FILE *f, const struct rows *r, const struct analysis *a,
		 const struct report_options *o)
{
	struct out out = { f, o };

	if (!o->quiet)
		heading(&out, r, a);
	if (r->n || r->n_un || r->hidden)
		table(&out, r, a);
	if (!r->n)
		nothing(&out, r, a);
	prefetches_print_text(f, (struct analysis *)a, o->prefetches);
	if (!o->quiet)
		closing(&out, r, a);
	else
		losses(&out, r, false);
	if (analysis_why(a))
		paragraph(&out, "%s", analysis_why(a));
}
