// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "perf_ears.h"

#include <errno.h>
#include <poll.h>
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

struct perf_ears {
	struct perf_rings *r;
	struct ear *v; /* by number of perf_rings_cpus() */
	size_t open;   /* the one that is; perf_rings_cpus(): none */
	uint64_t *bounce;
	bool used, slow;
	uint64_t lost; /* before the first one was opened */
};

struct perf_ears *perf_ears_new(struct perf_rings *r)
{
	struct perf_ears *e = calloc(1, sizeof(*e));
	size_t n = perf_rings_cpus(r);

	if (!e)
		return NULL;
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

void perf_ears_free(struct perf_ears *e)
{
	if (!e)
		return;
	for (size_t i = 0; e->v && i < perf_rings_cpus(e->r); i++) {
		if (e->v[i].fd < 0)
			continue;
		munmap(e->v[i].base, e->v[i].len);
		close(e->v[i].fd);
	}
	free(e->v);
	free(e->bounce);
	free(e);
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

int perf_ears_open(struct perf_ears *e, int cpu)
{
	size_t i = number_of(e, cpu);
	int err = perf_ears_close(e), event = i < perf_rings_cpus(e->r) ? perf_rings_event(e->r, i) : -1;
	uint64_t began_ns;

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
	began_ns = clock_now_ns();
	if (ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, e->v[i].fd))
		return -errno;
	e->slow |= clock_now_ns() - began_ns > SLOW_NS;
	e->open = i;
	return 0;
}

int perf_ears_close(struct perf_ears *e)
{
	uint64_t began_ns = clock_now_ns();
	int err = e->open < perf_rings_cpus(e->r) ? perf_rings_write_home(e->r, e->open) : 0;

	e->slow |= clock_now_ns() - began_ns > SLOW_NS;
	if (!err)
		e->open = perf_rings_cpus(e->r);
	return err;
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
