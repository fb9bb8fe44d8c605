// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "pmu_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "grow.h"
#include "perf_attr.h"
#include "perf_record.h"
#include "perf_refused.h"

/* What is done to try it: some milliseconds of loads and stores. */
enum { TRY_HZ = 20000, TRY_PAGES = 16, TRY_ROUNDS = 2000, TRY_BYTES = 1 << 16, RECORD_MAX = 65536, PAGE = 4096 };

struct pmu_events {
	struct pmu_plan plan;
	unsigned hz;
	bool whole_weight; /* an older kernel: PERF_SAMPLE_WEIGHT, not its parts */
	struct opened {
		uint64_t id; /* rising, as the kernel gives them out */
		int fd;
		uint32_t kind;
	} *v;
	size_t n, cap;
};

void pmu_events_attr(const struct pmu_event *ev, unsigned hz, bool on_exec, struct perf_event_attr *a)
{
	perf_attr_common(a);
	a->type = ev->type;
	a->config = ev->config[0];
	a->config1 = ev->config[1];
	a->config2 = ev->config[2];
	a->sample_type = PERF_RECORD_ACCESS_TYPE;
	a->sample_regs_user = 0;
	a->precise_ip = ev->precise & 3;
	a->inherit = 1;
	a->exclude_kernel = !ev->no_exclude;
	a->exclude_hv = !ev->no_exclude;
	if (!ev->leads && hz) {
		a->freq = 1;
		a->sample_freq = hz;
	} else if (!ev->leads) {
		a->sample_period = 1;
	}
	/* A member of a group goes with the one that leads it. */
	a->disabled = !ev->follows;
	a->enable_on_exec = on_exec && !ev->follows;
}

/* PERF_SAMPLE_WEIGHT_STRUCT is of Linux 5.12: the parts of the weight, of which the lowest is the latency. */
static void in_parts(struct perf_event_attr *a)
{
	a->sample_type = (a->sample_type & ~(uint64_t)PERF_SAMPLE_WEIGHT) | PERF_SAMPLE_WEIGHT_STRUCT;
}

static int open_one(struct pmu_events *p, struct perf_rings *r, struct perf_event_attr *a, pid_t tid, size_t cpu, int group)
{
	struct perf_event_attr parts = *a;
	int fd = -EINVAL;

	if (!p->whole_weight) {
		in_parts(&parts);
		fd = perf_rings_open_in(r, &parts, tid, cpu, group);
		if (fd != -EINVAL)
			return fd;
	}
	fd = perf_rings_open_in(r, a, tid, cpu, group);
	p->whole_weight = fd >= 0;
	return fd;
}

/* Those of @tid on one CPU.  A CPU that is not there, or that the PMU is not of, is no failure. */
static int add_on(struct pmu_events *p, struct perf_rings *r, pid_t tid, size_t cpu, bool on_exec)
{
	int leader = -1;
	size_t i;

	for (i = 0; i < p->plan.n; i++) {
		const struct pmu_event *ev = &p->plan.v[i];
		struct perf_event_attr a;
		int fd;

		if (!pmu_has_cpu(ev->cpus, perf_rings_cpu(r, cpu)))
			continue;
		if (grow_array((void **)&p->v, &p->cap, p->n + 1, sizeof(*p->v)))
			return -ENOMEM;
		pmu_events_attr(ev, p->hz, on_exec, &a);
		fd = open_one(p, r, &a, tid, cpu, ev->follows ? leader : -1);
		if (fd == -ENODEV)
			continue;
		if (fd < 0)
			return fd;
		p->v[p->n] = (struct opened){ .fd = fd, .kind = (uint32_t)i };
		ioctl(fd, PERF_EVENT_IOC_ID, &p->v[p->n++].id);
		leader = ev->leads ? fd : -1;
	}
	return 0;
}

