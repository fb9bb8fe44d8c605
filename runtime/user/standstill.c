// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "standstill.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "perf_attr.h"
#include "turns.h"

enum {
	PAGE = 4096,
	RING = 2 * PAGE,     /* with its first page, which says where it begins and ends */
	PATIENCE_NS = 1000000, /* past the time when it should have come */
	TOO_LATE_NS = 3000000, /* we did not get the CPU, and the timer was on all the time */
	LATE_NS = 30000,     /* more than the tail of an interrupt: some 5 us */
	BITS = 8 * sizeof(long),
};

/* ---- CPUs ---- */

int standstill_cpus_init(struct standstill_cpus *c)
{
	memset(c, 0, sizeof(*c));
	c->cpu = -1;
	return sched_getaffinity(0, sizeof(c->was), (cpu_set_t *)c->was) ? -errno : 0;
}

int standstill_go(struct standstill_cpus *c, int cpu)
{
	unsigned long only[STANDSTILL_CPUS / BITS] = { 0 };

	if (cpu == c->cpu)
		return 0;
	if (cpu < 0 || cpu >= STANDSTILL_CPUS || !(c->was[(size_t)cpu / BITS] >> (size_t)cpu % BITS & 1))
		return -EPERM;
	only[(size_t)cpu / BITS] = 1ul << (size_t)cpu % BITS;
	if (sched_setaffinity(0, sizeof(only), (cpu_set_t *)only))
		return errno == EINVAL ? -EPERM : -errno; /* none of it is in our cpuset */
	c->cpu = cpu;
	return 0;
}

void standstill_leave(struct standstill_cpus *c)
{
	if (c->cpu >= 0)
		sched_setaffinity(0, sizeof(c->was), (cpu_set_t *)c->was);
	c->cpu = -1;
}

/* ---- the timer ---- */

/*
 * It goes on until it is switched off: that it ends by itself after one sample, PERF_EVENT_IOC_REFRESH, would hang the machine
 * with Linux 6.16 and 6.17, which stop a timer within its own interrupt and wait there for it to end (since
 * 18dbcbfabfff, "perf: Fix the POLL_HUP delivery breakage", until eb3182ef0405, "perf/core: Fix system hang caused
 * by cpu-clock usage").
 */
static int make_timer(struct standstill *s, pid_t tid)
{
	struct perf_event_attr a;
	void *base;
	int fd;

	perf_attr_common(&a);
	a.config = PERF_COUNT_SW_CPU_CLOCK;
	a.sample_period = STANDSTILL_MOST_NS;
	a.sample_type = PERF_RECORD_COUNT_TYPE;
	a.watermark = 0;
	a.wakeup_events = 1;
	fd = (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	base = mmap(NULL, RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED || perf_ring_init(&s->ring, base, RING)) {
		int err = base == MAP_FAILED ? errno : EINVAL;

		if (base != MAP_FAILED)
			munmap(base, RING);
		close(fd);
		return -err;
	}
	s->ring.form = PERF_FORM_COUNT;
	s->base = base;
	s->fd = fd;
	return 0;
}

/* No timer for one whose turns are not told: it would never be known to have stood still. */
static int make(struct standstill *s, pid_t pid, pid_t tid)
{
	int turns, err;

	standstill_close(s);
	turns = turns_open(pid, tid);
	if (turns < 0)
		return errno != ENOENT ? -errno : turns_are_counted() ? -ESRCH : -ENOTSUP;
	err = make_timer(s, tid);
	if (err) {
		close(turns);
		return err;
	}
	s->turns = turns;
	s->pid = pid;
	s->tid = tid;
	return 0;
}

void standstill_close(struct standstill *s)
{
	if (!s->base)
		return;
	munmap(s->base, RING);
	close(s->fd);
	close(s->turns);
	s->base = NULL;
}

static void off(struct standstill *s)
{
	ioctl(s->fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* For how long the timer was on while the thread ran. */
static bool count_ns(const struct standstill *s, uint64_t *out)
{
	return read(s->fd, out, sizeof(*out)) == sizeof(*out);
}

struct got {
	struct perf_record *at;
	unsigned n;
};

static void take(void *ctx, const struct perf_record *r)
{
	struct got *g = ctx;

	if (r->what != PERF_IS_SAMPLE)
		return;
	*g->at = *r;
	g->n++;
}

/* What the ring has: how many samples, the last one in *@at. */
static unsigned drain(struct standstill *s, struct perf_record *at)
{
	uint64_t bounce[PAGE / 8];
	struct perf_ring_counts counts = { 0 };
	struct got g = { at, 0 };

	perf_ring_merge(&s->ring, 1, ~0ull, bounce, &counts, take, &g);
	return g.n;
}

static int wait_for_sample(struct standstill *s, uint64_t in_ns)
{
	struct timespec t = { 0, (long)(in_ns + PATIENCE_NS) };
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	int got = ppoll(&p, 1, &t, NULL);

	if (got < 0)
		return -errno;
	return !got ? -ETIME : p.revents & POLLIN ? 0 : -ESRCH;
}

static int set(struct standstill *s, pid_t pid, pid_t tid, uint64_t in_ns)
{
	struct perf_record old;
	int err = 0;

	if (!s->base || s->pid != pid || s->tid != tid)
		err = make(s, pid, tid);
	if (err)
		return err;
	drain(s, &old);
	/* This also makes it forget how far it had come before. */
	if (ioctl(s->fd, PERF_EVENT_IOC_PERIOD, &in_ns) || ioctl(s->fd, PERF_EVENT_IOC_ENABLE, 0)) {
		err = -errno;
		standstill_close(s);
		return err;
	}
	return 0;
}

/* The sample, if the thread stands where that was. */
static int arrive(struct standstill *s, struct perf_record *at)
{
	if (!turns_begun_by(s->turns, &s->slices))
		return -ENOTSUP;
	if (!count_ns(s, &s->count_ns) || drain(s, at) != 1)
		return -EBUSY;
	return at->cpu == (uint32_t)sched_getcpu() && s->count_ns - at->u.sample.word <= LATE_NS ? 0 : -EBUSY;
}

int standstill_begin(struct standstill *s, pid_t pid, pid_t tid, uint64_t in_ns, struct perf_record *at)
{
	int err = set(s, pid, tid, in_ns);
	uint64_t began_ns;

	if (err)
		return err;
	began_ns = clock_now_ns();
	err = wait_for_sample(s, in_ns);
	if (clock_now_ns() > began_ns + in_ns + TOO_LATE_NS)
		err = -EALREADY;
	if (!err)
		err = arrive(s, at);
	if (err)
		off(s);
	if (err == -ESRCH)
		standstill_close(s);
	return err;
}

bool standstill_held(struct standstill *s)
{
	uint64_t n, ns;
	bool held = count_ns(s, &ns) && ns == s->count_ns && turns_begun_by(s->turns, &n) && n == s->slices;

	off(s);
	return held;
}
