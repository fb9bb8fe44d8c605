// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "stop_wait.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "clock.h"

enum {
	MANY = 256,
	SCAN_NS = 2000000, /* a stop that no signal told of is found so much later */
	ASKED = 64,	   /* one by one: what that many cost, going through all does as well */
	MOST_RUN = 128,	   /* then the others have their turn */
	FLAGS = __WALL | __WNOTHREAD,
};

/* True if it was not known. */
static bool note(struct stop_wait *w, pid_t tid)
{
	size_t i;

	for (i = 0; i < STOP_WAIT_RECENT; i++)
		if (w->recent[i] == tid)
			return false;
	w->recent[w->next++ % STOP_WAIT_RECENT] = tid;
	return true;
}

static pid_t ask_recent(struct stop_wait *w, int *status)
{
	size_t i;

	for (i = 0; i < STOP_WAIT_RECENT; i++) {
		pid_t *tid = &w->recent[w->turn++ % STOP_WAIT_RECENT], got;

		if (!*tid)
			continue;
		got = waitpid(*tid, status, FLAGS | WNOHANG);
		if (got > 0)
			return got;
		if (got < 0 && errno == ECHILD)
			*tid = 0; /* it was no tracee of ours, or is none any more */
	}
	return 0;
}

/* The next in the table, some of them. */
static pid_t ask_some(struct stop_wait *w, const struct tracees *t, int *status)
{
	const struct tracee *x;
	size_t n;

	for (n = 0; n < ASKED; n++) {
		x = tracees_next(t, &w->at);
		if (!x) {
			w->at = 0;
			continue;
		}
		if (waitpid(x->tid, status, FLAGS | WNOHANG) > 0) {
			note(w, x->tid);
			return x->tid;
		}
	}
	w->bulk = false;
	return 0;
}

/* The slow way, which is not to find again and again those that can be asked. */
static pid_t ask_all(struct stop_wait *w, uint64_t now, int *status)
{
	pid_t tid = waitpid(-1, status, FLAGS | WNOHANG);

	if (tid > 0)
		w->recent_first = !(w->bulk = note(w, tid));
	else if (!tid)
		w->scanned_ns = now;
	w->run = 0;
	return tid;
}

/* Until some tracee stops, but no longer than until all are to be gone through again. */
static pid_t sleep_until_news(struct stop_wait *w, uint64_t now, int *status)
{
	uint64_t since = now - w->scanned_ns;
	struct timespec t = { .tv_nsec = since < SCAN_NS ? (long)(SCAN_NS - since) : 0 };
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigtimedwait(&set, &info, &t) == SIGCHLD && info.si_pid > 0)
		note(w, info.si_pid);
	return ask_recent(w, status);
}

/* Blocked, SIGCHLD is kept although nobody handles it.  From then on: nobody else wants it. */
static void keep_signal(struct stop_wait *w)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	w->kept = !pthread_sigmask(SIG_BLOCK, &set, NULL);
}

pid_t stop_wait(struct stop_wait *w, const struct tracees *t, int *status)
{
	uint64_t now;
	bool due;
	pid_t tid;

	if (t->n < MANY)
		return waitpid(-1, status, FLAGS);
	if (!w->kept)
		keep_signal(w);
	tid = w->bulk ? ask_some(w, t, status) : 0;
	if (tid)
		return tid;
	now = clock_now_ns();
	due = now - w->scanned_ns >= SCAN_NS;
	tid = due && (!w->recent_first || w->run >= MOST_RUN) ? ask_all(w, now, status) : 0;
	if (tid)
		return tid;
	tid = ask_recent(w, status);
	if (tid) {
		w->run++;
		return tid;
	}
	w->recent_first = false;
	if (now - w->scanned_ns >= SCAN_NS)
		tid = ask_all(w, now, status);
	if (!tid)
		tid = sleep_until_news(w, now, status);
	if (tid)
		return tid;
	errno = EINTR;
	return -1;
}
