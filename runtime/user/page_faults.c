// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_faults.c - the pages at which a process faults, from perf's software event.
 *
 * One ring for each CPU; each thread has an event on each CPU (an inherited event cannot be
 * for all CPUs and have a ring), and all of a CPU's write to its first one's.  Records are multiples of
 * 8 bytes and are read word by word, so that none is cut at the ring's end; those of all rings in the order of their times, since
 * what a task does before and after a fork may be on two CPUs:
 *
 *	SAMPLE	header, ip, pid and tid, time, addr; of a tracepoint then its size (4 bytes) and its data
 *	FORK	header, pid and ppid, tid and ptid, time, (pid and tid, time)
 *	COMM	header (misc says whether it comes with an execve), pid and tid, name, (pid and tid, time)
 *	LOST	header, id, how many, (pid and tid, time)
 */
#include "config.h"

#include "page_faults.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "grow.h"
#include "target.h"

enum { DATA_PAGES = 64, PAGE = 4096, MAX_EVENTS = 1 << 16, RAW = 44, PASSES = 16 };

#define SETTLED_NS 1000000 /* a record that is older is in its ring by now */

struct ring {
	int fd; /* the event that carries it */
	struct perf_event_mmap_page *page;
	uint64_t head, tail, time_ns; /* while it is drained: up to where, from where, of the record there */
	struct perf_event_header h; /* likewise; size 0: none is left */
};

struct page_faults {
	struct page_faults_ask ask;
	pid_t pid;
	int ids[2];	/* of the tracepoints */
	unsigned n_ids; /* 0: the software event */
	struct ring *rings; /* by CPU; fd -1: none on it */
	struct pollfd *polls;
	size_t n_cpus;
	int *fds;
	size_t n_fds, cap_fds;
	bool user_only, left_out;
	uint64_t lost;
};

/* Event number @i of those that there are for each thread and CPU. */
static int perf_open(const struct page_faults *f, unsigned i, pid_t tid, int cpu, bool on_exec)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = f->n_ids ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE,
		.config = f->n_ids ? (uint64_t)f->ids[i] : PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | (f->n_ids ? PERF_SAMPLE_RAW : 0),
		.task = !i && f->ask.forked,
		.comm = !i && f->ask.executed,
		.comm_exec = !i && f->ask.executed,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.inherit = 1,
		.disabled = 1,
		.enable_on_exec = on_exec,
		.exclude_kernel = f->user_only,
		.exclude_hv = f->user_only,
		.watermark = 1,
		.wakeup_watermark = DATA_PAGES * PAGE / 4,
	};

	return (int)syscall(SYS_perf_event_open, &a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The event at @fd writes to CPU @cpu's ring, which it carries if it is the first. */
static int join_ring(struct page_faults *f, int fd, int cpu)
{
	struct ring *r = &f->rings[cpu];
	void *base;

	if (r->fd >= 0)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd) ? -errno : 0;
	base = mmap(NULL, (1 + DATA_PAGES) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	r->fd = fd;
	r->page = base;
	f->polls[cpu].fd = fd;
	return 0;
}

static int add_event(struct page_faults *f, unsigned i, pid_t tid, int cpu, bool on_exec)
{
	int fd = perf_open(f, i, tid, cpu, on_exec), err;

	if (fd < 0 && (errno == EACCES || errno == EPERM) && !f->user_only && !f->n_fds) {
		f->user_only = true;
		fd = perf_open(f, i, tid, cpu, on_exec);
	}
	if (fd < 0)
		return -errno;
	err = join_ring(f, fd, cpu);
	if (!err && (f->n_fds >= MAX_EVENTS ||
		     grow_array((void **)&f->fds, &f->cap_fds, f->n_fds + 1, sizeof(*f->fds))))
		err = -EMFILE;
	if (err) {
		if (f->rings[cpu].fd == fd) {
			munmap(f->rings[cpu].page, (1 + DATA_PAGES) * PAGE);
			f->rings[cpu].fd = f->polls[cpu].fd = -1;
		}
		close(fd);
		return err;
	}
	f->fds[f->n_fds++] = fd;
	if (!on_exec)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

static int add_thread(struct page_faults *f, pid_t tid, bool on_exec)
{
	int err = -ENODEV, one;

	for (size_t cpu = 0; cpu < f->n_cpus; cpu++) {
		one = add_event(f, 0, tid, (int)cpu, on_exec);
		if (!one && f->n_ids > 1)
			one = add_event(f, 1, tid, (int)cpu, on_exec);
		if (!one)
			err = 0;
		else if (one != -ENODEV) /* a CPU that is off */
			return one;
	}
	return err;
}

/* Threads born meanwhile inherit from their makers, or are met here; twice does no harm. */
static int add_those_listed(struct page_faults *f)
{
	char path[64];
	struct dirent *d;
	int err = -ESRCH, one;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)f->pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((d = readdir(dir)) != NULL) {
		pid_t tid = (pid_t)atoi(d->d_name);

		if (tid <= 0)
			continue;
		one = add_thread(f, tid, false);
		if (!one)
			err = 0;
		else if (one != -ESRCH && !err)
			f->left_out = true;
		else if (one != -ESRCH) {
			err = one;
			break;
		}
	}
	closedir(dir);
	return err;
}

/* Each that is listed may end before it is added, and others go on. */
static int add_threads(struct page_faults *f)
{
	int err = -ESRCH;

	for (int i = 0; i < PASSES && err == -ESRCH && (!i || target_is_alive(f->pid)); i++)
		err = add_those_listed(f);
	return err;
}

/* The number of the tracepoint exceptions:@name, or -errno. */
static int tracepoint(const char *name)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[128], text[32];
	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/events/exceptions/%s/id", roots[i], name);
		f = fopen(path, "re");
		if (!f) {
			if (errno != ENOENT)
				err = -errno;
			continue;
		}
		err = fgets(text, sizeof(text), f) && atoi(text) > 0 ? atoi(text) : -EPROTO;
		fclose(f);
		break;
	}
	return err;
}

