// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_perf_ring - a ring's bytes become records, in time order, whatever the bytes.
 *
 * The rings are made here, byte by byte, as perf_event_open(2) describes them.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_vmas.h"
#include "runtime/user/perf_calls.h"
#include "runtime/user/perf_record.h"
#include "runtime/user/perf_ring.h"

enum { PAGE = 4096, DATA = 4096, RINGS = 3, MAX_SEEN = 4096 };

/* One ring as the kernel maps it: a control page, then the data. */
struct made {
	_Alignas(4096) uint8_t bytes[PAGE + DATA];
	struct perf_ring ring;
};

static struct made made[RINGS];
static _Alignas(8) uint8_t bounce[65536];

static struct perf_event_mmap_page *page_of(struct made *m)
{
	return (struct perf_event_mmap_page *)m->bytes;
}

/* An empty ring whose head and tail both stand at @at. */
static void make(struct made *m, uint64_t at)
{
	memset(m, 0, sizeof(*m));
	page_of(m)->data_offset = PAGE;
	page_of(m)->data_size = DATA;
	page_of(m)->data_head = at;
	page_of(m)->data_tail = at;
	assert_int_equal(perf_ring_init(&m->ring, m->bytes, sizeof(m->bytes)), 0);
}

/* What the kernel does: copy behind the head, around the end, and move the head. */
static void feed(struct made *m, const void *rec, size_t len)
{
	uint64_t head = page_of(m)->data_head;

	assert_true(head + len - page_of(m)->data_tail <= DATA);
	for (size_t i = 0; i < len; i++)
		m->bytes[PAGE + (head + i) % DATA] = ((const uint8_t *)rec)[i];
	page_of(m)->data_head = head + len;
}

struct sample_bytes {
	struct perf_event_header h;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
	uint64_t period, abi;
	uint64_t regs[18]; /* in the kernel's order */
};

struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
	uint64_t id;
};

static struct sample_bytes sample_at(uint64_t time, uint32_t tid)
{
	struct sample_bytes s = {
		.h = { .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER,
		       .size = sizeof(s) },
		.id = 77, .ip = 0x401000 + time, .pid = 5, .tid = tid, .time = time,
		.cpu = 3, .period = 1000000, .abi = PERF_SAMPLE_REGS_ABI_64,
	};

	for (unsigned i = 0; i < 18; i++)
		s.regs[i] = 0x1000 + i;
	return s;
}

struct seen {
	struct perf_record r;
	char name[64];
};

static struct seen seen[MAX_SEEN];
static size_t n_seen;

static void note(void *ctx, const struct perf_record *r)
{
	struct seen *s = &seen[n_seen++];

	(void)ctx;
	assert_true(n_seen < MAX_SEEN);
	s->r = *r;
	s->name[0] = '\0';
	if (r->what == PERF_IS_MAP)
		snprintf(s->name, sizeof(s->name), "%s", r->u.map.name);
	if (r->what == PERF_IS_COMM)
		snprintf(s->name, sizeof(s->name), "%s", r->u.comm.name);
}

static struct perf_ring_counts merge(size_t n, uint64_t until)
{
	struct perf_ring_counts counts = { 0 };
	struct perf_ring v[RINGS];

	for (size_t i = 0; i < n; i++)
		v[i] = made[i].ring;
	n_seen = 0;
	perf_ring_merge(v, n, until, bounce, &counts, note, NULL);
	for (size_t i = 0; i < n; i++)
		made[i].ring = v[i];
	return counts;
}

