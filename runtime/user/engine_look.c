// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * engine_look.c - the engine that needs nothing but /proc: the map is looked at again and again, and what differs is told.
 *
 * Where neither ptrace nor perf may be used.  What comes and goes between two looks is not seen, nor who did it: all
 * is told of a process's first thread.  What the target starts is looked at as long as the target itself runs.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "launch.h"
#include "proc.h"
#include "relook.h"
#include "session.h"
#include "target.h"
#include "tracker.h"

enum {
	TICK_MS = 100,
	LOOK_SHARE = 20, /* one part in so many of the time goes into looking */
	MAX_CHILDREN = 65536, /* bytes of a list of children that are read */
};

struct looked {
	pid_t pid;
	uint64_t start_ticks; /* another one: the number is another process's */
};

struct engine {
	struct session *s; /* borrowed */
	struct launch launch;
	struct tracker *t;
	struct relook *look;
	struct looked *v; /* processes known */
	size_t n, cap;
	pid_t pid;
	bool launched, ended;
	uint64_t begin_ns, begin_cpu_ns, deadline_ns;
	char children[MAX_CHILDREN];
};

static int available(const struct session *s, struct err *e)
{
	(void)s;
	if (!access("/proc/self/maps", R_OK))
		return 0;
	return err_set(e, errno, "cannot read /proc/self/maps: %s; mount it: mount -t proc proc /proc", strerror(errno));
}

/* ---- processes ---- */

static struct looked *known(struct engine *g, pid_t pid)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i].pid == pid)
			return &g->v[i];
	return NULL;
}

