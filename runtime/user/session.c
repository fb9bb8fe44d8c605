// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * session.c - choose an engine and run it; hear the signals that ask for an end.
 *
 * The gate of engine_ptrace costs each system call about 30 ns and each mapping
 * call two stops; the kernel's own reports to perf cost nothing.  So perf is first
 * choice for sampling, and ptrace for watching the map alone, call by call.
 */
#include "config.h"

#include "session.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "end_signals.h"
#include "pmu_detect.h"
#include "target.h"

static const struct session_engine *const session_engines[] = {
	&engine_perf,
	&engine_ptrace,
	&engine_exact,
	&engine_look,
};

enum {
	WAIT_MS = 1000, /* a signal that came just before is heeded so much later */
	BLIND_MS = 50,	/* without a pidfd */
};

/* ---- signals ---- */

static volatile sig_atomic_t asked;	  /* the last signal, 0: none */
static volatile sig_atomic_t asked_times; /* how often, whichever */
static volatile sig_atomic_t session_tid; /* whose wait must be interrupted, 0: no session runs */
static int heeded_times;		  /* how many of them session_heed() has seen */
static int heeded_ends;			  /* how many of these meant an end */

void session_stop(int sig)
{
	int old_errno = errno, tid = session_tid;

	/* The kernel may have chosen another thread: pass it on to the one that waits. */
	if (tid && tid != (int)syscall(SYS_gettid)) {
		syscall(SYS_tgkill, getpid(), tid, sig);
	} else {
		asked = sig;
		asked_times++;
		end_signals_note(sig);
	}
	errno = old_errno;
}

int session_stopping(void)
{
	return asked;
}

bool session_heed(const struct session *s, pid_t cmd, bool stopped)
{
	int times = asked_times, sig;
	bool end = false;

	if (times == heeded_times)
		return false;
	if (!s->argv) {
		heeded_times = times;
		return true;
	}
	while ((sig = end_signals_take())) {
		if (end_signals_are_the_terminals(sig))
			end = end || stopped || heeded_ends++;
		else
			end_signals_pass_on(cmd, sig);
		heeded_ends += sig == SIGTERM || sig == SIGHUP;
	}
	heeded_times = times;
	return end || cmd <= 0;
}

/* ---- what is said of it ---- */

/* Returns where in s->note the new text begins. */
static const char *add_note(struct session *s, const char *fmt, va_list ap)
{
	size_t n = strlen(s->note);

	if (n && n + 2 < sizeof(s->note)) {
		memcpy(s->note + n, "; ", 3);
		n += 2;
	}
	vsnprintf(s->note + n, sizeof(s->note) - n, fmt, ap);
	return s->note + n;
}

void session_note(struct session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(s, fmt, ap);
	va_end(ap);
}

void session_warn(struct session *s, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = add_note(s, fmt, ap);
	va_end(ap);
	if (s->warn)
		s->warn(text);
}

/* What all children that were waited for have used, and CMD if it was not; of a process, what it has.  0: not known. */
static uint64_t cpu_ns(const struct session *s)
{
	struct rusage u;
	uint64_t ns = 0;
	clockid_t clock;

	if (s->argv && !getrusage(RUSAGE_CHILDREN, &u))
		ns = (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
		     (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
	if (s->wait_status == -1 && s->pid > 0 && !clock_getcpuclockid(s->pid, &clock))
		ns += clock_ns(clock);
	return ns;
}

void session_put_meta(struct session *s)
{
	uint64_t now = cpu_ns(s);

	if (now > s->cpu_begin_ns)
		stream_put_meta(s->out, "cpu_ns", "%" PRIu64, now - s->cpu_begin_ns);
	if (s->note[0])
		stream_put_meta(s->out, "note", "%s", s->note);
}

static struct sigaction old_actions[NSIG];
static bool caught[NSIG];

/* Catch what nobody else catches; an ignored SIGHUP (nohup) stays ignored. */
static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = session_stop };
	int sig;

	sigemptyset(&sa.sa_mask);
	session_tid = (int)syscall(SYS_gettid);
	for (sig = 0; (sig = end_signals_after(sig));) {
		if (caught[sig])
			continue;
		caught[sig] = !sigaction(sig, NULL, &old_actions[sig]) && old_actions[sig].sa_handler == SIG_DFL &&
			      !sigaction(sig, &sa, NULL);
	}
}

