// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "options_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/report/accesses.h"
#include "runtime/report/lines_rows.h"
#include "runtime/report/report.h"
#include "runtime/report/touched_report.h"
#include "runtime/report/watched_report.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/image_name.h"

/* Rows of a text report when --limit does not say; JSON has all. */
enum { TEXT_ROWS = 30, WATCHED_LINES = 10 };

enum { KEY_SORT = 0x5100, KEY_BY, KEY_MIN_SHARE, KEY_LIMIT, KEY_PER_PROCESS, KEY_RAW, KEY_CALLERS, KEY_PREFETCHES };

/* Cache lines. */
enum { PREFETCHES_LEAST = 64, PREFETCHES_USUAL = 16384, PREFETCHES_MOST = 1 << 20 };

static const struct argp_option options[] = {
	{ "sort", KEY_SORT, "ORDER", 0, "Order rows by accesses (the default) or by time", 5 },
	{ "by", KEY_BY, "WHAT", 0, "One row for each variable (the default); member of it, all elements of an array together; phase that the program tells (of --exact); region or page, which were touched (of --exact and --source fault); or cacheline that several threads or processes share", 5 },
	{ "min-share", KEY_MIN_SHARE, "PERCENT", 0, "Leave out rows below PERCENT", 5 },
	{ "limit", KEY_LIMIT, "N", 0, "Show at most N rows (0: all; text shows 30)", 5 },
	{ "per-process", KEY_PER_PROCESS, NULL, 0, "Keep the memory of processes apart", 5 },
	{ "no-demangle", KEY_RAW, NULL, 0, "Show C++ and Rust names as the linker has them", 5 },
	{ "prefetches", KEY_PREFETCHES, "LINES", OPTION_ARG_OPTIONAL, "Prefetch instructions that ask for unmapped memory; with --exact also for what is not used before LINES other cache lines are (as many as the second cache holds)", 5 },
	{ "callers", KEY_CALLERS, "N", OPTION_ARG_OPTIONAL, "With --exact, --source fault or --watch: the N lines of code that access each variable most (text: 3, --watch: 10, JSON: all)", 5 },
	{ 0 },
};

