// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_faults.c - the pages at which a process faults, from perf's software event.
 *
 * One ring for each CPU; each thread has an event on each CPU (an inherited event cannot be
 * for all CPUs and have a ring), and all of a CPU's write to its first one's.  A record is read
 * from the ring as PERF_RECORD_SAMPLE with TID and ADDR: 8 + 8 + 8 bytes, never cut at the
 * ring's end, since its size is a multiple of 8 but read word by word.
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
#include <unistd.h>

#include "grow.h"

enum { DATA_PAGES = 64, PAGE = 4096, MAX_EVENTS = 1 << 16 };

struct ring {
	int fd; /* the event that carries it */
	struct perf_event_mmap_page *page;
};

struct page_faults {
	pid_t pid;
	struct page_set *set;
	struct ring *rings; /* by CPU; fd -1: none on it */
	struct pollfd *polls;
	size_t n_cpus;
	int *fds;
	size_t n_fds, cap_fds;
	bool user_only, left_out;
	uint64_t lost;
};

static int perf_open(const struct page_faults *f, pid_t tid, int cpu, bool on_exec)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ADDR,
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

static int add_event(struct page_faults *f, pid_t tid, int cpu, bool on_exec)
{
	int fd = perf_open(f, tid, cpu, on_exec), err;

	if (fd < 0 && (errno == EACCES || errno == EPERM) && !f->user_only && !f->n_fds) {
		f->user_only = true;
		fd = perf_open(f, tid, cpu, on_exec);
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
		one = add_event(f, tid, (int)cpu, on_exec);
		if (!one)
			err = 0;
		else if (one != -ENODEV) /* a CPU that is off */
			return one;
	}
	return err;
}

/* Threads born meanwhile inherit from their makers, or are met here; twice does no harm. */
static int add_threads(struct page_faults *f)
{
	char path[64];
	struct dirent *d;
	int err = -ESRCH, one;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)f->pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
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

struct page_faults *page_faults_new(pid_t pid, bool on_exec, struct page_set *set, struct err *e)
{
	struct page_faults *f = calloc(1, sizeof(*f));
	long n = sysconf(_SC_NPROCESSORS_CONF);
	int err = -ENOMEM;

	if (f) {
		f->pid = pid;
		f->set = set;
		f->n_cpus = n > 0 ? (size_t)n : 1;
		f->rings = calloc(f->n_cpus, sizeof(*f->rings));
		f->polls = calloc(f->n_cpus, sizeof(*f->polls));
	}
	if (f && f->rings && f->polls) {
		for (size_t i = 0; i < f->n_cpus; i++) {
			f->rings[i].fd = f->polls[i].fd = -1;
			f->polls[i].events = POLLIN;
		}
		err = on_exec ? add_thread(f, pid, true) : add_threads(f);
	}
	if (!err)
		return f;
	page_faults_free(f);
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

static void drain_ring(struct page_faults *f, struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;

	while (head - tail >= sizeof(struct perf_event_header)) {
		uint64_t first = word_at(r, tail);
		struct perf_event_header h;

		memcpy(&h, &first, sizeof(h));
		if (h.size < sizeof(h) || h.size % 8 || h.size > head - tail) {
			f->lost++;
			tail = head;
			break;
		}
		if (h.type == PERF_RECORD_SAMPLE && h.size >= 24) {
			/* children inherit the event too: they have address spaces of their own */
			if ((pid_t)(uint32_t)word_at(r, tail + 8) == f->pid)
				page_set_add(f->set, word_at(r, tail + 16));
		} else if (h.type == PERF_RECORD_LOST && h.size >= 24) {
			f->lost += word_at(r, tail + 16);
		}
		tail += h.size;
	}
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

void page_faults_drain(struct page_faults *f)
{
	for (size_t i = 0; i < f->n_cpus; i++)
		if (f->rings[i].fd >= 0)
			drain_ring(f, &f->rings[i]);
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
	page_faults_drain(f);
}

bool page_faults_all(const struct page_faults *f)
{
	return !f->user_only && !f->left_out && !f->lost && !f->set->lost;
}

uint64_t page_faults_lost(const struct page_faults *f)
{
	return f->lost + f->set->lost;
}