/* The registers' numbers in an instruction, in the order of the kernel's. */
static void reads_a_sample(void **state)
{
	static const int order[18] = { 0, 3, 1, 2, 6, 7, 5, 4, 16, 17, 8, 9,
				       10, 11, 12, 13, 14, 15 };
	struct sample_bytes s = sample_at(10, 6);
	struct stream_sample out;
	struct perf_record r;

	(void)state;
	assert_int_equal(perf_record_read(&s, sizeof(s), &r), 1);
	assert_int_equal(r.what, PERF_IS_SAMPLE);
	assert_int_equal(r.pid, 5);
	assert_int_equal(r.tid, 6);
	assert_int_equal(r.cpu, 3);
	assert_int_equal(r.id, 77);
	assert_int_equal(r.time_ns, 10);
	assert_int_equal(r.u.sample.ip, 0x40100a);
	assert_int_equal(r.u.sample.period_ns, 1000000);
	assert_int_equal(r.u.sample.flags, 0);
	for (int i = 0; i < 18; i++)
		assert_int_equal(r.u.sample.regs[order[i]], 0x1000 + i);
	perf_ring_sample(&r, 9, &out);
	assert_int_equal(out.ev.type, HVAR_EVENT_SAMPLE);
	assert_int_equal(out.ev.mm, 9);
	assert_int_equal(out.regs[STREAM_RSP], 0x1007);
	assert_int_equal(out.regs[STREAM_R15], 0x1011);
	assert_true(hvar_event_valid(&out.ev));

	s.abi = PERF_SAMPLE_REGS_ABI_32;
	assert_int_equal(perf_record_read(&s, sizeof(s), &r), 1);
	assert_int_equal(r.u.sample.flags, HVAR_SAMPLE_ABI32);
	s.abi = PERF_SAMPLE_REGS_ABI_NONE;
	assert_int_equal(perf_record_read(&s, 64, &r), 1);
	assert_int_equal(r.u.sample.flags, HVAR_SAMPLE_NOREGS);
	s.abi = PERF_SAMPLE_REGS_ABI_64;
	for (size_t len = 0; len < sizeof(s); len++)
		assert_int_equal(perf_record_read(&s, len, &r), -EBADMSG);
}

/*
 * The return of munmap(0x7000, 0x2000) as raw_syscalls:sys_exit has it; its arguments are in the registers.  What
 * stands in the data is read from there: common fields 8, id 8, ret 8, filled up.
 */
static void reads_a_call(void **state)
{
	struct __attribute__((packed)) {
		struct perf_event_header h;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, res;
		uint64_t period;
		uint32_t size;
		uint8_t common[8];
		int64_t nr, ret;
		uint32_t fill;
		uint64_t abi, regs[18];
	} s = { .h = { .type = PERF_RECORD_SAMPLE, .size = sizeof(s) }, .pid = 5, .tid = 6, .time = 10,
		.size = 28, .nr = 11, .abi = PERF_SAMPLE_REGS_ABI_64,
		.regs = { [5] = 0x7000, [4] = 0x2000, [1] = 0x111, [2] = 0x222 } }; /* di, si, bx, cx */
	struct perf_record r;
	struct hvar_call c;

	(void)state;
	assert_int_equal(sizeof(s), 56 + 32 + 8 + 144);
	assert_int_equal(perf_record_read(&s, sizeof(s), &r), 1);
	assert_int_equal(r.what, PERF_IS_CALL);
	assert_int_equal(r.tid, 6);
	assert_int_equal(r.time_ns, 10);
	assert_true(perf_calls_fill(&r, &c));
	assert_int_equal(c.cause, HVAR_CAUSE_MUNMAP);
	assert_int_equal(c.args[0], 0x7000);
	assert_int_equal(c.args[1], 0x2000);
	assert_int_equal(c.ret, 0);

	/* The same by a 32-bit program, whose numbers and registers are others, and by x32. */
	s.abi = PERF_SAMPLE_REGS_ABI_32;
	s.nr = 91;
	assert_int_equal(perf_record_read(&s, sizeof(s), &r), 1);
	assert_true(perf_calls_fill(&r, &c));
	assert_int_equal(c.cause, HVAR_CAUSE_MUNMAP);
	assert_int_equal(c.args[0], 0x111);
	assert_int_equal(c.args[1], 0x222);
	s.abi = PERF_SAMPLE_REGS_ABI_64;
	s.nr = 0x40000000 + 11;
	s.ret = -22;
	assert_int_equal(perf_record_read(&s, sizeof(s), &r), 1);
	assert_true(perf_calls_fill(&r, &c));
	assert_int_equal(c.cause, HVAR_CAUSE_MUNMAP);
	assert_int_equal(c.ret, -22);

	/* read(2) is none, and without registers nothing is known. */
	s.nr = 0;
	assert_int_equal(perf_record_read(&s, sizeof(s), &r), 1);
	assert_false(perf_calls_fill(&r, &c));
	s.nr = 11;
	s.abi = PERF_SAMPLE_REGS_ABI_NONE;
	assert_int_equal(perf_record_read(&s, 96, &r), 1);
	assert_false(perf_calls_fill(&r, &c));
	s.abi = PERF_SAMPLE_REGS_ABI_64;
	for (size_t len = 0; len < sizeof(s); len++)
		assert_int_equal(perf_record_read(&s, len, &r), -EBADMSG);
}

