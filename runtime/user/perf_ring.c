// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "perf_ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf_calls.h"
#include "clock.h"
#include "perf_attr.h"
#include "perf_calls.h"
#include "perf_refused.h"
#include "perf_ring_pages.h"
#include "pmu_events.h"

enum {
	PAGE = 4096,
	MIN_PAGES = 1,
	RECORD_MAX = 65536,
	OWNERS = 4096,
	RESERVED_FDS = 600,
	MAX_APART = 128, /* tasks kept apart: the last ones */
	TAKEOVER = 3, /* samples in a row from another event */
};

struct cpu_ring {
	int fd; /* an event of our own that counts nothing and carries the ring */
	int cpu;
	void *base;
	size_t len;
};

/*
 * A thread born while its process is being attached to may have inherited its
 * parent's event on a CPU and been given one of its own: two timers for one
 * task.  The first event seen for a task on a CPU owns it; samples of another are
 * left out, unless the owner is not heard of any more.
 */
struct owner {
	uint32_t tid, cpu;
	uint64_t id;
	uint32_t others; /* samples in a row from another event */
	uint32_t kind;	 /* which event of a PMU's: each has an owner of its own */
};

struct perf_rings {
	struct perf_rings_options o;
	size_t pages;
	struct cpu_ring *cpus;
	struct perf_ring *rings; /* beside cpus */
	size_t n, n_another; /* of rings: others behind those beside cpus */
	int *fds; /* of the events of all tasks */
	size_t n_fds, cap_fds;
	size_t tasks;
	uint64_t skipped;
	bool counts_lost; /* its events tell what there was no room for */
	bool user_only; /* faults in the kernel may not be seen */
	int apart[MAX_APART]; /* events whose being there is all they do */
	size_t n_apart;	      /* ever opened */
	int epoll;
	struct perf_ring_counts counts;
	uint64_t *bounce;
	struct owner *owners; /* once there are two tasks */
	perf_record_fn fn;
	void *ctx;
};

static int perf_open_in(struct perf_event_attr *attr, pid_t tid, int cpu, int group)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, group, PERF_FLAG_FD_CLOEXEC);
}

static int perf_open(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return perf_open_in(attr, tid, cpu, -1);
}

/* "0-3,5,8-9" in @text: calls add(cpu) for each. */
static int each_cpu(const char *text, int (*add)(struct perf_rings *, int, struct err *), struct perf_rings *r, struct err *e)
{
	while (*text >= '0' && *text <= '9') {
		char *end;
		unsigned long lo = strtoul(text, &end, 10), hi = lo;

		if (*end == '-')
			hi = strtoul(end + 1, &end, 10);
		for (; lo <= hi && lo < 65536; lo++) {
			int err = add(r, (int)lo, e);

			if (err)
				return err;
		}
		text = *end == ',' ? end + 1 : end;
	}
	return 0;
}

/* A carrier on @cpu.  A CPU that is possible but not there now is passed over. */
static int add_cpu(struct perf_rings *r, int cpu, struct err *e)
{
	struct perf_event_attr a;
	struct cpu_ring *v;
	int fd;

	perf_attr_carrier(&a, &r->o);
	perf_attr_counts_lost(&a);
	fd = perf_open(&a, r->o.wide ? -1 : 0, cpu);
	r->counts_lost |= fd >= 0;
	if (fd < 0 && errno == EINVAL && !r->counts_lost) {
		a.read_format = 0;
		fd = perf_open(&a, r->o.wide ? -1 : 0, cpu);
	}
	if (fd < 0 && (errno == ENODEV || errno == EINVAL))
		return 0;
	if (fd < 0)
		return perf_refused(errno, e);
	v = realloc(r->cpus, (r->n + 1) * sizeof(*v));
	if (!v) {
		close(fd);
		return err_set(e, ENOMEM, "perf rings: no memory");
	}
	r->cpus = v;
	v[r->n++] = (struct cpu_ring){ .fd = fd, .cpu = cpu, .base = MAP_FAILED };
	return 0;
}