static int remember(struct engine *g, pid_t pid)
{
	struct proc_stat st;

	if (g->n == g->cap) {
		size_t cap = g->cap ? 2 * g->cap : 64;
		struct looked *v = realloc(g->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		g->v = v;
		g->cap = cap;
	}
	proc_stat(pid, &st);
	g->v[g->n++] = (struct looked){ pid, st.start_ticks };
	return 0;
}

static void forget(struct engine *g, pid_t pid, int status, uint64_t now)
{
	struct looked *l = known(g, pid);

	if (!l)
		return;
	*l = g->v[--g->n];
	relook_gone(g->look, pid);
	tracker_exit(g->t, pid, status, now);
}

/* Those that thread @tid of @pid has made and that are not known yet. */
static void find_children(struct engine *g, pid_t pid, const char *tid, uint64_t now)
{
	char name[64], *at = g->children, *end;

	snprintf(name, sizeof(name), "task/%.20s/children", tid);
	if (proc_read(pid, name, g->children, sizeof(g->children)) <= 0)
		return;
	for (;; at = end) {
		pid_t child = (pid_t)strtol(at, &end, 10);

		if (end == at)
			return;
		if (!known(g, child) && !tracker_add(g->t, child, child, now, NULL) && remember(g, child))
			tracker_exit(g->t, child, -1, now);
	}
}

static void find_new(struct engine *g, pid_t pid, uint64_t now)
{
	const struct dirent *d;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			find_children(g, pid, d->d_name, now);
	if (dir)
		closedir(dir);
}

static void look(void *ctx, pid_t pid, uint64_t now)
{
	struct engine *g = ctx;
	struct looked *l = known(g, pid);
	struct proc_stat st;

	if (!l)
		return;
	/* That it guards its memory, and /proc hides it (hidepid), is no end: what is open shows it still. */
	if (!target_is_alive(pid) || (!proc_stat(pid, &st) && st.start_ticks != l->start_ticks)) {
		if (pid != g->pid) /* its own end is told with its status */
			forget(g, pid, -1, now);
		return;
	}
	/* A window shows one address space: gone while the process has memory, it has executed a program. */
	if (tracker_look(g->t, pid, 0, ~0ull, HVAR_CAUSE_NONE, now) == -ESRCH && proc_goes_on(pid))
		tracker_exec(g->t, pid, pid, true, HVAR_CAUSE_EXECVE, now);
	find_new(g, pid, now);
}

/* ---- beginning ---- */

static int begin(struct engine *g, struct err *e)
{
	uint64_t now;
	int err;

	if (g->s->argv) {
		err = launch_find(&g->launch, g->s->argv, e);
		if (!err)
			err = launch_fork(&g->launch, g->s->argv, false, e);
		if (err)
			return err;
		launch_go(&g->launch);
		err = launch_result(&g->launch, true, e);
		if (err < 0)
			return err;
		g->launched = true;
		g->s->pid = g->launch.pid;
	}
	g->pid = g->s->pid;
	g->begin_ns = now = clock_now_ns();
	if (g->s->seconds > 0)
		g->deadline_ns = now + (uint64_t)(g->s->seconds * 1e9);
	err = g->launched ? tracker_exec(g->t, g->pid, g->pid, true, HVAR_CAUSE_EXECVE, now) :
			    tracker_add(g->t, g->pid, g->pid, now, e);
	if (g->launched && err == -ESRCH)
		err = 0; /* it was quicker than we */
	return err ? err : remember(g, g->pid);
}

static int set_up(struct engine *g, struct err *e)
{
	g->begin_cpu_ns = clock_own_cpu_ns();
	g->t = tracker_new(g->s->out, e);
	if (!g->t)
		return -ENOMEM;
	g->look = relook_new(LOOK_SHARE);
	if (!g->look)
		return err_set(e, ENOMEM, "cannot look: no memory; free some");
	tracker_late_is_usual(g->t);
	stream_put_meta(g->s->out, "maps", "proc");
	session_note(g->s, "the maps were looked at about 10 times a second: what came and went between was not seen");
	return begin(g, e);
}

/* ---- the middle and the end ---- */

static void reap(struct engine *g)
{
	int status = -1;

	if (g->launched) {
		pid_t got = waitpid(g->pid, &status, WNOHANG);

		g->ended = got == g->pid || (got < 0 && errno == ECHILD);
		if (got == g->pid)
			g->s->wait_status = status;
	} else {
		g->ended = !target_is_alive(g->pid);
	}
}

static void measure(struct engine *g)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, g->pid, 0), .events = POLLIN };
	uint64_t now;

	do {
		poll(&p, 1, TICK_MS);
		reap(g);
		now = clock_now_ns();
		if (g->ended)
			break;
		for (size_t i = 0; i < g->n; i++)
			relook_active(g->look, g->v[i].pid, false);
		relook_run(g->look, look, g);
		tracker_tell_losses(g->t, now);
		stream_flush(g->s->out);
		if (g->s->progress)
			g->s->progress(g->s->progress_ctx, 0, now - g->begin_ns);
	} while (!(g->deadline_ns && now >= g->deadline_ns) &&
		 !(session_stopping() && session_heed(g->s, g->pid, target_is_stopped(g->pid))));
	if (p.fd >= 0)
		close(p.fd);
}

static void finish(struct engine *g)
{
	struct stream_end end = { .time_ns = clock_now_ns(), .wait_status = g->s->wait_status };

	if (g->ended)
		forget(g, g->pid, g->launched ? g->s->wait_status : -1, end.time_ns);
	tracker_tell_losses(g->t, end.time_ns);
	g->s->elapsed_ns = end.time_ns - g->begin_ns;
	g->s->still_running = g->launched && !g->ended;
	stream_put_meta(g->s->out, "note", "%s", g->s->note);
	end.elapsed_ns = g->s->elapsed_ns;
	end.own_cpu_ns = clock_own_cpu_ns() - g->begin_cpu_ns;
	stream_put(g->s->out, STREAM_END, &end, sizeof(end), NULL, 0);
	stream_flush(g->s->out);
}

static int run(struct session *s, struct err *e)
{
	struct engine *g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return err_set(e, ENOMEM, "cannot look: no memory; free some");
	g->s = s;
	g->launch = (struct launch){ .go_fd = -1, .why_fd = -1 };
	err = set_up(g, e);
	if (!err) {
		measure(g);
		finish(g);
	}
	relook_free(g->look);
	tracker_free(g->t);
	free(g->v);
	free(g);
	return err;
}

const struct session_engine engine_look = {
	.name = "look",
	.available = available,
	.run = run,
	.serve = session_wait,
};
