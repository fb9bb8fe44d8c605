// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "ptracer.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "clock.h"
#include "gate.h"
#include "proc.h"
#include "ptracer_points.h"
#include "ptracer_watch.h"
#include "target.h"

#define PARKED_TICKS 2 /* a parent's event is never that late */

int ptracer_seize(pid_t tid, unsigned long options)
{
	options |= PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
		   PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
	/* A kernel without seccomp refuses its option, and has no use for it. */
	if (!ptrace(PTRACE_SEIZE, tid, 0, options | PTRACE_O_TRACESECCOMP) ||
	    (errno == EINVAL && !ptrace(PTRACE_SEIZE, tid, 0, options)))
		return 0;
	return -errno;
}

/* ---- letting go on ---- */

static bool stops_processes(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* @x goes on with signal @sig (0: none), up to the return of its mapping call if it is in one. */
static void resume(struct ptracer *p, struct tracee *x, int sig)
{
	long data = sig;

	if (p->detaching)
		ptrace(PTRACE_DETACH, x->tid, 0, data);
	else if (p->look || (p->gated && !x->in_call))
		ptrace(PTRACE_CONT, x->tid, 0, data);
	else
		ptrace(PTRACE_SYSCALL, x->tid, 0, data);
	if (p->detaching)
		tracees_drop(&p->tasks, x);
}

/* It is in a group-stop and stays so, but hears of its end (SIGCONT, SIGKILL). */
static void listen(struct ptracer *p, struct tracee *x)
{
	if (p->detaching) {
		resume(p, x, 0); /* the kernel keeps it stopped */
		return;
	}
	x->listening = !ptrace(PTRACE_LISTEN, x->tid, 0, 0);
}

/*
 * Any stop undoes an interrupt that is pending (ptrace_stop() in the kernel): ask again.  Not
 * at the entry of a call, which it would break off.
 */
static void ask_again(const struct tracee *x)
{
	if (x->asked)
		ptrace(PTRACE_INTERRUPT, x->tid, 0, 0);
}

/* ---- telling ---- */

/* The tracker is about to be told of something: what was sampled before comes first. */
static uint64_t now_in_order(struct ptracer *p)
{
	if (p->samples)
		samples_drain(p->samples);
	ptracer_points_drain(p, clock_now_ns());
	return clock_now_ns();
}

static void put_comm(struct ptracer *p, pid_t tid, uint64_t now)
{
	struct stream_comm comm = { .time_ns = now, .pid = (uint32_t)tid,
				    .tid = (uint32_t)tid };

	if (!proc_comm(tid, comm.comm))
		return;
	stream_put(p->s->out, STREAM_COMM, &comm, sizeof(comm), NULL, 0);
}

/* Is news of @tid to be told? */
static bool followed(const struct ptracer *p, pid_t tid)
{
	uint32_t mm;
	pid_t pid;

	return p->measuring && tracker_knows(p->tracker, tid, &pid, &mm);
}

/* Take in a task without its parent's word: its map is looked at. */
static void add(struct ptracer *p, struct tracee *x, uint64_t now)
{
	int err = tracker_add(p->tracker, x->tid, x->pid, now, NULL);

	x->told = true;
	if (err && err != -EEXIST && err != -ESRCH)
		p->lost_tasks++;
	if (!err && x->tid == x->pid)
		put_comm(p, x->tid, now);
	ptracer_points_born(p, 0, x->tid);
}

void ptracer_snapshot(struct ptracer *p)
{
	uint64_t now = now_in_order(p);
	struct tracee *x;
	size_t i = 0;

	p->measuring = true;
	while ((x = tracees_next(&p->tasks, &i)))
		if (x->told && !x->parked)
			add(p, x, now);
	if (!p->start_ns)
		p->start_ns = clock_now_ns();
	ptracer_points_begun(p);
	if (!p->launched)
		ptracer_watch_bind(p, p->s->pid);
}

static void look(void *ctx, pid_t pid, uint64_t now)
{
	struct ptracer *p = ctx;

	tracker_look(p->tracker, pid, 0, ~0ull, HVAR_CAUSE_NONE, now);
}

void ptracer_look(struct ptracer *p)
{
	if (p->look)
		relook_run(p->look, look, p);
	ptracer_points_look(p);
}

void ptracer_tell_losses(struct ptracer *p)
{
	uint64_t now = clock_now_ns();
	struct stream_loss loss = { .time_ns = now };

	if (p->lost_tasks) {
		loss.what = STREAM_LOST_TASKS;
		loss.count = p->lost_tasks;
		stream_put(p->s->out, STREAM_LOSS, &loss, sizeof(loss), NULL, 0);
	}
	if (p->lost_memory) {
		loss.what = STREAM_LOST_MEMORY;
		loss.count = p->lost_memory;
		stream_put(p->s->out, STREAM_LOSS, &loss, sizeof(loss), NULL, 0);
	}
	p->lost_tasks = p->lost_memory = 0;
	tracker_tell_losses(p->tracker, now);
	if (p->samples)
		samples_tell_losses(p->samples, now);
}

/* ---- system calls ---- */

/* @x enters call @nr: note it if it matters. */
static void note(struct ptracer *p, struct tracee *x, uint32_t arch, uint64_t nr,
		 const uint64_t *args)
{
	call_args_read(&x->args, x->tid, arch, nr, args);
	if (gate_is_affinity(x->args.abi, nr))
		pin_release(&p->pin);
	x->in_call = call_args_maps(&x->args);
	if (call_args_executes(&x->args))
		ptracer_watch_exec(p, x);
	if (call_args_clones(&x->args) && call_args_follow(&x->args, x->tid))
		p->lost_tasks++;
}

/* The mapping call of @x has returned. */
static void returned(struct ptracer *p, struct tracee *x, int64_t rval)
{
	x->in_call = false;
	call_args_return(&x->args, x->tid, rval);
	if (x->args.call.cause == HVAR_CAUSE_NONE || !followed(p, x->tid))
		return;
	ptracer_watch_call(p, x);
	tracker_call(p->tracker, x->tid, &x->args.call, now_in_order(p));
	ptracer_watch_called(p);
	ptracer_points_mapped(p, x->tid);
}

static void on_seccomp(struct ptracer *p, struct tracee *x)
{
	struct call_stop stop;

	if (!call_stop_read(&stop, x->tid) && stop.op == CALL_STOP_SECCOMP) {
		/*
		 * A filter of the program's own may ask for a tracer.  There would be
		 * none without us: then the kernel fails the call and does not run it.
		 */
		if (stop.u.entry.ret_data != GATE_MARK)
			call_args_refuse(x->tid);
		else
			note(p, x, stop.arch, stop.u.entry.nr, stop.u.entry.args);
	}
	resume(p, x, 0);
}

static void on_syscall(struct ptracer *p, struct tracee *x)
{
	struct call_stop stop;

	call_stop_read(&stop, x->tid);
	if (stop.op == CALL_STOP_ENTRY) {
		note(p, x, stop.arch, stop.u.entry.nr, stop.u.entry.args);
	} else if (stop.op == CALL_STOP_EXIT) {
		if (x->mid_call) {
			call_args_late(&x->args, x->tid, stop.arch);
			x->in_call = call_args_maps(&x->args);
		}
		if (x->in_call)
			returned(p, x, stop.u.exit.rval);
		ask_again(x);
	}
	x->mid_call = false;
	resume(p, x, 0);
}

/* ---- tasks ---- */

/* @x was parked and is now known: let it begin. */
static void unpark(struct ptracer *p, struct tracee *x)
{
	x->parked = false;
	if (x->park_stopped)
		listen(p, x);
	else
		resume(p, x, 0);
}

/* @x has made the task @child. */
static void on_birth(struct ptracer *p, struct tracee *x, int event, pid_t child)
{
	struct tracee *y = tracees_get(&p->tasks, child);
	uint32_t cause;
	bool thread, shares;

	if (call_args_clones(&x->args)) {
		cause = x->args.cause;
		thread = x->args.flags & CLONE_THREAD;
		shares = x->args.flags & CLONE_VM;
	} else { /* attached in the middle of it */
		cause = event == PTRACE_EVENT_FORK ? HVAR_CAUSE_FORK :
			event == PTRACE_EVENT_VFORK ? HVAR_CAUSE_VFORK :
						      HVAR_CAUSE_CLONE;
		thread = target_status(child, "Tgid:") == x->pid;
		shares = thread || event == PTRACE_EVENT_VFORK;
	}
	pin_born(&p->pin, x->tid, child);
	call_args_restore(&x->args, x->tid);
	x->args.cause = HVAR_CAUSE_NONE;
	if (!y) { /* no memory: its first stop finds none either, and lets it go */
		p->lost_tasks++;
		return;
	}
	y->pid = thread ? x->pid : child;
	y->told = true;
	if (followed(p, x->tid)) {
		uint64_t now = now_in_order(p);

		tracker_fork(p->tracker, x->tid, child, y->pid, shares, cause, now);
		/* What another thread has changed since the copy was made is not in our list as it was then. */
		if (!shares && tracees_alive(&p->tasks, x->pid) > 1)
			tracker_look(p->tracker, child, 0, ~0ull, cause, now);
		ptracer_points_born(p, x->tid, child);
	} else if (p->measuring) {
		add(p, y, now_in_order(p));
	}
	if (y->parked)
		unpark(p, y);
}

/* Process @x->pid has executed a program from its thread @old. */
static void on_exec(struct ptracer *p, struct tracee *x, pid_t old)
{
	struct tracee *was = old != x->tid ? tracees_find(&p->tasks, old) : NULL;
	uint32_t cause = HVAR_CAUSE_EXECVE;
	uint64_t now;

	if (call_args_executes(was ? &was->args : &x->args))
		cause = (was ? was : x)->args.cause;
	if (was)
		tracees_drop(&p->tasks, was);
	pin_renamed(&p->pin, old, x->tid);
	x->args.cause = HVAR_CAUSE_NONE;
	x->pid = x->tid;
	x->in_call = x->exiting = x->asked = x->mid_call = false;
	x->told = x->started = true;
	if (!p->executed && x->tid == p->cmd) {
		p->executed = p->measuring = true;
		p->start_ns = clock_now_ns();
	}
	if (!p->measuring)
		return;
	now = now_in_order(p);
	ptracer_watch_executed(p);
	tracker_exec(p->tracker, x->tid, old, true, cause, now);
	if (x->tid == p->cmd || !p->launched)
		ptracer_watch_bind(p, x->tid);
	ptracer_points_executed(p, x->tid, old);
	if (p->samples)
		samples_executed(p->samples, x);
	put_comm(p, x->tid, now);
}

/* @x is about to exit: its memory can be looked at for the last time. */
static void on_exit_begin(struct ptracer *p, struct tracee *x)
{
	bool last = tracees_alive(&p->tasks, x->pid) <= 1 && !x->exiting;

	x->exiting = true;
	x->in_call = false;
	ptracer_watch_exit(p, x, last);
	/* With others in the same memory it is not the last time, and their calls are still to be told. */
	if (last && followed(p, x->tid) && !tracker_shared(p->tracker, x->tid))
		tracker_look(p->tracker, x->pid, 0, ~0ull, HVAR_CAUSE_NONE,
			     now_in_order(p));
}

static void on_gone(struct ptracer *p, pid_t tid, int status)
{
	struct tracee *x = tracees_find(&p->tasks, tid);

	if (tid == p->cmd) {
		p->s->wait_status = status;
		p->cmd = 0;
	}
	ptracer_points_gone(p, tid);
	if (followed(p, tid))
		tracker_exit(p->tracker, tid, status, now_in_order(p));
	if (p->look && x && x->pid == tid)
		relook_gone(p->look, tid);
	if (tid == p->pin.held)
		pin_release(&p->pin);
	if (!x)
		return;
	if (p->settling && !x->started && x->mid_call)
		p->settling--;
	tracees_drop(&p->tasks, x);
}

/* ---- stops ---- */

static void take_sample(struct ptracer *p, struct tracee *x)
{
	samples_take(p->samples, x, clock_now_ns());
	if (p->look)
		relook_active(p->look, x->pid, true);
}

/* An attached task has had its first stop: from now on its calls are seen. */
static void settled(struct ptracer *p, const struct tracee *x)
{
	p->idle_ticks = 0;
	if (p->settling)
		p->settling--;
	else if (p->measuring && followed(p, x->tid)) /* after the snapshot: what it did meanwhile was not told */
		tracker_look(p->tracker, x->pid, 0, ~0ull, HVAR_CAUSE_NONE, now_in_order(p));
}

/* PTRACE_EVENT_STOP: a first stop, one that we asked for, or a group-stop by @sig. */
static void on_stop(struct ptracer *p, struct tracee *x, int sig)
{
	bool first = !x->started;

	x->started = true;
	x->listening = false;
	if (first && x->mid_call)
		settled(p, x);
	if (!x->told && !p->detaching) {
		x->parked = true;
		x->park_stopped = stops_processes(sig);
		x->ticks = 0;
		return;
	}
	if (x->asked && p->samples && p->measuring && !stops_processes(sig))
		take_sample(p, x);
	x->asked = false;
	if (stops_processes(sig))
		listen(p, x);
	else
		resume(p, x, 0);
}

static void on_event(struct ptracer *p, struct tracee *x, int event, int sig)
{
	unsigned long msg = 0;

	if (event != PTRACE_EVENT_STOP)
		x->asked = false; /* inside of a call: the next tick asks again */
	switch (event) {
	case PTRACE_EVENT_STOP:
		on_stop(p, x, sig);
		return;
	case PTRACE_EVENT_SECCOMP:
		on_seccomp(p, x);
		return;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		if (!ptrace(PTRACE_GETEVENTMSG, x->tid, 0, &msg) && msg)
			on_birth(p, x, event, (pid_t)msg);
		break;
	case PTRACE_EVENT_EXEC:
		if (ptrace(PTRACE_GETEVENTMSG, x->tid, 0, &msg))
			msg = (unsigned long)x->tid;
		on_exec(p, x, (pid_t)msg);
		if (ptracer_points_failed(p, NULL))
			return; /* it is not to run without */
		break;
	case PTRACE_EVENT_EXIT:
		on_exit_begin(p, x);
		break;
	}
	resume(p, x, 0);
}

void ptracer_handle(struct ptracer *p, pid_t tid, int status)
{
	struct tracee *x;
	int sig, event;

	if (!WIFSTOPPED(status)) {
		on_gone(p, tid, status);
		return;
	}
	sig = WSTOPSIG(status);
	event = status >> 16;
	x = tracees_get(&p->tasks, tid);
	if (!x) {
		/* It cannot be followed.  A gated one cannot do without us either: it is answered as it comes. */
		p->lost_memory++;
		ptrace(p->gated ? PTRACE_CONT : PTRACE_DETACH, tid, 0,
		       event || sig == (SIGTRAP | 0x80) ? 0L : (long)sig);
		return;
	}
	if (p->launched)
		pin_note(&p->pin, tid);
	if (event) {
		on_event(p, x, event, sig);
	} else if (sig == (SIGTRAP | 0x80)) {
		on_syscall(p, x);
	} else {
		ask_again(x);
		resume(p, x, sig); /* a signal of the program's, delivered as it is */
	}
}

void ptracer_tick(struct ptracer *p)
{
	struct tracee *x;
	size_t i = 0;

	while ((x = tracees_next(&p->tasks, &i))) {
		long pid;

		if (!x->parked || ++x->ticks < PARKED_TICKS)
			continue;
		pid = target_status(x->tid, "Tgid:");
		x->pid = pid > 0 ? (pid_t)pid : x->tid;
		if (p->measuring)
			add(p, x, now_in_order(p));
		x->told = true;
		unpark(p, x);
		i = 0; /* the table may have changed */
	}
}

void ptracer_signal_all(struct ptracer *p, int sig)
{
	const struct tracee *x;
	size_t i = 0;

	while ((x = tracees_next(&p->tasks, &i)))
		if (x->tid == x->pid)
			kill(x->pid, sig);
}
