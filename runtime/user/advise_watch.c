// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_watch.c - a process, and those that it starts, watched for whether huge pages would help them.
 *
 * Samples tell of what it starts: a process that has LEAST of them is watched as well, up to MOST at
 * a time.  A look at one may come later the more there are.
 */
#include "config.h"

#include "advise_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "advise_hits.h"
#include "clock.h"
#include "grow.h"
#include "kin.h"
#include "perf_ring.h"
#include "probe.h"
#include "target.h"

enum { SETTLED_NS = 1000000, LEAST = 100, MOST = 64, KEPT = 1024, SLOTS = 1024, FILES = 5, PASSES = 16 };

/* A process that is not watched, or not yet. */
struct stranger {
	pid_t pid;
	unsigned samples;
};

struct advise_watch {
	struct perf_rings *rings; /* NULL: why says why */
	struct advise_hits hits;
	struct err why;
	uint64_t interval_ns, reach;
	struct advise_process **v; /* the first is what was asked for; others in the order first seen */
	size_t n, cap;
	size_t alive;		   /* of them, not ended */
	struct stranger strangers[SLOTS]; /* by pid; a newer one takes an older one's place */
	uint64_t unwatched;	   /* samples of strangers */
	uint64_t guarded;	   /* processes that may not be looked at, of strangers */
	struct kin kin;		   /* what it has started, sampled or not */
	bool starved;		   /* fewer than FILES could be opened: what a process keeps open, and two for a look */
	struct advise_watched past; /* counts of ended ones of which nothing else is worth keeping */
};

static struct advise_process *first(const struct advise_watch *w)
{
	return w->v[0];
}

static int add(struct advise_watch *w, pid_t pid)
{
	struct advise_process *p;

	if (grow_array((void **)&w->v, &w->cap, w->n + 1, sizeof(*w->v)))
		return -ENOMEM;
	p = advise_process_new(pid, w->interval_ns, w->reach);
	if (!p)
		return -ENOMEM;
	w->v[w->n++] = p;
	w->alive++;
	return 0;
}

/* ---- samples ---- */

/* It has run for a while and is nobody's that is watched. */
static void meet(struct advise_watch *w, pid_t pid, bool first_time)
{
	struct err e = { 0 };
	int err;

	if (pid <= 0 || w->alive >= MOST || w->n >= KEPT || add(w, pid))
		return;
	err = advise_process_begin(w->v[w->n - 1], true, &e);
	w->guarded += first_time && (err == -EACCES || err == -EPERM);
	if (err) { /* it has ended already, or may not be looked at */
		advise_process_free(w->v[--w->n]);
		w->alive--;
	}
}

static void count_stranger(struct advise_watch *w, pid_t pid)
{
	struct stranger *s = &w->strangers[(unsigned)pid % SLOTS];

	w->unwatched++;
	if (s->pid != pid)
		*s = (struct stranger){ .pid = pid };
	if (++s->samples % LEAST == 0)
		meet(w, pid, s->samples == LEAST);
}

static void take(void *ctx, const struct perf_record *r)
{
	struct advise_watch *w = ctx;

	if (r->what == PERF_IS_FORK && r->pid != r->u.task.ppid)
		kin_born(&w->kin, r->pid);
	else if (r->what == PERF_IS_EXIT)
		kin_ended(&w->kin, r->pid);
	if (r->what != PERF_IS_SAMPLE)
		return;
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i]->pid == r->pid && !w->v[i]->ended) {
			advise_process_sample(w->v[i], r);
			return;
		}
	count_stranger(w, r->pid);
}

static void take_hit(void *ctx, const struct perf_record *r)
{
	struct advise_watch *w = ctx;

	for (size_t i = 0; i < w->n; i++)
		if (w->v[i]->pid == r->pid && !w->v[i]->ended)
			advise_process_hit(w->v[i], r);
}

static void drop_hit(void *ctx, const struct perf_record *r)
{
	(void)ctx;
	(void)r;
}

/* Take in what breakpoints have seen; set some where they are wanted. */
static void tick_hits(struct advise_watch *w, bool now)
{
	uint64_t t = clock_now_ns(), ip;
	uint32_t tid;

	advise_hits_read(&w->hits, t, now, take_hit, w);
	for (size_t i = 0; !now && i < w->n; i++)
		while (!w->v[i]->ended && advise_hits_may(&w->hits, t) && advise_jumps_wanted(w->v[i]->jumps, &tid, &ip))
			advise_hits_set(&w->hits, (pid_t)tid, ip, t);
}

/* ---- begin and end ---- */

static int add_those_listed(struct advise_watch *w)
{
	char path[64];
	struct dirent *d;
	DIR *dir;
	int err = -ESRCH, one;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)first(w)->pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : err_set(&w->why, errno, "%s: %s", path, strerror(errno));
	while ((d = readdir(dir)) != NULL) {
		pid_t tid = (pid_t)atoi(d->d_name);

		if (tid <= 0)
			continue;
		one = perf_rings_add(w->rings, tid, &w->why);
		if (!one || err == -ESRCH)
			err = one;
	}
	closedir(dir);
	return err;
}

/* Each that is listed may end before it is added, and others go on. */
static int add_threads(struct advise_watch *w)
{
	int err = -ESRCH;

	for (int i = 0; i < PASSES && err == -ESRCH && (!i || target_is_alive(first(w)->pid)); i++)
		err = add_those_listed(w);
	if (err == -ESRCH)
		err_set(&w->why, ESRCH, "process %d is gone", (int)first(w)->pid);
	return err;
}

