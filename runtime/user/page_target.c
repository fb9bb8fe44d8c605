// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_target.c - CMD, launched to look at its pages, and stopped before it ends.
 *
 * PTRACE_EVENT_EXIT comes before a task lets go of its address space (ptrace(2)).  Only one
 * thread is traced, the leader at first: exit_group() by any thread makes it come there, too.
 */
#include "config.h"

#include "page_target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "proc.h"
#include "target.h"

enum { CS_64 = 0x33, EXIT_32 = 1, EXIT_GROUP_32 = 252, OPTIONS = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT };
enum { SETTLE_NS = 1000000000, TRIES = 100 };
#define X32_BIT 0x40000000ull

int page_target_start(struct page_target *t, char *const argv[], struct err *e)
{
	int err = target_proc(argv[0], e);
	char tracer[64];
	pid_t by;

	if (!err)
		err = launch_fork(&t->launch, argv, false, e);
	if (err)
		return err;
	t->pid = t->task = t->launch.pid;
	if (!ptrace(PTRACE_SEIZE, t->pid, 0, OPTIONS))
		return 0;
	err = errno;
	by = target_tracer(t->pid, tracer);
	launch_abort(&t->launch);
	if (by > 0)
		return err_set(e, EBUSY, "cannot trace '%s': process %d (%s) traces hotvar, and what it starts with it; run hotvar without that",
			       t->launch.path, (int)by, tracer);
	return err_set(e, err, "cannot trace '%s': ptrace: %s; start it yourself and give its number with -p PID",
		       t->launch.path, strerror(err));
}

/* Does @tid, which ends, do so by itself, with exit(2), not with all the others? */
static bool ends_alone(pid_t tid)
{
	struct user_regs_struct regs;

	return !ptrace(PTRACE_GETREGS, tid, 0, &regs) &&
	       (regs.cs == CS_64 ? (regs.orig_rax & ~X32_BIT) == SYS_exit : regs.orig_rax == EXIT_32);
}

/* Trace another thread than t->task: false if there is none that has not ended. */
static bool take_another(struct page_target *t)
{
	const struct dirent *d;
	char path[64];
	bool taken = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	dir = opendir(path);
	while (dir && !taken && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		if (tid > 0 && tid != t->task && tid != t->pid && proc_has_memory(tid) &&
		    !ptrace(PTRACE_SEIZE, tid, 0, OPTIONS)) {
			t->task = tid;
			taken = true;
		}
	}
	if (dir)
		closedir(dir);
	return taken;
}

/* Have all threads been asked to end by @tid's own exit_group(2)? */
static bool ends_all(pid_t tid)
{
	struct user_regs_struct regs;

	return !ptrace(PTRACE_GETREGS, tid, 0, &regs) &&
	       (regs.cs == CS_64 ? (regs.orig_rax & ~X32_BIT) == SYS_exit_group : regs.orig_rax == EXIT_GROUP_32);
}

/* Does it wait for all others to end, so that it can execute a program?  By where it waits, in the kernel's fs/exec.c. */
static bool waits_to_execute(pid_t tid)
{
	char text[64] = "";
	int fd = proc_open(tid, "wchan", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return !strncmp(text, "begin_new_exec", 14) || !strncmp(text, "flush_old_exec", 14) || !strncmp(text, "de_thread", 9);
}

/*
 * The traced thread ends, not by itself: because of an exec by another one, which waits for it?  Else all others end as it
 * does, and there are none soon.
 */
static bool another_executes(const struct page_target *t)
{
	uint64_t until = clock_now_ns() + SETTLE_NS;
	char path[64];
	bool any, found = false;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	do {
		const struct dirent *d;
		DIR *dir = opendir(path);

		any = false;
		while (dir && !found && (d = readdir(dir))) {
			pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);
			char state = tid > 0 && tid != t->task ? target_state(tid) : '\0';

			if (!state || state == 'Z' || state == 'X')
				continue;
			any = true;
			found = waits_to_execute(tid);
		}
		if (dir)
			closedir(dir);
		if (any && !found)
			poll(NULL, 0, 1);
	} while (any && !found && clock_now_ns() < until);
	return found;
}

/*
 * Trace what is becoming the first thread.  Until exec is nearly done PTRACE_SEIZE waits, for the lock of its credentials
 * (kernel/ptrace.c, ptrace_attach()), so nothing of ours may be stopped; then it may be refused once or twice, as what was
 * the first has ended, or for good: then it goes on, and only its end is told.
 */
