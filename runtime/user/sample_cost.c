// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "sample_cost.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "perf_attr.h"

enum {
	PAGE = 4096,
	RING = 4 * PAGE, /* half of it, where the kernel would wake us, is more than all the samples take */
	HZ = 30000,
	SAMPLES = 11,
	FEWEST = 5,
	LONGEST_NS = 3000000, /* that this thread runs */
	TURN_NS = 200000,     /* it did not run for longer than that: counts as so much of it */
};

/*
 * So often, what the kernel needs for a sample is in the caches; a program at 1,000 Hz has used them for itself since.  Seen here,
 * with programs that use 0 to 20 MB between samples: 1.2 to 2 times as long, and some us for what was pushed out.
 */
static const double COLD = 1.6;

struct seen {
	uint64_t gap_ns[SAMPLES];
	unsigned n;
	uint64_t step_ns; /* the least from look to look */
};

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * The ring's head tells that a sample came since the last look, and so that it came between the clock's time
 * before that look and the one after this.
 */
static void look(volatile struct perf_event_mmap_page *ring, struct seen *s)
{
	uint64_t head = ring->data_head, before = clock_now_ns(), at = before, ran_ns = 0;
	bool came = false;

	s->step_ns = TURN_NS;
	while (s->n < SAMPLES && ran_ns < LONGEST_NS) {
		uint64_t now = clock_now_ns(), was = head, step_ns = now - at;

		if (came)
			s->gap_ns[s->n++] = now - before;
		head = ring->data_head;
		came = head != was;
		if (came)
			ring->data_tail = head;
		if (step_ns < s->step_ns)
			s->step_ns = step_ns;
		ran_ns += step_ns < TURN_NS ? step_ns : TURN_NS;
		before = at;
		at = now;
	}
}

static uint64_t cost(struct seen *s)
{
	uint64_t median_ns;

	if (s->n < FEWEST)
		return 0;
	qsort(s->gap_ns, s->n, sizeof(s->gap_ns[0]), by_size);
	median_ns = s->gap_ns[s->n / 2];
	return median_ns > 2 * s->step_ns ? (uint64_t)(COLD * (double)(median_ns - 2 * s->step_ns)) : 0;
}

uint64_t sample_cost_ns(void)
{
	struct perf_rings_options o = { .hz = HZ };
	struct perf_event_attr a;
	struct seen s = { .n = 0 };
	void *ring;
	int fd;

	perf_attr_task(&a, &o);
	a.inherit = 0; /* has no ring for all CPUs */
	fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return 0;
	ring = mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring != MAP_FAILED && !ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		look(ring, &s);
	if (ring != MAP_FAILED)
		munmap(ring, PAGE + RING);
	close(fd);
	return cost(&s);
}
