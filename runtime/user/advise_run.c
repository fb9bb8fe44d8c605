// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_run.c - one run of CMD, with huge pages asked for where they are advised, or with none at all.
 *
 *	stop at the return of mmap:  rip behind "syscall", rax the new mapping
 *	made to run:                 rip -= 2, rax = madvise, rdi rsi rdx = range and advice, signals blocked
 *	stop at the return of that:  all registers as they were
 *
 * Meanwhile another thread may end its process, or execute a program: the first thread's end is told, and an execve
 * done, only after the ends of the others have been waited for.
 */
#include "config.h"

#include "advise_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "clock.h"
#include "end_signals.h"
#include "gate.h"
#include "grow.h"
#include "ptracer.h"
#include "target.h"
#include "ticker.h"

enum { CS_64 = 0x33, TICK_HZ = 10 };
#define SYSCALL_INSN 0x050f

struct kept {
	pid_t tid; /* 0: it has ended since */
	int status;
};

struct running {
	struct advise_run *r;
	struct launch launch;
	struct tracees tasks;
	pid_t cmd;
	uint64_t away_ns; /* spent on what is not CMD's */
	bool fresh; /* a program has been executed, and no call of it has returned yet */
	bool executed; /* likewise, by another thread while a call was made */
	bool ended;
	struct rusage ru; /* of what was waited for last */
	struct kept *kept; /* owned: news that came while a call was made */
	size_t n_kept, cap_kept;
};

/* ---- making it call madvise ---- */

static void take_usage(struct running *g, int status)
{
	const struct rusage *ru = &g->ru;
	struct advise_run *r = g->r;

	r->wait_status = status;
	r->faults = (uint64_t)ru->ru_minflt;
	r->major = (uint64_t)ru->ru_majflt;
	r->cpu_seconds = (double)ru->ru_utime.tv_sec + (double)ru->ru_utime.tv_usec / 1e6 + (double)ru->ru_stime.tv_sec +
			 (double)ru->ru_stime.tv_usec / 1e6;
	g->ended = true;
}

static void take_end(struct running *g, pid_t tid, int status)
{
	struct tracee *x = tracees_find(&g->tasks, tid);

	for (size_t i = 0; i < g->n_kept; i++)
		if (g->kept[i].tid == tid)
			g->kept[i].tid = 0;
	if (tid == g->cmd)
		take_usage(g, status);
	if (x)
		tracees_drop(&g->tasks, x);
}

/* News of another thread, for later.  Without memory it goes on. */
static void keep(struct running *g, pid_t tid, int status)
{
	if (grow_array((void **)&g->kept, &g->cap_kept, g->n_kept + 1, sizeof(*g->kept)))
		ptrace(PTRACE_CONT, tid, 0, 0);
	else
		g->kept[g->n_kept++] = (struct kept){ tid, status };
}

/* Until @tid has news: the ends of others are waited for meanwhile, all else is kept.  False: nobody knows of it. */
static bool await(struct running *g, pid_t tid, int *status)
{
	pid_t got;

	while ((got = wait4(-1, status, __WALL, &g->ru)) != tid) {
		if (got < 0 && errno != EINTR)
			return false;
		if (got < 0)
			continue;
		if (!WIFSTOPPED(*status))
			take_end(g, got, *status);
		else if (*status >> 16 == PTRACE_EVENT_EXIT)
			ptrace(PTRACE_CONT, got, 0, 0);
		else
			keep(g, got, *status);
	}
	return true;
}

/* @tid goes on to its next stop at a call.  False: it is gone, or runs another program. */
static bool to_call_stop(struct running *g, pid_t tid, int *status)
{
	do {
		if (ptrace(PTRACE_SYSCALL, tid, 0, 0) || !await(g, tid, status) || !WIFSTOPPED(*status))
			return false;
		if (*status >> 16 == PTRACE_EVENT_EXEC) {
			g->executed = true;
			return false;
		}
	} while (WSTOPSIG(*status) != (SIGTRAP | 0x80)); /* a stop by job control: go on */
	return true;
}

/* Registers @at are those of a 64-bit call that has returned, behind its instruction? */
static bool behind_syscall(pid_t tid, const struct user_regs_struct *at)
{
	long word;

	if (at->cs != CS_64)
		return false;
	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, tid, at->rip - 2, 0);
	return !errno && (word & 0xffff) == SYSCALL_INSN;
}

/*
 * @tid is at the return of a call; it runs madvise() and is there again.  @status is what wait(2) said if it
 * has ended meanwhile.  False: gone.
 */
