// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_process.c - one of the processes that are watched for whether huge pages would help them.
 *
 * Code has no file here: its place is its address, in an address space of number MM, so that what was
 * decoded of a program stays good until it executes another.
 */
#include "config.h"

#include "advise_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "page_since.h"
#include "perf_ring.h"
#include "proc.h"

enum { MM = 1, TIMES_A_LOOK = 10, LOOK_NS = 20000000 };

/* ---- what the code around a sample is ---- */

static bool env_site(void *ctx, const struct hvar_event *ev, uint64_t ip, struct code_site *out, uint64_t *start, uint64_t *end)
{
	struct advise_process *p = ctx;
	const struct hvar_vma *v = hvar_vmas_find(live_vmas(p->live), ip);

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
	struct advise_process *p = ctx;
	ssize_t n;

	p->reads++;
	n = p->mem < 0 ? -1 : pread(p->mem, buf, len, (off_t)at->where);
	return n > 0 ? (size_t)n : 0;
}

static bool env_function(void *ctx, const struct code_site *at, uint64_t *start, uint64_t *end)
{
	struct advise_process *p = ctx;
	const struct hvar_image *img;
	struct hvar_place at_ip;
	uint64_t first, last;
	uint32_t why;

	live_resolve(p->live, at->where, &at_ip);
	img = at_ip.module && at_ip.flags & HVAR_PLACE_VADDR ? live_image(p->live, at_ip.module, &why) : NULL;
	if (!img || !hvar_image_function(img, at_ip.vaddr, &first, &last))
		return false;
	*start = first + at_ip.bias;
	*end = last + at_ip.bias;
	return *start >= at_ip.vma.start && *end <= at_ip.vma.end;
}

static const struct estimate_env env_of = { .site = env_site, .code = env_code, .function = env_function };

void advise_process_sample(struct advise_process *p, const struct perf_record *r)
{
	struct estimate_env env = env_of;
	struct stream_sample s;

	if (!p->live)
		return;
	if (p->reads >= ADVISE_PROCESS_READS) {
		p->unread++;
		return;
	}
	env.ctx = p;
	perf_ring_sample(r, MM, &s);
	advise_jumps_sample(p->jumps, &env, live_vmas(p->live), &s);
}

void advise_process_hit(struct advise_process *p, const struct perf_record *r)
{
	struct estimate_env env = env_of;
	struct stream_sample s;

	if (!p->live || p->reads >= ADVISE_PROCESS_READS)
		return;
	env.ctx = p;
	perf_ring_sample(r, MM, &s);
	advise_jumps_hit(p->jumps, &env, &s);
}

/* ---- begin and end ---- */

static void read_comm(struct advise_process *p)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)p->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, p->comm, sizeof(p->comm) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	p->comm[n] = '\0';
	p->comm[strcspn(p->comm, "\n")] = '\0';
}

struct advise_process *advise_process_new(pid_t pid, uint64_t interval_ns, uint64_t reach)
{
	struct advise_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->mem = -1;
	p->pid = pid;
	p->interval_ns = interval_ns;
	p->regions.reach = reach;
	p->jumps = advise_jumps_new();
	if (p->jumps)
		return p;
	free(p);
	return NULL;
}

static void let_go(struct advise_process *p)
{
	if (p->mem >= 0)
		close(p->mem);
	p->mem = -1;
	live_free(p->live);
	p->live = NULL;
}

void advise_process_free(struct advise_process *p)
{
	if (!p)
		return;
	let_go(p);
	advise_jumps_free(p->jumps);
	advise_regions_fini(&p->regions);
	free(p);
}

int advise_process_begin(struct advise_process *p, bool clear, struct err *e)
{
	struct err ignored = { 0 };

	p->live = live_open(p->pid, e);
	if (!p->live)
		return -errno;
	p->mem = proc_open(p->pid, "mem", O_RDONLY);
	read_comm(p);
	p->cleared = !clear || !page_since_clear(p->pid, &ignored);
	p->last_ns = clock_now_ns();
	p->next_ns = p->last_ns + p->interval_ns;
	return 0;
}

static void forget(struct advise_process *p)
{
	struct advise_jumps *fresh = advise_jumps_new();

	if (fresh) {
		advise_jumps_free(p->jumps);
		p->jumps = fresh;
	}
	advise_regions_executed(&p->regions);
	p->looks = 0;
	p->sum_ns = 0;
	p->unread = 0;
}

int advise_process_executed(struct advise_process *p)
{
	struct advise_process now = { .pid = p->pid, .mem = -1, .interval_ns = p->interval_ns };
	struct err e = { 0 };
	int err = advise_process_begin(&now, false, &e);

	p->guarded = err == -EACCES || err == -EPERM;
	if (err)
		return err;
	let_go(p);
	forget(p);
	p->live = now.live;
	p->mem = now.mem;
	p->cleared = now.cleared;
	p->last_ns = now.last_ns;
	p->next_ns = now.next_ns;
	p->live_next_ns = 0;
	memcpy(p->comm, now.comm, sizeof(p->comm));
	return 0;
}

bool advise_process_is_new(const struct advise_process *p)
{
	const struct hvar_vma *v = p->live && p->mem >= 0 ? hvar_vmas_next(live_vmas(p->live), 0) : NULL;
	char byte;

	/* nothing to read is of a space that no task has any more: mem_rw() of the kernel's fs/proc/base.c */
	return v && pread(p->mem, &byte, 1, (off_t)v->start) == 0;
}

/* ---- looks ---- */

/* When something that took from @from to @to may come again. */
static uint64_t again(uint64_t from, uint64_t to, uint64_t usual, size_t of)
{
	uint64_t share = (to - from) * TIMES_A_LOOK * of;

	return to + (share > usual ? share : usual);
}

void advise_process_see(struct advise_process *p, size_t of)
{
	uint64_t t = clock_now_ns();

	p->reads = 0;
	if (!p->live || t < p->live_next_ns)
		return;
	live_look(p->live, true);
	p->live_next_ns = again(t, clock_now_ns(), LOOK_NS, of);
}

int advise_process_look(struct advise_process *p, bool now, bool samples, size_t of)
{
	uint64_t t = clock_now_ns();
	struct err e = { 0 };
	int err;

	if (!p->live || (!now && t < p->next_ns))
		return 0;
	live_look(p->live, true);
	t = clock_now_ns();
	err = advise_regions_look(&p->regions, p->pid, p->live, samples ? p->jumps : NULL);
	p->guarded = err == -EACCES || err == -EPERM;
	if (err)
		return err;
	p->sum_ns += t - p->last_ns;
	p->looks++;
	p->cleared &= !page_since_clear(p->pid, &e);
	p->last_ns = clock_now_ns();
	p->next_ns = again(t, p->last_ns, p->interval_ns, of);
	return 0;
}
