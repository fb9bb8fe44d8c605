// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * engine_perf.c - the engine that never stops its target: all it learns comes from perf's rings.
 *
 * The kernel samples, and tells of forks, execs, exits and mappings that appear;
 * what it does not tell (munmap, mremap, a break that shrinks) is read from /proc
 * in a bounded share of time.  What the target starts is followed as long as
 * the target itself runs: with its end the measuring ends, whatever it leaves behind.
 *
 * The exec of a set-uid program ends the events of its task.  Root opens others; for
 * an unprivileged perf it is out of bounds from then on, which is counted.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf_calls.h"
#include "breakpoints.h"
#include "budget.h"
#include "clock.h"
#include "grow.h"
#include "launch.h"
#include "pace.h"
#include "perf_calls.h"
#include "perf_cost.h"
#include "perf_news.h"
#include "perf_ring.h"
#include "pmu_events.h"
#include "proc.h"
#include "relook.h"
#include "sample_cost.h"
#include "session.h"
#include "target.h"
#include "walks.h"

enum {
	PROGRESS_TICKS = 2,
	SETTLED_NS = 1000000, /* no CPU is still writing a record this old */
	LOOK_SHARE = 400,     /* one part in so many of the time goes into reading maps */
	SAMPLED_LOOK_SHARE = 4000, /* where they only name samples */
	ATTACH_PASSES = 5,
	MANY_PROCESSES = 20,
	OUR_NICE = -10,
	HEARD_HZ = 1000, /* with more samples nobody is overheard: rings hold less time */
};

struct engine {
	struct session *s; /* borrowed */
	struct launch launch;
	struct tracker *t;
	struct code_capture *code;
	struct relook *look;
	struct perf_rings *rings;
	struct bpf_calls *bpf; /* or NULL */
	struct pmu_events *pmu; /* or NULL */
	struct perf_news news;
	struct budget budget;
	struct breakpoints *breaks; /* NULL: none */
	struct walks *walks;	    /* likewise */
	pid_t pid;
	int pidfd;	 /* -1: this kernel has none, ask at each tick */
	bool launched;
	bool ended;
	uint64_t begin_ns, deadline_ns;
	struct pace pace;
	unsigned ticks;
	uint64_t begin_cpu_ns;
	uint64_t cpus;	 /* online at the beginning */
};

enum calls { CALLS_NONE, CALLS_RETURN, CALLS_BEGIN };

/* By a BPF program, which costs no call but those: NULL and @why. */
static struct perf_rings *open_wide(struct perf_rings_options o, struct bpf_calls **bpf, struct err *why)
{
	struct perf_rings *r = NULL;

	*bpf = bpf_calls_new((size_t)sysconf(_SC_NPROCESSORS_CONF), why);
	o.wide = *bpf;
	o.on_exec = false;
	if (*bpf)
		r = perf_rings_new(&o, why);
	if (r)
		return r;
	bpf_calls_free(*bpf);
	*bpf = NULL;
	return NULL;
}

/* By the tracepoint of their return. */
static struct perf_rings *open_returns(struct perf_rings_options o, struct err *why)
{
	o.calls_id = perf_calls_id(why);
	return o.calls_id > 0 ? perf_rings_new(&o, why) : NULL;
}

/*
 * Rings for @s.  Where the map alone is asked for, or page faults, with the mapping calls if they
 * may be had: *@calls says so, and @why, if they may not, why not.
 */
static struct perf_rings *open_rings(const struct session *s, struct bpf_calls **bpf, enum calls *calls, struct err *why,
				     struct err *e)
{
	struct perf_rings_options o = { .hz = s->hz, .maps = true, .on_exec = s->argv != NULL, .faults = s->source == SESSION_FAULT };
	struct perf_rings *r = NULL;

	*bpf = NULL;
	*calls = CALLS_BEGIN;
	if (!s->hz && !s->returns)
		r = open_wide(o, bpf, why);
	if ((!s->hz || o.faults) && !r) {
		*calls = CALLS_RETURN;
		r = open_returns(o, why);
	}
	if (r)
		return r;
	*calls = CALLS_NONE;
	return perf_rings_new(&o, e);
}

/* Accesses by the PMU, and the map beside them. */
static struct perf_rings *open_pmu(const struct session *s, struct pmu_events **pmu, struct err *e)
{
	struct perf_rings_options o = { .maps = true, .on_exec = s->argv != NULL };