/* Every number of the filter is a word of its own, and the brackets close. */
static void filters_calls(void **state)
{
	const char *f = perf_calls_filter(false), *more = perf_calls_filter(true);
	int depth = 0;

	(void)state;
	for (const char *p = f; *p; p++) {
		depth += (*p == '(') - (*p == ')');
		assert_true(depth >= 0);
	}
	assert_int_equal(depth, 0);
	assert_non_null(strstr(f, "id==11||")); /* munmap */
	assert_non_null(strstr(f, "id==25)"));	/* mremap */
	assert_null(strstr(f, "id==45"));	/* recvfrom */
	assert_null(strstr(f, "id==28"));	/* madvise */
	assert_null(strstr(f, "id==9)"));	/* mmap, which perf tells */
	assert_non_null(strstr(more, "id==28"));
	assert_non_null(strstr(more, "id==219")); /* i386's */
}

static size_t mmap2(uint8_t *buf, uint64_t time, const char *name)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint32_t maj, min;
		uint64_t ino, gen;
		uint32_t prot, flags;
	} m = { .h = { .type = PERF_RECORD_MMAP2 }, .pid = 5, .tid = 6,
		.addr = 0x7f0000, .len = 0x3000, .pgoff = 0x2000, .maj = 8,
		.min = 1, .ino = 123, .prot = PROT_READ | PROT_EXEC,
		.flags = MAP_SHARED };
	struct trailer t = { .pid = 5, .tid = 6, .time = time, .cpu = 1, .id = 7 };
	size_t n = (strlen(name) + 8) / 8 * 8;

	m.h.size = (uint16_t)(sizeof(m) + n + sizeof(t));
	memset(buf, 0, m.h.size);
	memcpy(buf, &m, sizeof(m));
	memcpy(buf + sizeof(m), name, strlen(name));
	memcpy(buf + sizeof(m) + n, &t, sizeof(t));
	return m.h.size;
}

static void reads_map_news(void **state)
{
	_Alignas(8) uint8_t buf[512];
	size_t len = mmap2(buf, 99, "/usr/lib/with blank.so");
	struct perf_record r;

	(void)state;
	assert_int_equal(perf_record_read(buf, len, &r), 1);
	assert_int_equal(r.what, PERF_IS_MAP);
	assert_int_equal(r.time_ns, 99);
	assert_int_equal(r.u.map.start, 0x7f0000);
	assert_int_equal(r.u.map.end, 0x7f3000);
	assert_int_equal(r.u.map.pgoff, 0x2000);
	assert_int_equal(r.u.map.prot, HVAR_PROT_READ | HVAR_PROT_EXEC | HVAR_PROT_SHARED);
	assert_int_equal(r.u.map.dev_major, 8);
	assert_int_equal(r.u.map.dev_minor, 1);
	assert_int_equal(r.u.map.ino, 123);
	assert_string_equal(r.u.map.name, "/usr/lib/with blank.so");

	/* Cut short, it ends without a NUL, or without a name at all. */
	for (size_t cut = 0; cut < len; cut += 8)
		assert_int_equal(perf_record_read(buf, cut, &r), -EBADMSG);
	/* A range that wraps around, an empty one, and a name that never ends. */
	memset(buf + 24, 0xff, 8);
	assert_int_equal(perf_record_read(buf, len, &r), -EBADMSG);
	memset(buf + 24, 0, 8);
	assert_int_equal(perf_record_read(buf, len, &r), -EBADMSG);
	len = mmap2(buf, 99, "/x");
	memset(buf + 72, 'x', 8);
	assert_int_equal(perf_record_read(buf, len, &r), -EBADMSG);
}