static bool make_call(struct running *g, pid_t tid, const struct user_regs_struct *was, uint64_t start, uint64_t end, int *status)
{
	struct user_regs_struct regs = *was;

	regs.rip -= 2;
	regs.rax = regs.orig_rax = SYS_madvise;
	regs.rdi = start;
	regs.rsi = end - start;
	regs.rdx = MADV_HUGEPAGE;
	if (ptrace(PTRACE_SETREGS, tid, 0, &regs) || !to_call_stop(g, tid, status) || !to_call_stop(g, tid, status) ||
	    ptrace(PTRACE_GETREGS, tid, 0, &regs))
		return false;
	/* ENOMEM: there were holes in it, and the rest was done; of a program that has just begun it may be all */
	if (!regs.rax || ((int64_t)regs.rax == -ENOMEM && !g->fresh))
		g->r->advised++;
	else if ((int64_t)regs.rax != -ENOMEM)
		g->r->refused++;
	return true;
}

/* What @tid has just mapped, [@lo, @hi), as far as it is advised.  False: it has ended, with @status. */
static bool advise(struct running *g, pid_t tid, uint64_t lo, uint64_t hi, int *status)
{
	struct user_regs_struct was;
	uint64_t mask, all = ~(uint64_t)0;
	bool there = true;

	if (ptrace(PTRACE_GETREGS, tid, 0, &was) || !behind_syscall(tid, &was) ||
	    ptrace(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) || ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all))
		return true;
	for (size_t i = 0; i < g->r->n_ranges && there; i++) {
		uint64_t start = g->r->ranges[i].start > lo ? g->r->ranges[i].start : lo;
		uint64_t end = g->r->ranges[i].end < hi ? g->r->ranges[i].end : hi;

		if (start < end)
			there = make_call(g, tid, &was, start, end, status);
	}
	if (!there)
		return !WIFEXITED(*status) && !WIFSIGNALED(*status);
	ptrace(PTRACE_SETREGS, tid, 0, &was);
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
	return true;
}

/* @x has just mapped [@lo, @hi): neighbours of a range are one area with it, but it is who maps most of it that counts. */
static void note_caller(struct running *g, const struct tracee *x, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < g->r->n_ranges && g->r->find_callers; i++) {
		struct advise_range *a = &g->r->ranges[i];
		uint64_t start = lo > a->start ? lo : a->start, end = hi < a->end ? hi : a->end, begin = clock_now_ns();

		if (start >= end || end - start < 2 * a->by_bytes)
			continue;
		a->by_bytes = end - start;
		unwind_thread(&a->by, x->pid, x->tid);
		g->away_ns += clock_now_ns() - begin;
	}
}

/* ---- stops ---- */

static void on_seccomp(struct running *g, struct tracee *x)
{
	struct call_stop stop;
	bool wanted = false;

	if (!call_stop_read(&stop, x->tid) && stop.op == CALL_STOP_SECCOMP) {
		if (stop.u.entry.ret_data != GATE_MARK) {
			call_args_refuse(x->tid); /* a filter of its own asks for a tracer: without us there is none */
		} else {
			call_args_read(&x->args, x->tid, stop.arch, stop.u.entry.nr, stop.u.entry.args);
			if (call_args_clones(&x->args))
				call_args_follow(&x->args, x->tid);
			wanted = g->r->with && x->pid == g->cmd &&
				 (x->args.cause == HVAR_CAUSE_MMAP || x->args.cause == HVAR_CAUSE_BRK || x->args.cause == HVAR_CAUSE_MREMAP ||
				  x->args.cause == HVAR_CAUSE_SHMAT);
		}
	}
	x->in_call = wanted;
	ptrace(wanted ? PTRACE_SYSCALL : PTRACE_CONT, x->tid, 0, 0);
}

/* A call has returned.  False: @x has ended meanwhile, with @status. */
static bool on_return(struct running *g, struct tracee *x, int *status)
{
	struct call_stop stop;
	bool there = true;

	if (x->in_call && !call_stop_read(&stop, x->tid) && stop.op == CALL_STOP_EXIT && !stop.u.exit.is_error) {
		uint64_t at = (uint64_t)stop.u.exit.rval;

		if (x->args.cause == HVAR_CAUSE_MMAP)
			note_caller(g, x, at, at + x->args.regs[1]);
		if (g->fresh) /* what the kernel has mapped for it: ranges there are holes for do no harm */
			there = advise(g, x->tid, 0, ~(uint64_t)0, status);
		else if (x->args.cause == HVAR_CAUSE_BRK) /* it grows up to there */
			there = advise(g, x->tid, 0, at, status);
		else if (x->args.cause == HVAR_CAUSE_MMAP)
			there = advise(g, x->tid, at, at + x->args.regs[1], status);
		else if (x->args.cause == HVAR_CAUSE_MREMAP)
			there = advise(g, x->tid, at, at + x->args.regs[2], status);
		else /* shmat: the length is the segment's */
			there = advise(g, x->tid, at, ~(uint64_t)0, status);
		g->fresh = g->executed;
		g->executed = false;
	}
	x->in_call = false;
	if (there)
		ptrace(PTRACE_CONT, x->tid, 0, 0);
	return there;
}