	*pmu = pmu_events_new(PMU_DEVICES, s->hz, e);
	o.pmu = *pmu;
	return *pmu ? perf_rings_new(&o, e) : NULL;
}

/* The whole way is tried: the timer, the rings, and the target if it is there. */
static int available(const struct session *s, struct err *e)
{
	struct err why = { 0 };
	struct bpf_calls *bpf = NULL;
	struct pmu_events *pmu = NULL;
	enum calls calls;
	struct perf_rings *r = s->source == SESSION_PMU ? open_pmu(s, &pmu, e) : open_rings(s, &bpf, &calls, &why, e);
	int err = 0;

	if (r && !s->argv)
		err = perf_rings_add(r, s->pid, e);
	else if (!r)
		err = -EACCES;
	perf_rings_free(r);
	bpf_calls_free(bpf);
	pmu_events_free(pmu);
	return err == -ESRCH ? 0 : err; /* gone is for run() to say */
}

/* ---- what it may cost ---- */

static bool by_timer(const struct session *s)
{
	return s->hz && s->source != SESSION_PMU && s->source != SESSION_FAULT;
}

/* A budget too small for the rate, or samples that are dear on this machine: sample less often. */
static void keep_to_budget(struct engine *g)
{
	struct session *s = g->s;
	uint64_t measured_ns = by_timer(s) ? sample_cost_ns() : 0;

	if (measured_ns)
		stream_put_meta(s->out, "sample_ns", "%llu", (unsigned long long)measured_ns);
	g->budget = budget_make(s->hz, s->hz_usual, s->budget, measured_ns);
	if (g->budget.hz == s->hz || !by_timer(s))
		return;
	if (s->budget > 0)
		session_note(s, "sampled at %u Hz, to cost no more than --budget says", g->budget.hz);
	else
		session_note(s, "sampled at %u Hz, not at %u, since one sample costs %llu us on this machine: with -F, as often as it says",
			     g->budget.hz, s->hz, (unsigned long long)(measured_ns / 1000));
	s->hz = g->budget.hz;
	stream_put_meta(s->out, "hz", "%u", s->hz);
}

/* ---- beginning ---- */

static int set_up(struct engine *g, struct err *e)
{
	struct err why = { 0 };
	enum calls calls = CALLS_NONE;
	bool pmu = g->s->source == SESSION_PMU, faults = g->s->source == SESSION_FAULT;

	g->begin_cpu_ns = clock_own_cpu_ns();
	g->rings = pmu ? open_pmu(g->s, &g->pmu, e) : open_rings(g->s, &g->bpf, &calls, &why, e);
	if (!g->rings)
		return -EACCES;
	g->t = tracker_new(g->s->out, e);
	if (!g->t)
		return -ENOMEM;
	if (g->s->hz)
		tracker_late_is_usual(g->t);
	if (calls == CALLS_BEGIN)
		tracker_calls_begin(g->t);
	else if (calls == CALLS_RETURN)
		tracker_news_are_late(g->t);
	else if (!g->s->hz) /* of samples, which it only names, it is found in time */
		session_note(g->s, "what was unmapped, moved or shrunk was looked up about 10 times a second, since perf does not tell it alone; %.300s",
			     why.text);
	g->code = code_capture_new(g->t, g->s->out);
	g->look = relook_new(g->s->hz && !faults ? SAMPLED_LOOK_SHARE : LOOK_SHARE);
	if (!g->code || !g->look)
		return err_set(e, ENOMEM, "cannot measure: no memory");
	g->news = (struct perf_news){ .t = g->t, .rings = g->rings, .out = g->s->out, .code = g->code, .look = g->look,
				      .hz = faults ? 0 : g->s->hz, .calls = calls != CALLS_NONE, .faults = faults, .wide = calls == CALLS_BEGIN };
	if (by_timer(g->s))
		g->breaks = g->news.breaks = breakpoints_new(g->budget.breakpoints);
	if (by_timer(g->s) && !g->breaks)
		return err_set(e, ENOMEM, "cannot measure: no memory");
	if (by_timer(g->s) && g->budget.walks > 0) /* none, where no memory may be executed */
		g->walks = g->news.walks = walks_new(g->budget.walks, g->s->hz <= HEARD_HZ ? g->rings : NULL);
	stream_put_meta(g->s->out, "source", "%s", pmu ? pmu_events_plan(g->pmu)->what : g->news.faults ? "fault" : "perf");
	if (faults)
		stream_put_meta(g->s->out, "faults", perf_rings_user_only(g->rings) ? "user" : "all");
	if (faults && calls == CALLS_NONE) /* for those who ask for pages, not for their variables */
		stream_put_meta(g->s->out, "looked", "%.300s", why.text);
	stream_put_meta(g->s->out, "maps", "perf");
	g->cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	return 0;
}