static void begin_samples(struct advise_watch *w, bool on_exec)
{
	long most = probe_number("/proc/sys/kernel/perf_event_max_sample_rate", ADVISE_HZ);
	struct perf_rings_options o = { .hz = most > 0 && most < ADVISE_HZ ? (unsigned)most : ADVISE_HZ, .on_exec = on_exec, .tasks = true };

	w->rings = perf_rings_new(&o, &w->why);
	if (w->rings && add_threads(w)) {
		perf_rings_free(w->rings);
		w->rings = NULL;
	}
}

struct advise_watch *advise_watch_new(pid_t pid, bool on_exec, uint64_t interval_ns, uint64_t reach, struct err *e)
{
	struct advise_watch *w = calloc(1, sizeof(*w));

	if (w) {
		w->interval_ns = interval_ns;
		w->reach = reach;
	}
	if (!w || add(w, pid)) {
		advise_watch_free(w);
		err_set(e, ENOMEM, "cannot watch process %d: no memory: free some", (int)pid);
		return NULL;
	}
	begin_samples(w, on_exec);
	if (!on_exec && advise_process_begin(first(w), true, e)) {
		advise_watch_free(w);
		return NULL;
	}
	return w;
}

void advise_watch_free(struct advise_watch *w)
{
	if (!w)
		return;
	perf_rings_free(w->rings);
	advise_hits_fini(&w->hits);
	for (size_t i = 0; i < w->n; i++)
		advise_process_free(w->v[i]);
	free(w->v);
	kin_fini(&w->kin);
	free(w);
}

void advise_watch_executed(struct advise_watch *w)
{
	if (w->rings && first(w)->live) /* what was sampled before is of the old program */
		perf_rings_drain(w->rings, UINT64_MAX, take, w);
	advise_hits_read(&w->hits, 0, true, drop_hit, NULL);
	advise_process_executed(first(w));
}

/* ---- looks ---- */

static void add_counts(struct advise_watched *to, const struct advise_process *p)
{
	to->samples += advise_jumps_samples(p->jumps);
	to->unproven += advise_jumps_unproven(p->jumps);
	to->lost += advise_jumps_lost(p->jumps);
	to->unread += p->unread;
	to->guarded += p->guarded;
}

/* What has become of number @i, which another started?  True: nothing that is worth keeping. */
static bool follow(struct advise_watch *w, size_t i)
{
	struct advise_process *p = w->v[i];

	if (p->ended || !advise_process_is_new(p))
		return false;
	if (target_is_alive(p->pid) && !advise_process_executed(p))
		return false;
	p->ended = true;
	w->alive--;
	return !p->regions.n;
}

static void follow_all(struct advise_watch *w)
{
	size_t n = 1;

	for (size_t i = 1; i < w->n; i++) {
		if (follow(w, i)) {
			add_counts(&w->past, w->v[i]);
			advise_process_free(w->v[i]);
		} else {
			w->v[n++] = w->v[i];
		}
	}
	w->n = n;
}

static bool files_left(void)
{
	int fd[FILES], n = 0;
	bool all;

	while (n < FILES && (fd[n] = open("/", O_PATH | O_CLOEXEC)) >= 0)
		n++;
	all = n == FILES || (errno != EMFILE && errno != ENFILE);
	while (n--)
		close(fd[n]);
	return all;
}

int advise_watch_tick(struct advise_watch *w, bool now)
{
	uint64_t t = clock_now_ns();
	int err = 0;

	w->starved = w->starved || !files_left();
	if (!first(w)->live)
		return 0;
	follow_all(w);
	for (size_t i = 0; i < w->n; i++)
		if (!w->v[i]->ended)
			advise_process_see(w->v[i], w->alive);
	if (w->rings)
		perf_rings_drain(w->rings, now ? UINT64_MAX : t - SETTLED_NS, take, w);
	tick_hits(w, now);
	for (size_t i = 0; i < w->n; i++) {
		int one = w->v[i]->ended ? 0 : advise_process_look(w->v[i], now, w->rings != NULL, w->alive);

		err = i ? err : one;
	}
	return err;
}

void advise_watch_wait(struct advise_watch *w, int ms)
{
	struct pollfd p = { .fd = w->rings ? perf_rings_fd(w->rings) : -1, .events = POLLIN };

	poll(&p, 1, ms);
}

/* ---- what came of it ---- */

size_t advise_watch_n(const struct advise_watch *w)
{
	return w->n;
}

struct advise_process *advise_watch_process(const struct advise_watch *w, size_t i)
{
	return w->v[i];
}

const char *advise_watch_no_samples(const struct advise_watch *w)
{
	return w->rings ? NULL : w->why.text;
}

void advise_watch_told(const struct advise_watch *w, struct advise_watched *out)
{
	const struct advise_process *p = first(w);

	*out = w->past;
	out->looks = p->looks;
	out->cleared = p->cleared;
	out->unwatched = w->unwatched;
	out->guarded += w->guarded;
	out->starved = w->starved;
	for (size_t i = 0; i < w->n; i++)
		add_counts(out, w->v[i]);
	if (p->looks)
		out->interval_ns = p->sum_ns / p->looks;
	out->left = kin_left(&w->kin, first(w)->pid, &out->left_one);
	if (w->rings)
		out->lost += perf_rings_counts(w->rings)->lost;
}
