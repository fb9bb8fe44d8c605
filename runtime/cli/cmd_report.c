// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_report.c - report a recording, or accesses that perf has recorded.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "options_report.h"
#include "runtime/cli/cli.h"
#include "runtime/user/import.h"
#include "runtime/user/stream.h"

struct options {
	const char *input;
	struct report_choice report;
	struct cli_common common;
};

static const struct argp_option own_options[] = {
	{ "input", 'i', "FILE", 0, "The recording, or text of perf script ('-' is stdin; hotvar.rec)", 1 },
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
	.doc = "Report a recording that 'hotvar record' made, or text of 'perf script'.\v"
	       "The report goes to stdout.",
	.children = children,
};

static void take(void *ctx, const struct stream_record *r)
{
	analysis_record(ctx, r);
}

/* Text of perf's becomes the records of a recording on its way. */
static int read_text(struct analysis *a, struct import_file *f, struct err *e)
{
	struct stream *s = stream_to_call(take, a, e);
	int err = s ? import_text(f, s, e) : -ENOMEM, closed = stream_close(s, err ? NULL : e);

	return err ? err : closed;
}

static int read_recording(struct analysis *a, struct import_file *f, struct err *e)
{
	struct stream_reader *r = stream_reader_of_fd(f->fd, f->name, f->buf + f->pos, f->len - f->pos, e);

	f->fd = -1;
	if (!r)
		return -ENOEXEC;
	analysis_read(a, r);
	stream_reader_free(r);
	return 0;
}

static int read_in(struct analysis *a, struct import_file *f, struct err *e)
{
	switch (f->kind) {
	case IMPORT_FILE_TEXT:
		return read_text(a, f, e);
	case IMPORT_FILE_DATA:
		return err_set(e, ENOTSUP, "'%.300s' is perf's own format: make text of it: \"%s -i %.300s > perf.txt\", then give that with -i perf.txt",
			       f->name, IMPORT_COMMAND, f->fd > STDERR_FILENO ? f->name : "perf.data");
	case IMPORT_FILE_OTHER:
		break;
	}
	return read_recording(a, f, e);
}

static int report(const struct options *o, struct import_file *in, struct err *e)
{
	struct analysis_options ao = { .per_process = o->report.per_process,
				       .by_member = o->report.by_member,
				       .by_phase = o->report.rows.by_phase,
				       .lines = o->report.by_line,
				       .prefetches = o->report.prefetches,
				       .touched = o->report.by_region || o->report.by_page };
	struct analysis *a = analysis_new(&ao, e);
	FILE *f = NULL;
	int status = CLI_FAILED;

	if (a && !cli_spares(&o->common, NULL, o->input, e) && !read_in(a, in, e))
		f = cli_open(&o->common, stdout, e);
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
	struct import_file in;
	int rest, status;

	status = cli_parse(&argp, argc, argv, true, &rest, &o, e);
	if (status)
		return status;
	if (rest < argc) {
		err_exit(e, EINVAL, CLI_USAGE, "unexpected argument '%s': name the recording with -i %s",
			 argv[rest], argv[rest]);
		return CLI_USAGE;
	}
	status = report_check(&o.report, &(struct report_of){ 0 }, e);
	if (status)
		return status;
	if (import_file_open(&in, o.input, e))
		return e->status ? e->status : CLI_FAILED;
	status = report(&o, &in, e);
	import_file_close(&in);
	return status;
}