static void tear_down(struct engine *g)
{
	code_capture_free(g->code);
	relook_free(g->look);
	breakpoints_free(g->breaks);
	walks_free(g->walks);
	tracker_free(g->t);
	kin_fini(&g->news.kin);
	perf_rings_free(g->rings);
	bpf_calls_free(g->bpf);
	pmu_events_free(g->pmu);
	if (g->pidfd >= 0)
		close(g->pidfd);
}

/*
 * Its events are opened while it waits to execute CMD, and begin when it does:
 * with the exec's own record, by which the tracker comes to know it.
 */
static int launch(struct engine *g, struct err *e)
{
	int err = launch_find(&g->launch, g->s->argv, e);
	const char *unreadable = err ? NULL : launch_unreadable(g->launch.path);
	bool guarded = !err && geteuid() && launch_changes_ids(g->launch.path);

	if (guarded)
		session_warn(g->s, "CMD is set-user-ID, set-group-ID or has capabilities: from its exec on the kernel tells of it to root alone, so it is not measured; run hotvar as root");
	else if (unreadable)
		session_warn(g->s, "%s", unreadable);
	if (guarded || unreadable)
		stream_put_meta(g->s->out, "unmeasured", "1");
	if (!err)
		err = launch_fork(&g->launch, g->s->argv, false, e);
	if (err)
		return err;
	g->pid = g->launch.pid;
	err = perf_rings_add(g->rings, g->pid, e);
	if (err) {
		launch_abort(&g->launch);
		return err;
	}
	g->news.first = g->pid;
	g->begin_ns = clock_now_ns();
	launch_go(&g->launch);
	err = launch_result(&g->launch, true, e);
	if (err < 0)
		return err;
	perf_news_reopen(&g->news, g->pid);
	g->launched = true;
	g->s->pid = g->pid;
	return 0;
}

struct tids {
	pid_t *v;
	size_t n, cap;
};

static bool tids_have(const struct tids *t, pid_t tid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i] == tid)
			return true;
	return false;
}

static int tids_add(struct tids *t, pid_t tid)
{
	int err = grow_array((void **)&t->v, &t->cap, t->n + 1, sizeof(*t->v));

	if (!err)
		t->v[t->n++] = tid;
	return err;
}

/*
 * Open events for the threads of the process that are not in @done; returns how
 * many there were, or -errno.  -EMFILE is no reason to give up: the others are measured.
 */
static int attach_pass(struct engine *g, pid_t pid, struct tids *done, struct err *e)
{
	char path[64];
	struct dirent *d;
	int found = 0, err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		if (tid <= 0 || tids_have(done, tid))
			continue;
		err = perf_rings_add(g->rings, tid, e);
		if (err == -ESRCH || err == -EMFILE)
			err = 0;
		if (!err)
			err = tids_add(done, tid);
		found++;
	}
	closedir(dir);
	return err ? err : found;
}

/*
 * Events first, the map after them: what changes between is in the rings.  A
 * thread inherits the events of one that already had them; one born too early
 * for that shows up in the next pass.  Both at once is possible, and seen
 * through by perf_rings_drain().
 */
static int attach_process(struct engine *g, pid_t pid, struct err *e)
{
	struct tids done = { 0 };
	uint64_t now;
	int err = 1;

	for (int i = 0; err > 0 && i < ATTACH_PASSES; i++)
		err = attach_pass(g, pid, &done, e);
	now = clock_now_ns();
	if (err >= 0)
		err = tracker_add_process(g->t, pid, now, e);
	relook_saw(g->look, pid, now);
	for (size_t i = 0; err >= 0 && i < done.n; i++)
		perf_news_comm(&g->news, pid, done.v[i], now);
	free(done.v);
	if (err >= 0)
		return 0;
	if (err == -ESRCH || err == -ENOENT)
		return err_set(e, ESRCH, "process %d: it has ended just now; nothing was measured",
			       (int)pid);
	return err;
}

