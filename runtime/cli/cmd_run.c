// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_run.c - the main job: run a program, or look at one that runs, and report its hot variables.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "measure.h"
#include "options_report.h"
#include "options_target.h"
#include "runtime/cli/cli.h"

struct run_options {
	struct target_options target;
	struct report_choice report;
	struct cli_common common;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = &o->target;
	state->child_inputs[1] = &o->report;
	state->child_inputs[2] = &o->common;
	return 0;
}

static const struct argp_child children[] = {
	{ &target_argp, 0, "What to measure:", 1 },
	{ &report_argp, 0, "What to show:", 2 },
	{ &cli_common_argp, 0, "Output:", 3 },
	{ 0 },
};

static const struct argp argp = {
	.parser = parse,
	.args_doc = "[--] CMD [ARG...]\n-p PID",
	.doc = "Run CMD, or look at process PID, and report its hot variables.\v"
	       "The report goes to stderr, CMD's own output where it goes without hotvar. "
	       "The exit status is CMD's.",
	.children = children,
};

/* The report of what was measured, before a CMD that runs on is waited for. */
static int report(const struct run_options *o, struct analysis *a, FILE *f, struct err *e)
{
	int status = report_write(f, a, &o->report, &o->common, e);

	if (cli_close(f, &o->common, status == CLI_FAILED ? NULL : e))
		status = CLI_FAILED;
	return status;
}

int cmd_run(int argc, char **argv, struct err *e)
{
	struct run_options o = { .common = { .output = NULL } };
	struct analysis_options ao = { .live = true };
	struct analysis *a;
	struct session s;
	int rest, status;
	FILE *f;

	target_options_init(&o.target);
	status = cli_parse(&argp, argc, argv, true, &rest, &o, e);
	o.target.exact_prefetches = o.report.prefetches;
	o.target.exact_callers = o.report.callers;
	o.target.exact_lines = o.report.by_line;
	o.target.needs_exact = report_needs_exact(&o.report);
	o.target.needs_accesses = report_needs_accesses(&o.report);
	if (!status)
		status = target_options_check(&o.target, argv + rest, "hotvar", e);
	if (!status)
		status = report_check(&o.report, &(struct report_of){ .watched = o.target.watch.n, .exact = o.target.source == SESSION_EXACT,
								      .faults = o.target.source == SESSION_FAULT }, e);
	if (!status)
		status = target_ready(o.target.argv, o.target.pid, e);
	if (status)
		return status;
	ao.per_process = o.report.per_process;
	ao.by_member = o.report.by_member;
	ao.by_phase = o.report.rows.by_phase;
	ao.lines = o.report.by_line;
	ao.prefetches = o.report.prefetches;
	ao.touched = o.report.by_region || o.report.by_page;
	f = cli_spares(&o.common, o.target.argv, NULL, e) ? NULL : cli_open(&o.common, stderr, e);
	if (!f)
		return CLI_FAILED;
	a = analysis_new(&ao, e);
	if (!a || measure(&o.target, a, NULL, !o.common.quiet, &s, e)) {
		status = e->status ? e->status : CLI_FAILED;
		cli_close(f, &o.common, NULL);
	} else {
		status = report(&o, a, f, e);
		if (status != CLI_FAILED)
			status = measure_status(&s, status, e);
		else
			measure_status(&s, status, NULL);
	}
	analysis_free(a);
	return status;
}
