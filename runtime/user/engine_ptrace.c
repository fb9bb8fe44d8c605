// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * engine_ptrace.c - the engine that sees every change of the map as it returns.
 *
 * A launched CMD is gated (gate.h) and stops at its mapping calls only; an
 * attached process, or one whose gate was refused, stops at every system call.
 * An attached one that is sampled by stops is left alone at its calls, which would
 * cost it most of its speed: its map is read now and then.
 * A gated tree needs its tracer as long as any of it lives: what outlives the
 * measuring is served by serve(), and dies with hotvar (PTRACE_O_EXITKILL).
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call_args.h"
#include "clock.h"
#include "launch.h"
#include "ptracer.h"
#include "ptracer_points.h"
#include "ptracer_watch.h"
#include "session.h"
#include "suspend.h"
#include "target.h"
#include "ticker.h"

enum {
	TICK_HZ = 10,
	POINTS_HZ = 50,	   /* before a ring is full */
	TELL_HZ = 5,	 /* progress */
	LIVE_NS = 5000000, /* a reader is woken at most that often, and at each tick */
	LOOK_SHARE = 400, /* one part in so many of the time goes into reading maps */
	SETTLE_TICKS = 10, /* when none of the attached has stopped for so long, the rest is in uninterruptible waits */
};

/* ---- may it run ---- */

