// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "progress.h"
#include "runtime/cli/cli.h"
#include "runtime/report/follow.h"
#include "runtime/user/clock.h"

/* ---- what the recording says of itself ---- */

/* A word as a shell would take it back. */
static void put_word(FILE *f, const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "%+,-./:=@_";

	if (*s && !s[strspn(s, safe)]) {
		fputs(s, f);
		return;
	}
	putc('\'', f);
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", f);
		else
			putc(*s, f);
	}
	putc('\'', f);
}

static void put_argv(struct stream *out, char **argv)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (f) {
		char **arg;

		for (arg = argv; *arg; arg++) {
			if (arg != argv)
				putc(' ', f);
			put_word(f, *arg);
		}
		fclose(f);
	}
	if (text)
		stream_put_meta(out, "argv", "%s", text);
	free(text);
}

static void put_meta(struct stream *out, const struct target_options *o)
{
	struct utsname u;

	stream_put_meta(out, "version", "%s", PACKAGE_VERSION);
	if (o->argv)
		put_argv(out, o->argv);
	else
		stream_put_meta(out, "pid", "%d", (int)o->pid);
	if (o->source != SESSION_EXACT && o->source != SESSION_FAULT && !o->watch.n)
		stream_put_meta(out, "hz", "%u", o->hz);
	if (o->exact_prefetches && o->source == SESSION_EXACT)
		stream_put_meta(out, "prefetch_lines", "%u", o->exact_prefetches);
	if (o->source == SESSION_EXACT && o->exact_lines)
		stream_put_meta(out, "cachelines", "%d", STREAM_LINE_SIZE);
	stream_put_meta(out, "start", "%" PRIu64, clock_ns(CLOCK_REALTIME));
	if (!uname(&u))
		stream_put_meta(out, "kernel", "%s", u.release);
}

/* ---- measuring ---- */

void measure_warn(const char *text)
{
	cli_say(text);
}

int measure(const struct target_options *o, struct analysis *a, struct stream *file,
	    bool talk, struct session *s, struct err *e)
{
	struct progress p = { 0, 0 };
	struct stream *queue = stream_to_queue(e);
	struct err closing = { 0, "" };
	struct follow *f;
	int ret, closed;

	if (!queue)
		return -ENOMEM;
	f = follow_start(queue, a, file, e);
	if (!f) {
		stream_close(queue, NULL);
		return -ENOMEM;
	}
	memset(s, 0, sizeof(*s));
	s->argv = o->argv;
	s->pid = o->pid;
	s->hz = o->watch.n ? 0 : o->hz;
	s->hz_usual = !o->hz_given;
	s->points = o->watch.n ? &o->watch : NULL;
	s->budget = o->budget;
	s->seconds = o->seconds;
	s->source = o->source;
	s->exact_malloc = o->exact_malloc;
	s->exact_stopped = o->exact_stopped;
	s->exact_callers = o->exact_callers;
	s->exact_prefetches = o->exact_prefetches;
	s->exact_lines = o->exact_lines;
	s->out = queue;
	if (talk)
		s->warn = measure_warn;
	if (talk && progress_possible()) {
		s->progress = progress_show;
		s->progress_ctx = &p;
	}
	put_meta(queue, o);
	ret = session_run(s, e);
	progress_end(&p);
	closed = stream_close(queue, &closing);
	follow_join(f);
	if (!ret) {
		*e = closing; /* what was tried before it worked is no news */
		ret = closed;
	}
	return ret;
}

int measure_status(struct session *s, int otherwise, struct err *e)
{
	if (!s->argv)
		return otherwise;
	if (s->still_running && session_serve(s, e))
		return CLI_FAILED;
	if (s->wait_status == -1)
		return otherwise;
	if (WIFSIGNALED(s->wait_status))
		return 128 + WTERMSIG(s->wait_status);
	return WEXITSTATUS(s->wait_status);
}