/* Without them the software event has to do, which does not tell a write from a read. */
static void find_tracepoints(struct page_faults *f)
{
	f->ids[0] = tracepoint("page_fault_user");
	f->ids[1] = tracepoint("page_fault_kernel");
	if (f->ids[0] > 0)
		f->n_ids = f->ids[1] > 0 ? 2 : 1;
}

struct page_faults *page_faults_new(const struct page_faults_ask *ask, struct err *e)
{
	struct page_faults *f = calloc(1, sizeof(*f));
	pid_t pid = ask->pid;
	long n = sysconf(_SC_NPROCESSORS_CONF);
	int err = -ENOMEM;

	if (f) {
		f->ask = *ask;
		f->pid = pid;
		if (ask->errors)
			find_tracepoints(f);
		f->n_cpus = n > 0 ? (size_t)n : 1;
		f->rings = calloc(f->n_cpus, sizeof(*f->rings));
		f->polls = calloc(f->n_cpus, sizeof(*f->polls));
	}
	if (f && f->rings && f->polls) {
		for (size_t i = 0; i < f->n_cpus; i++) {
			f->rings[i].fd = f->polls[i].fd = -1;
			f->polls[i].events = POLLIN;
		}
		err = ask->on_exec ? add_thread(f, pid, true) : add_threads(f);
		if ((err == -EACCES || err == -EPERM) && f->n_ids && !f->n_fds) {
			f->n_ids = 0;
			err = ask->on_exec ? add_thread(f, pid, true) : add_threads(f);
		}
	}
	if (!err)
		return f;
	page_faults_free(f);
	if (err == -ESRCH)
		err_set(e, ESRCH, "cannot see the page faults of process %d: it has ended; name a living one", (int)pid);
	else
		err_set(e, -err, "cannot see the page faults of process %d: perf_event_open: %s; try as root, or: sysctl kernel.perf_event_paranoid=2",
			(int)pid, strerror(-err));
	return NULL;
}

void page_faults_free(struct page_faults *f)
{
	if (!f)
		return;
	for (size_t i = 0; f->rings && i < f->n_cpus; i++)
		if (f->rings[i].fd >= 0)
			munmap(f->rings[i].page, (1 + DATA_PAGES) * PAGE);
	for (size_t i = 0; i < f->n_fds; i++)
		close(f->fds[i]);
	free(f->fds);
	free(f->rings);
	free(f->polls);
	free(f);
}

static uint64_t word_at(const struct ring *r, uint64_t at)
{
	uint64_t w;

	memcpy(&w, (const char *)r->page + PAGE + (at & (DATA_PAGES * PAGE - 1)), sizeof(w));
	return w;
}

static pid_t low(uint64_t w)
{
	return (pid_t)(uint32_t)w;
}

static pid_t high(uint64_t w)
{
	return (pid_t)(w >> 32);
}

/* The word at byte @offset of the data of the tracepoint whose record is at @at. */
static uint64_t raw_word(const struct ring *r, uint64_t at, unsigned offset)
{
	uint64_t from = at + RAW + offset; /* behind the size: 4 bytes off */

	return word_at(r, from & ~7ull) >> 32 | word_at(r, (from & ~7ull) + 8) << 32;
}

