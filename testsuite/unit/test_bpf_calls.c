// SPDX-License-Identifier: GPL-2.0-or-later
/* test_bpf_calls.c - the program on the lock of the map: which calls are told, in which order, and where an mremap goes. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/bpf_calls.h"
#include "runtime/user/perf_calls.h"
#include "runtime/user/perf_record.h"
#include "runtime/user/perf_ring.h"

enum { PG = 4096, MOST = 64 };

/* The data of a sample that bpf_calls.h writes, in the place of the tracepoint's. */
static void test_record(void **state)
{
	struct __attribute__((packed)) {
		struct perf_event_header h;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, res;
		uint64_t period;
		uint32_t size;
		uint64_t what, nr, value;
		uint32_t fill;
		uint64_t abi, regs[18];
	} s = { .h = { .type = PERF_RECORD_SAMPLE, .size = sizeof(s) }, .pid = 5, .tid = 6, .time = 10,
		.size = 28, .what = BPF_CALLS_LOCK, .nr = 11, .value = (uint64_t)-1, .abi = PERF_SAMPLE_REGS_ABI_64,
		.regs = { [5] = 0x7000, [4] = 0x2000 } }; /* di, si */
	struct perf_record r;
	struct hvar_call c;

	(void)state;
	assert_int_equal(perf_record_read(&s, sizeof(s), &r), 1);
	assert_int_equal(r.what, PERF_IS_LOCK);
	assert_int_equal(r.tid, 6);
	assert_true(perf_calls_fill(&r, &c));
	assert_int_equal(c.cause, HVAR_CAUSE_MUNMAP);
	assert_int_equal(c.args[0], 0x7000);
	assert_int_equal(c.args[1], 0x2000);
	assert_int_equal(c.ret, 0); /* the kernel's address of the map is no result */
	s.what = BPF_CALLS_PLACE;
	s.value = 0x9000;
	assert_int_equal(perf_record_read(&s, sizeof(s), &r), 1);
	assert_int_equal(r.what, PERF_IS_PLACE);
	assert_int_equal(r.u.call.ret, 0x9000);
	/* The tracepoint's data begin with its number and the task's. */
	s.what = BPF_CALLS_LOCK | (uint64_t)6 << 32;
	assert_int_equal(perf_record_read(&s, sizeof(s), &r), 1);
	assert_int_equal(r.what, PERF_IS_CALL);
	for (size_t len = 0; len < sizeof(s); len++)
		assert_int_equal(perf_record_read(&s, len, &r), -EBADMSG);
}

/* ---- what the kernel tells ---- */

struct heard {
	pid_t tid;
	struct perf_record v[MOST];
	size_t n;
};

static void hear(void *ctx, const struct perf_record *r)
{
	struct heard *h = ctx;

	if (r->tid == h->tid && h->n < MOST && (r->what == PERF_IS_LOCK || r->what == PERF_IS_PLACE || r->what == PERF_IS_MAP))
		h->v[h->n++] = *r;
}

struct done {
	uint64_t at, place;
};

/* Calls that change the map, and some that do not, when there is a word; and says where. */
static void act(int fd)
{
	struct done d;
	char word;
	char *p;

	if (read(fd, &word, 1) != 1)
		_exit(1);
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	p = mmap(NULL, 8 * PG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	d.at = (uint64_t)(uintptr_t)p;
	munmap(p + 6 * PG, 2 * PG);
	mmap(p + 6 * PG, PG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	madvise(p, PG, MADV_DONTNEED);
	d.place = (uint64_t)(uintptr_t)mremap(p, 6 * PG, 9 * PG, MREMAP_MAYMOVE);
	munmap((void *)(uintptr_t)(d.at + 1), PG); /* fails, but takes the lock first or not */
	_exit(write(fd, &d, sizeof(d)) != sizeof(d));
}

static void test_told(void **state)
{
	struct heard h = { 0 };
	struct err e = { 0 };
	struct bpf_calls *b = bpf_calls_new((size_t)sysconf(_SC_NPROCESSORS_CONF), &e);
	struct perf_rings_options o = { .maps = true, .wide = b };
	struct perf_rings *r = b ? perf_rings_new(&o, &e) : NULL;
	struct hvar_call c;
	struct done d;
	int fd[2], status;

	(void)state;
	if (!r) {
		assert_true(e.text[0]); /* it says why */
		print_message("# %s\n", e.text);
		bpf_calls_free(b);
		skip();
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	h.tid = fork();
	assert_true(h.tid >= 0);
	if (!h.tid)
		act(fd[1]);
	assert_int_equal(perf_rings_add(r, h.tid, &e), 0); /* nothing to do */
	perf_rings_drain(r, ~0ull, hear, &h); /* what it did to begin */
	h.n = 0;
	assert_int_equal(write(fd[0], "x", 1), 1);
	assert_int_equal(read(fd[0], &d, sizeof(d)), sizeof(d));
	assert_int_equal(waitpid(h.tid, &status, 0), h.tid);
	assert_int_equal(status, 0);
	perf_rings_stop(r);
	perf_rings_drain(r, ~0ull, hear, &h);
	if (perf_rings_counts(r)->lost) { /* the machine is that busy */
		perf_rings_free(r);
		bpf_calls_free(b);
		skip();
	}

	/* map; lock of munmap; map; lock and place of mremap; maybe the lock of what fails.  No call of other kinds. */
	assert_true(h.n == 5 || h.n == 6);
	assert_int_equal(h.v[0].what, PERF_IS_MAP);
	assert_int_equal(h.v[1].what, PERF_IS_LOCK);
	assert_true(perf_calls_fill(&h.v[1], &c));
	assert_int_equal(c.cause, HVAR_CAUSE_MUNMAP);
	assert_int_equal(c.args[0], d.at + 6 * PG);
	assert_int_equal(c.args[1], 2 * PG);
	assert_int_equal(h.v[2].what, PERF_IS_MAP);
	assert_int_equal(h.v[2].u.map.start, d.at + 6 * PG);
	assert_int_equal(h.v[3].what, PERF_IS_LOCK);
	assert_true(perf_calls_fill(&h.v[3], &c));
	assert_int_equal(c.cause, HVAR_CAUSE_MREMAP);
	assert_int_equal(c.args[2], 9 * PG);
	assert_int_equal(h.v[4].what, PERF_IS_PLACE);
	assert_int_equal(h.v[4].u.call.ret, d.place);
	for (size_t i = 1; i < h.n; i++)
		assert_true(h.v[i - 1].time_ns <= h.v[i].time_ns);
	close(fd[0]);
	close(fd[1]);
	perf_rings_free(r);
	bpf_calls_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_told),
	};

	return cmocka_run_group_tests_name("bpf_calls", tests, NULL, NULL);
}