/* A ring is half full: make room now, in order, and leave the rest to the tick. */
static void drain(struct engine *g)
{
	perf_rings_drain(g->rings, clock_now_ns() - SETTLED_NS, perf_news_take, &g->news);
	if (g->s->live)
		stream_flush(g->s->out);
}

static int attach(struct engine *g, struct err *e)
{
	int err;

	g->pid = g->s->pid;
	g->begin_ns = clock_now_ns();
	err = attach_process(g, g->pid, e);
	for (size_t i = 0; !err && i < g->s->n_also; i++) {
		/* Thousands of threads take their time, in which rings fill. */
		drain(g);
		err = attach_process(g, g->s->also[i], e);
	}
	g->news.since_ticks = proc_ticks_now();
	return err;
}

/* ---- the middle ---- */

static bool is_over(pid_t pid)
{
	return !target_is_alive(pid);
}

/* Its end is the end, if it was the last of those attached to. */
static void wait_for_another(struct engine *g)
{
	if (g->pidfd >= 0)
		close(g->pidfd);
	g->pidfd = -1;
	for (size_t i = 0; i < g->s->n_also; i++) {
		if (is_over(g->s->also[i]))
			continue;
		g->pid = g->s->also[i];
		g->pidfd = (int)syscall(SYS_pidfd_open, g->pid, 0);
		return;
	}
	g->ended = true;
}

/* Called when the pidfd says that it has ended; without one, now and then. */
static void reap(struct engine *g)
{
	int status;
	pid_t got;

	if (!g->launched) {
		if (g->pidfd >= 0 || is_over(g->pid))
			wait_for_another(g);
		return;
	}
	got = waitpid(g->pid, &status, WNOHANG);
	if (got == g->pid)
		g->s->wait_status = status;
	g->ended = got == g->pid || (got < 0 && errno == ECHILD);
}

static void tick(struct engine *g)
{
	uint64_t now = clock_now_ns();

	perf_news_drain(&g->news);
	perf_news_look(&g->news, now);
	perf_news_tell_losses(&g->news);
	if (g->s->live || pace_is_to_tell(&g->pace, now, perf_news_new(&g->news)))
		stream_flush(g->s->out);
	if (g->s->progress && ++g->ticks % PROGRESS_TICKS == 0)
		g->s->progress(g->s->progress_ctx, g->news.samples, now - g->begin_ns);
	pace_ticked(&g->pace, now, perf_news_new(&g->news));
}

static int wait_ms(const struct engine *g)
{
	uint64_t now = clock_now_ns(), until = g->pace.next_ns;

	if (g->deadline_ns && g->deadline_ns < until)
		until = g->deadline_ns;
	if (g->breaks && breakpoints_next_ns(g->breaks) < until)
		until = breakpoints_next_ns(g->breaks);
	return until <= now ? 0 : (int)((until - now + 999999) / 1000000);
}

static bool asked_to_end(const struct engine *g)
{
	return session_stopping() && session_heed(g->s, g->pid, target_is_stopped(g->pid));
}

static void measure(struct engine *g)
{
	struct pollfd fds[2] = {
		{ .fd = perf_rings_fd(g->rings), .events = POLLIN },
		{ .fd = g->pidfd, .events = POLLIN }, /* passed over if -1 */
	};

	pace_begin(&g->pace, clock_now_ns(), g->s->live || !g->breaks);
	if (g->s->seconds > 0)
		g->deadline_ns = g->begin_ns + (uint64_t)(g->s->seconds * 1e9);
	for (;;) {
		int got = poll(fds, 2, wait_ms(g));
		uint64_t now = clock_now_ns();

		if (got > 0 && fds[0].revents)
			drain(g);
		if (g->pidfd < 0 || (got > 0 && fds[1].revents))
			reap(g);
		fds[1].fd = g->pidfd;
		if (g->ended || (g->deadline_ns && now >= g->deadline_ns) ||
		    asked_to_end(g))
			return;
		if (g->breaks && now >= breakpoints_next_ns(g->breaks))
			perf_news_breaks(&g->news, true);
		if (pace_is_due(&g->pace, now, perf_news_new(&g->news)))
			tick(g);
	}
}

/* ---- the end ---- */

