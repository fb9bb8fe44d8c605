// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_maps.c - every change of a process tree's memory map, one a line, as it happens.
 *
 * The session runs in the main thread, which the kernel ties tracing to; a second
 * one writes.  When the reader of the output goes away, CMD runs on to its end and
 * an attached process is let go.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "runtime/cli/cli.h"
#include "runtime/report/maps_moment.h"
#include "runtime/report/maps_summary.h"
#include "runtime/report/maps_watch.h"
#include "runtime/report/printable.h"
#include "runtime/user/session.h"
#include "runtime/user/stream.h"
#include "runtime/user/watch.h"

struct options {
	struct cli_common common;
	const char *input; /* -i FILE */
	pid_t pid;
	pid_t *also; /* -p given again */
	size_t n_also;
	double seconds;
	struct maps_time at[2]; /* --at, --diff */
	int n_at;
	bool summary;
	enum session_source source;
	bool returns;
	const char *watch_arg; /* --watch */
	struct watch watch;
	char **argv;
};

enum { OUTPUT = 64 << 10 };

enum { KEY_AT = 0x6100, KEY_DIFF, KEY_SUMMARY, KEY_SOURCE, KEY_WATCH };

static const struct argp_option own_options[] = {
	{ "pid", 'p', "PID", 0, "Follow the running process PID, all its threads; may be given again", 1 },
	{ "input", 'i', "FILE", 0, "Read the recording FILE", 1 },
	{ "source", KEY_SOURCE, "SOURCE", 0, "Where changes come from: ptrace (usual), which sees each; perf or perf-returns, which stop nothing; or look, which needs nothing", 1 },
	{ "duration", 'd', "SECONDS", 0, "End after SECONDS", 1 },
	{ "at", KEY_AT, "TIME", 0, "With -i: the whole map as it was TIME seconds after the first change", 1 },
	{ "diff", KEY_DIFF, "TIME,TIME2", 0, "With -i: the areas that differ between two times", 1 },
	{ "summary", KEY_SUMMARY, NULL, 0, "With -i: for each path and kind, what was mapped and unmapped", 1 },
	{ "watch", KEY_WATCH, "START-END|VARIABLE", 0,
	  "Wait for the first event that unmaps or moves any of it; say when, which thread, and its call stack", 1 },
	{ 0 },
};

static error_t take_pid(struct options *o, const char *arg)
{
	pid_t pid = 0, *more;
	error_t err = cli_pid(arg, &pid);
	size_t i;

	if (err || pid == o->pid)
		return err;
	for (i = 0; i < o->n_also; i++)
		if (o->also[i] == pid)
			return 0;
	if (!o->pid) {
		o->pid = pid;
		return 0;
	}
	more = realloc(o->also, (o->n_also + 1) * sizeof(*more));
	if (!more)
		return ENOMEM;
	o->also = more;
	more[o->n_also++] = pid;
	return 0;
}

/* "0.5" of --at, "0.5,2" of --diff. */
static error_t take_times(struct options *o, const char *arg, int n)
{
	char text[64], *comma;
	bool good = strlen(arg) < sizeof(text);

	if (good) {
		strcpy(text, arg);
		comma = strchr(text, ',');
		if (comma)
			*comma = '\0';
		good = (comma != NULL) == (n == 2) && maps_time_parse(text, &o->at[0]) &&
		       (n == 1 || maps_time_parse(comma + 1, &o->at[1]));
	}
	if (!good)
		return cli_bad_value(n == 1 ? "--at" : "--diff", arg, n == 1 ?
				     "a number of seconds, as 'hotvar maps' prints them" :
				     "two numbers of seconds with a comma between them, such as 0.5,2");
	if (n == 2 && o->at[1].ns < o->at[0].ns)
		return cli_bad_value("--diff", arg, "the earlier time first");
	o->n_at += n;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->common;
		return 0;
	case 'p':
		return take_pid(o, arg);
	case 'i':
		o->input = arg;
		return 0;
	case 'd':
		return cli_duration("-d", arg, &o->seconds);
	case KEY_AT:
		return take_times(o, arg, 1);
	case KEY_DIFF:
		return take_times(o, arg, 2);
	case KEY_SOURCE:
		o->returns = !strcmp(arg, "perf-returns");
		o->source = !strncmp(arg, "perf", 4) ? SESSION_PERF : !strcmp(arg, "look") ? SESSION_LOOK : SESSION_PTRACE;
		if (o->source == SESSION_PERF && arg[4] && !o->returns)
			return cli_bad_value("--source", arg, "ptrace, perf, perf-returns or look");
		if (o->source == SESSION_PTRACE && strcmp(arg, "ptrace"))
			return cli_bad_value("--source", arg, "ptrace, perf, perf-returns or look");
		return 0;
	case KEY_WATCH:
		o->watch_arg = arg;
		if (!watch_parse(&o->watch, arg))
			return cli_bad_value("--watch", arg, "two hexadecimal addresses, START-END, or the name of a variable");
		return 0;
	case KEY_SUMMARY:
		o->summary = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &cli_common_argp, 0, "Output:", 2 },
	{ 0 },
};

