// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_advise.c - which memory of a process should be in huge pages, on what evidence, and by which calls.
 *
 *	-p PID			until ^C, or for -d SECONDS
 *	-- CMD			until it is about to end, or for -d
 *	-i FILE			by the samples of a recording
 *	--verify -- CMD		then CMD runs with and without: advise_verify.c
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "advise_verify.h"
#include "onlooker.h"
#include "runtime/cli/cli.h"
#include "runtime/report/advise.h"
#include "runtime/report/advise_recording.h"
#include "runtime/user/advise_watch.h"
#include "runtime/user/clock.h"
#include "runtime/user/page_target.h"
#include "runtime/user/proc.h"
#include "runtime/user/target.h"

enum { KEY_VERIFY = 0x6400, KEY_ROUNDS, KEY_INTERVAL, KEY_ALL };
enum { TICK_MS = 10, ROUNDS = 2, ROUNDS_MOST = 1000 };

#define NS_PER_S 1e9

struct advise {
	struct cli_common common;
	const char *input;
	pid_t pid;
	char **argv;
	double seconds, interval;
	unsigned rounds; /* 0: not given */
	bool verify, all;
	/* at work */
	FILE *f;
	struct advise_watch *watch;
	struct advise_tlb tlb;
	struct advise_thp thp;
	struct page_target target;
	struct advise_verify verified;
	uint64_t start_ns;
	struct advise_of *of; /* what is watched */
	size_t given; /* areas that there is advice for */
	bool disabled;
	bool ended; /* what is watched, not the time that was given */
};

static const struct argp_option own_options[] = {
	{ "pid", 'p', "PID", 0, "Watch the running process PID", 1 },
	{ "input", 'i', "FILE", 0, "Judge by the samples of FILE, a recording of 'hotvar record'", 1 },
	{ "duration", 'd', "SECONDS", 0, "Watch that long (usual: until ^C, or until CMD ends)", 1 },
	{ "interval", KEY_INTERVAL, "SECONDS", 0, "Count touched pages over that long at a time (usual: 0.1)", 1 },
	{ "verify", KEY_VERIFY, NULL, 0, "Then run CMD without and with huge pages where they are advised, and compare page faults and time", 1 },
	{ "rounds", KEY_ROUNDS, "N", 0, "With --verify: run CMD N times each way, by turns (usual: 2)", 1 },
	{ "all", KEY_ALL, NULL, 0, "Show the areas for which there is no advice, too, and why there is none", 2 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct advise *o = state->input;
	unsigned long long n;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->common;
		return 0;
	case 'p':
		return cli_pid(arg, &o->pid);
	case 'i':
		o->input = arg;
		return 0;
	case 'd':
		return cli_duration("-d", arg, &o->seconds);
	case KEY_INTERVAL:
		return cli_duration("--interval", arg, &o->interval);
	case KEY_VERIFY:
		o->verify = true;
		return 0;
	case KEY_ROUNDS:
		if (!cli_number(arg, &n) || n < 2 || n > ROUNDS_MOST)
			return cli_bad_value("--rounds", arg, "a number from 2 to 1000");
		o->rounds = (unsigned)n;
		return 0;
	case KEY_ALL:
		o->all = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &cli_common_argp, 0, "Output:", 3 },
	{ 0 },
};

static const struct argp argp = {
	.options = own_options,
	.parser = parse,
	.args_doc = "-p PID\n[--] CMD [ARG...]\n-i FILE\n--verify [--] CMD [ARG...]",
	.doc = "Say which memory of a process should be in huge pages, on what evidence, and by which calls.\v"
	       "There is advice only for areas in which accesses jump about, over more pages than the processor's TLB reaches.  "
	       "The process's reference bits are cleared again and again, and it is sampled 10000 times a second.  "
	       "Processes that it starts are watched as well.  Without CMD the exit status is 1 where there is no advice.",
	.children = children,
};

