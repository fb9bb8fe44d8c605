// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_pages.c - which pages of a process are there, touched, written, its own, shared.
 *
 *	-i FILE			what a recording of --exact has: which pages were touched, at the peak
 *	-p PID			as it is now
 *	-p PID -d SECONDS	after SECONDS, with what it touched in them
 *	-- CMD			when CMD is about to end (or after -d), with what it touched since its execve
 *
 * With --interval there are rows for each moment; --copies is pages_watch.c's.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "onlooker.h"
#include "options_report.h"
#include "pages_watch.h"
#include "runtime/cli/cli.h"
#include "runtime/report/pages_view.h"
#include "runtime/user/clock.h"
#include "runtime/user/live.h"
#include "runtime/user/page_since.h"
#include "runtime/user/page_target.h"
#include "runtime/user/target.h"
#include "runtime/user/stream.h"
#include "runtime/user/watch.h"
#include "translator-hooks/image_name.h"

enum { KEY_BY = 0x6300, KEY_COPIES, KEY_SUMMARY, KEY_SYMBOLS, KEY_VARIABLE, KEY_MODULE, KEY_INTERVAL, KEY_NO_DEMANGLE };
enum by { BY_REGION, BY_MODULE, BY_PAGE };
enum { TICK_MS = 20, TRIES = 8 };

#define NS_PER_S 1e9

struct pages {
	struct cli_common common;
	const char *input, *module, *variable;
	bool no_variable; /* of that name */
	pid_t pid;
	char **argv;
	double seconds, interval;
	enum by by;
	bool by_given, summary, symbols, copies;
	/* at work */
	FILE *f;
	struct pages_view view;
	struct page_since since;
	struct pages_peak peak;
	struct page_target target;
	struct pages_counts total;
	uint64_t start_ns;
	bool headed;
};

static const struct argp_option own_options[] = {
	{ "pid", 'p', "PID", 0, "Look at the running process PID", 1 },
	{ "input", 'i', "FILE", 0, "Look at FILE, a recording of --exact: which pages were touched, as time passes and at the peak", 1 },
	{ "duration", 'd', "SECONDS", 0, "Count as touched what is accessed in the next SECONDS, then look", 1 },
	{ "interval", KEY_INTERVAL, "SECONDS", 0, "Look every SECONDS: what each module has touched by then, and the peak", 1 },
	{ "copies", KEY_COPIES, NULL, 0, "Watch which variables' pages are copied after fork, by whom, at which instruction", 1 },
	{ "by", KEY_BY, "WHAT", 0, "One row for each region (usual), module or page", 2 },
	{ "summary", KEY_SUMMARY, NULL, 0, "One row for each kind of memory", 2 },
	{ "symbols", KEY_SYMBOLS, NULL, 0, "Pages with the sections and symbols on them", 2 },
	{ "variable", KEY_VARIABLE, "NAME", 0, "Only the pages of this variable", 2 },
	{ "module", KEY_MODULE, "NAME", 0, "Only what belongs to the file NAME: its path, or the last part of it", 2 },
	{ "no-demangle", KEY_NO_DEMANGLE, NULL, 0, "Keep names as the file has them", 2 },
	{ 0 },
};

static error_t take_by(struct pages *o, const char *arg)
{
	static const char *const names[] = { "region", "module", "page" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(arg, names[i])) {
			o->by = (enum by)i;
			o->by_given = true;
			return 0;
		}
	return cli_bad_value("--by", arg, "region, module or page");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct pages *o = state->input;

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
	case KEY_BY:
		return take_by(o, arg);
	case KEY_COPIES:
		o->copies = true;
		return 0;
	case KEY_SUMMARY:
		o->summary = true;
		return 0;
	case KEY_SYMBOLS:
		o->symbols = true;
		return 0;
	case KEY_VARIABLE:
		o->variable = arg;
		return 0;
	case KEY_MODULE:
		o->module = arg;
		return 0;
	case KEY_NO_DEMANGLE:
		image_name_raw(true);
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
	.args_doc = "-p PID\n[--] CMD [ARG...]\n-i FILE",
	.doc = "Say of each region, module or page what is in memory, touched, written, its own or shared.\v"
	       "CMD is looked at when it is about to end, or after -d; what it touched counts from its start.  "
	       "With -p, touched is told with -d only: its reference bits are cleared for that.",
	.children = children,
};