/*
 * All that are possible, whether online or not: a container may be shown a list
 * of its own as online.  The kernel says which are not there.
 */
static int add_cpus(struct perf_rings *r, struct err *e)
{
	FILE *f = fopen("/sys/devices/system/cpu/possible", "re");
	char text[4096];
	int err;

	if (!f || !fgets(text, sizeof(text), f))
		snprintf(text, sizeof(text), "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
	if (f)
		fclose(f);
	err = each_cpu(text, add_cpu, r, e);
	if (!err && !r->n)
		err = err_set(e, EINVAL, "perf timer: no CPU takes it (\"%.40s\" are possible); use --source ptrace", text);
	return err;
}

static void unmap_rings(struct perf_rings *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->cpus[i].base != MAP_FAILED)
			munmap(r->cpus[i].base, r->cpus[i].len);
		r->cpus[i].base = MAP_FAILED;
	}
}

/* Rings of @pages data pages for all CPUs, or none. */
static int map_rings(struct perf_rings *r, size_t pages)
{
	for (size_t i = 0; i < r->n; i++) {
		struct cpu_ring *c = &r->cpus[i];

		c->len = (pages + 1) * PAGE;
		c->base = mmap(NULL, c->len, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
		if (c->base == MAP_FAILED || perf_ring_init(&r->rings[i], c->base, c->len)) {
			int code = c->base == MAP_FAILED ? errno : EINVAL;

			unmap_rings(r);
			return -code;
		}
		r->rings[i].last_ns = clock_now_ns();
		r->rings[i].form = r->o.pmu ? PERF_FORM_ACCESS : r->o.faults ? PERF_FORM_FAULT : r->o.watch ? PERF_FORM_WATCH : PERF_FORM_TIMER;
	}
	return 0;
}

/* The kernel's room for rings is shared with the user's other measurings: take less if need be. */
static int map_what_fits(struct perf_rings *r, struct err *e)
{
	int err;

	r->rings = calloc(2 * r->n, sizeof(*r->rings));
	if (!r->rings)
		return err_set(e, ENOMEM, "perf rings: no memory");
	for (;;) {
		err = map_rings(r, r->pages);
		if (!err)
			return 0;
		if ((err != -EPERM && err != -ENOMEM) || r->pages == MIN_PAGES)
			break;
		r->pages /= 2;
	}
	return err_set(e, -err, "perf rings: %s; raise the limit with "
		       "\"sysctl kernel.perf_event_mlock_kb=1032\" as root or \"ulimit -l\"",
		       err == -EPERM ? "no more memory may be locked" : strerror(-err));
}

static void attr_task(const struct perf_rings *r, struct perf_event_attr *a)
{
	perf_attr_task(a, &r->o);
	if (r->counts_lost && r->o.maps && (!r->o.hz || r->o.faults) && !r->o.pmu)
		perf_attr_counts_lost(a);
	if (r->o.faults)
		a->exclude_kernel = a->exclude_hv = r->user_only;
}

/* Have tasks two events each? */
static bool calls_beside(const struct perf_rings *r)
{
	return r->o.faults && r->o.calls_id;
}

/* A carrier proves little: the timer itself, with user registers, on ourselves. */
static int try_timer(struct perf_rings *r, struct err *e)
{
	struct perf_event_attr a;
	int fd;

	if (r->o.wide || r->o.watch)
		return 0; /* its carriers are all there is; the caller's own events are tried by it */
	attr_task(r, &a);
	fd = perf_open(&a, 0, r->cpus[0].cpu);
	if (fd < 0 && r->o.faults && (errno == EACCES || errno == EPERM)) {
		r->user_only = true;
		attr_task(r, &a);
		fd = perf_open(&a, 0, r->cpus[0].cpu);
	}
	if (fd >= 0 && calls_beside(r)) {
		close(fd);
		perf_attr_calls(&a, &r->o);
		fd = perf_open(&a, 0, r->cpus[0].cpu);
	}
	if (fd < 0)
		return perf_refused(errno, e);
	close(fd);
	return 0;
}

static int watch_rings(struct perf_rings *r, struct err *e)
{
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0)
		return perf_refused(errno, e);
	for (size_t i = 0; i < r->n; i++) {
		struct epoll_event ev = { .events = EPOLLIN };

		if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->cpus[i].fd, &ev))
			return perf_refused(errno, e);
	}
	return 0;
}