static int check(const struct advise *o, struct err *e)
{
	int given = (o->pid != 0) + (o->input != NULL) + (o->argv != NULL);

	if (given != 1)
		err_exit(e, EINVAL, CLI_USAGE, given ?
			 "more than one of -p, -i and a command were given: give one; see 'hotvar advise --help'" :
			 "advise on what? Give a process ('hotvar advise -p PID -d 5') or a command ('hotvar advise -- ./program'); see 'hotvar advise --help'");
	else if (o->input && (o->seconds > 0 || o->interval > 0))
		err_exit(e, EINVAL, CLI_USAGE, "a recording is judged as it is: leave out %s", o->seconds > 0 ? "-d" : "--interval");
	else if (o->verify && !o->argv)
		err_exit(e, EINVAL, CLI_USAGE, "--verify runs a command again and again: give it, as in \"hotvar advise --verify -- ./program\"");
	else if (o->verify && o->seconds > 0)
		err_exit(e, EINVAL, CLI_USAGE, "--verify runs the command to its end each time: leave out -d");
	else if (o->rounds && !o->verify)
		err_exit(e, EINVAL, CLI_USAGE, "--rounds is for --verify: give that, too");
	else
		return 0;
	return CLI_USAGE;
}

/* ---- the report ---- */

static void write_report(struct advise *o, struct advise_report *r)
{
	r->tlb = &o->tlb;
	r->all = o->all || o->common.verbose;
	o->given = o->common.json ? advise_json(o->f, r) : advise_text(o->f, r);
	fflush(o->f);
}

/* What is watched, and samples added up. */
static void gather(struct advise *o, struct advise_report *r)
{
	size_t n = advise_watch_n(o->watch);

	free(o->of);
	o->of = calloc(n, sizeof(*o->of));
	r->n_of = o->of ? n : 0;
	r->of = o->of;
	r->no_samples = advise_watch_no_samples(o->watch);
	for (size_t i = 0; i < r->n_of; i++) {
		struct advise_process *p = advise_watch_process(o->watch, i);

		if (!r->no_samples)
			advise_regions_sum(&p->regions, p->jumps);
		o->of[i] = (struct advise_of){ .pid = (int)p->pid, .comm = p->comm, .regions = &p->regions };
	}
}

static void report(struct advise *o)
{
	struct advise_report r = { .pid = (int)o->pid, .thp = &o->thp, .disabled = o->disabled, .without = o->verify };
	struct advise_watched told;

	advise_watch_told(o->watch, &told);
	gather(o, &r);
	r.samples = told.samples;
	r.unproven = told.unproven;
	r.lost = told.lost;
	r.unwatched = told.unwatched;
	r.unread = told.unread;
	r.starved = told.starved;
	r.guarded = told.guarded;
	r.left = o->ended ? told.left : 0;
	r.left_one = (int)told.left_one;
	r.seconds = (double)(clock_now_ns() - o->start_ns) / NS_PER_S;
	r.interval = (double)told.interval_ns / NS_PER_S;
	r.since_start = !told.cleared;
	write_report(o, &r);
}

static void begin(struct advise *o)
{
	o->start_ns = clock_now_ns();
	o->disabled = !o->verify && target_status(proc_living(o->pid), "THP_enabled:") == 0;
}

static bool is_over(const struct advise *o)
{
	return o->seconds > 0 && (double)(clock_now_ns() - o->start_ns) >= o->seconds * NS_PER_S;
}

static uint64_t interval_ns(const struct advise *o)
{
	return o->interval > 0 ? (uint64_t)(o->interval * NS_PER_S) : ADVISE_INTERVAL_NS;
}

/* ---- a process that runs ---- */

static int attached(struct advise *o, struct err *e)
{
	o->watch = advise_watch_new(o->pid, false, interval_ns(o), advise_tlb_pages(&o->tlb), e);
	if (!o->watch)
		return -ESRCH;
	begin(o);
	while (!onlooker_asked && !is_over(o) && target_is_alive(o->pid)) {
		advise_watch_wait(o->watch, TICK_MS);
		advise_watch_tick(o->watch, false);
	}
	o->ended = !target_is_alive(o->pid);
	advise_watch_tick(o->watch, true); /* gone meanwhile: what was seen stays */
	report(o);
	return 0;
}

/* ---- CMD ---- */

