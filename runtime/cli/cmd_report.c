// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_report.c - report a recording.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "options_report.h"
#include "runtime/cli/cli.h"
#include "runtime/user/stream.h"

struct options {
	const char *input;
	struct report_choice report;
	struct cli_common common;
};

static const struct argp_option own_options[] = {
	{ "input", 'i', "FILE", 0, "The recording ('-' is stdin; hotvar.rec)", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->report;
		state->child_inputs[1] = &o->common;
		return 0;
	case 'i':
		o->input = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &report_argp, 0, "What to show:", 2 },
	{ &cli_common_argp, 0, "Output:", 3 },
	{ 0 },
};

static const struct argp argp = {
	.options = own_options,
	.parser = parse,
	.doc = "Report a recording that 'hotvar record' made.\v"
	       "The report goes to stdout.",
	.children = children,
};

static int report(const struct options *o, struct stream_reader *r, struct err *e)
{
	struct analysis_options ao = { .per_process = o->report.per_process,
				       .by_member = o->report.by_member,
				       .by_phase = o->report.rows.by_phase,
				       .lines = o->report.by_line,
				       .touched = o->report.by_region || o->report.by_page };
	struct analysis *a = analysis_new(&ao, e);
	FILE *f = NULL;
	int status = CLI_FAILED;

	if (a) {
		analysis_read(a, r);
		f = cli_open(&o->common, stdout, e);
	}
	if (f) {
		status = report_write(f, a, &o->report, &o->common, e);
		if (cli_close(f, &o->common, status == CLI_FAILED ? NULL : e))
			status = CLI_FAILED;
		/* JSON says it too, in its last line; a person must not miss it. */
		if (status != CLI_FAILED && o->common.json && analysis_why(a))
			err_set(e, EPIPE, "%s", analysis_why(a));
	}
	analysis_free(a);
	return status;
}

int cmd_report(int argc, char **argv, struct err *e)
{
	struct options o = { .input = "hotvar.rec" };
	struct stream_reader *r;
	int rest, status;

	status = cli_parse(&argp, argc, argv, true, &rest, &o, e);
	if (status)
		return status;
	if (rest < argc) {
		err_exit(e, EINVAL, CLI_USAGE, "unexpected argument '%s': name the recording with -i %s",
			 argv[rest], argv[rest]);
		return CLI_USAGE;
	}
	r = stream_reader_of_file(o.input, e);
	if (!r)
		return e->status ? e->status : CLI_FAILED;
	status = report(&o, r, e);
	stream_reader_free(r);
	return status;
}