struct task_bytes {
	struct perf_event_header h;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
	struct trailer t;
};

struct comm_bytes {
	struct perf_event_header h;
	uint32_t pid, tid;
	char comm[8];
	struct trailer t;
};

struct lost_bytes {
	struct perf_event_header h;
	uint64_t id, lost;
	struct trailer t;
};

static void reads_task_news(void **state)
{
	struct task_bytes f = { .h = { .type = PERF_RECORD_FORK, .size = sizeof(f) },
				.pid = 8, .ppid = 5, .tid = 9, .ptid = 6, .time = 4,
				.t = { .pid = 5, .tid = 6, .time = 4 } };
	struct comm_bytes c = { .h = { .type = PERF_RECORD_COMM, .size = sizeof(c),
				       .misc = PERF_RECORD_MISC_COMM_EXEC },
				.pid = 8, .tid = 8, .comm = "ls", .t = { .time = 5 } };
	struct lost_bytes l = { .h = { .type = PERF_RECORD_LOST, .size = sizeof(l) },
				.id = 1, .lost = 42 };
	struct perf_record r;

	(void)state;
	assert_int_equal(perf_record_read(&f, sizeof(f), &r), 1);
	assert_int_equal(r.what, PERF_IS_FORK);
	assert_int_equal(r.pid, 8);
	assert_int_equal(r.tid, 9);
	assert_int_equal(r.u.task.ppid, 5);
	assert_int_equal(r.u.task.ptid, 6);
	f.h.type = PERF_RECORD_EXIT;
	assert_int_equal(perf_record_read(&f, sizeof(f), &r), 1);
	assert_int_equal(r.what, PERF_IS_EXIT);
	assert_int_equal(r.tid, 9);
	assert_int_equal(perf_record_read(&c, sizeof(c), &r), 1);
	assert_int_equal(r.what, PERF_IS_COMM);
	assert_true(r.u.comm.exec);
	assert_string_equal(r.u.comm.name, "ls");
	c.h.misc = 0;
	assert_int_equal(perf_record_read(&c, sizeof(c), &r), 1);
	assert_false(r.u.comm.exec);
	assert_int_equal(perf_record_read(&l, sizeof(l), &r), 1);
	assert_int_equal(r.what, PERF_IS_LOST);
	assert_int_equal(r.u.lost.count, 42);
	l.h.type = PERF_RECORD_SWITCH; /* known to the kernel, not asked for */
	assert_int_equal(perf_record_read(&l, sizeof(l), &r), 0);
	l.h.type = 4711;
	assert_int_equal(perf_record_read(&l, sizeof(l), &r), 0);
}

/* Every place in the ring where a record can begin, so also every way to wrap. */
static void wraps(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < DATA; at += 8) {
		struct sample_bytes s = sample_at(at + 1, 6);
		struct perf_ring_counts c;

		/* Far along, and where the 64-bit positions themselves run over 32 bits. */
		make(&made[0], at + 0xfffff000);
		feed(&made[0], &s, sizeof(s));
		c = merge(1, ~0ull);
		assert_int_equal(n_seen, 1);
		assert_int_equal(c.samples, 1);
		assert_int_equal(c.damaged, 0);
		assert_int_equal(seen[0].r.u.sample.ip, s.ip);
		assert_int_equal(seen[0].r.u.sample.regs[STREAM_R15], 0x1011);
		assert_int_equal(page_of(&made[0])->data_tail, page_of(&made[0])->data_head);
	}
}

