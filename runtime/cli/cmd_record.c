// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_record.c - measure, and only write a recording.
 *
 * It carries the symbols and the code that its samples touch, so it can be reported
 * on any machine, after the program is gone.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure.h"
#include "options_report.h"
#include "options_target.h"
#include "runtime/cli/cli.h"
#include "runtime/report/printable.h"
#include "runtime/user/stream.h"

struct options {
	struct target_options target;
	const char *output;
	bool quiet;
};

enum { KEY_CALLERS = 0x5200, KEY_LINES, KEY_PREFETCHES };

static const struct argp_option own_options[] = {
	{ "output", 'o', "FILE", 0, "The recording ('-' is stdout; hotvar.rec)", 2 },
	{ "quiet", 'q', NULL, 0, "Say nothing but what fails", 2 },
	{ "prefetches", KEY_PREFETCHES, "LINES", OPTION_ARG_OPTIONAL, "With --exact: record what prefetch instructions ask for, too", 1 },
	{ "cachelines", KEY_LINES, NULL, 0, "With --exact: record which threads access each cache line, and in which order, for 'report --by cacheline'", 1 },
	{ "callers", KEY_CALLERS, NULL, 0, "With --exact: record which lines of code access each variable, too", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->target;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case KEY_PREFETCHES:
		o->target.needs_exact = "--prefetches";
		return report_parse_prefetches(arg, &o->target.exact_prefetches);
	case KEY_LINES:
		o->target.exact_lines = true;
		o->target.needs_exact = "--cachelines";
		return 0;
	case KEY_CALLERS:
		o->target.exact_callers = true;
		o->target.needs_exact = "--callers";
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &target_argp, 0, "What to measure:", 1 },
	{ 0 },
};

static const struct argp argp = {
	.options = own_options,
	.parser = parse,
	.args_doc = "[--] CMD [ARG...]\n-p PID",
	.doc = "Run CMD, or look at process PID, and write a recording for 'hotvar report'.\v"
	       "The exit status is CMD's.",
	.children = children,
};

/* Nothing was measured: take away the file that was made for it. */
static void remove_empty(const char *path)
{
	struct stat st;

	if (strcmp(path, "-") && !lstat(path, &st) && S_ISREG(st.st_mode) && !st.st_size)
		unlink(path);
}

static void say(const struct options *o, const struct session *s)
{
	struct stat st;

	if (o->quiet)
		return;
	if (s->source == SESSION_EXACT)
		fprintf(stderr, "hotvar: %" PRIu64 " accesses in %.2f s", s->accesses, (double)s->elapsed_ns / 1e9);
	else if (s->points)
		fprintf(stderr, "hotvar: %" PRIu64 " access%s to what is watched in %.2f s", s->accesses, s->accesses == 1 ? "" : "es", (double)s->elapsed_ns / 1e9);
	else if (s->source == SESSION_FAULT)
		fprintf(stderr, "hotvar: %" PRIu64 " page fault%s in %.2f s", s->samples, s->samples == 1 ? "" : "s", (double)s->elapsed_ns / 1e9);
	else
		fprintf(stderr, "hotvar: %" PRIu64 " sample%s of %.2f s", s->samples, s->samples == 1 ? "" : "s", (double)s->elapsed_ns / 1e9);
	if (strcmp(o->output, "-") && !stat(o->output, &st) && S_ISREG(st.st_mode)) {
		fputs(" in ", stderr);
		printable_put(stderr, o->output);
		fprintf(stderr, " (%.1f %s); report them with 'hotvar report -i ",
			(double)st.st_size / (st.st_size < 100000 ? 1e3 : 1e6), st.st_size < 100000 ? "kB" : "MB");
		printable_put(stderr, o->output);
		putc('\'', stderr);
	}
	fputs("\n", stderr);
}

static int record(const struct options *o, struct err *e)
{
	struct analysis_options ao = { .live = true };
	struct analysis *a = analysis_new(&ao, e);
	struct stream *file = a ? stream_to_file(o->output, e) : NULL;
	struct session s;
	int status;

	if (!file) {
		status = e->status ? e->status : CLI_FAILED;
	} else if (measure(&o->target, a, file, !o->quiet, &s, e)) {
		status = e->status ? e->status : CLI_FAILED;
		stream_drop(file, NULL);
		remove_empty(o->output);
	} else if (stream_close(file, e)) {
		measure_status(&s, CLI_FAILED, NULL);
		status = CLI_FAILED;
	} else {
		say(o, &s);
		status = measure_status(&s, CLI_OK, e);
	}
	analysis_free(a);
	return status;
}

int cmd_record(int argc, char **argv, struct err *e)
{
	struct options o = { .output = "hotvar.rec" };
	int rest, status;

	target_options_init(&o.target);
	status = cli_parse(&argp, argc, argv, true, &rest, &o, e);
	if (!status)
		status = target_options_check(&o.target, argv + rest, "hotvar record", e);
	if (!status)
		status = target_ready(o.target.argv, o.target.pid, e);
	if (status)
		return status;
	return record(&o, e);
}