/* Trace a child of ours for a moment: 0 or -errno. */
static int try_ptrace(void)
{
	struct call_stop stop;
	int status, err;
	pid_t us = getpid(), pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		/* It must not outlive us, whenever we are killed. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == us)
			pause();
		_exit(0);
	}
	err = ptracer_seize(pid, PTRACE_O_EXITKILL);
	if (!err && ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		err = -errno;
	if (!err && waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		err = call_stop_read(&stop, pid);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, pid, 0, 0);
	return err;
}

static int available(const struct session *s, struct err *e)
{
	char name[64];
	int err;

	if (!s->argv && target_tracer(s->pid, name) > 0)
		return ptracer_refused(s->pid, EPERM, e);
	err = try_ptrace();
	if (err == -EIO || err == -EINVAL)
		return err_set(e, -err,
			       "cannot trace anything: this kernel has no PTRACE_GET_SYSCALL_INFO; use Linux 5.3 or later");
	if (err == -EAGAIN || err == -ENOMEM)
		return err_set(e, -err, "cannot trace anything: fork: %s; end some processes or raise: ulimit -u", strerror(-err));
	return err ? ptracer_refused(0, -err, e) : 0;
}

/* ---- beginning ---- */

static void ptracer_free(struct ptracer *p)
{
	if (!p)
		return;
	suspend_release();
	ticker_stop();
	pin_release(&p->pin);
	samples_free(p->samples);
	relook_free(p->look);
	ptracer_points_free(p);
	tracker_free(p->tracker);
	tracees_fini(&p->tasks);
	free(p);
}

static struct ptracer *ptracer_new(struct session *s, struct err *e)
{
	struct ptracer *p = calloc(1, sizeof(*p));

	if (!p) {
		err_set(e, ENOMEM, "cannot trace: no memory; free some");
		return NULL;
	}
	p->s = s;
	p->launch = (struct launch){ .pid = -1, .go_fd = -1, .why_fd = -1 };
	p->tracker = tracker_new(s->out, e);
	if (p->tracker && s->hz)
		p->samples = samples_new(s, p->tracker, e);
	if (!p->tracker || (s->hz && !p->samples) || ptracer_points_begin(p, e)) {
		ptracer_free(p);
		return NULL;
	}
	ptracer_watch_begin(p);
	stream_put_meta(s->out, "maps", "ptrace");
	if (s->hz)
		stream_put_meta(s->out, "source", samples_by_stops(p->samples) ? "ptrace" : "perf");
	return p;
}

/* Seized while it waits; it goes on to execute CMD. */
static int launch(struct ptracer *p, struct err *e)
{
	struct session *s = p->s;
	struct tracee *x;
	int err = launch_find(&p->launch, s->argv, e);
	const char *unreadable;

	if (err)
		return err;
	unreadable = launch_unreadable(p->launch.path);
	if (geteuid() && launch_changes_ids(p->launch.path))
		session_warn(s, "CMD is set-user-ID, set-group-ID or has capabilities: while traced it runs without them; run hotvar as root");
	if (unreadable) {
		session_warn(s, "%s", unreadable);
		stream_put_meta(s->out, "unmeasured", "1");
	}
	err = launch_fork(&p->launch, s->argv, true, e);
	if (err)
		return err;
	p->launched = true;
	p->gated = !p->launch.gate_errno;
	if (!p->gated)
		session_note(s, "the seccomp gate was refused here, so CMD stops at every system call and runs slower");
	x = tracees_get(&p->tasks, p->launch.pid);
	err = x ? ptracer_seize(p->launch.pid, PTRACE_O_EXITKILL) : -ENOMEM;
	if (err)
		ptracer_refused(0, -err, e);
	if (!err && p->samples)
		err = samples_add(p->samples, x, e);
	if (err) {
		launch_abort(&p->launch);
		return err;
	}
	suspend_catch();
	s->pid = p->cmd = p->launch.pid;
	x->told = x->started = true;
	launch_go(&p->launch);
	return 0;
}

/* Its stops are for samples, or it has none: none at calls. */
static int leave_calls_alone(struct ptracer *p, struct err *e)
{
	p->look = relook_new(LOOK_SHARE);
	if (!p->look)
		return err_set(e, ENOMEM, "cannot trace: no memory; free some");
	tracker_late_is_usual(p->tracker);
	if (p->samples)
		stream_put_meta(p->s->out, "source", "ptrace");
	stream_put_meta(p->s->out, "maps", "proc");
	return 0;
}

static int attach(struct ptracer *p, struct err *e)
{
	struct tracee *x;
	size_t i = 0, k;
	int err;

	suspend_catch(); /* and never heeded: who waits for us would wait until fg */
	err = ptracer_attach(p, p->s->pid, e);
	for (k = 0; k < p->s->n_also && !err; k++)
		err = ptracer_attach(p, p->s->also[k], e);
	while (!err && p->samples && (x = tracees_next(&p->tasks, &i))) {
		err = samples_add(p->samples, x, e);
		if (err == -ESRCH || err == -EMFILE)
			err = 0;
	}
	if (!err && (p->points || (p->samples && samples_by_stops(p->samples))))
		err = leave_calls_alone(p, e);
	if (err)
		ptracer_detach(p);
	return err;
}

/* ---- the middle ---- */

static bool time_is_up(const struct ptracer *p, uint64_t now)
{
	return p->s->seconds > 0 && p->start_ns &&
	       (double)(now - p->start_ns) >= p->s->seconds * 1e9;
}

/* Is CMD stopped, so that it cannot heed a signal? */
static bool cmd_stopped(const struct ptracer *p)
{
	const struct tracee *x = p->cmd ? tracees_find(&p->tasks, p->cmd) : NULL;

	return x && x->listening;
}

/* What is done now and then.  True: the measuring is to end. */
static bool tick(struct ptracer *p, unsigned hz, unsigned *ticks)
{
	struct session *s = p->s;
	uint64_t now;

	++*ticks;
	ptracer_tick(p);
	suspend_tick(cmd_stopped(p));
	if (p->settling && ++p->idle_ticks >= SETTLE_TICKS * hz / TICK_HZ) {
		p->settling = 0;
		ptracer_snapshot(p);
	}
	now = clock_now_ns();
	ptracer_points_drain(p, now);
	if (p->samples && p->measuring) {
		samples_drain(p->samples);
		samples_tick(p->samples, &p->tasks);
	}
	if (*ticks % (hz / TICK_HZ) == 0) {
		ptracer_look(p);
		ptracer_tell_losses(p);
		stream_flush(s->out);
		pin_tick(&p->pin, 1000 / TICK_HZ);
	}
	if (s->progress && p->start_ns && *ticks % (hz / TELL_HZ) == 0)
		s->progress(s->progress_ctx, s->samples, now - p->start_ns);
	return time_is_up(p, now) || session_heed(s, p->cmd, cmd_stopped(p));
}

/* CMD has ended: what is already waiting for us ended with it, and is told. */
static void handle_the_rest(struct ptracer *p)
{
	size_t left = 2 * p->tasks.n; /* those that live on will not stop stopping */
	int status;
	pid_t tid;

	while (left-- && (tid = waitpid(-1, &status, __WALL | __WNOTHREAD | WNOHANG)) > 0)
		ptracer_handle(p, tid, status);
}

/* Until all is over, CMD has ended, time is up, or someone asks for the end. */
static int measure(struct ptracer *p, struct err *e)
{
	unsigned want = p->samples ? samples_tick_hz(p->samples) : p->points ? POINTS_HZ : 0, ticks = 0;
	unsigned hz = want > TICK_HZ ? want / TICK_HZ * TICK_HZ : TICK_HZ;
	bool settling = !p->launched;
	uint64_t flushed_ns = 0;
	int err = ticker_start(hz, e);

	if (err)
		return err;
	while (p->tasks.n && (p->cmd || !p->launched)) {
		int status;
		pid_t tid = stop_wait(&p->wait, &p->tasks, &status);

		if (tid > 0) {
			ptracer_handle(p, tid, status);
			if (ptracer_watch_hit(p) || ptracer_points_failed(p, NULL))
				break;
			if (p->s->live && clock_now_ns() - flushed_ns >= LIVE_NS) {
				stream_flush(p->s->out);
				flushed_ns = clock_now_ns();
			}
		} else if (errno != EINTR) {
			break;
		}
		if (settling && !p->settling) {
			settling = false;
			if (!p->measuring)
				ptracer_snapshot(p);
		}
		if (ptracer_points_failed(p, NULL))
			break;
		if (ticker_ticked() && tick(p, hz, &ticks))
			break;
	}
	if (p->launched && !p->cmd)
		handle_the_rest(p);
	return ptracer_points_failed(p, e);
}

/* Nothing comes of it: a CMD that waits at its first instruction is ended, what was attached goes on. */
static void give_up(struct ptracer *p)
{
	int status;

	launch_abort(&p->launch);
	if (!p->launched) {
		ptracer_detach(p);
	} else if (p->cmd > 0) {
		kill(p->cmd, SIGKILL);
		while (waitpid(p->cmd, &status, __WALL) == p->cmd && WIFSTOPPED(status))
			;
	}
}

/* ---- the end ---- */

static void finish(struct ptracer *p, uint64_t begin_cpu_ns)
{
	struct session *s = p->s;
	struct stream_end end = { .time_ns = clock_now_ns() };
	const struct tracee *x;

	if (p->samples)
		samples_stop(p->samples);
	ptracer_points_end(p);
	p->measuring = false;
	p->executed = true; /* or never: it does not begin again */
	ptracer_tell_losses(p);
	s->elapsed_ns = p->start_ns ? end.time_ns - p->start_ns : 0;
	x = p->launched ? NULL : tracees_find(&p->tasks, s->pid);
	if (x && x->listening && !s->samples)
		stream_put_meta(s->out, "stopped", "%d", (int)s->pid);
	/* Without a gate nothing that lives on needs us. */
	s->still_running = p->cmd || (p->gated && p->tasks.n);
	if (s->still_running && !p->cmd)
		session_note(s, "CMD has ended, processes of it run on, and hotvar with them");
	session_put_meta(s);
	end.time_ns = clock_now_ns();
	end.elapsed_ns = s->elapsed_ns;
	end.own_cpu_ns = clock_own_cpu_ns() - begin_cpu_ns;
	end.samples = s->samples;
	end.wait_status = s->wait_status;
	stream_put(s->out, STREAM_END, &end, sizeof(end), NULL, 0);
	stream_flush(s->out);
	if (!p->gated)
		ptracer_detach(p);
}

static int run(struct session *s, struct err *e)
{
	uint64_t begin_cpu_ns = clock_own_cpu_ns();
	struct ptracer *p = ptracer_new(s, e);
	int err;

	if (!p)
		return -ENOMEM;
	err = ticker_start(TICK_HZ, e);
	if (!err)
		err = s->argv ? launch(p, e) : attach(p, e);
	if (!err)
		err = measure(p, e);
	if (!err)
		err = launch_result(&p->launch, p->launched && !p->cmd, e);
	if (err < 0) {
		give_up(p);
		ptracer_free(p);
		return err;
	}
	finish(p, begin_cpu_ns);
	if (s->still_running)
		s->engine_data = p;
	else
		ptracer_free(p);
	return 0;
}

/* CMD is not traced any more: only its end is waited for. */
static void wait_for_cmd(struct ptracer *p)
{
	int status;

	while (p->cmd) {
		if (waitpid(p->cmd, &status, 0) == p->cmd) {
			p->s->wait_status = status;
			p->cmd = 0;
		} else if (errno != EINTR) {
			p->cmd = 0;
		} else {
			session_heed(p->s, p->cmd, false);
		}
	}
}

/*
 * Answer what is left of CMD's tree at its gate until it ends.  With CMD gone, a signal
 * that asks for the end is passed on to the rest.
 */
static int serve(struct session *s, struct err *e)
{
	struct ptracer *p = s->engine_data;
	int status, err;

	if (!p)
		return 0;
	err = ticker_start(TICK_HZ, e);
	while (!err && p->tasks.n) {
		pid_t tid = stop_wait(&p->wait, &p->tasks, &status);

		if (tid > 0)
			ptracer_handle(p, tid, status);
		else if (errno != EINTR)
			break;
		if (!ticker_ticked())
			continue;
		ptracer_tick(p);
		suspend_tick(cmd_stopped(p));
		pin_tick(&p->pin, 1000 / TICK_HZ);
		if (!session_heed(s, p->cmd, cmd_stopped(p)))
			continue;
		if (!p->cmd)
			ptracer_signal_all(p, session_stopping());
		else if (cmd_stopped(p))
			kill(p->cmd, SIGCONT); /* so that it can act on the terminal's signal */
	}
	wait_for_cmd(p);
	ptracer_free(p);
	s->engine_data = NULL;
	s->still_running = false;
	return err;
}

const struct session_engine engine_ptrace = {
	.name = "ptrace",
	.available = available,
	.run = run,
	.serve = serve,
};