static void on_event(struct running *g, struct tracee *x, int event, int sig)
{
	switch (event) {
	case PTRACE_EVENT_SECCOMP:
		on_seccomp(g, x);
		return;
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		if (call_args_clones(&x->args))
			call_args_restore(&x->args, x->tid);
		break;
	case PTRACE_EVENT_EXEC:
		x->in_call = false;
		if (x->tid == g->cmd)
			g->fresh = true;
		break;
	case PTRACE_EVENT_STOP:
		if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU) {
			ptrace(PTRACE_LISTEN, x->tid, 0, 0);
			return;
		}
		break;
	default:
		break;
	}
	ptrace(PTRACE_CONT, x->tid, 0, 0);
}

static void handle(struct running *g, pid_t tid, int status)
{
	struct tracee *x = tracees_find(&g->tasks, tid);
	int sig = WSTOPSIG(status);

	if (!WIFSTOPPED(status)) {
		take_end(g, tid, status);
		return;
	}
	if (!x) {
		x = tracees_get(&g->tasks, tid);
		if (!x) { /* it runs on as it is */
			ptrace(PTRACE_CONT, tid, 0, 0);
			return;
		}
		x->pid = (pid_t)target_status(tid, "Tgid:");
	}
	if (status >> 16)
		on_event(g, x, status >> 16, sig);
	else if (sig != (SIGTRAP | 0x80))
		ptrace(PTRACE_CONT, tid, 0, sig);
	else if (!on_return(g, x, &status))
		handle(g, tid, status);
}

static void serve(struct running *g)
{
	int status;
	pid_t tid;

	ticker_start(TICK_HZ, NULL); /* a signal may come just before a wait; without ticks it is passed on at the next stop */
	/* until the last has ended: what is gated cannot do without us */
	while ((tid = wait4(-1, &status, __WALL, &g->ru)) > 0 || errno == EINTR) {
		if (g->r->asked && *g->r->asked && !g->ended) {
			*g->r->asked = 0;
			for (int sig; (sig = end_signals_take());)
				end_signals_pass_on(g->cmd, sig);
		} else if (g->r->asked && *g->r->asked) {
			break; /* CMD has ended: those it left behind end with us */
		}
		if (tid > 0)
			handle(g, tid, status);
		/* what comes while one of them is handled is kept behind it */
		for (size_t i = 0; i < g->n_kept; i++)
			if (g->kept[i].tid)
				handle(g, g->kept[i].tid, g->kept[i].status);
		g->n_kept = 0;
	}
	ticker_stop();
}

/* ---- begin ---- */

/* PR_THP_DISABLE_EXCEPT_ADVISED is bit 1 of the flags, and of what PR_GET_THP_DISABLE says: include/uapi/linux/prctl.h */
int advise_thp_set(int state)
{
	int was = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);

	if (was < 0)
		return -errno;
	if (prctl(PR_SET_THP_DISABLE, state & 1, state & 2, 0, 0) &&
	    (!(state & 2) || prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0)))
		return -errno;
	return was;
}

static int start(struct running *g, struct err *e)
{
	/* the child inherits it, through its execve too */
	int was = advise_thp_set(g->r->with ? ADVISE_THP_ASKED : ADVISE_THP_NONE), err;

	if (was < 0)
		return err_set(e, -was, "cannot run '%s' without huge pages: prctl(PR_SET_THP_DISABLE): %s; it takes Linux 3.15", g->r->argv[0],
			       strerror(-was));
	err = launch_fork(&g->launch, g->r->argv, true, e);
	advise_thp_set(was);
	if (err)
		return err;
	g->cmd = g->launch.pid;
	err = g->launch.gate_errno ? -g->launch.gate_errno : ptracer_seize(g->cmd, PTRACE_O_EXITKILL);
	if (!err)
		return 0;
	launch_abort(&g->launch);
	return err_set(e, -err, "cannot stop '%s' where it maps memory: %s; see 'hotvar doctor'", g->r->argv[0], strerror(-err));
}

int advise_run(struct advise_run *r, struct err *e)
{
	struct running g = { .r = r, .launch = *r->launch, .fresh = true };
	uint64_t begin;
	int err = start(&g, e);

	if (err)
		return err;
	r->advised = r->refused = 0;
	r->wait_status = -1;
	begin = clock_now_ns();
	launch_go(&g.launch);
	serve(&g);
	r->seconds = (double)(clock_now_ns() - begin - g.away_ns) / 1e9;
	tracees_fini(&g.tasks);
	free(g.kept);
	g.launch.pid = -1; /* reaped */
	if (!g.ended)
		return err_set(e, ECHILD, "'%s' was lost: run it again", r->argv[0]);
	err = launch_result(&g.launch, true, e);
	return err < 0 ? err : 0;
}