static void trace_anew(struct page_target *t)
{
	t->fresh = false;
	for (int i = 0; !t->fresh && i < TRIES && target_is_alive(t->pid); i++) { /* else its end will tell */
		t->fresh = !ptrace(PTRACE_SEIZE, t->pid, 0, OPTIONS);
		if (!t->fresh)
			poll(NULL, 0, 1);
	}
	if (!t->fresh) {
		t->guarded = target_is_alive(t->pid);
		kill(t->pid, SIGCONT);
	}
}

/*
 * Let the traced thread end, since another executes a program.  That one cannot be traced before it has, and may be over
 * by then: a stop signal is kept through exec, and comes before the program's first instruction.
 */
static void follow_exec(struct page_target *t)
{
	kill(t->pid, SIGSTOP);
	ptrace(PTRACE_DETACH, t->task, 0, 0); /* nobody has to wait for it: the exec does */
	t->task = t->pid;
	trace_anew(t);
}

/* Is that stop the one of follow_exec()?  Its signal goes no further. */
static bool is_fresh(struct page_target *t, int event, int sig)
{
	if (!t->fresh || sig != SIGSTOP || (event && event != PTRACE_EVENT_STOP))
		return false;
	t->fresh = false;
	if (event) /* too late to keep it away */
		kill(t->pid, SIGCONT);
	return true;
}

/* What a stop with this status is; at those that are not ours it goes on. */
static enum page_target_news handle(struct page_target *t, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;
	pid_t tid = t->task;

	if (!WIFSTOPPED(status) && t->task != t->pid) { /* quicker than it was taken, or with all the others */
		if (!take_another(t))
			t->task = t->pid;
		return PAGE_TARGET_NOTHING;
	}
	if (!WIFSTOPPED(status)) {
		t->wait_status = status;
		return PAGE_TARGET_ENDED;
	}
	if (event == PTRACE_EVENT_EXIT && ends_alone(tid) && take_another(t)) {
		ptrace(PTRACE_DETACH, tid, 0, 0); /* so that nobody has to wait for it */
		return PAGE_TARGET_NOTHING;
	}
	if (event == PTRACE_EVENT_EXIT && !ends_all(tid) && another_executes(t)) {
		follow_exec(t);
		return PAGE_TARGET_NOTHING;
	}
	if (is_fresh(t, event, sig)) {
		t->stopped = true;
		return PAGE_TARGET_EXECUTED;
	}
	if (event == PTRACE_EVENT_EXEC && t->fresh) {
		t->fresh = false;
		t->dropped = true;
	}
	if (event == PTRACE_EVENT_EXEC || event == PTRACE_EVENT_EXIT) {
		t->stopped = true;
		return event == PTRACE_EVENT_EXEC ? PAGE_TARGET_EXECUTED : PAGE_TARGET_ENDING;
	}
	if (event == PTRACE_EVENT_STOP && (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU))
		ptrace(PTRACE_LISTEN, tid, 0, 0); /* stopped by job control: it stays so */
	else
		ptrace(PTRACE_CONT, tid, 0, event || (t->dropped && sig == SIGSTOP) ? 0 : sig);
	if (!event && sig == SIGSTOP)
		t->dropped = false;
	return PAGE_TARGET_NOTHING;
}

int page_target_execute(struct page_target *t, struct err *e)
{
	enum page_target_news news = PAGE_TARGET_NOTHING;
	int status, err;

	launch_go(&t->launch);
	while (news == PAGE_TARGET_NOTHING) {
		if (waitpid(t->pid, &status, __WALL) == t->pid)
			news = handle(t, status);
		else if (errno != EINTR)
			break;
	}
	/* Where exec failed it is ending, by its own exit: launch_result() says why and reaps it. */
	if (news == PAGE_TARGET_EXECUTED)
		return launch_result(&t->launch, true, e) < 0 ? -EIO : 0;
	if (news == PAGE_TARGET_ENDING)
		ptrace(PTRACE_CONT, t->pid, 0, 0);
	err = news == PAGE_TARGET_ENDED ? -ECHILD : launch_result(&t->launch, true, e);
	if (err >= 0 || news == PAGE_TARGET_ENDED)
		err = err_set(e, ECHILD, "'%s' ended before it ran: it was killed; run it again", t->launch.path);
	return err;
}

enum page_target_news page_target_news(struct page_target *t)
{
	int status;
	pid_t got;

	if (t->stopped)
		ptrace(PTRACE_CONT, t->task, 0, 0);
	t->stopped = false;
	while ((got = waitpid(t->task, &status, __WALL | WNOHANG)) < 0 && (errno == EINTR || t->task != t->pid))
		if (errno != EINTR) /* it has executed a program, which makes it the first */
			t->task = t->pid;
	if (got < 0) {
		t->wait_status = -1;
		return PAGE_TARGET_ENDED;
	}
	return got ? handle(t, status) : PAGE_TARGET_NOTHING;
}