static int check(struct pages *o, struct err *e)
{
	int given = (o->pid != 0) + (o->input != NULL) + (o->argv != NULL);

	if (given != 1)
		err_exit(e, EINVAL, CLI_USAGE, given ?
			 "more than one of -p, -i and a command were given: give one; see 'hotvar pages --help'" :
			 "whose pages? Give a process ('hotvar pages -p PID') or a command ('hotvar pages -- ./program'); see 'hotvar pages --help'");
	else if (o->input && (o->summary || o->variable || o->module || o->seconds > 0 || o->interval > 0 ||
			      (o->by_given && o->by == BY_MODULE)))
		err_exit(e, EINVAL, CLI_USAGE,
			 "of a recording there are touched pages only: leave out all but -i, --by region or page, and --symbols");
	else if (o->copies && (o->by_given || o->symbols || o->variable || o->module || o->interval > 0 || o->summary || o->input))
		err_exit(e, EINVAL, CLI_USAGE, "--copies has rows of its own, of a process or a command: leave out all but -p, -d and CMD");
	else if (o->summary && (o->by_given || o->symbols || o->variable || o->interval > 0))
		err_exit(e, EINVAL, CLI_USAGE, "--summary has rows of its own: leave out %s",
			 o->by_given ? "--by" : o->symbols ? "--symbols" : o->variable ? "--variable" : "--interval");
	else if (o->interval > 0 && (o->by_given || o->symbols || o->variable))
		err_exit(e, EINVAL, CLI_USAGE, "--interval has rows of its own: leave out %s",
			 o->by_given ? "--by" : o->symbols ? "--symbols" : "--variable");
	else if ((o->symbols || o->variable) && o->by_given && o->by != BY_PAGE)
		err_exit(e, EINVAL, CLI_USAGE, "%s is about pages: leave out --by, or give --by page",
			 o->symbols ? "--symbols" : "--variable");
	else
		return 0;
	return CLI_USAGE;
}

/* ---- a recording ---- */

static int replay(const struct pages *o, struct err *e)
{
	struct report_choice choice = { .by_page = o->by == BY_PAGE || o->symbols };
	struct analysis_options ao = { .touched = true };
	struct stream_reader *r = stream_reader_of_file(o->input, e);
	struct analysis *a = r ? analysis_new(&ao, e) : NULL;
	int status = CLI_FAILED;
	FILE *f = NULL;

	choice.by_region = !choice.by_page;
	if (a && !cli_spares(&o->common, NULL, o->input, e)) {
		analysis_read(a, r);
		f = cli_open(&o->common, stdout, e);
	}
	if (f) {
		status = report_write(f, a, &choice, &o->common, e);
		if (status == CLI_NOTHING)
			err_set(e, ENODATA,
				"'%s' has no pages: 'hotvar record --exact -- CMD' records which are touched; a process's other pages are told while it lives ('hotvar pages -p PID', 'hotvar pages -- CMD'), a recording's map by 'hotvar maps -i'",
				o->input);
		if (cli_close(f, &o->common, status == CLI_FAILED ? NULL : e))
			status = CLI_FAILED;
		if (status == CLI_OK && analysis_why(a))
			err_set(e, EPIPE, "%s", analysis_why(a));
	}
	analysis_free(a);
	stream_reader_free(r);
	return status;
}

/* ---- one look ---- */

