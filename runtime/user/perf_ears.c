// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "perf_ears.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "perf_attr.h"

enum {
	PAGE = 4096,
	LEAST_ROOM = 16 * PAGE, /* 300 samples */
	RECORD_MAX = 65536,
	SLOW_NS = 250000000, /* a ring that has room for a second of samples is not full before */
};

/* On one CPU: an event of our own that counts nothing and carries a ring. */
struct ear {
	int fd; /* -1: none so far */
	void *base;
	size_t len;
	struct perf_ring *ring; /* borrowed */
};

/*
 * An event gets another ring, which a thread of its own waits for.  It is the thread's until it is done; but whether it is wanted
 * still may be said meanwhile.
 */
struct change {
	pthread_t thread;
	bool begun; /* the thread is there, to be joined */
	int event, to;
	int home; /* the ring that it had, if it is one of ours that it gets; -1 */
	int err;
	bool back; /* it was to go home as well, which @err is of */
	bool slow;
	uint64_t own_ns;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock */
	bool unwanted; /* home, at once */
	bool done;
};

struct perf_ears {
	struct perf_rings *r;
	struct ear *v; /* by number of perf_rings_cpus() */
	size_t open;   /* the one that is; perf_rings_cpus(): none */
	uint64_t *bounce;
	struct change change;
	size_t then; /* what is open when it is done */
	bool used, slow;
	uint64_t lost; /* before the first one was opened */
	uint64_t own_ns;
};

struct perf_ears *perf_ears_new(struct perf_rings *r)
{
	struct perf_ears *e = calloc(1, sizeof(*e));
	size_t n = perf_rings_cpus(r);
	pthread_condattr_t attr;

	if (!e)
		return NULL;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&e->change.changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&e->change.lock, NULL);
	e->r = r;
	e->open = n;
	e->v = calloc(n, sizeof(*e->v));
	e->bounce = malloc(RECORD_MAX);
	for (size_t i = 0; e->v && i < n; i++)
		e->v[i].fd = -1;
	if (e->v && e->bounce)
		return e;
	perf_ears_free(e);
	return NULL;
}

/* As large as the others, which is enough for what comes while we do not; less if no more memory may be locked. */
static void *map(struct perf_ears *e, int fd, size_t *len)
{
	size_t room = perf_rings_room(e->r);
	void *base;

	for (;;) {
		*len = PAGE + room;
		base = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (base != MAP_FAILED || room <= LEAST_ROOM || (errno != EPERM && errno != ENOMEM))
			return base;
		room /= 2;
	}
}