static const struct argp argp = {
	.options = own_options,
	.parser = parse,
	.args_doc = "[--] CMD [ARG...]\n-p PID [-p PID...]\n-i FILE",
	.doc = "Print every change of the memory map of CMD, of process PID, or from a recording.\v"
	       "The exit status is CMD's.  With CMD the lines go to stderr unless -o is given.",
	.children = children,
};

static int check(const struct options *o, struct err *e)
{
	int given = (o->pid != 0) + (o->input != NULL) + (o->argv != NULL);

	if ((o->n_at || o->summary) && !o->input) {
		err_exit(e, EINVAL, CLI_USAGE,
			 "--at, --diff and --summary look at a recording: record one with 'hotvar record -o FILE', then give it with -i FILE");
		return CLI_USAGE;
	}
	if (o->seconds > 0 && o->input) {
		err_exit(e, EINVAL, CLI_USAGE,
			 "-d is for what runs: a recording is read to its end; for the map at a time of it give --at TIME");
		return CLI_USAGE;
	}
	if (o->source && o->input) {
		err_exit(e, EINVAL, CLI_USAGE,
			 "--source is for what runs: a recording has the changes that its own source told of: leave it out");
		return CLI_USAGE;
	}
	if (o->n_at > 2 || (o->n_at > 0) + o->summary + (o->watch_arg != NULL) > 1) {
		err_exit(e, EINVAL, CLI_USAGE,
			 "more than one of --at, --diff, --summary and --watch were given: give one");
		return CLI_USAGE;
	}
	if (o->n_also && (o->watch_arg || o->source == SESSION_LOOK)) {
		err_exit(e, EINVAL, CLI_USAGE, "%s is for one process: give one -p",
			 o->watch_arg ? "--watch" : "--source look");
		return CLI_USAGE;
	}
	if (given == 1)
		return 0;
	err_exit(e, EINVAL, CLI_USAGE,
		 given ? "more than one of -p, -i and a command were given: give one; see 'hotvar maps --help'" :
			 "nothing to follow: give a command ('hotvar maps -- ./program'), a process (-p PID) or a recording (-i FILE); see 'hotvar maps --help'");
	return CLI_USAGE;
}

/* ---- the thread that writes ---- */

struct writer {
	struct stream_reader *r;
	FILE *f;
	const struct maps_format *format;
	void (*broken)(void);
	struct watch *watch;	 /* NULL: every change is written */
	struct images *images;	 /* to find the watched range's end in the stream itself, or NULL */
	void (*found)(void);	 /* then */
	struct told_modules told;
	struct maps_totals totals;
	int err;
};

/* Nobody reads on: let go of the attached process. */
static void stop_following(void)
{
	session_stop(SIGTERM);
}

static void *write_lines(void *arg)
{
	struct writer *w = arg;

	if (w->watch)
		w->err = maps_watch_read(w->r, w->watch, w->images, w->found, &w->told, &w->totals);
	else
		w->err = maps_write(w->r, w->f, w->format, w->broken, &w->totals);
	return NULL;
}

