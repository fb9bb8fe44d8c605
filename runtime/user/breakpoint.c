// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "breakpoint.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	RING = 4 * PAGE,   /* bytes of data: BREAKPOINT_MOST of 264 bytes, and some more */
	RECORD_MOST = 576,
};

/* Hits, and how long the program has run while the breakpoint was on, since it was made. */
static bool read_count(const struct breakpoint *b, uint64_t *ran_ns)
{
	uint64_t v[2];

	if (read(b->fd, v, sizeof(v)) != sizeof(v))
		return false;
	*ran_ns = v[1];
	return true;
}

static int open_event(struct perf_event_attr *a, pid_t tid)
{
	return (int)syscall(SYS_perf_event_open, a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* What it tells goes to the ring of @ring_fd: in one call, which kernels do not know for one thread's events before some version. */
static int open_beside(struct perf_event_attr *a, pid_t tid, int ring_fd)
{
	static bool needs_two;
	int fd = -1;

	if (!needs_two)
		fd = (int)syscall(SYS_perf_event_open, a, tid, -1, ring_fd,
				  PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0 || (!needs_two && errno != EINVAL))
		return fd;
	fd = open_event(a, tid);
	if (fd < 0)
		return fd;
	if (!ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd)) {
		needs_two = true;
		return fd;
	}
	close(fd);
	return -1;
}

/* A ring for what @tid comes to, of an event that tells nothing itself. */
static bool make_ring(struct breakpoint *b, pid_t tid)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd = open_event(&a, tid);
	void *base = fd < 0 ? MAP_FAILED :
			      mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	*b = (struct breakpoint){ .base = base, .ring_fd = fd, .fd = -1, .tid = tid };
	return true;
}

/* What has been set, but not its ring: that makes half of what another one costs. */
static void close_event(struct breakpoint *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
	b->left = 0;
}

static bool make(struct breakpoint *b, struct perf_event_attr *a, pid_t tid)
{
	if (b->base && b->tid != tid)
		breakpoint_close(b);
	if (!b->base && !make_ring(b, tid))
		return false;
	b->fd = open_beside(a, tid, b->ring_fd);
	if (b->fd >= 0)
		return true;
	breakpoint_close(b);
	return false;
}

void breakpoint_close(struct breakpoint *b)
{
	if (!b->base)
		return;
	close_event(b);
	munmap(b->base, PAGE + RING);
	close(b->ring_fd);
	b->base = NULL;
}

bool breakpoint_set(struct breakpoint *b, pid_t tid, uint64_t addr, uint32_t hits)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = addr,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.sample_type = PERF_RECORD_SAMPLE_TYPE | PERF_SAMPLE_READ,
		.sample_regs_user = PERF_RECORD_REGS,
		.sample_id_all = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	uint64_t ran_ns = 0;
	int err;

	/*
	 * One that ended by itself is stopped for good on kernels since 6.16 (__perf_event_overflow() calls the pmu's
	 * stop(), which hw_breakpoint_add() does not undo).  Kernels before 4.17 do not move any.
	 */
	if (b->base && (b->tid != tid || !b->left || ioctl(b->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a) || !read_count(b, &ran_ns)))
		close_event(b);
	if ((!b->base || b->fd < 0) && !make(b, &a, tid))
		return false;
	if (hits > b->left)
		err = ioctl(b->fd, PERF_EVENT_IOC_REFRESH, (int)(hits - b->left)); /* adds, and sets it on */
	else
		err = ioctl(b->fd, PERF_EVENT_IOC_ENABLE, 0);
	if (err) {
		breakpoint_close(b);
		return false;
	}
	b->hits = hits > b->left ? hits : b->left;
	b->ran_ns = ran_ns;
	return true;
}

void breakpoint_off(struct breakpoint *b)
{
	ioctl(b->fd, PERF_EVENT_IOC_DISABLE, 0);
}

static uint64_t ring_head(const struct breakpoint *b)
{
	return __atomic_load_n(&((const struct perf_event_mmap_page *)b->base)->data_head, __ATOMIC_ACQUIRE);
}

bool breakpoint_was_hit(const struct breakpoint *b)
{
	return ring_head(b) != b->tail;
}

uint64_t breakpoint_ran_ns(const struct breakpoint *b)
{
	uint64_t ran_ns;

	return read_count(b, &ran_ns) ? ran_ns - b->ran_ns : 0;
}

/* @len bytes of the ring from @at on, where it may begin again. */
static void ring_copy(const struct breakpoint *b, uint64_t at, void *to, size_t len)
{
	const uint8_t *data = (const uint8_t *)b->base + PAGE;
	size_t off = at % RING, n = RING - off;

	n = n < len ? n : len;
	memcpy(to, data + off, n);
	memcpy((uint8_t *)to + n, data, len - n);
}

bool breakpoint_has_ended(const struct breakpoint *b)
{
	uint64_t head = ring_head(b), at = b->tail;
	uint32_t got = 0;

	while (head - at >= sizeof(struct perf_event_header) && head - at <= RING) {
		struct perf_event_header h;

		ring_copy(b, at, &h, sizeof(h));
		if (h.size < sizeof(h))
			break;
		got += h.type == PERF_RECORD_SAMPLE;
		at += h.size;
	}
	return got >= b->hits;
}

/*
 * The kernel's record has, between period and registers, the count and for how long the program has run
 * since the breakpoint was made; without those it is as perf_record.h knows it.
 */
static bool read_record(uint64_t *rec, size_t len, struct perf_record *out, uint64_t *ran_ns)
{
	enum { READ_AT = 56, READ_LEN = 16, ENABLED_AT = READ_AT + 8 };
	struct perf_event_header h;
	uint8_t *at = (uint8_t *)rec;

	if (len < READ_AT + READ_LEN)
		return false;
	memcpy(ran_ns, at + ENABLED_AT, sizeof(*ran_ns));
	memcpy(&h, at, sizeof(h));
	h.size = (uint16_t)(len - READ_LEN);
	memcpy(at, &h, sizeof(h));
	memmove(at + READ_AT, at + READ_AT + READ_LEN, len - READ_AT - READ_LEN);
	return perf_record_read(rec, len - READ_LEN, out) == 1 && out->what == PERF_IS_SAMPLE;
}

uint64_t breakpoint_read(struct breakpoint *b, bool (*fn)(void *ctx, const struct perf_record *hit, uint64_t ran_ns),
			 void *ctx)
{
	uint64_t head = ring_head(b), at = b->tail, ran_ns, lost = 0;
	uint64_t rec[RECORD_MOST / 8];
	struct perf_record r;
	uint32_t got = 0;

	while (head - at >= sizeof(struct perf_event_header) && head - at <= RING) {
		struct perf_event_header h;

		ring_copy(b, at, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - at)
			break;
		if (h.type == PERF_RECORD_SAMPLE) {
			got++;
			if (h.size <= sizeof(rec))
				ring_copy(b, at, rec, h.size);
			if (h.size > sizeof(rec) || !read_record(rec, h.size, &r, &ran_ns) || !fn(ctx, &r, ran_ns - b->ran_ns))
				lost++;
		}
		at += h.size;
	}
	b->tail = head;
	__atomic_store_n(&((struct perf_event_mmap_page *)b->base)->data_tail, head, __ATOMIC_RELEASE);
	b->left = b->hits > got ? b->hits - got : 0;
	return lost;
}
