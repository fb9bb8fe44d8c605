// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lines_text.c - shared cache lines, for people.
 *
 *	  #   share  sharing    hand-overs   at most  line
 *	  1   99.8%  false              21   4000000  0x4c100
 *	        +0 counters.first
 *	               thread 4711       2000000 reads     2000000 writes  work() at line_false.c:21
 */
#include "config.h"

#include "lines_rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "callers.h"
#include "callers_print.h"
#include "losses.h"

enum { THREADS_SHOWN = 8, PARTS_SHOWN = 8, SITES_SHOWN = 2, WIDTH = 80 };

/* Of a line's accesses: what has less is not worth a row. */
#define LEAST 0.01
/* The same for lines that are known from samples, as LINES_LEAST is for counted ones. */
enum { LEAST_SAMPLES = 3 };

/* Words filled to the width. */
static void paragraph(FILE *f, int width, const char *indent, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void paragraph(FILE *f, int width, const char *indent, const char *fmt, ...)
{
	size_t at = 0, max = (size_t)(width ? width : WIDTH);
	char *text = NULL, *word, *rest;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	for (word = text ? strtok_r(text, " ", &rest) : NULL; word; word = strtok_r(NULL, " ", &rest)) {
		if (at && at + 1 + strlen(word) > max) {
			putc('\n', f);
			at = 0;
		}
		if (at)
			putc(' ', f);
		else
			fputs(indent, f);
		at += at ? 1 : strlen(indent);
		callers_print_name(f, word);
		at += strlen(word);
	}
	if (at)
		putc('\n', f);
	free(text);
}

/* ---- who and what ---- */

/* The 4 bytes that @p is in. */
static uint32_t words_of(const struct line_part *p)
{
	return (2u << (p->end - 1u) / 4) - (1u << p->start / 4);
}

static bool is_of(const struct line_site *s, uint32_t thread, const struct line_part *p)
{
	return s->thread == thread && s->words & words_of(p);
}

static void sites(FILE *f, const struct line *l, uint32_t thread, const struct line_part *p, struct analysis *a)
{
	const struct line_site *before = NULL;
	uint32_t shown, i;

	for (shown = 0; shown < SITES_SHOWN; shown++) {
		const struct line_site *best = NULL;
		struct caller c;

		for (i = 0; i < l->n_sites; i++) {
			const struct line_site *x = &l->sites[i];

			if (is_of(x, thread, p) && x != before && (!best || x->reads + x->writes > best->reads + best->writes))
				best = x;
		}
		if (!best)
			return;
		callers_get(analysis_callers(a), best->caller, &c);
		fputs(shown ? ", " : "  ", f);
		callers_print_where(f, &c);
		before = best;
	}
}

static void thread(FILE *f, const struct lines_row *r, const struct line_part *p, uint32_t i, struct analysis *a)
{
	const struct line_thread *t = &r->line->threads[i];
	struct line_part_count c = lines_part_count(p, t);
	const char *unit = r->line->exact ? "" : " sampled";

	fprintf(f, "               thread %-8" PRIu32, t->tid);
	if (r->judged.processes)
		fprintf(f, " of %-8" PRIu32, t->pid);
	fprintf(f, " %10" PRIu64 " reads %10" PRIu64 " writes%s", c.reads, c.writes, unit);
	sites(f, r->line, i, p, a);
	putc('\n', f);
}

/* From the begin of what @n is of. */
static uint64_t offset_of(const struct line_name *n, const struct line_part *p)
{
	return n->offset + (uint64_t)(p->start - n->start);
}

/* All that was done with it. */
static uint64_t accesses(const struct line *l, const struct line_part *p)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < l->n_threads; i++) {
		struct line_part_count c = lines_part_count(p, &l->threads[i]);

		n += c.reads + c.writes;
	}
	return n;
}

static void part(FILE *f, const struct lines_row *r, const struct line_part *p, struct analysis *a)
{
	double all = (double)accesses(r->line, p);
	uint32_t i, shown = 0, more = 0;
	unsigned k;

	fprintf(f, "        +%-2u ", p->start);
	for (k = p->first; k <= p->last; k++) {
		fputs(k > p->first ? ", " : "", f);
		callers_print_name(f, r->line->names[k].name);
	}
	if (r->line->names[p->first].object)
		fprintf(f, "+0x%" PRIx64, offset_of(&r->line->names[p->first], p));
	else if (!r->line->names[p->first].member)
		fprintf(f, ", bytes %u to %u of the line", p->start, p->end - 1u);
	putc('\n', f);
	for (i = 0; i < r->line->n_threads; i++) {
		struct line_part_count c = lines_part_count(p, &r->line->threads[i]);

		if (!(c.read | c.written))
			continue;
		if (shown == THREADS_SHOWN || (double)(c.reads + c.writes) < LEAST * all) {
			more++;
			continue;
		}
		thread(f, r, p, i, a);
		shown++;
	}
	if (more)
		fprintf(f, "               and %" PRIu32 " more\n", more);
}

