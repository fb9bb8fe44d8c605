// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_watch.c - one process watched for whether huge pages would help it.
 *
 * Code has no file here: its place is its address, in an address space of number MM, so that what was
 * decoded of a program stays good until it executes another.
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

#include "clock.h"
#include "page_since.h"
#include "perf_ring.h"
#include "probe.h"

enum { MM = 1, TIMES_A_LOOK = 10, SETTLED_NS = 1000000, LOOK_NS = 20000000 };

struct advise_watch {
	pid_t pid;
	struct live *live; /* NULL: it has not executed yet */
	int mem;
	struct perf_rings *rings; /* NULL: why says why */
	struct err why;
	struct advise_jumps *jumps;
	struct advise_regions regions;
	uint64_t interval_ns, next_ns, last_ns, sum_ns;
	uint64_t live_next_ns; /* when what is mapped is looked at again */
	unsigned looks;
	bool cleared;
};

/* ---- what the code around a sample is ---- */

static bool env_site(void *ctx, const struct hvar_event *ev, uint64_t ip, struct code_site *out, uint64_t *start, uint64_t *end)
{
	struct advise_watch *w = ctx;
	const struct hvar_vma *v = hvar_vmas_find(live_vmas(w->live), ip);

	(void)ev;
	if (!v)
		return false;
	*out = (struct code_site){ .mm = MM, .where = ip };
	*start = v->start;
	*end = v->end;
	return true;
}

static size_t env_code(void *ctx, const struct code_site *at, void *buf, size_t len)
{
	struct advise_watch *w = ctx;
	ssize_t n = w->mem < 0 ? -1 : pread(w->mem, buf, len, (off_t)at->where);

	return n > 0 ? (size_t)n : 0;
}

static bool env_function(void *ctx, const struct code_site *at, uint64_t *start, uint64_t *end)
{
	struct advise_watch *w = ctx;
	const struct hvar_image *img;
	struct hvar_place p;
	uint64_t first, last;
	uint32_t why;

	live_resolve(w->live, at->where, &p);
	img = p.module && p.flags & HVAR_PLACE_VADDR ? live_image(w->live, p.module, &why) : NULL;
	if (!img || !hvar_image_function(img, p.vaddr, &first, &last))
		return false;
	*start = first + p.bias;
	*end = last + p.bias;
	return *start >= p.vma.start && *end <= p.vma.end;
}

static void take(void *ctx, const struct perf_record *r)
{
	struct advise_watch *w = ctx;
	struct estimate_env env = { .ctx = w, .site = env_site, .code = env_code, .function = env_function };
	struct stream_sample s;

	if (r->what != PERF_IS_SAMPLE || r->pid != w->pid || !w->live)
		return; /* children have memory of their own */
	perf_ring_sample(r, MM, &s);
	advise_jumps_sample(w->jumps, &env, live_vmas(w->live), &s);
}

/* ---- begin and end ---- */

static int add_threads(struct advise_watch *w)
{
	char path[64];
	struct dirent *d;
	DIR *dir;
	int err = -ESRCH, one;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)w->pid);
	dir = opendir(path);
	if (!dir)
		return err_set(&w->why, errno, "process %d is gone", (int)w->pid);
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

static void begin_samples(struct advise_watch *w, bool on_exec)
{
	long most = probe_number("/proc/sys/kernel/perf_event_max_sample_rate", ADVISE_HZ);
	struct perf_rings_options o = { .hz = most > 0 && most < ADVISE_HZ ? (unsigned)most : ADVISE_HZ, .on_exec = on_exec };

	w->rings = perf_rings_new(&o, &w->why);
	if (w->rings && add_threads(w)) {
		perf_rings_free(w->rings);
		w->rings = NULL;
	}
}

/* From here on touched pages are counted, and looks come. */
static void begin_looks(struct advise_watch *w, bool clear)
{
	struct err e = { 0 };

	w->cleared = !clear || !page_since_clear(w->pid, &e);
	w->last_ns = clock_now_ns();
	w->next_ns = w->last_ns + w->interval_ns;
}