int pmu_events_add(struct pmu_events *p, struct perf_rings *r, pid_t tid, bool on_exec)
{
	size_t before = p->n, i, n = perf_rings_cpus(r);
	int err = 0;

	for (i = 0; !err && i < n; i++)
		err = add_on(p, r, tid, i, on_exec);
	for (i = before; !err && !on_exec && i < p->n; i++)
		if (ioctl(p->v[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			err = -errno;
	while (err && p->n > before)
		close(p->v[--p->n].fd);
	return err;
}

void pmu_events_stop(struct pmu_events *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		ioctl(p->v[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

uint32_t pmu_events_kind(const struct pmu_events *p, uint64_t id)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->v[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->n && p->v[lo].id == id ? p->v[lo].kind : 0;
}

/* ---- is it true? ---- */

struct try {
	uint64_t lo, hi;
	unsigned inside;
};

static void note(void *ctx, const struct perf_record *r)
{
	struct try *t = ctx;

	t->inside += r->what == PERF_IS_ACCESS && r->u.access.addr >= t->lo && r->u.access.addr < t->hi;
}

static void access_memory(volatile unsigned char *p)
{
	unsigned i, round;

	for (round = 0; round < TRY_ROUNDS; round++)
		for (i = 0; i < TRY_BYTES; i += 64)
			p[i]++;
}

static int open_here(const struct pmu_event *ev, int group, bool parts)
{
	struct perf_event_attr a;

	pmu_events_attr(ev, TRY_HZ, false, &a);
	a.inherit = 0; /* such an event cannot be on all CPUs and have a ring */
	if (parts)
		in_parts(&a);
	return (int)syscall(SYS_perf_event_open, &a, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

/* Event @ev, with the one before it in front of it if it needs that.  Returns 0 or -errno and @e. */
static int try_event(const struct pmu_event *ev, struct err *e)
{
	int leader = ev->follows ? open_here(ev - 1, -1, true) : -1, fd = open_here(ev, leader, true), code = 0;
	struct perf_ring_counts counts = { 0 };
	size_t len = (TRY_PAGES + 1) * PAGE;
	unsigned char *memory = mmap(NULL, TRY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *bounce = malloc(RECORD_MAX), *base = MAP_FAILED;
	struct try t = { .lo = (uint64_t)(uintptr_t)memory, .hi = (uint64_t)(uintptr_t)memory + TRY_BYTES };
	struct perf_ring ring;

	if (fd < 0 && errno == EINVAL)
		fd = open_here(ev, leader, false);
	if (fd < 0)
		code = errno;
	else
		base = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base != MAP_FAILED && memory != MAP_FAILED && bounce && !perf_ring_init(&ring, base, len)) {
		ring.form = PERF_FORM_ACCESS;
		ioctl(ev->follows ? leader : fd, PERF_EVENT_IOC_ENABLE, 0);
		access_memory(memory);
		ioctl(ev->follows ? leader : fd, PERF_EVENT_IOC_DISABLE, 0);
		perf_ring_merge(&ring, 1, ~0ull, bounce, &counts, note, &t);
	}
	if (base != MAP_FAILED)
		munmap(base, len);
	if (fd >= 0)
		close(fd);
	if (leader >= 0)
		close(leader);
	if (memory != MAP_FAILED)
		munmap(memory, TRY_BYTES);
	free(bounce);
	if (code == ENOENT || code == EOPNOTSUPP || code == ENODEV || code == ENODATA)
		return err_set(e, code, "PMU: %s is there, but cannot be opened (%s): leave out --source pmu: the timer's samples do without", ev->name, strerror(code));
	if (code == EINVAL)
		return err_set(e, code, "PMU: the kernel does not take %s as it is needed (%s)%s: leave out --source pmu: the timer's samples do without", ev->name, strerror(code),
			       ev->no_exclude ? ", as before Linux 6.2, where IBS samples whole machines only" : "");
	if ((code == EACCES || code == EPERM) && ev->no_exclude)
		return err_set(e, code, "PMU: %s cannot leave out what the kernel accesses, which this user may not see: run hotvar as root, or \"sysctl kernel.perf_event_paranoid=1\"", ev->name);
	if (code)
		return perf_refused(code, e);
	if (!t.inside)
		return err_set(e, ENODATA, "PMU: %s can be opened, but tells of no access that was done to try it, as in some virtual machines: leave out --source pmu: the timer's samples do without", ev->name);
	return 0;
}

static int try_all(const struct pmu_plan *plan, struct err *e)
{
	size_t i;

	for (i = 0; i < plan->n; i++) {
		int err;

		/* Of two kinds of cores this thread is on one; what the other has is alike. */
		if (plan->v[i].leads || plan->v[i].cpus[0])
			continue;
		err = try_event(&plan->v[i], e);
		if (err)
			return err;
	}
	return 0;
}

struct pmu_events *pmu_events_new(const char *devices, unsigned hz, struct err *e)
{
	struct pmu_events *p = calloc(1, sizeof(*p));

	if (!p) {
		err_set(e, ENOMEM, "PMU: no memory");
		return NULL;
	}
	p->hz = hz;
	if (!pmu_detect(devices, &p->plan, e) && !try_all(&p->plan, e))
		return p;
	pmu_events_free(p);
	return NULL;
}

const struct pmu_plan *pmu_events_plan(const struct pmu_events *p)
{
	return &p->plan;
}

void pmu_events_free(struct pmu_events *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->n; i++)
		close(p->v[i].fd);
	free(p->v);
	free(p);
}