static int watch_command(struct advise *o, struct err *e)
{
	enum page_target_news news;
	bool looked = false;
	int err = page_target_start(&o->target, o->argv, e);

	if (err)
		return err;
	o->pid = o->target.pid;
	o->watch = advise_watch_new(o->pid, true, interval_ns(o), advise_tlb_pages(&o->tlb), e);
	if (!o->watch) {
		launch_abort(&o->target.launch);
		return -ENOMEM;
	}
	err = page_target_execute(&o->target, e);
	if (err)
		return err;
	advise_watch_executed(o->watch);
	begin(o);
	do {
		if (onlooker_asked)
			onlooker_pass_on(o->target.pid);
		news = page_target_news(&o->target);
		if (news == PAGE_TARGET_NOTHING)
			advise_watch_wait(o->watch, TICK_MS);
		else if (news == PAGE_TARGET_EXECUTED)
			advise_watch_executed(o->watch);
		if (looked)
			continue;
		o->ended = news == PAGE_TARGET_ENDING;
		looked = o->ended || is_over(o);
		advise_watch_tick(o->watch, looked);
		if (looked && !o->verify)
			report(o);
	} while (news != PAGE_TARGET_ENDED);
	o->ended = true;
	if (!looked || o->verify) /* killed: what was seen by then */
		report(o);
	return 0;
}

static int verify(struct advise *o, struct err *e)
{
	struct advise_report r = { .tlb = &o->tlb };
	bool any = false;

	gather(o, &r);
	for (size_t i = 0; r.n_of && i < r.of->regions->n; i++)
		any = any || advise_report_why(&r, &r.of->regions->v[i]) == ADVISE_GIVEN;
	if (!any)
		return err_set(e, ENOTSUP, "cannot verify: the advice is for processes that '%s' starts, and --verify puts the command's own memory alone into huge pages: give the command that they run",
			       o->argv[0]);
	o->verified.rounds = o->rounds ? o->rounds : ROUNDS;
	o->verified.argv = o->argv;
	o->verified.json = o->common.json;
	o->verified.f = o->f;
	o->verified.thp = &o->thp;
	o->verified.asked = &onlooker_asked;
	o->verified.launch = &o->target.launch;
	return advise_verify(&o->verified, &r, e);
}

static int launched(struct advise *o, struct err *e)
{
	struct advise_rerun rerun;
	int err;

	if (!o->verify)
		return watch_command(o, e);
	o->verified.input = advise_input_at();
	err = advise_rerun_begin(&rerun, e);
	if (err)
		return err;
	err = watch_command(o, e);
	if (!err && o->target.wait_status)
		err = err_exit(e, ECHILD, onlooker_status(o->target.wait_status), "cannot verify: '%s' failed: mend that first, or leave out --verify",
			       o->argv[0]);
	else if (!err && o->given)
		err = verify(o, e);
	advise_rerun_end(&rerun);
	return err;
}

/* ---- a recording ---- */

static int replay(struct advise *o, struct err *e)
{
	struct advise_recording *rec = advise_recording_read(o->input, advise_tlb_pages(&o->tlb), e);
	struct advise_report r = { 0 };
	int err = 0;

	if (!rec)
		return -EINVAL;
	advise_recording_report(rec, &r);
	if (!r.samples)
		err = err_set(e, ENODATA, "'%s' has no samples to judge by: record with 'hotvar record -F 5000 -- CMD', without --exact, --watch and --source fault", o->input);
	else
		write_report(o, &r);
	advise_recording_free(rec);
	return err;
}

static int run(struct advise *o, struct err *e)
{
	int err;

	if (!cli_spares(&o->common, o->argv, o->input, e))
		o->f = cli_open(&o->common, o->argv ? stderr : stdout, e);
	if (!o->f)
		return CLI_FAILED;
	onlooker_signals(o->argv);
	o->target.wait_status = -1;
	err = o->input ? replay(o, e) : o->argv ? launched(o, e) : attached(o, e);
	return onlooker_close(o->f, &o->common, err, o->given ? CLI_OK : CLI_NOTHING, o->argv, o->target.wait_status, e);
}

int cmd_advise(int argc, char **argv, struct err *e)
{
	struct advise *o = calloc(1, sizeof(*o));
	int rest, status;

	if (!o) {
		err_set(e, ENOMEM, "cannot advise: no memory: free some");
		return CLI_FAILED;
	}
	status = cli_parse(&argp, argc, argv, true, &rest, o, e);
	if (!status) {
		o->argv = argv[rest] ? argv + rest : NULL;
		status = check(o, e);
	}
	if (!status && !o->input)
		status = onlooker_ready(o->argv, o->pid, &o->target.launch, e);
	advise_tlb_read(&o->tlb);
	advise_thp_read(&o->thp, "/sys", "/proc");
	if (!status)
		status = run(o, e);
	advise_watch_free(o->watch);
	free(o->of);
	free(o);
	return status < 0 ? CLI_OK : status;
}