static void say_what_is_missing(struct engine *g)
{
	const struct perf_news *n = &g->news;
	uint64_t skipped = perf_rings_skipped(g->rings);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (skipped)
		session_note(g->s, "%llu threads were not sampled, since file descriptors ran out: raise \"ulimit -n\"",
		     (unsigned long long)skipped);
	if (n->cut_off)
		session_note(g->s, "%llu process%s not measured from the exec of a program on that is set-user-ID or the like: run hotvar as root",
			     (unsigned long long)n->cut_off, n->cut_off == 1 ? " was" : "es were");
	if (n->late)
		session_note(g->s, "%llu process%s executed a program that is set-user-ID or the like, which ended their timers: they lost samples until new ones were set",
			     (unsigned long long)n->late, n->late == 1 ? "" : "es");
	if (n->ended >= MANY_PROCESSES && n->unsampled * 2 > n->ended && g->s->hz && !n->faults)
		session_note(g->s, "%llu of %llu processes ended before the first sample: try a higher -F",
		     (unsigned long long)n->unsampled, (unsigned long long)n->ended);
	if (g->launched && g->ended)
		kin_note(&n->kin, g->pid, g->s);
	if (cpus > 0 && (uint64_t)cpus > g->cpus)
		session_note(g->s, "%llu CPUs that came online meanwhile were not sampled",
		     (unsigned long long)((uint64_t)cpus - g->cpus));
}

static bool is_stopped(pid_t pid)
{
	char state = target_state(proc_living(pid));

	return state == 'T' || state == 't';
}

static void finish(struct engine *g)
{
	struct stream_end end = { .wait_status = -1 };

	/* Rings and programs do not stop at one moment. */
	end.time_ns = g->news.until_ns = clock_now_ns();
	perf_rings_stop(g->rings);
	perf_news_drain(&g->news);
	perf_rings_count_rest(g->rings);
	perf_news_recover(&g->news);
	perf_news_breaks(&g->news, false);
	perf_news_tell_losses(&g->news);
	if (g->breaks)
		perf_cost_put(g->s, g->news.samples * g->budget.sample_ns, g->breaks, g->walks);
	say_what_is_missing(g);
	g->s->samples = g->news.samples;
	g->s->elapsed_ns = end.time_ns - g->begin_ns;
	if (!g->launched && !g->s->samples && is_stopped(g->pid))
		stream_put_meta(g->s->out, "stopped", "%d", (int)g->pid);
	g->s->still_running = g->launched && !g->ended;
	session_put_meta(g->s);
	if (end.time_ns < g->news.last_ns)
		end.time_ns = g->news.last_ns;
	end.elapsed_ns = g->s->elapsed_ns;
	end.samples = g->s->samples;
	end.wait_status = g->s->wait_status;
	end.own_cpu_ns = clock_own_cpu_ns() - g->begin_cpu_ns + (g->walks ? walks_counts(g->walks)->apart_ns : 0);
	stream_put(g->s->out, STREAM_END, &end, sizeof(end), NULL, 0);
	stream_flush(g->s->out);
}

/*
 * A target of hundreds of busy threads would leave us so little of a CPU that the
 * rings overflow.  This thread needs next to nothing, but in time: where it may, it goes
 * first.  Returns what its nice value was.
 */
static int go_first(void)
{
	pid_t self = (pid_t)syscall(SYS_gettid);
	int was = getpriority(PRIO_PROCESS, (id_t)self);

	if (was > OUR_NICE)
		setpriority(PRIO_PROCESS, (id_t)self, OUR_NICE);
	return was;
}

static int run(struct session *s, struct err *e)
{
	struct engine g = { .s = s, .pidfd = -1, .launch = { .go_fd = -1, .why_fd = -1 } };
	int was_nice, err;

	keep_to_budget(&g);
	err = set_up(&g, e);
	if (!err && s->argv)
		err = launch(&g, e);
	was_nice = go_first(); /* CMD has been forked and has its own */
	if (!err && !s->argv)
		err = attach(&g, e);
	if (!err) {
		g.pidfd = (int)syscall(SYS_pidfd_open, g.pid, 0);
		measure(&g);
		finish(&g);
	}
	tear_down(&g);
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), was_nice);
	return err;
}

const struct session_engine engine_perf = {
	.name = "perf",
	.available = available,
	.run = run,
	.serve = session_wait,
};