/* From here on the rings of the whole machine fill. */
static int start_wide(struct perf_rings *r, struct err *e)
{
	int err;

	for (size_t i = 0; i < r->n; i++) {
		err = bpf_calls_write_to(r->o.wide, r->cpus[i].cpu, r->cpus[i].fd);
		if (!err && ioctl(r->cpus[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			err = -errno;
		if (err)
			return perf_refused(-err, e);
	}
	return bpf_calls_start(r->o.wide, e);
}

struct perf_rings *perf_rings_new(const struct perf_rings_options *o, struct err *e)
{
	struct perf_rings *r = calloc(1, sizeof(*r));

	if (!r) {
		err_set(e, ENOMEM, "perf rings: no memory");
		return NULL;
	}
	r->o = *o;
	r->epoll = -1;
	r->bounce = malloc(RECORD_MAX);
	if (!r->bounce) {
		err_set(e, ENOMEM, "perf rings: no memory");
	} else if (!add_cpus(r, e) && !try_timer(r, e)) {
		r->pages = perf_ring_pages(o, r->n);
		if (!map_what_fits(r, e) && !watch_rings(r, e) && (!o->wide || !start_wide(r, e)))
			return r;
	}
	perf_rings_free(r);
	return NULL;
}

void perf_rings_free(struct perf_rings *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_fds; i++)
		close(r->fds[i]);
	for (size_t i = 0; i < r->n_apart && i < MAX_APART; i++)
		close(r->apart[i]);
	unmap_rings(r);
	for (size_t i = 0; i < r->n; i++)
		close(r->cpus[i].fd);
	if (r->epoll >= 0)
		close(r->epoll);
	free(r->fds);
	free(r->cpus);
	free(r->rings);
	free(r->bounce);
	free(r->owners);
	free(r);
}

/* Up to the hard limit; false if we are there already.  CMD was forked before: it has its own. */
static bool raise_fd_limit(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= l.rlim_max)
		return false;
	l.rlim_cur = l.rlim_max;
	return !setrlimit(RLIMIT_NOFILE, &l);
}

/*
 * Is @fd, the lowest that was free, so high that the rest of us would soon be left
 * without?  Maps must be read and code, whatever the number of threads.
 */
static bool too_high(int fd)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur == RLIM_INFINITY)
		return false;
	return (rlim_t)fd >= l.rlim_cur - (l.rlim_cur > 4 * RESERVED_FDS ? RESERVED_FDS : l.rlim_cur / 4);
}

static int room_for_fds(struct perf_rings *r)
{
	size_t cap = r->cap_fds ? r->cap_fds * 2 : 64, need = r->n_fds + (calls_beside(r) ? 2 : 1) * r->n;
	int *v;

	if (need <= r->cap_fds)
		return 0;
	if (cap < need)
		cap = need;
	v = realloc(r->fds, cap * sizeof(*v));
	if (!v)
		return -ENOMEM;
	r->fds = v;
	r->cap_fds = cap;
	return 0;
}