static void advice(FILE *f, const struct lines_row *r, int width)
{
	static const char in[] = "        ";
	struct line_advice d;
	const char *name = d.name;

	lines_advise(r->line, &r->judged, &d);
	name += *name == '.';
	switch (d.what) {
	case LINE_ADVICE_MEMBER:
		if (d.new_size)
			paragraph(f, width, in, "Begin %s of %s at %" PRIu64 ", now at %" PRIu64 ": _Alignas(64) before it; %s grows from %" PRIu64 " to %" PRIu64 " bytes.",
				  name, d.of, d.to, d.from, d.of, d.size, d.new_size);
		else
			paragraph(f, width, in, "Begin %s of %s on a line of its own: _Alignas(64) before it.", name, d.of);
		break;
	case LINE_ADVICE_ELEMENT:
		if (d.from)
			paragraph(f, width, in, "Pad the elements of %s from %" PRIu64 " to %" PRIu64 " bytes: _Alignas(64) before the first member, or at a struct around it.",
				  d.name, d.from, d.to);
		else
			paragraph(f, width, in, "Let each element of %s begin at a multiple of %" PRIu64 ": _Alignas(64) before its first member.", d.name, d.to);
		break;
	case LINE_ADVICE_VARIABLES:
		paragraph(f, width, in, "Give %s and %s a line each: _Alignas(64) before both.", d.name, d.of);
		break;
	case LINE_ADVICE_APART:
		paragraph(f, width, in, "The threads use bytes that lie %" PRIu64 " apart%s%s: pad what each has to 64 bytes, or allocate it apart, aligned to 64.",
			  d.from, *d.name ? " in " : "", d.name);
		break;
	case LINE_ADVICE_OWN:
		paragraph(f, width, in, "The threads use the same bytes, which no padding parts: let each count in memory of its own, or write less often.");
		break;
	case LINE_ADVICE_NONE:
		break;
	}
	if (r->judged.verdict == LINE_BOTH)
		paragraph(f, width, in, "Other bytes of the line are shared by several threads: those no padding parts.");
}

/* ---- all ---- */

static void row(FILE *f, const struct lines_row *r, size_t rank, struct analysis *a, const struct lines_options *o)
{
	struct line_part parts[LINES_SIZE];
	unsigned n = lines_parts(r->line, parts), i, shown = 0;
	uint64_t all = 0;
	char handovers[24] = "-", likely[24];

	if (r->judged.order)
		snprintf(handovers, sizeof(handovers), "%" PRIu64, r->judged.handovers);
	snprintf(likely, sizeof(likely), "%s%s", lines_verdict_name(r->judged.verdict), r->line->exact ? "" : ", likely");
	fprintf(f, "%3zu  %5.1f%%  %-14s %10s %11" PRIu64 "  0x%" PRIx64, rank, 100 * r->share, likely, handovers,
		r->judged.most_true + r->judged.most_false, r->line->addr);
	if (r->line->hitm)
		fprintf(f, "  hitm %" PRIu64, r->line->hitm);
	if (r->judged.processes)
		fputs("  of several processes", f);
	putc('\n', f);
	for (i = 0; i < n; i++)
		all += accesses(r->line, &parts[i]);
	for (i = 0; i < n && shown < PARTS_SHOWN; i++) {
		if ((double)accesses(r->line, &parts[i]) < LEAST * (double)all)
			continue;
		part(f, r, &parts[i], a);
		shown++;
	}
	if (shown < n)
		fprintf(f, "        and %u more that had less of the accesses\n", n - shown);
	if (r->judged.unseen)
		paragraph(f, o->width, "        ", "Few hand-overs were seen, since valgrind ran one thread after the other. Nothing was seen to wait for the end of one before the other began, so on processors of their own both can be here at the same time, if nothing else (a condition, a barrier) keeps them apart.");
	advice(f, r, o->width);
}

/* How many rows are worth being shown. */
static size_t worth(const struct lines_rows *r, const struct lines_options *o)
{
	double least = r->exact ? LINES_LEAST : r->pmu ? 1 : LEAST_SAMPLES;
	size_t n = 0;

	while (n < r->n && r->v[n].share >= o->min_share && (o->all || r->v[n].weight >= least))
		n++;
	return n;
}

bool lines_unmeasured(struct analysis *a)
{
	const char *source = analysis_meta(a, "source");
	struct analysis_totals t;

	analysis_totals(a, &t);
	return !t.samples && !t.accesses && !accesses_total(analysis_accesses(a))->samples && !(source && !strcmp(source, "valgrind"));
}