/* Its signals are the session's: none is to interrupt this thread. */
static int start_writer(struct writer *w, pthread_t *thread)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(thread, NULL, write_lines, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

/* ---- the end of the output ---- */

/* Of the running process @pid; 0: of none. */
static void say_pointer(struct options *o, pid_t pid)
{
	char *note = watch_pointer_note(&o->watch, pid);

	if (note && !o->common.quiet)
		cli_say(note);
	free(note);
}

/* All that a watch writes comes when it is over. */
static void write_watch(struct options *o, struct writer *w)
{
	say_pointer(o, 0);
	maps_watch_write(w->f, o->common.json, w->watch, &w->told, &w->totals);
	if (ferror(w->f))
		w->totals.write_errno = errno ? errno : EIO;
	told_fini(&w->told);
	images_free(w->images);
	w->images = NULL;
}

/* The first error is the cause. */
static int close_output(const struct options *o, const struct writer *w, struct err *e)
{
	int first = w->totals.write_errno;
	struct err last = { 0 };
	int err = cli_close(w->f, &o->common, &last);

	if (first == EPIPE)
		return 0;
	return first ? cli_unwritten(w->f == stderr ? "stderr" : NULL, &o->common, first, e) :
		       err   ? err_set(e, -err, "%s", last.text) :
			       0;
}

/* ---- a recording ---- */

static int begin_watch(struct options *o, struct writer *w, bool live, struct err *e)
{
	w->watch = &o->watch;
	w->images = images_new(live);
	return w->images ? 0 : err_set(e, ENOMEM, "cannot watch: no memory; free some");
}

/* What has the images may come last, but stdin can be read once only: there, files must do. */
static int begin_replay_of_watch(struct options *o, struct writer *w, struct err *e)
{
	struct stream_reader *r;
	int err = begin_watch(o, w, false, e);

	o->watch.no_stack = "a recording has none; watch the process itself, with -p PID or -- CMD";
	if (err || !strcmp(o->input, "-"))
		return err;
	r = stream_reader_of_file(o->input, e);
	if (!r)
		return -EIO;
	maps_watch_images(r, w->images);
	stream_reader_free(r);
	return 0;
}

static int replay(struct options *o, struct err *e)
{
	struct writer w = { .format = o->common.json ? &maps_json : &maps_text };
	int status = CLI_FAILED;

	if (!o->watch_arg || !begin_replay_of_watch(o, &w, e))
		w.r = stream_reader_of_file(o->input, e);
	if (w.r && !cli_spares(&o->common, NULL, o->input, e))
		w.f = cli_open(&o->common, stdout, e);
	if (w.f) {
		if (o->n_at)
			w.err = maps_moment(w.r, w.f, o->common.json, o->at, o->n_at, &w.totals);
		else if (o->summary)
			w.err = maps_summary(w.r, w.f, o->common.json, &w.totals);
		else
			write_lines(&w);
		if (o->watch_arg)
			write_watch(o, &w);
		if ((o->n_at || o->summary) && w.totals.why && !o->common.quiet)
			fprintf(stderr, "hotvar: note: the recording is broken off: %s\n", w.totals.why);
		if (w.err)
			err_set(e, -w.err, "cannot read all of '%s': no memory; free some", o->input);
		else if (!close_output(o, &w, e))
			status = (o->watch_arg ? o->watch.hit : w.totals.lines > 0) ? CLI_OK : CLI_NOTHING;
	}
	images_free(w.images);
	stream_reader_free(w.r);
	return status;
}

/* ---- a living process ---- */

static int follow(const struct options *o, struct writer *w, struct stream *queue,
		  struct session *s, struct err *e)
{
	pthread_t thread;
	struct err ignored;
	int err = start_writer(w, &thread);

	if (err)
		return err_set(e, err, "cannot start a thread: %s; raise: ulimit -u",
			       strerror(err));
	s->argv = o->argv;
	s->pid = o->pid;
	s->also = o->also;
	s->n_also = o->n_also;
	s->seconds = o->seconds;
	s->returns = o->returns;
	s->source = o->source || !(w->watch || o->n_also) ? o->source : SESSION_PTRACE;
	s->watch = w->watch && !w->images ? w->watch : NULL;
	s->live = true;
	if (!o->common.quiet)
		s->warn = measure_warn;
	s->out = queue;
	err = session_run(s, e);
	stream_close(queue, &ignored);
	pthread_join(thread, NULL);
	return err;
}

/* A running process's variable has its place before the watching begins. */
static int find_variable(struct options *o, struct err *e)
{
	struct watch *w = &o->watch;
	int r;

	if (!w->name || o->argv)
		return 0;
	r = watch_find_in(w, o->pid, e);
	if (r == -ENOENT)
		return err_set(e, ENOENT,
			       "cannot watch '%s': process %d has no variable of that name; check it with nm, or give START-END",
			       w->name, (int)o->pid);
	if (r == -EXDEV)
		return err_set(e, EXDEV,
			       "cannot watch '%s': it is thread-local, so each thread has its own; give START-END of one",
			       w->name);
	if (w->ambiguous)
		return err_set(e, EINVAL, "cannot watch '%s': there are several; name one of them: %s", w->name, w->others);
	if (!r)
		say_pointer(o, o->pid);
	return r;
}

static int live(struct options *o, struct err *e)
{
	static char output[OUTPUT]; /* glibc takes a size for that of a buffer only; stdout may outlive us */
	struct writer w = { .format = o->common.json ? &maps_json : &maps_text };
	struct session s = { 0 };
	struct stream *queue;
	int status, err;

	if (o->watch_arg) {
		if (find_variable(o, e))
			return CLI_FAILED;
		w.watch = &o->watch;
		/* No stop, no stack: what the stream tells is all. */
		if (o->source == SESSION_PERF || o->source == SESSION_LOOK) {
			o->watch.no_stack = "this source stops nothing; use --source ptrace";
			if (begin_watch(o, &w, true, e))
				return CLI_FAILED;
		}
		if (!o->argv)
			w.found = stop_following;
	}
	if (!cli_spares(&o->common, o->argv, NULL, e))
		w.f = cli_open(&o->common, o->argv ? stderr : stdout, e);
	if (!w.f)
		return CLI_FAILED;
	/* Written when no more lines are there at the moment; what else comes to stderr keeps its place among them. */
	if (w.f == stderr)
		setvbuf(w.f, NULL, _IOLBF, 0);
	else
		setvbuf(w.f, output, _IOFBF, sizeof(output));
	if (!o->argv)
		w.broken = stop_following;
	queue = stream_to_queue(e);
	w.r = queue ? stream_reader_of_queue(queue) : NULL;
	if (!w.r) {
		err_set(e, ENOMEM, "cannot make a queue: no memory; free some");
		return CLI_FAILED;
	}
	err = follow(o, &w, queue, &s, e);
	stream_reader_free(w.r);
	if (err)
		return e->status ? e->status : CLI_FAILED;
	if (w.watch)
		write_watch(o, &w);
	e->text[0] = '\0'; /* what was tried before it worked is no news */
	if (s.note[0] && !o->common.quiet)
		fputs("hotvar: note: ", stderr), printable_put(stderr, s.note), putc('\n', stderr);
	err = close_output(o, &w, e);
	status = (w.watch ? w.watch->hit : w.totals.lines > 0) ? CLI_OK : CLI_NOTHING;
	status = measure_status(&s, status, err ? NULL : e);
	return err ? CLI_FAILED : status;
}

int cmd_maps(int argc, char **argv, struct err *e)
{
	struct options o = { .pid = 0 };
	size_t i;
	int rest, status = cli_parse(&argp, argc, argv, true, &rest, &o, e);

	if (status) {
		free(o.also);
		return status < 0 ? CLI_OK : status;
	}
	o.argv = argv[rest] ? argv + rest : NULL;
	status = check(&o, e);
	if (!status && !o.input)
		status = target_ready(o.argv, o.pid, e);
	for (i = 0; i < o.n_also && !status; i++)
		status = target_ready(NULL, o.also[i], e);
	if (!status)
		status = o.input ? replay(&o, e) : live(&o, e);
	watch_fini(&o.watch);
	free(o.also);
	return status;
}