static int why_not_task(struct perf_rings *r, int code, pid_t tid, struct err *e)
{
	switch (code) {
	case ESRCH:
		return -ESRCH;
	case EMFILE:
	case ENFILE:
		r->skipped++;
		return err_set(e, EMFILE, "perf timer: no file descriptors left for thread %d; raise the limit with \"ulimit -n\"", (int)tid);
	case EACCES:
	case EPERM:
		return err_set(e, code, "process %d: perf may not look at it, since it is someone "
			       "else's or has changed its ids; run hotvar as root or as its owner",
			       (int)tid);
	default:
		return perf_refused(code, e);
	}
}

/* One event of @tid on CPU @i, writing to that CPU's ring. */
static int add_event(struct perf_rings *r, struct perf_event_attr *a, pid_t tid, size_t i)
{
	int fd = perf_rings_open(r, a, tid, i);

	if (fd < 0)
		return fd == -ENODEV ? 0 : fd; /* the CPU went away */
	r->fds[r->n_fds++] = fd;
	return 0;
}

size_t perf_rings_cpus(const struct perf_rings *r)
{
	return r->n;
}

bool perf_rings_user_only(const struct perf_rings *r)
{
	return r->user_only;
}

int perf_rings_event(const struct perf_rings *r, size_t i)
{
	return r->tasks == 1 && r->n_fds == r->n ? r->fds[i] : -1;
}

/* The first task's events come first, and stay. */
void perf_rings_home(const struct perf_rings *r, size_t i, int *event, int *home)
{
	*event = r->fds[i];
	*home = r->cpus[i].fd;
}

size_t perf_rings_room(const struct perf_rings *r)
{
	return r->pages * PAGE;
}

struct perf_ring *perf_rings_another(struct perf_rings *r)
{
	return r->n_another < r->n ? &r->rings[r->n + r->n_another++] : NULL;
}

int perf_rings_cpu(const struct perf_rings *r, size_t i)
{
	return r->cpus[i].cpu;
}

int perf_rings_open(struct perf_rings *r, struct perf_event_attr *a, pid_t tid, size_t i)
{
	return perf_rings_open_in(r, a, tid, i, -1);
}

int perf_rings_open_in(struct perf_rings *r, struct perf_event_attr *a, pid_t tid, size_t i, int group)
{
	int fd = perf_open_in(a, tid, r->cpus[i].cpu, group);

	if (fd < 0 && errno == EMFILE && raise_fd_limit())
		fd = perf_open_in(a, tid, r->cpus[i].cpu, group);
	if (fd < 0)
		return -errno;
	if (too_high(fd) && !raise_fd_limit()) {
		close(fd);
		return -EMFILE;
	}
	if ((a->type == PERF_TYPE_TRACEPOINT &&
	     ioctl(fd, PERF_EVENT_IOC_SET_FILTER, perf_calls_filter(r->o.faults))) ||
	    ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->cpus[i].fd)) {
		int code = errno;

		close(fd);
		return -code;
	}
	return fd;
}

int perf_rings_add(struct perf_rings *r, pid_t tid, struct err *e)
{
	size_t before = r->n_fds;
	struct perf_event_attr a;
	int err;

	if (r->o.wide)
		return 0;
	err = room_for_fds(r);
	attr_task(r, &a);
	for (size_t i = 0; !err && i < r->n; i++)
		err = add_event(r, &a, tid, i);
	if (calls_beside(r))
		perf_attr_calls(&a, &r->o);
	for (size_t i = 0; !err && calls_beside(r) && i < r->n; i++)
		err = add_event(r, &a, tid, i);
	/* Not one is enabled before all write to their rings: nothing is lost without a count. */
	for (size_t i = before; !err && !r->o.on_exec && i < r->n_fds; i++)
		if (ioctl(r->fds[i], PERF_EVENT_IOC_ENABLE, 0))
			err = -errno;
	if (!err && r->o.pmu)
		err = pmu_events_add(r->o.pmu, r, tid, r->o.on_exec);
	if (err) {
		while (r->n_fds > before)
			close(r->fds[--r->n_fds]);
		return why_not_task(r, -err, tid, e);
	}
	if (++r->tasks == 2)
		r->owners = calloc(OWNERS, sizeof(*r->owners));
	return 0;
}