/* Rings filled in turn with ever later records come out in one order; what is too late stays. */
static void merges_in_time_order(void **state)
{
	unsigned total = 0, done = 0;
	uint64_t time = 0, last = 0;

	(void)state;
	srand(1);
	for (int i = 0; i < RINGS; i++)
		make(&made[i], (uint64_t)i * 1000 / 8 * 8);
	for (int round = 0; round < 2000; round++) {
		uint64_t until;

		for (int k = rand() % 12; k > 0; k--) {
			struct made *m = &made[rand() % RINGS];
			struct sample_bytes s = sample_at(time += (uint64_t)rand() % 3, total);

			if (page_of(m)->data_head + sizeof(s) - page_of(m)->data_tail > DATA)
				break;
			feed(m, &s, sizeof(s));
			total++;
		}
		until = time - (time > 5 ? (uint64_t)rand() % 5 : 0);
		merge(RINGS, until);
		for (size_t i = 0; i < n_seen; i++) {
			assert_true(seen[i].r.time_ns >= last);
			assert_true(seen[i].r.time_ns <= until);
			last = seen[i].r.time_ns;
		}
		done += n_seen;
	}
	merge(RINGS, ~0ull);
	assert_true(total > 5000);
	assert_int_equal(done + n_seen, total);
}

static void counts_what_was_lost(void **state)
{
	struct lost_bytes l = { .h = { .type = PERF_RECORD_LOST, .size = sizeof(l) },
				.lost = 3, .t = { .time = 7 } };
	struct lost_bytes t = { .h = { .type = PERF_RECORD_THROTTLE, .size = sizeof(t) },
				.t = { .time = 8 } };
	struct perf_ring_counts c;

	(void)state;
	make(&made[0], 0);
	feed(&made[0], &l, sizeof(l));
	feed(&made[0], &t, sizeof(t));
	feed(&made[0], &l, sizeof(l));
	c = merge(1, ~0ull);
	assert_int_equal(c.lost, 6);
	assert_int_equal(c.throttled, 1);
	assert_int_equal(c.damaged, 0);
	assert_int_equal(n_seen, 3);
}

/* What a ring without room has lost may never be told: it is said at once, and since when. */
static void tells_full_rings(void **state)
{
	struct sample_bytes s = sample_at(0, 6);
	struct lost_bytes l = { .h = { .type = PERF_RECORD_LOST, .size = sizeof(l) }, .lost = 3, .t = { .time = 70 } };
	struct perf_ring_counts c;

	(void)state;
	make(&made[0], 4000);
	do {
		s.time++;
		feed(&made[0], &s, sizeof(s));
	} while (DATA - (page_of(&made[0])->data_head - page_of(&made[0])->data_tail) >= sizeof(s));
	c = merge(1, s.time - 1);
	assert_int_equal(n_seen, s.time - 1); /* there is one more to read before it */
	c = merge(1, ~0ull);
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[1].r.what, PERF_IS_LOST);
	assert_int_equal(seen[1].r.u.lost.count, 0);
	assert_int_equal(seen[1].r.u.lost.since_ns, s.time);
	assert_int_equal(c.lost, 0);
	feed(&made[0], &l, sizeof(l));
	c = merge(1, ~0ull);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].r.u.lost.count, 3);
	assert_int_equal(seen[0].r.u.lost.since_ns, s.time);
	assert_int_equal(c.lost, 3);
}

/* Sizes that lie: the ring is emptied and counted, and the next record is read again. */
static void survives_bad_sizes(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 7, 12, 4088, 65528, 65535 };
	struct sample_bytes good = sample_at(1, 6);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct perf_event_header h = { .type = PERF_RECORD_SAMPLE,
					       .size = sizes[i] };
		struct perf_ring_counts c;

		make(&made[0], 4000);
		feed(&made[0], &good, sizeof(good));
		feed(&made[0], &h, sizeof(h));
		feed(&made[0], &good, sizeof(good));
		c = merge(1, ~0ull);
		assert_int_equal(n_seen, 1);
		assert_int_equal(c.damaged, 1);
		feed(&made[0], &good, sizeof(good));
		c = merge(1, ~0ull);
		assert_int_equal(n_seen, 1);
		assert_int_equal(c.damaged, 0);
	}
}