static int open_live(struct advise_watch *w, struct err *e)
{
	char path[64];

	w->live = live_open(w->pid, e);
	if (!w->live)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)w->pid);
	w->mem = open(path, O_RDONLY | O_CLOEXEC);
	return 0;
}

struct advise_watch *advise_watch_new(pid_t pid, bool on_exec, uint64_t interval_ns, uint64_t reach, struct err *e)
{
	struct advise_watch *w = calloc(1, sizeof(*w));

	if (w) {
		w->mem = -1;
		w->jumps = advise_jumps_new();
	}
	if (!w || !w->jumps) {
		free(w);
		err_set(e, ENOMEM, "cannot watch process %d: no memory: free some", (int)pid);
		return NULL;
	}
	w->pid = pid;
	w->interval_ns = interval_ns;
	w->regions.reach = reach;
	begin_samples(w, on_exec);
	if (on_exec)
		return w;
	if (open_live(w, e)) {
		advise_watch_free(w);
		return NULL;
	}
	begin_looks(w, true);
	return w;
}

void advise_watch_free(struct advise_watch *w)
{
	if (!w)
		return;
	if (w->mem >= 0)
		close(w->mem);
	perf_rings_free(w->rings);
	advise_jumps_free(w->jumps);
	advise_regions_fini(&w->regions);
	live_free(w->live);
	free(w);
}

void advise_watch_executed(struct advise_watch *w)
{
	struct advise_jumps *fresh = advise_jumps_new();
	struct err e = { 0 };

	if (w->rings && w->live) /* what was sampled before is of the old program */
		perf_rings_drain(w->rings, UINT64_MAX, take, w);
	if (w->mem >= 0)
		close(w->mem);
	w->mem = -1;
	live_free(w->live);
	w->live = NULL;
	if (fresh) {
		advise_jumps_free(w->jumps);
		w->jumps = fresh;
	}
	advise_regions_executed(&w->regions);
	w->looks = 0;
	w->sum_ns = 0;
	if (!open_live(w, &e))
		begin_looks(w, false);
}

/* ---- looks ---- */

/* When something that took from @from to @to may come again. */
static uint64_t again(uint64_t from, uint64_t to, uint64_t usual)
{
	uint64_t share = (to - from) * TIMES_A_LOOK;

	return to + (share > usual ? share : usual);
}

int advise_watch_tick(struct advise_watch *w, bool now)
{
	uint64_t t = clock_now_ns();
	struct err e = { 0 };
	int err;

	if (!w->live)
		return 0;
	if (t >= w->live_next_ns) { /* areas that samples fall in should be known */
		live_look(w->live, true);
		w->live_next_ns = again(t, clock_now_ns(), LOOK_NS);
	}
	if (w->rings)
		perf_rings_drain(w->rings, now ? UINT64_MAX : t - SETTLED_NS, take, w);
	if (!now && t < w->next_ns)
		return 0;
	live_look(w->live, true);
	t = clock_now_ns();
	w->sum_ns += t - w->last_ns;
	err = advise_regions_look(&w->regions, w->pid, w->live, w->rings ? w->jumps : NULL);
	if (err)
		return err;
	w->looks++;
	w->cleared &= !page_since_clear(w->pid, &e);
	w->last_ns = clock_now_ns();
	w->next_ns = again(t, w->last_ns, w->interval_ns);
	return 0;
}

void advise_watch_wait(struct advise_watch *w, int ms)
{
	struct pollfd p = { .fd = w->rings ? perf_rings_fd(w->rings) : -1, .events = POLLIN };

	poll(&p, 1, ms);
}

/* ---- what came of it ---- */

struct advise_regions *advise_watch_regions(struct advise_watch *w)
{
	return &w->regions;
}

const struct advise_jumps *advise_watch_jumps(const struct advise_watch *w, const char **why)
{
	*why = w->why.text;
	return w->rings ? w->jumps : NULL;
}

void advise_watch_told(const struct advise_watch *w, struct advise_watched *out)
{
	*out = (struct advise_watched){ .looks = w->looks, .cleared = w->cleared };
	if (w->looks)
		out->interval_ns = w->sum_ns / w->looks;
	if (w->rings)
		out->lost = perf_rings_counts(w->rings)->lost;
}