int perf_rings_add_again(struct perf_rings *r, pid_t tid, struct err *e)
{
	bool on_exec = r->o.on_exec;
	int err;

	r->o.on_exec = false;
	err = perf_rings_add(r, tid, e);
	r->o.on_exec = on_exec;
	return err;
}

uint64_t perf_rings_skipped(const struct perf_rings *r)
{
	return r->skipped;
}

/* A child that does not inherit all events of its maker has timers of its own. */
void perf_rings_keep_apart(struct perf_rings *r, pid_t tid)
{
	struct perf_event_attr a;
	int *slot = &r->apart[r->n_apart % MAX_APART];
	int fd;

	perf_attr_common(&a);
	fd = perf_open(&a, tid, -1);
	if (fd < 0)
		return;
	if (r->n_apart++ >= MAX_APART)
		close(*slot);
	*slot = fd;
}

void perf_rings_stop(struct perf_rings *r)
{
	for (size_t i = 0; i < r->n_fds; i++)
		ioctl(r->fds[i], PERF_EVENT_IOC_DISABLE, 0);
	if (r->o.pmu)
		pmu_events_stop(r->o.pmu);
	if (!r->o.wide)
		return;
	bpf_calls_stop(r->o.wide);
	for (size_t i = 0; i < r->n; i++)
		ioctl(r->cpus[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

static uint64_t lost_by(int fd)
{
	uint64_t v[2] = { 0 }; /* the event's count is none of our business */

	return read(fd, v, sizeof(v)) == sizeof(v) ? v[1] : 0;
}

void perf_rings_count_rest(struct perf_rings *r)
{
	uint64_t lost = 0;

	if (!r->counts_lost || !r->o.maps || (r->o.hz && !r->o.faults) || r->o.pmu)
		return;
	for (size_t i = 0; i < r->n; i++)
		lost += lost_by(r->cpus[i].fd);
	for (size_t i = 0; i < r->n_fds; i++)
		lost += lost_by(r->fds[i]);
	if (lost > r->counts.lost)
		r->counts.lost = lost;
}

int perf_rings_fd(const struct perf_rings *r)
{
	return r->epoll;
}

/* Is @rec a sample of a task whose timer on that CPU is another event? */
static bool second_timer(struct perf_rings *r, const struct perf_record *rec)
{
	uint32_t tid = (uint32_t)rec->tid, kind = r->o.pmu ? pmu_events_kind(r->o.pmu, rec->id) : 0;
	struct owner *o = &r->owners[(tid * 2654435761u ^ rec->cpu * 40503u ^ kind * 97) % OWNERS];

	if (o->tid != tid || o->cpu != rec->cpu || o->kind != kind)
		*o = (struct owner){ .tid = tid, .cpu = rec->cpu, .id = rec->id, .kind = kind };
	if (o->id == rec->id) {
		o->others = 0;
		return false;
	}
	if (++o->others < TAKEOVER)
		return true;
	o->id = rec->id;
	o->others = 0;
	return false;
}

static void take(void *ctx, const struct perf_record *rec)
{
	struct perf_rings *r = ctx;

	if ((rec->what == PERF_IS_SAMPLE || rec->what == PERF_IS_ACCESS) && r->owners && second_timer(r, rec)) {
		r->counts.samples--;
		return;
	}
	r->fn(r->ctx, rec);
}

void perf_rings_drain(struct perf_rings *r, uint64_t until_ns, perf_record_fn fn, void *ctx)
{
	r->fn = fn;
	r->ctx = ctx;
	perf_ring_merge(r->rings, r->n + r->n_another, until_ns, r->bounce, &r->counts, take, r);
}

const struct perf_ring_counts *perf_rings_counts(const struct perf_rings *r)
{
	return &r->counts;
}
