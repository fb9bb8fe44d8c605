// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_doctor.c - what works on this machine, what does not, why, and what mends it.
 *
 * The exit status is 0 if the main job can run here, by perf or by ptrace, and 1
 * if not; what is missing beyond that is said, and is no failure.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cli/cli.h"
#include "runtime/report/json.h"
#include "runtime/user/probe.h"

struct options {
	struct cli_common common;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = &o->common;
	return 0;
}

static const char *const need_names[] = { "main", "better", "optional" };
static const char *const need_titles[] = {
	"For the main job (/proc, and one of the two others):",
	"For better or cheaper answers:",
	"For other features:",
};

/* How the main job can run here: "perf", "ptrace", or NULL. */
static const char *engine(const struct probe_result *results)
{
	if (results[probe_find("proc") - probes].answer != PROBE_YES)
		return NULL;
	if (results[probe_find("perf-timer") - probes].answer == PROBE_YES)
		return "perf";
	if (results[probe_find("ptrace") - probes].answer == PROBE_YES)
		return "ptrace";
	return NULL;
}

static void print_json(FILE *f, const struct probe_result *results)
{
	struct json j;

	json_meta(&j, f, "doctor");
	json_end(&j);
	for (size_t i = 0; i < n_probes; i++) {
		json_begin(&j, f, "check");
		json_str(&j, "name", probes[i].name);
		if (results[i].answer == PROBE_UNKNOWN)
			json_null(&j, "ok");
		else
			json_bool(&j, "ok", results[i].answer == PROBE_YES);
		json_str(&j, "detail", results[i].detail);
		json_str(&j, "fix", results[i].fix[0] ? results[i].fix : NULL);
		json_str(&j, "need", need_names[probes[i].need]);
		json_str(&j, "for", probes[i].what);
		json_end(&j);
	}
	json_begin(&j, f, "verdict");
	json_bool(&j, "ok", engine(results));
	json_str(&j, "engine", engine(results));
	json_end(&j);
}

static void print_line(FILE *f, const struct probe *p, const struct probe_result *r,
		       bool colored)
{
	static const char *const words[] = { "no", "yes", "?" };
	static const char *const colors[] = { "\033[31m", "\033[32m", "\033[33m" };
	enum probe_answer a = r->answer;

	/* What nobody needs for the main job is no alarm. */
	if (a == PROBE_NO && p->need != PROBE_MAIN)
		colored = false;
	fprintf(f, "  %s%-3s%s %-13s  %s\n", colored ? colors[a] : "", words[a],
		colored ? "\033[0m" : "", p->name, r->detail);
	if (a != PROBE_YES)
		fprintf(f, "  %-3s %-13s  wanted for %s\n", "", "", p->what);
	if (r->fix[0])
		fprintf(f, "  %-3s %-13s  to mend it: %s\n", "", "", r->fix);
}

static void print_text(FILE *f, const struct probe_result *results, bool colored,
		       bool quiet)
{
	const char *how = engine(results);

	for (int need = 0; !quiet && need <= PROBE_OPTIONAL; need++) {
		fprintf(f, "%s\n", need_titles[need]);
		for (size_t i = 0; i < n_probes; i++)
			if (probes[i].need == (enum probe_need)need)
				print_line(f, &probes[i], &results[i], colored);
		fputc('\n', f);
	}
	if (!how)
		fputs("hotvar -- CMD cannot run here: it needs /proc, and perf's timer or ptrace.\n", f);
	else if (!strcmp(how, "perf"))
		fputs("hotvar -- CMD runs here, sampling by perf's timer.\n", f);
	else
		fputs("hotvar -- CMD runs here, sampling by ptrace stops, which cost more than "
		      "perf's timer.\n", f);
}

int cmd_doctor(int argc, char **argv, struct err *e)
{
	static const struct argp_child children[] = { { &cli_common_argp, 0, NULL, 0 },
						      { 0 } };
	static const struct argp argp = {
		.parser = parse,
		.doc = "Say what works on this machine, what does not, why, and the command that mends it.\v"
		       "The exit status is 0 if 'hotvar -- CMD' can run here, and 1 if it cannot.",
		.children = children,
	};
	struct options o = { 0 };
	struct probe_result *results;
	int rest, status;
	FILE *f;

	status = cli_parse(&argp, argc, argv, true, &rest, &o, e);
	if (status)
		return status < 0 ? CLI_OK : status;
	if (rest < argc) {
		err_set(e, EINVAL, "doctor takes no argument such as '%s'; see 'hotvar doctor --help'",
			argv[rest]);
		return CLI_USAGE;
	}
	results = calloc(n_probes, sizeof(*results));
	if (!results) {
		err_set(e, ENOMEM, "doctor: no memory");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < n_probes; i++)
		probes[i].run(&results[i]);
	status = engine(results) ? CLI_OK : CLI_NOTHING;
	f = cli_open(&o.common, stdout, e);
	if (f && o.common.json)
		print_json(f, results);
	else if (f)
		print_text(f, results, cli_colored(&o.common, f), o.common.quiet);
	if (!f || cli_close(f, &o.common, e))
		status = CLI_FAILED;
	free(results);
	return status;
}