static void let_go_of_signals(void)
{
	int sig;

	for (sig = 0; (sig = end_signals_after(sig));) {
		if (caught[sig])
			sigaction(sig, &old_actions[sig], NULL);
		caught[sig] = false;
	}
	session_tid = 0;
}

/* ---- choosing ---- */

/* The engine that can run @s, or NULL and @e with every reason. */
static const struct session_engine *choose(const struct session *s, struct err *e)
{
	struct err perf = { 0 };
	int refused;

	switch (s->source) {
	case SESSION_PERF:
	case SESSION_PMU:
	case SESSION_FAULT:
		return engine_perf.available(s, e) ? NULL : &engine_perf;
	case SESSION_PTRACE:
		return engine_ptrace.available(s, e) ? NULL : &engine_ptrace;
	case SESSION_EXACT:
		return engine_exact.available(s, e) ? NULL : &engine_exact;
	case SESSION_LOOK:
		return engine_look.available(s, e) ? NULL : &engine_look;
	case SESSION_AUTO:
		break;
	}
	if (s->points)
		return engine_ptrace.available(s, e) ? NULL : &engine_ptrace;
	if (s->hz && !s->stops && !engine_perf.available(s, &perf))
		return &engine_perf;
	refused = engine_ptrace.available(s, e);
	if (!refused)
		return &engine_ptrace;
	/* The map alone: less exact, or later.  That another traces it is for a person to settle. */
	if (!s->hz && refused != -EBUSY && !engine_perf.available(s, &perf))
		return &engine_perf;
	if (!s->hz && refused != -EBUSY && !engine_look.available(s, &perf))
		return &engine_look;
	if (perf.text[0])
		err_exit(e, EPERM, e->status, "%.500s; and %.500s",
			 strdupa(e->text), perf.text);
	return NULL;
}

/* Exact addresses by the processor are better than any sample of a timer. */
static bool pmu_is_there(const struct session *s)
{
	struct session by_pmu = *s;
	struct pmu_plan plan;

	by_pmu.source = SESSION_PMU;
	return s->hz && !s->stops && !s->points && !pmu_detect(PMU_DEVICES, &plan, NULL) && !engine_perf.available(&by_pmu, NULL);
}

static int run(struct session *s, struct err *e)
{
	const struct session_engine *engine;
	int err = s->argv ? 0 : target_check(s->pid, e);

	if (err)
		return err;
	if (s->source == SESSION_AUTO && pmu_is_there(s))
		s->source = SESSION_PMU;
	engine = choose(s, e);
	if (!engine)
		return -EPERM;
	s->engine = engine->name;
	s->cpu_begin_ns = cpu_ns(s);
	catch_signals();
	err = engine->run(s, e);
	/* What comes while a report is written of a CMD that runs on is session_serve()'s. */
	if (err || !s->still_running)
		let_go_of_signals();
	return err;
}

/* What was asked of one session is nothing to the next. */
static void forget_signals(void)
{
	asked = asked_times = 0;
	heeded_times = heeded_ends = 0;
	end_signals_forget();
}

int session_run(struct session *s, struct err *e)
{
	int err;

	s->wait_status = -1;
	s->samples = 0;
	s->accesses = 0;
	s->elapsed_ns = 0;
	s->still_running = false;
	s->engine = "";
	s->note[0] = '\0';
	s->engine_data = NULL;
	err = run(s, e);
	if (err || !s->still_running)
		forget_signals();
	return err;
}

int session_wait(struct session *s, struct err *e)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, s->pid, 0), .events = POLLIN };
	int status;
	pid_t got;

	(void)e;
	while (!session_heed(s, s->pid, target_is_stopped(s->pid))) {
		got = waitpid(s->pid, &status, WNOHANG);
		if (got == s->pid)
			s->wait_status = status;
		if (got == s->pid || (got < 0 && errno != EINTR))
			break;
		poll(&p, 1, p.fd < 0 ? BLIND_MS : WAIT_MS);
	}
	if (p.fd >= 0)
		close(p.fd);
	return 0;
}

int session_serve(struct session *s, struct err *e)
{
	size_t i;
	int err = 0;

	if (!s->still_running)
		return 0;
	catch_signals();
	for (i = 0; i < sizeof(session_engines) / sizeof(session_engines[0]); i++)
		if (session_engines[i]->serve && !strcmp(session_engines[i]->name, s->engine))
			err = session_engines[i]->serve(s, e);
	let_go_of_signals();
	forget_signals();
	return err;
}
