/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.h - one measuring: what is measured, how, and what came of it.
 *
 * An engine runs a session from start to end and puts all it learns to
 * session.out.  There are four: engine_look only reads /proc; engine_perf never stops the target; engine_ptrace
 * stops it at the return of each mapping call and sees every change exactly;
 * engine_exact runs it under Valgrind, where every access is counted.
 * To add one: one file, one row in session_engines[].
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "stream.h"

struct watch;
struct watchpoints_ask;

enum session_source {
	SESSION_AUTO,	/* engine_perf with a PMU that samples accesses, else its timer, or engine_ptrace where perf is refused */
	SESSION_PERF,
	SESSION_PTRACE,
	SESSION_EXACT,	/* engine_exact */
	SESSION_LOOK,	/* engine_look */
	SESSION_PMU,	/* engine_perf: accesses that the processor samples */
	SESSION_FAULT,	/* engine_perf: page faults in place of samples */
};

struct session {
	/* asked for */
	char **argv;	      /* CMD to launch, or NULL */
	pid_t pid;	      /* process to attach to when argv is NULL */
	const pid_t *also;    /* @n_also others, borrowed (engine_ptrace and engine_perf only) */
	size_t n_also;
	unsigned hz;	      /* samples a second of CPU time of each thread; 0: none, map changes only;
			       * an engine that cannot do as many puts here what it does */
	bool hz_usual;	      /* nobody has asked for so many: fewer where one costs too much (engine_perf only) */
	double budget;	      /* part of the target's CPU time that measuring may take, 0: as usual (engine_perf only) */
	double seconds;	      /* end after that much time, 0: when the target ends or on ^C */
	enum session_source source;
	bool exact_lines;     /* engine_exact: count by cache line and thread, too */
	unsigned exact_prefetches; /* engine_exact: watch prefetches until so many other lines were touched; 0: do not */
	bool exact_callers;   /* engine_exact: count by line of code, too */
	bool exact_stopped;   /* engine_exact: nothing is counted until CMD asks for it */
	const char *exact_malloc; /* engine_exact: "program": CMD keeps its own; a soname pattern: whose is replaced, too; NULL */
	const struct watchpoints_ask *points; /* accesses to these variables and no samples: hz is 0 (engine_ptrace only); NULL */
	bool returns;	      /* engine_perf: calls are told as they return, not as they begin */
	bool stops;	      /* sample by ptrace stops although perf is there (for tests) */
	struct watch *watch;  /* end at the first event that takes it away, NULL: none (engine_ptrace only) */
	bool live;	      /* flush after every event: someone watches */
	struct stream *out;   /* borrowed */
	void (*progress)(void *ctx, uint64_t samples, uint64_t elapsed_ns); /* about 5 times a second, or NULL */
	void *progress_ctx;
	void (*warn)(const char *text); /* what a person should know before CMD begins, or NULL */
	/* came of it */
	int wait_status;      /* of CMD, as wait(2) has it; -1: none */
	uint64_t samples;
	uint64_t accesses;    /* counted, by engine_exact and for points */
	uint64_t elapsed_ns;
	bool still_running;   /* -d has ended the measuring of a launched CMD, which runs on */
	const char *engine;   /* that ran */
	char note[512];	      /* what the report should say of how it was measured; "" */
	void *engine_data;    /* the engine's own, between run() and serve() */
	uint64_t cpu_begin_ns; /* session.c's own */
};

struct session_engine {
	const char *name;
	/* 0 if it can run @s here; else -errno, and @e says why and what mends it. */
	int (*available)(const struct session *s, struct err *e);
	/*
	 * Run to the end.  Returns 0 when something was measured (also if CMD
	 * failed); else -errno and @e, with e->status 126/127 if CMD could not be
	 * run.  The events of a launched CMD begin with its own EXEC, those of an attached
	 * process with INITIAL.  Leaves no process stopped and, on failure before exec, none behind.
	 */
	int (*run)(struct session *s, struct err *e);
	/* Serve a launched CMD that outlives the measuring until it ends (a gate needs its tracer); may be NULL. */
	int (*serve)(struct session *s, struct err *e);
};

extern const struct session_engine engine_perf, engine_ptrace, engine_exact, engine_look;

/* Choose an engine by s->source and what the machine allows, and run it. */
int session_run(struct session *s, struct err *e);

/* After session_run() with still_running: wait until CMD ends; sets wait_status. */
int session_serve(struct session *s, struct err *e);

/* For engines: add to s->note, what was there before "; " stays.  session_warn() says it at once, too. */
__attribute__((format(printf, 2, 3))) void session_note(struct session *s, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void session_warn(struct session *s, const char *fmt, ...);

/*
 * For engines that sample, right before STREAM_END: put the CPU time that CMD, with its children that it has waited for, or the
 * process has used, if it is known ("cpu_ns"), and s->note.
 */
void session_put_meta(struct session *s);

/*
 * What an engine does, whenever a wait of it was interrupted, about the signals
 * that asked it to end.  An attached session ends at the first.  A launched one
 * ends when CMD does: the terminal sends CMD SIGINT and SIGQUIT itself; the others,
 * which only hotvar got, are passed on to @cmd (0: it has ended), SIGTERM and SIGHUP with a SIGCONT
 * so that it can act on them.  If CMD is @stopped, or does not care, a SIGINT
 * (the second, if it runs) ends the measuring.  True: end now.
 */
bool session_heed(const struct session *s, pid_t cmd, bool stopped);

/*
 * serve() of an engine that leaves nothing of its own in CMD's way: wait until CMD ends.  A signal that asks
 * us to end leaves it alone.
 */
int session_wait(struct session *s, struct err *e);

/* ^C, SIGTERM or another of end_signals.h: asks the running session of this process to end.  Async-signal-safe. */
void session_stop(int sig);
/* The signal that asked, or 0.  Engines look at it whenever a wait is interrupted. */
int session_stopping(void);

#endif /* SESSION_H */
