// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code_capture.h"
#include "perf_ring.h"
#include "stops.h"
#include "target.h"

struct samples {
	struct session *s;
	struct tracker *tracker;
	struct code_capture *code;
	struct perf_rings *rings; /* NULL: by stops */
	struct stops stops;
	uint64_t cut_off; /* tasks that perf may not look at any more */
	uint64_t told_cut_off, told_lost, told_throttled;
};

/* The rate is another one than was asked for: the stream and the session are to have the true one. */
static void say_stops(struct samples *x, const char *why)
{
	x->s->hz = x->stops.hz;
	stream_put_meta(x->s->out, "hz", "%u", x->stops.hz);
	session_note(x->s, "sampled by ptrace stops at %u Hz: %.190s", x->stops.hz, why);
}

struct samples *samples_new(struct session *s, struct tracker *t, struct err *e)
{
	struct perf_rings_options o = { .hz = s->hz, .on_exec = s->argv != NULL };
	struct samples *x = calloc(1, sizeof(*x));
	struct err why = { 0 };

	if (x)
		x->code = code_capture_new(t, s->out);
	if (!x || !x->code) {
		samples_free(x);
		err_set(e, ENOMEM, "cannot sample: no memory; free some");
		return NULL;
	}
	x->s = s;
	x->tracker = t;
	stops_init(&x->stops, s->hz);
	if (!s->stops)
		x->rings = perf_rings_new(&o, &why);
	if (!x->rings)
		say_stops(x, s->stops ? "as asked for" : why.text);
	return x;
}

void samples_free(struct samples *x)
{
	if (!x)
		return;
	perf_rings_free(x->rings);
	code_capture_free(x->code);
	free(x);
}

bool samples_by_stops(const struct samples *x)
{
	return !x->rings;
}

unsigned samples_tick_hz(const struct samples *x)
{
	if (!x->rings)
		return x->stops.hz;
	return x->s->hz > 4000 ? 50 : 0; /* before a ring is full */
}

int samples_add(struct samples *x, struct tracee *t, struct err *e)
{
	int err;

	stops_begin(t);
	if (!x->rings)
		return 0;
	err = perf_rings_add(x->rings, t->tid, e);
	if (err && err != -ESRCH && err != -EMFILE) {
		/* Refused for this very task: then by stops, for all. */
		perf_rings_free(x->rings);
		x->rings = NULL;
		say_stops(x, e ? e->text : "perf was refused");
		return 0;
	}
	return err;
}

void samples_executed(struct samples *x, struct tracee *t)
{
	if (x->rings && target_guarded(t->tid) && perf_rings_add_again(x->rings, t->tid, NULL))
		x->cut_off++;
}

/* Put @out, complete but for the code around it, and the growth of its stack if that is news. */
static void put(struct samples *x, const struct stream_sample *out)
{
	const struct hvar_event *ev = &out->ev;

	tracker_find(x->tracker, (pid_t)ev->tid, out->regs[STREAM_RSP], ev->time_ns);
	code_capture_at(x->code, (pid_t)ev->pid, (pid_t)ev->tid, ev->mm,
			ev->u.sample.ip, ev->time_ns);
	stream_put(x->s->out, STREAM_SAMPLE, out, sizeof(*out), NULL, 0);
	x->s->samples++;
}

static void on_record(void *ctx, const struct perf_record *rec)
{
	struct samples *x = ctx;
	struct stream_sample out;
	uint32_t mm;
	pid_t pid;

	if (rec->what != PERF_IS_SAMPLE)
		return; /* losses are in the rings' own counts */
	if (!tracker_knows(x->tracker, rec->tid, &pid, &mm))
		return; /* of a task that is not followed any more */
	perf_ring_sample(rec, mm, &out);
	put(x, &out);
}

void samples_drain(struct samples *x)
{
	if (x->rings)
		perf_rings_drain(x->rings, ~0ull, on_record, x);
}

void samples_tick(struct samples *x, struct tracees *tasks)
{
	if (!x->rings)
		stops_ask(&x->stops, tasks);
}

void samples_take(struct samples *x, struct tracee *t, uint64_t time_ns)
{
	struct stream_sample out;
	uint32_t mm;
	pid_t pid;

	if (x->rings || !tracker_knows(x->tracker, t->tid, &pid, &mm) ||
	    !stops_read(t, &out))
		return;
	out.ev.time_ns = time_ns;
	out.ev.mm = mm;
	out.ev.pid = (uint32_t)pid;
	out.ev.tid = (uint32_t)t->tid;
	put(x, &out);
}

void samples_stop(struct samples *x)
{
	if (!x->rings)
		return;
	perf_rings_stop(x->rings);
	samples_drain(x);
}

static void tell(struct samples *x, enum stream_loss_what what, uint64_t count,
		 uint64_t *told, uint64_t time_ns)
{
	struct stream_loss loss = { .time_ns = time_ns, .what = what,
				    .count = count - *told };

	if (!loss.count)
		return;
	*told = count;
	stream_put(x->s->out, STREAM_LOSS, &loss, sizeof(loss), NULL, 0);
}

void samples_tell_losses(struct samples *x, uint64_t time_ns)
{
	code_capture_tell_losses(x->code, time_ns);
	if (x->rings) {
		const struct perf_ring_counts *c = perf_rings_counts(x->rings);

		tell(x, STREAM_LOST_SAMPLES,
		     c->lost + c->damaged + perf_rings_skipped(x->rings),
		     &x->told_lost, time_ns);
		tell(x, STREAM_LOST_THROTTLED, c->throttled, &x->told_throttled,
		     time_ns);
		tell(x, STREAM_LOST_TASKS, x->cut_off, &x->told_cut_off, time_ns);
	} else {
		tell(x, STREAM_LOST_THROTTLED, x->stops.skipped,
		     &x->told_throttled, time_ns);
	}
}