static int find_variable(struct pages *o, struct err *e)
{
	struct watch w = { .name = o->variable, .live = o->view.live };
	int r = watch_find_in(&w, o->pid, e);

	o->no_variable = r == -ENOENT;
	if (o->no_variable) /* nothing found, which notes() says */
		r = 0;
	else if (r == -EXDEV)
		r = err_set(e, EXDEV, "'%s' is thread-local, so each thread has its own: name one that is not",
			    o->variable);
	else if (!r && w.ambiguous)
		r = err_set(e, EINVAL, "there are several variables '%s'; name one of them: %s", o->variable, w.others);
	o->view.lo = w.start & ~(PAGE_BYTES - 1);
	o->view.hi = (w.end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	w.live = NULL;
	watch_fini(&w);
	return r;
}

static int read_once(struct pages *o, struct page_regions *r, bool since, struct err *e)
{
	struct page_regions_ask ask = { .pid = o->pid, .hi = ~(uint64_t)0 };
	int err;

	if (!o->view.live) {
		o->view.live = live_open(o->pid, e);
		if (!o->view.live)
			return -errno;
	} else {
		live_look(o->view.live, true);
	}
	o->view.lo = 0;
	o->view.hi = ~(uint64_t)0;
	if (o->variable && find_variable(o, e))
		return -ENOENT;
	if (o->no_variable)
		return 0;
	ask.lo = o->view.lo;
	ask.hi = o->view.hi;
	ask.vmas = live_vmas(o->view.live);
	ask.smaps = true;
	ask.thrifty = o->summary && !since;
	if (since)
		page_since_ask(&o->since, &ask);
	err = page_regions_read(r, &ask);
	if (err == -ENOMEM)
		err_set(e, ENOMEM, "cannot look at the pages of process %d: no memory: free some", (int)o->pid);
	else if (err == -EMFILE || err == -ENFILE)
		err_set(e, -err, "cannot look at the pages of process %d: %s; raise: ulimit -n", (int)o->pid, strerror(-err));
	else if (err)
		err_set(e, -err, err == -ESRCH ? "cannot look at the pages of process %d: it has ended; name a living one" :
			"cannot look at the pages of process %d: /proc/PID/pagemap: it is not ours; run as its owner or as root",
			(int)o->pid);
	return err;
}

/* What was read of a map that is no more by then may be another program's, or nothing. */
static int read_regions(struct pages *o, struct page_regions *r, bool since, struct err *e)
{
	int err = 0;

	for (int i = 0; i < TRIES; i++) {
		err = read_once(o, r, since, e);
		if (err || live_is_there(o->view.live))
			return err;
		page_regions_fini(r);
		if (since)
			break;
		live_free(o->view.live);
		o->view.live = NULL;
	}
	return err_set(e, ESRCH, target_is_alive(o->pid) ?
		       "cannot look at the pages of process %d: it has executed another program meanwhile; look again" :
		       "cannot look at the pages of process %d: it has ended; name a living one", (int)o->pid);
}

static void head(struct pages *o, const char *what)
{
	double seconds = o->start_ns ? (double)(clock_now_ns() - o->start_ns) / NS_PER_S : 0;

	if (!o->headed)
		o->view.format->head(o->f, (int)o->pid, seconds, what);
	o->headed = true;
}

/* The last look: all rows. */
static int look(struct pages *o, struct err *e)
{
	bool since = o->start_ns, pages = o->by == BY_PAGE || o->symbols || o->variable;
	struct page_regions r = { 0 };
	int err = read_regions(o, &r, since, e);

	if (!err) {
		head(o, o->interval > 0 ? "moment" : pages ? "page" : o->summary || o->by == BY_MODULE ? "group" : "region");
		if (o->interval > 0)
			err = pages_view_moment(&o->view, &r, (double)(clock_now_ns() - o->start_ns) / NS_PER_S, &o->peak);
		else if (pages)
			err = pages_view_pages(&o->view, &r, since ? &o->since : NULL, &o->total);
		else if (o->summary || o->by == BY_MODULE)
			err = pages_view_groups(&o->view, &r, o->by == BY_MODULE, &o->total);
		else
			err = pages_view_regions(&o->view, &r, &o->total);
		if (!since) /* not asked for, of no region either */
			o->total.touched = o->total.touched_private = o->total.touched_shared =
				(struct page_range){ 0, PAGE_RANGE_ANY };
		if (err)
			err_set(e, -err, "cannot write the pages of process %d: %s", (int)o->pid, strerror(-err));
	}
	if (!err && o->interval > 0) {
		for (int i = 0; i < 2; i++) {
			o->peak.of[i].peak = true;
			o->view.format->moment(o->f, &o->peak.of[i]);
		}
	} else if (!err) {
		o->view.format->total(o->f, &o->total);
	}
	page_regions_fini(&r);
	return err;
}

static int look_between(struct pages *o, struct err *e)
{
	struct page_regions r = { 0 };
	int err = read_regions(o, &r, true, e);

	if (!err) {
		head(o, "moment");
		err = pages_view_moment(&o->view, &r, (double)(clock_now_ns() - o->start_ns) / NS_PER_S, &o->peak);
		fflush(o->f);
	}
	page_regions_fini(&r);
	return err;
}

/* ---- until when ---- */

struct timer {
	uint64_t end_ns, next_ns; /* 0: never */
};

static void timer_begin(struct timer *t, const struct pages *o)
{
	t->end_ns = o->seconds > 0 ? o->start_ns + (uint64_t)(o->seconds * NS_PER_S) : 0;
	t->next_ns = o->interval > 0 ? o->start_ns + (uint64_t)(o->interval * NS_PER_S) : 0;
}

/* Milliseconds to wait at most. */
static int timer_wait_ms(const struct timer *t, uint64_t now)
{
	uint64_t until = t->end_ns && (!t->next_ns || t->end_ns < t->next_ns) ? t->end_ns : t->next_ns;

	if (!until || until > now + (uint64_t)TICK_MS * 1000000)
		return TICK_MS;
	return until > now ? (int)((until - now) / 1000000 + 1) : 0;
}

/* A look is due? */
static bool timer_due(struct timer *t, const struct pages *o, uint64_t now)
{
	if (!t->next_ns || now < t->next_ns || (t->end_ns && now >= t->end_ns))
		return false;
	while (t->next_ns <= now) /* what took too long is left out */
		t->next_ns += (uint64_t)(o->interval * NS_PER_S);
	return true;
}

/* ---- a process that runs ---- */

static int attached(struct pages *o, struct err *e)
{
	struct timer t;
	uint64_t now;
	int err;

	if (!(o->seconds > 0) && !(o->interval > 0))
		return look(o, e);
	o->view.live = live_open(o->pid, e);
	if (!o->view.live)
		return -errno;
	err = page_since_now(&o->since, o->pid, live_vmas(o->view.live));
	if (err)
		return err_set(e, -err, "cannot note the pages of process %d: they are too many: leave out -d", (int)o->pid);
	o->start_ns = clock_now_ns();
	timer_begin(&t, o);
	while (now = clock_now_ns(), !onlooker_asked && !ferror(o->f) && (!t.end_ns || now < t.end_ns) && target_is_alive(o->pid)) {
		if (timer_due(&t, o, now)) {
			err = look_between(o, e);
			if (err)
				return err;
		}
		page_since_wait(&o->since, timer_wait_ms(&t, now));
	}
	return look(o, e);
}

/* ---- CMD ---- */

static int launched(struct pages *o, struct err *e)
{
	enum page_target_news news;
	struct timer t;
	bool looked = false, executed = false, missed;
	int err = page_target_start(&o->target, o->argv, e);

	if (err)
		return err;
	o->pid = o->view.pid = o->target.pid;
	page_since_exec(&o->since, o->pid);
	err = page_target_execute(&o->target, e);
	if (err)
		return err;
	o->start_ns = clock_now_ns();
	timer_begin(&t, o);
	do {
		uint64_t now = clock_now_ns();
		bool end = t.end_ns && now >= t.end_ns;

		if (executed) /* another program: names of the old one are gone */
			live_free(o->view.live), o->view.live = NULL;
		executed = false;
		looked = looked || ferror(o->f); /* nobody reads on, or nothing can be written */
		if (!looked && !err && end) {
			err = look(o, e);
			looked = err != -ESRCH;
		} else if (!looked && !err && timer_due(&t, o, now)) {
			err = look_between(o, e);
		}
		missed = !looked && err == -ESRCH;
		if (missed) { /* it executes a program, or ends: that news is to come */
			err = 0;
			err_clear(e);
		}
		if (onlooker_asked)
			onlooker_pass_on(o->target.pid);
		news = page_target_news(&o->target);
		if (news == PAGE_TARGET_NOTHING) {
			page_since_wait(&o->since, looked || missed || err ? TICK_MS : timer_wait_ms(&t, now));
		} else if (news == PAGE_TARGET_EXECUTED) {
			page_since_executed(&o->since);
			executed = true;
		} else if (news == PAGE_TARGET_ENDING && !looked && !err) {
			err = look(o, e);
			looked = true;
		}
	} while (news != PAGE_TARGET_ENDED);
	if (!looked && !err && o->target.guarded)
		return err_set(e, EACCES, "cannot look at the pages of '%s': what one of its threads executed guards its memory, as set-user-ID programs do, or those that may not be read; run hotvar as root",
			       o->argv[0]);
	if (!looked && !err)
		return err_set(e, ESRCH, "'%s' ended before its pages could be looked at: look earlier, with -d SECONDS",
			       o->argv[0]);
	return err;
}

/* ---- notes ---- */

static void notes(const struct pages *o)
{
	const struct page_since *s = &o->since;

	if (o->common.quiet)
		return;
	if (o->module && !o->total.regions && !(o->interval > 0))
		fprintf(stderr, "hotvar: note: nothing of '%s' is mapped: give a path that \"hotvar pages\" shows without --module, or the last part of one\n",
			o->module);
	if (o->no_variable)
		fprintf(stderr, "hotvar: note: process %d has no variable '%s': check its name with nm, or see 'hotvar pages -p PID --symbols'\n",
			(int)o->pid, o->variable);
	if (!o->start_ns)
		return;
	if (!s->faults)
		fprintf(stderr, "hotvar: note: which new pages were touched is not known: %s\n", s->why.text);
	else if (page_faults_lost(s->faults))
		fprintf(stderr, "hotvar: note: %" PRIu64 " page faults were lost: what is touched may be more\n",
			page_faults_lost(s->faults));
	else if (!page_faults_all(s->faults) && o->common.verbose)
		fputs("hotvar: note: faults inside system calls are not seen: what is touched may be more; run as root\n", stderr);
	if (s->attached && !s->cleared)
		fprintf(stderr, "hotvar: note: which old pages were touched is not known: %s\n", s->why_clear.text);
}

static int run(struct pages *o, struct err *e)
{
	int err;

	if (!cli_spares(&o->common, o->argv, NULL, e))
		o->f = cli_open(&o->common, o->argv ? stderr : stdout, e);
	if (!o->f)
		return CLI_FAILED;
	o->view.f = o->f;
	o->view.format = o->common.json ? &pages_json : &pages_text;
	o->view.pid = o->pid;
	o->view.module = o->module;
	o->view.names = o->symbols || o->variable;
	o->view.absent = o->variable;
	onlooker_signals(o->argv);
	if (o->copies) {
		struct pages_watch w = {
			.f = o->f, .json = o->common.json, .quiet = o->common.quiet, .argv = o->argv, .pid = o->pid,
			.seconds = o->seconds, .target = &o->target, .asked = &onlooker_asked,
		};

		err = pages_watch_copies(&w, e);
		o->total.regions = w.rows;
	} else {
		err = o->argv ? launched(o, e) : attached(o, e);
		if (!err)
			notes(o);
	}
	return onlooker_close(o->f, &o->common, err, o->total.regions || o->interval > 0 ? CLI_OK : CLI_NOTHING, o->argv,
			      o->target.wait_status, e);
}

int cmd_pages(int argc, char **argv, struct err *e)
{
	struct pages *o = calloc(1, sizeof(*o));
	int rest, status;

	if (!o) {
		err_set(e, ENOMEM, "cannot look at pages: no memory: free some");
		return CLI_FAILED;
	}
	status = cli_parse(&argp, argc, argv, true, &rest, o, e);
	if (!status) {
		o->argv = argv[rest] ? argv + rest : NULL;
		status = check(o, e);
	}
	if (!status && !o->input)
		status = onlooker_ready(o->argv, o->pid, &o->target.launch, e);
	if (!status)
		status = o->input ? replay(o, e) : run(o, e);
	page_since_fini(&o->since);
	live_free(o->view.live);
	free(o);
	return status < 0 ? CLI_OK : status;
}