static void take_sample(struct page_faults *f, const struct ring *r, uint64_t at, unsigned size)
{
	struct page_fault p = {
		.ip = word_at(r, at + 8),
		.pid = low(word_at(r, at + 16)),
		.tid = high(word_at(r, at + 16)),
		.addr = word_at(r, at + 32),
		.error = -1,
	};

	/* common fields of 8 bytes, then address, ip, error_code: arch/x86/include/asm/trace/exceptions.h */
	if (f->n_ids && size >= RAW + 32) {
		p.addr = raw_word(r, at, 8);
		p.ip = raw_word(r, at, 16);
		p.error = (int64_t)raw_word(r, at, 24);
	}
	/* children inherit the event too: they have address spaces of their own */
	if (f->ask.set && p.pid == f->pid)
		page_set_add(f->ask.set, p.addr);
	if (f->ask.fault)
		f->ask.fault(f->ask.ctx, &p);
}

static void take_record(struct page_faults *f, const struct ring *r, const struct perf_event_header *h, uint64_t at)
{
	if (h->type == PERF_RECORD_SAMPLE && h->size >= 40)
		take_sample(f, r, at, h->size);
	else if (h->type == PERF_RECORD_FORK && h->size >= 24 && f->ask.forked)
		f->ask.forked(f->ask.ctx, low(word_at(r, at + 8)), high(word_at(r, at + 8)));
	else if (h->type == PERF_RECORD_COMM && h->misc & PERF_RECORD_MISC_COMM_EXEC && f->ask.executed)
		f->ask.executed(f->ask.ctx, low(word_at(r, at + 8)));
	else if (h->type == PERF_RECORD_LOST && h->size >= 24)
		f->lost += word_at(r, at + 16);
}

/* See the record at the tail. */
static void peek(struct page_faults *f, struct ring *r)
{
	uint64_t first;

	r->h.size = 0;
	if (r->head - r->tail < sizeof(r->h))
		return;
	first = word_at(r, r->tail);
	memcpy(&r->h, &first, sizeof(r->h));
	if (r->h.size < 24 || r->h.size % 8 || r->h.size > r->head - r->tail) {
		f->lost++;
		r->h.size = 0;
		r->tail = r->head;
		return;
	}
	r->time_ns = word_at(r, r->tail + (r->h.type == PERF_RECORD_SAMPLE ? 24 : r->h.size - 8u));
}

static struct ring *oldest(struct page_faults *f)
{
	struct ring *best = NULL;

	for (size_t i = 0; i < f->n_cpus; i++)
		if (f->rings[i].fd >= 0 && f->rings[i].h.size && (!best || f->rings[i].time_ns < best->time_ns))
			best = &f->rings[i];
	return best;
}

static void drain(struct page_faults *f, uint64_t until_ns)
{
	struct ring *r;

	for (size_t i = 0; i < f->n_cpus; i++) {
		r = &f->rings[i];
		if (r->fd < 0)
			continue;
		r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
		r->tail = r->page->data_tail;
		peek(f, r);
	}
	while ((r = oldest(f)) != NULL && r->time_ns <= until_ns) {
		take_record(f, r, &r->h, r->tail);
		r->tail += r->h.size;
		peek(f, r);
	}
	for (size_t i = 0; i < f->n_cpus; i++)
		if (f->rings[i].fd >= 0)
			__atomic_store_n(&f->rings[i].page->data_tail, f->rings[i].tail, __ATOMIC_RELEASE);
}

void page_faults_drain(struct page_faults *f)
{
	drain(f, UINT64_MAX);
}

void page_faults_wait(struct page_faults *f, int ms)
{
	if (poll(f->polls, f->n_cpus, ms) > 0) {
		bool ended = true;

		/* POLLHUP: its task has ended; that is ready for ever */
		for (size_t i = 0; i < f->n_cpus; i++) {
			if (f->polls[i].revents & (POLLHUP | POLLERR))
				f->polls[i].fd = -1;
			ended &= !(f->polls[i].revents & POLLIN);
		}
		if (ended && ms > 1)
			poll(NULL, 0, 1);
	}
	drain(f, clock_now_ns() - SETTLED_NS);
}

bool page_faults_all(const struct page_faults *f)
{
	return !f->user_only && !f->left_out && !page_faults_lost(f);
}

uint64_t page_faults_lost(const struct page_faults *f)
{
	return f->lost + (f->ask.set ? f->ask.set->lost : 0);
}