/* A head that ran away from the tail, or stands between records. */
static void survives_a_bad_head(void **state)
{
	static const uint64_t heads[] = { 4, DATA + 8, ~0ull, 1ull << 40 };

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		make(&made[0], 0);
		page_of(&made[0])->data_head = heads[i];
		assert_int_equal(merge(1, ~0ull).damaged, 1);
		assert_int_equal(n_seen, 0);
	}
}

/* Any bytes at all: no record is made of more than there was, and it ends. */
static void survives_noise(void **state)
{
	(void)state;
	srand(2);
	for (int round = 0; round < 3000; round++) {
		make(&made[0], (uint64_t)(rand() % DATA) / 8 * 8);
		for (size_t i = 0; i < DATA; i++)
			made[0].bytes[PAGE + i] = (uint8_t)(rand() % 4 ? rand() % 12 : rand());
		page_of(&made[0])->data_head += (uint64_t)(rand() % (DATA + 1)) / 8 * 8;
		merge(1, ~0ull);
		assert_int_equal(made[0].ring.tail, made[0].ring.head);
	}
}

static void refuses_what_is_no_ring(void **state)
{
	struct perf_ring r;

	(void)state;
	make(&made[0], 0);
	page_of(&made[0])->data_size = 4095;
	assert_int_equal(perf_ring_init(&r, made[0].bytes, sizeof(made[0].bytes)), -EINVAL);
	page_of(&made[0])->data_size = 8192; /* more than is mapped */
	assert_int_equal(perf_ring_init(&r, made[0].bytes, sizeof(made[0].bytes)), -EINVAL);
	page_of(&made[0])->data_size = DATA;
	page_of(&made[0])->data_offset = ~0ull;
	assert_int_equal(perf_ring_init(&r, made[0].bytes, sizeof(made[0].bytes)), -EINVAL);
	assert_int_equal(perf_ring_init(&r, made[0].bytes, 64), -EINVAL);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Of the kernel: a task that was given its timers twice is sampled once in a period. */
static void sees_through_two_timers(void **state)
{
	struct perf_rings_options o = { .hz = 1000 };
	struct perf_rings *r = perf_rings_new(&o, NULL);
	uint64_t begin, spent;

	(void)state;
	if (!r)
		skip(); /* perf is refused here */
	assert_int_equal(perf_rings_add(r, (pid_t)gettid(), NULL), 0);
	assert_int_equal(perf_rings_add(r, (pid_t)gettid(), NULL), 0);
	begin = cpu_ns();
	while (cpu_ns() < begin + 50000000)
		for (volatile int i = 0; i < 100000; i++)
			;
	perf_rings_stop(r);
	spent = (cpu_ns() - begin) / 1000000;
	n_seen = 0;
	perf_rings_drain(r, ~0ull, note, NULL);
	assert_in_range(n_seen, 20, spent + 3);
	assert_int_equal(perf_rings_counts(r)->samples, n_seen);
	for (size_t i = 0; i < n_seen; i++) {
		assert_int_equal(seen[i].r.tid, gettid());
		assert_int_equal(seen[i].r.pid, getpid());
		assert_int_equal(seen[i].r.u.sample.period_ns, 1000000);
		assert_int_equal(seen[i].r.u.sample.regs[STREAM_RIP], seen[i].r.u.sample.ip);
	}
	assert_int_equal(perf_rings_add(r, 0x7ffffff0, NULL), -ESRCH);
	perf_rings_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_sample),
		cmocka_unit_test(reads_a_call),
		cmocka_unit_test(filters_calls),
		cmocka_unit_test(reads_map_news),
		cmocka_unit_test(reads_task_news),
		cmocka_unit_test(wraps),
		cmocka_unit_test(merges_in_time_order),
		cmocka_unit_test(counts_what_was_lost),
		cmocka_unit_test(tells_full_rings),
		cmocka_unit_test(survives_bad_sizes),
		cmocka_unit_test(survives_a_bad_head),
		cmocka_unit_test(survives_noise),
		cmocka_unit_test(refuses_what_is_no_ring),
		cmocka_unit_test(sees_through_two_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