/* Of an exact recording: why there is no row, though threads may share lines. */
static void no_row(FILE *f, const struct lines_rows *r, const struct lines_options *o)
{
	if (!r->n && !r->others)
		fputs("No cache line was accessed by several threads.\n", f);
	else
		fputs("No cache line goes back and forth between threads.\n", f);
	if (o->quiet || !(r->n + r->others))
		return;
	paragraph(f, o->width, "", "%" PRIu64 " hand-over%s from one thread to another %s seen, %" PRIu64 " of one line at most. A row is a line that came back at least %d times, or that threads have which can run at the same time, and that can go %d times.",
		  r->handovers, r->handovers == 1 ? "" : "s", r->handovers == 1 ? "was" : "were", r->handovers_most,
		  LINES_BACK_AND_FORTH, LINES_LEAST);
}

static void none(FILE *f, const struct lines_rows *r, struct analysis *a, const struct lines_options *o)
{
	if (r->exact)
		no_row(f, r, o);
	else if (!lines_unmeasured(a))
		fputs("No cache line goes back and forth between threads.\n", f);
	else if (analysis_meta(a, "unmeasured"))
		paragraph(f, o->width, "", "nothing found: no sample was taken, since the kernel tells of this program to root alone: run hotvar as root");
	else
		paragraph(f, o->width, "", "nothing found: no sample was taken: let the program do more, raise the rate with -F, or count every access with --exact");
}

static void heading(FILE *f, bool exact, struct analysis *a, const struct analysis_totals *t)
{
	const char *argv = analysis_meta(a, "argv"), *pid = analysis_meta(a, "pid"), *input = analysis_meta(a, "input");
	const char *what = argv && *argv ? argv : pid ? pid : input && *input ? input : "a recording";
	uint64_t n = t->samples + accesses_total(analysis_accesses(a))->samples;

	fputs(what == pid ? "process " : "", f);
	callers_print_name(f, what);
	fputs(": cache lines of several threads, ", f);
	if (exact)
		fputs("every access counted", f);
	else
		fprintf(f, "by %" PRIu64 " sample%s", n, n == 1 ? "" : "s");
	fprintf(f, ", in %.2f s\n", lines_seconds(t));
}

void lines_text(FILE *f, const struct lines_rows *r, struct analysis *a, const struct lines_options *o)
{
	size_t n = worth(r, o), shown = o->limit && o->limit < n ? o->limit : n, i;
	struct analysis_totals t;
	bool processes = false;
	char *lost;

	analysis_totals(a, &t);
	if (!o->quiet)
		heading(f, r->exact, a, &t);
	if (n)
		fprintf(f, "  #   share  sharing        hand-overs  %s  line\n", r->exact ? "  at most" : "  sampled");
	for (i = 0; i < shown; i++) {
		row(f, &r->v[i], i + 1, a, o);
		processes = processes || r->v[i].judged.processes;
	}
	if (n > shown)
		fprintf(f, "%zu more line%s shared: --limit 0 shows all.\n", n - shown, n - shown == 1 ? " is" : "s are");
	if (!n)
		none(f, r, a, o);
	if (r->n > n)
		fprintf(f, "%zu line%s so seldom that it does not matter: --min-share 0 shows %s.\n", r->n - n,
			r->n - n == 1 ? " does" : "s do", r->n - n == 1 ? "it" : "them");
	if (r->others)
		paragraph(f, o->width, "", "%zu other line%s accessed by several threads, by one after the other or without any write.",
			  r->others, r->others == 1 ? " was" : "s were");
	if (!o->quiet && r->exact && n)
		paragraph(f, o->width, "", "Hand-overs are those of the order in which valgrind ran the threads, one at a time, about 100,000 blocks of code each. \"At most\" is how many there can be when all that can run at the same time do, on processors of their own; lines are ranked by it.");
	if (!o->quiet && r->exact && processes)
		paragraph(f, o->width, "", "Which of several processes came after the other is not known: \"at most\" is of all that each has done.");
	if (!o->quiet && !r->exact && n)
		paragraph(f, o->width, "", "From samples, each of which may tell of several accesses: likely, not proven. --exact counts every access.");
	else if (!o->quiet && t.samples && !n)
		paragraph(f, o->width, "", "From samples: a line that few of them fell on is not seen. --exact counts every access.");
	lost = losses_text(&t);
	if (lost && *lost)
		paragraph(f, o->width, "", "losses: %s", lost);
	free(lost);
	if (analysis_why(a))
		paragraph(f, o->width, "", "%s", analysis_why(a));
}