/* Each record wakes: there is more than one byte. */
static int make(struct perf_ears *e, size_t i)
{
	struct ear *ear = &e->v[i];
	struct perf_event_attr a;
	struct perf_ring ring;
	size_t len;
	void *base;
	int fd;

	perf_attr_common(&a);
	a.wakeup_watermark = 1;
	fd = (int)syscall(SYS_perf_event_open, &a, 0, perf_rings_cpu(e->r, i), -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	base = map(e, fd, &len);
	if (base == MAP_FAILED || perf_ring_init(&ring, base, len) || !(ear->ring = perf_rings_another(e->r))) {
		int err = base == MAP_FAILED ? errno : EINVAL;

		if (base != MAP_FAILED)
			munmap(base, len);
		close(fd);
		return -err;
	}
	ring.last_ns = clock_now_ns();
	*ear->ring = ring;
	ear->base = base;
	ear->len = len;
	ear->fd = fd;
	return 0;
}

static size_t number_of(const struct perf_ears *e, int cpu)
{
	size_t i = 0;

	while (i < perf_rings_cpus(e->r) && perf_rings_cpu(e->r, i) != cpu)
		i++;
	return i;
}

/* ---- changes of rings ---- */

static int set_ring(struct change *c, int ring)
{
	uint64_t began_ns = clock_now_ns();
	int err = ioctl(c->event, PERF_EVENT_IOC_SET_OUTPUT, ring) ? -errno : 0;

	c->slow |= clock_now_ns() - began_ns > SLOW_NS;
	return err;
}

static void *change(void *arg)
{
	struct change *c = arg;

	c->err = set_ring(c, c->to);
	pthread_mutex_lock(&c->lock);
	if (c->unwanted && !c->err && c->home >= 0) {
		pthread_mutex_unlock(&c->lock);
		c->back = true;
		c->err = set_ring(c, c->home);
		pthread_mutex_lock(&c->lock);
	}
	c->own_ns = clock_own_cpu_ns();
	c->done = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* @event gets ring @to; then @then is open.  Where no thread can be had we wait ourselves.  Signals are for the threads that there were. */
static void begin(struct perf_ears *e, int event, int to, int home, size_t then)
{
	struct change *c = &e->change;
	sigset_t all, was;

	c->event = event;
	c->to = to;
	c->home = home;
	c->back = c->slow = c->unwanted = c->done = false;
	c->own_ns = 0;
	e->then = then;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	c->begun = !pthread_create(&c->thread, NULL, change, c);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (!c->begun) {
		c->err = set_ring(c, to);
		c->done = true;
	}
}

/* What came of the last one: 0, -errno. */
static int end(struct perf_ears *e)
{
	struct change *c = &e->change;

	if (c->begun)
		pthread_join(c->thread, NULL);
	c->begun = c->done = false;
	e->slow |= c->slow;
	e->own_ns += c->own_ns;
	if (c->back ? c->err : !c->err)
		e->open = e->then;
	return c->err;
}

/* For @ns at most; 0: it is done, or there is none; -EINPROGRESS: not yet, and if it opens an ear, it closes it as well; or -errno. */
static int wait_for_change(struct perf_ears *e, uint64_t ns)
{
	struct change *c = &e->change;
	struct timespec until;
	int err = 0;

	if (!c->begun)
		return c->done ? end(e) : 0;
	ns += clock_now_ns();
	until = (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	pthread_mutex_lock(&c->lock);
	while (!c->done && !err)
		err = pthread_cond_timedwait(&c->changed, &c->lock, &until);
	c->unwanted |= !c->done;
	err = c->done ? 0 : -EINPROGRESS;
	pthread_mutex_unlock(&c->lock);
	return err ? err : end(e);
}

int perf_ears_open(struct perf_ears *e, int cpu)
{
	size_t i = number_of(e, cpu);
	int err = perf_ears_close(e), event = i < perf_rings_cpus(e->r) ? perf_rings_event(e->r, i) : -1, home;

	if (err)
		return err;
	if (event < 0)
		return i < perf_rings_cpus(e->r) ? -EPERM : -ENODEV;
	if (e->v[i].fd < 0)
		err = make(e, i);
	if (err)
		return err;
	if (!e->used)
		e->lost = perf_rings_counts(e->r)->lost;
	e->used = true;
	perf_rings_home(e->r, i, &event, &home);
	begin(e, event, e->v[i].fd, home, i);
	err = wait_for_change(e, SLOW_NS);
	e->slow |= err == -EINPROGRESS;
	return err;
}

int perf_ears_close(struct perf_ears *e)
{
	size_t none = perf_rings_cpus(e->r);
	int err = wait_for_change(e, 0), event, home;

	if (err == -EINPROGRESS || e->open == none)
		return err == -EINPROGRESS ? err : 0;
	perf_rings_home(e->r, e->open, &event, &home);
	begin(e, event, home, -1, none);
	return wait_for_change(e, 0);
}

int perf_ears_stop(struct perf_ears *e)
{
	if (e->change.begun)
		end(e);
	perf_ears_close(e);
	if (e->change.begun)
		end(e);
	return e->open == perf_rings_cpus(e->r) ? 0 : e->change.err;
}

uint64_t perf_ears_own_ns(const struct perf_ears *e)
{
	return e->own_ns;
}

void perf_ears_free(struct perf_ears *e)
{
	if (!e)
		return;
	if (e->change.begun)
		end(e);
	for (size_t i = 0; e->v && i < perf_rings_cpus(e->r); i++) {
		if (e->v[i].fd < 0)
			continue;
		munmap(e->v[i].base, e->v[i].len);
		close(e->v[i].fd);
	}
	pthread_cond_destroy(&e->change.changed);
	pthread_mutex_destroy(&e->change.lock);
	free(e->v);
	free(e->bounce);
	free(e);
}

bool perf_ears_harm(const struct perf_ears *e)
{
	return e->slow || (e->used && perf_rings_counts(e->r)->lost > e->lost);
}

int perf_ears_wait(struct perf_ears *e, uint64_t ns, struct perf_record *out)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) }, none = { 0, 0 };
	const struct ear *ear = e->open < perf_rings_cpus(e->r) ? &e->v[e->open] : NULL;
	struct pollfd p = { .fd = ear ? ear->fd : -1, .events = POLLIN };
	int got;

	if (!ear)
		return -EBADF;
	ppoll(&p, 1, &none, NULL); /* what came before is no news */
	got = ppoll(&p, 1, &t, NULL);
	if (got < 0)
		return -errno;
	if (!got)
		return -ETIME;
	return perf_ring_newest(ear->ring, e->bounce, out) ? 0 : -EAGAIN;
}