static error_t bad_by(const char *value)
{
	static const char *const later[] = { "type", "line", "object" };
	size_t i;

	for (i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		if (!strcmp(value, later[i])) {
			char what[32];

			snprintf(what, sizeof(what), "--by %s", value);
			return cli_not_yet(what, "leave it out, or give --by variable, member, phase, region, page or cacheline");
		}
	return cli_bad_value("--by", value, "variable, member, phase, region, page or cacheline");
}

error_t report_parse_prefetches(const char *arg, unsigned *lines)
{
	long size = sysconf(_SC_LEVEL2_CACHE_SIZE);
	unsigned long long n;

	*lines = size >= PREFETCHES_LEAST * 64 && size <= PREFETCHES_MOST * 64 ? (unsigned)(size / 64) : PREFETCHES_USUAL;
	if (!arg)
		return 0;
	if (!cli_number(arg, &n) || n < PREFETCHES_LEAST || n > PREFETCHES_MOST)
		return cli_bad_value("--prefetches", arg, "a number of cache lines from 64 to 1048576");
	*lines = (unsigned)n;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_choice *c = state->input;
	unsigned long long n;
	double x;
	char *end;

	switch (key) {
	case KEY_SORT:
		c->sort_given = true;
		if (!strcmp(arg, "accesses"))
			c->rows.sort = ROWS_BY_ACCESSES;
		else if (!strcmp(arg, "time"))
			c->rows.sort = ROWS_BY_TIME;
		else
			return cli_bad_value("--sort", arg, strcmp(arg, "share") ? "accesses or time" : "accesses or time: accesses is the order of the column share");
		return 0;
	case KEY_BY:
		c->by = arg;
		c->by_member = !strcmp(arg, "member");
		c->by_line = !strcmp(arg, "cacheline");
		if (c->by_member || c->by_line) /* it is worth some waiting then */
			image_build_debug(IMAGE_BUILD_DEBUG_ALL);
		c->by_region = !strcmp(arg, "region");
		c->by_page = !strcmp(arg, "page");
		c->rows.by_phase = !strcmp(arg, "phase");
		return c->by_member || c->by_line || c->by_region || c->by_page || c->rows.by_phase || !strcmp(arg, "variable") ? 0 : bad_by(arg);
	case KEY_MIN_SHARE:
		errno = 0;
		x = strtod(arg, &end);
		if (end != arg && *end == '%')
			end++;
		if (errno || end == arg || *end || !(x >= 0 && x <= 100))
			return cli_bad_value("--min-share", arg, "percent, from 0 to 100");
		c->rows.min_share = x / 100;
		c->min_share_given = true;
		return 0;
	case KEY_LIMIT:
		if (!cli_number(arg, &n) || n > 1000000000)
			return cli_bad_value("--limit", arg, "a number of rows, 0 for all");
		c->rows.limit = n;
		c->limit_given = true;
		return 0;
	case KEY_PER_PROCESS:
		c->per_process = true;
		return 0;
	case ARGP_KEY_END:
		if (c->per_process && c->rows.by_phase)
			return cli_bad_value("--by", "phase", "something else beside --per-process: phases are kept apart, or processes");
		return 0;
	case KEY_RAW:
		image_name_raw(true);
		return 0;
	case KEY_PREFETCHES:
		return report_parse_prefetches(arg, &c->prefetches);
	case KEY_CALLERS:
		n = 0;
		if (arg && (!cli_number(arg, &n) || !n || n > 1000000))
			return cli_bad_value("--callers", arg, "a number of lines of code");
		c->callers = true;
		c->rows.callers = arg ? n : ROWS_CALLERS_DEFAULT;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp report_argp = {
	.options = options,
	.parser = parse,
};

static int width_of(FILE *f)
{
	struct winsize ws;

	if (!isatty(fileno(f)))
		return 0;
	return ioctl(fileno(f), TIOCGWINSZ, &ws) || ws.ws_col < 40 ? 80 : ws.ws_col;
}

/* All of the text is made first: it goes out in one piece, between CMD's own lines. */
static int render(FILE *f, const struct rows *r, const struct analysis *a,
		  bool prefetches, const struct cli_common *c, struct err *e)
{
	struct report_options o = {
		.color = cli_colored(c, f),
		.width = width_of(f),
		.quiet = c->quiet,
		.verbose = c->verbose,
		.prefetches = prefetches,
	};
	char *text = NULL;
	size_t size = 0;
	FILE *mem = open_memstream(&text, &size);

	if (mem) {
		if (c->json)
			report_json(mem, r, a);
		else
			report_text(mem, r, a, &o);
	}
	if (!mem || fclose(mem)) {
		free(text);
		return err_set(e, ENOMEM, "cannot make the report: no memory: free some");
	}
	fwrite(text, 1, size, f); /* cli_close() finds what failed */
	free(text);
	return 0;
}

const char *report_needs_exact(const struct report_choice *choice)
{
	if (choice->callers)
		return "--callers";
	if (choice->by_page)
		return "--by page";
	if (choice->by_region)
		return "--by region";
	return choice->rows.by_phase ? "--by phase" : NULL;
}

const char *report_needs_accesses(const struct report_choice *choice)
{
	return choice->by_line ? "--by cacheline" : choice->prefetches ? "--prefetches" : NULL;
}

/* ---- options that do nothing ---- */

enum { OF_VARIABLES = 1, OF_PAGES = 2, OF_LINES = 4, OF_WATCHED = 8 }; /* what rows are of */

int report_check(const struct report_choice *c, const struct report_of *of, struct err *e)
{
	const struct {
		const char *option;
		bool given;
		unsigned good_for;
	} table[] = {
		{ "--by", c->by && strcmp(c->by, "variable"), OF_VARIABLES | OF_PAGES | OF_LINES },
		{ "--sort", c->sort_given, OF_VARIABLES },
		{ "--min-share", c->min_share_given, OF_VARIABLES | OF_LINES },
		{ "--per-process", c->per_process, OF_VARIABLES },
		{ "--prefetches", c->prefetches, OF_VARIABLES },
		{ "--callers", c->callers, OF_VARIABLES | OF_WATCHED },
	};
	unsigned rows = of->watched ? OF_WATCHED : c->by_line ? OF_LINES : c->by_region || c->by_page ? OF_PAGES : OF_VARIABLES;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!table[i].given || table[i].good_for & rows)
			continue;
		if (of->watched)
			err_exit(e, EINVAL, CLI_USAGE, "%s does nothing for watched variables, which are told by process, thread and line of code: leave it out",
				 table[i].option);
		else
			err_exit(e, EINVAL, CLI_USAGE, "%s and --by %s do not go together: %s: leave out one of the two", table[i].option, c->by,
				 c->by_line ? "each cache line is told with its threads, processes and lines of code" : "rows are pages, not variables");
		return CLI_USAGE;
	}
	if (c->callers && of->sampled) {
		err_exit(e, EINVAL, CLI_USAGE, "--callers takes accesses that are counted, or page faults: samples do not tell who accesses what: record with --exact --callers, or leave it out");
		return CLI_USAGE;
	}
	if (c->rows.sort == ROWS_BY_TIME && (of->exact || of->faults || of->untimed)) {
		err_exit(e, EINVAL, CLI_USAGE, "--sort time takes samples: %s tell of no time: leave it out",
			 of->exact ? "accesses that are counted" : of->faults ? "page faults" : "these accesses");
		return CLI_USAGE;
	}
	return 0;
}

/* ---- reports ---- */

static int write_touched(FILE *f, struct analysis *a, const struct report_choice *choice, const struct cli_common *c,
			 struct err *e)
{
	struct touched_choice o = {
		.by_page = choice->by_page,
		.limit = choice->limit_given ? choice->rows.limit : c->json ? 0 : TEXT_ROWS,
		.width = width_of(f),
	};
	struct touched_result t;

	if (touched_finish(analysis_touched(a), &t)) {
		err_set(e, ENOMEM, "cannot make the report: no memory: free some");
		return CLI_FAILED;
	}
	if (c->json)
		touched_json(f, &t, a, &o);
	else if (t.n_points)
		touched_text(f, &t, a, &o);
	if (t.n_points)
		return CLI_OK;
	err_exit(e, ENODATA, CLI_NOTHING,
		 "no page is known to be touched: --by %s is told from where each access is seen: measure with --exact, as in \"hotvar --exact --by %s -- CMD\", or with --source fault",
		 choice->by_page ? "page" : "region", choice->by_page ? "page" : "region");
	return CLI_NOTHING;
}

static int write_lines(FILE *f, struct analysis *a, const struct report_choice *choice, const struct cli_common *c,
		       struct err *e)
{
	const struct lines_options o = {
		.limit = choice->limit_given ? choice->rows.limit : c->json ? 0 : TEXT_ROWS,
		.min_share = choice->rows.min_share,
		.all = choice->min_share_given,
		.quiet = c->quiet,
		.width = width_of(f),
	};
	const char *source = analysis_meta(a, "source");
	struct lines_rows r;

	if (source && !strcmp(source, "valgrind") && !analysis_meta(a, "cachelines")) {
		err_exit(e, ENODATA, CLI_NOTHING,
			 "the recording does not say who accessed which cache line: record with --cachelines, as in \"hotvar record --exact --cachelines -- CMD\"");
		return CLI_NOTHING;
	}
	if (source && !strcmp(source, "fault")) {
		err_exit(e, ENODATA, CLI_NOTHING,
			 "page faults do not say who accessed which cache line: measure without --source fault, as in \"hotvar --by cacheline -- CMD\"");
		return CLI_NOTHING;
	}
	lines_merge_sites(analysis_lines(a), analysis_callers(a));
	if (lines_rows_make(&r, analysis_lines(a))) {
		err_set(e, ENOMEM, "cannot make the report: no memory: free some");
		return CLI_FAILED;
	}
	r.exact = r.exact || (source && !strcmp(source, "valgrind"));
	if (c->json)
		lines_json(f, &r, a, &o);
	else
		lines_text(f, &r, a, &o);
	lines_rows_fini(&r);
	return lines_unmeasured(a) ? CLI_NOTHING : CLI_OK;
}

static int write_watched(FILE *f, struct analysis *a, const struct report_choice *choice, const struct cli_common *c)
{
	const struct watched_choice o = {
		.limit = choice->limit_given ? choice->rows.limit : TEXT_ROWS,
		.lines = choice->callers && choice->rows.callers != ROWS_CALLERS_DEFAULT ? choice->rows.callers : WATCHED_LINES,
		.quiet = c->quiet,
	};

	return (c->json ? watched_json(f, a, &o) : watched_text(f, a, &o)) ? CLI_OK : CLI_NOTHING;
}

int report_write(FILE *f, struct analysis *a, const struct report_choice *choice,
		 const struct cli_common *c, struct err *e)
{
	struct rows_options o = choice->rows;
	const char *source = analysis_meta(a, "source");
	const struct accesses_sum *sampled = accesses_total(analysis_accesses(a));
	const struct report_of of = { .watched = watched_report_is(a), .exact = source && !strcmp(source, "valgrind"),
				      .faults = source && !strcmp(source, "fault"),
				      .sampled = source && strcmp(source, "valgrind") && strcmp(source, "fault") && !watched_report_is(a),
				      .untimed = sampled->samples && !(sampled->latency_weight > 0) };
	struct rows rows;
	bool found;

	if (report_check(choice, &of, e))
		return CLI_USAGE;
	if (of.watched)
		return write_watched(f, a, choice, c);
	if (analysis_touched(a))
		return write_touched(f, a, choice, c, e);
	if (analysis_lines(a))
		return write_lines(f, a, choice, c, e);
	if (!choice->limit_given)
		o.limit = c->json ? 0 : TEXT_ROWS;
	if (rows_make(&rows, a, &o, e))
		return CLI_FAILED;
	found = rows.n + rows.hidden > 0;
	if (render(f, &rows, a, choice->prefetches, c, e)) {
		rows_fini(&rows);
		return CLI_FAILED;
	}
	rows_fini(&rows);
	return found ? CLI_OK : CLI_NOTHING;
}
