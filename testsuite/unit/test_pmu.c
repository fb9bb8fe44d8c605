// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pmu - the events that a machine has, and what their records become.
 *
 * The folders are as kernels of such machines show them; records are written here byte by byte, as perf_event_open(2) describes
 * them, and go through the functions that read rings and news up to the rows of a report.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/core/hvar_vmas.h"
#include "runtime/report/analysis.h"
#include "runtime/report/rows.h"
#include "runtime/user/perf_news.h"
#include "runtime/user/pmu_events.h"
#include "runtime/user/pmu_source.h"
#include "testsuite/unit/temp_tree.h"

/* ---- what is there ---- */

static void formats(const char *pmu)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/format/event", pmu);
	put(name, "config:0-7\n");
	snprintf(name, sizeof(name), "%s/format/umask", pmu);
	put(name, "config:8-15\n");
	snprintf(name, sizeof(name), "%s/format/ldlat", pmu);
	put(name, "config1:0-15\n");
}

static void test_skylake(void **state)
{
	struct perf_event_attr a;
	struct pmu_plan p;
	struct err e;

	(void)state;
	put("skl/cpu/type", "4\n");
	put("skl/cpu/caps/max_precise", "3\n");
	put("skl/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	put("skl/cpu/events/mem-stores", "event=0xd0,umask=0x82\n");
	formats("skl/cpu");
	assert_int_equal(pmu_detect(at("skl"), &p, &e), 0);
	assert_int_equal(p.n, 2);
	assert_string_equal(p.v[0].name, "cpu/mem-loads/");
	assert_int_equal(p.v[0].config[0], 0x1cd);
	assert_int_equal(p.v[0].config[1], 3);
	assert_int_equal(p.v[0].precise, 2);
	assert_false(p.v[0].follows);
	assert_int_equal(p.v[1].config[0], 0x82d0);
	assert_string_equal(p.what, "Intel PEBS");
	pmu_events_attr(&p.v[0], 1000, true, &a);
	assert_int_equal(a.type, 4);
	assert_int_equal(a.config, 0x1cd);
	assert_int_equal(a.config1, 3);
	assert_int_equal(a.precise_ip, 2);
	assert_int_equal(a.sample_freq, 1000);
	assert_true(a.freq && a.inherit && a.disabled && a.enable_on_exec && a.exclude_kernel && a.sample_id_all);
	assert_int_equal(a.sample_type, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
						PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC);
}

static void test_hybrid(void **state)
{
	struct perf_event_attr a;
	struct pmu_plan p;
	struct err e;

	(void)state;
	put("adl/cpu_core/type", "4\n");
	put("adl/cpu_core/cpus", "0-15\n");
	put("adl/cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	put("adl/cpu_core/events/mem-loads-aux", "event=0x03,umask=0x82\n");
	put("adl/cpu_core/events/mem-stores", "event=0xcd,umask=0x2\n");
	formats("adl/cpu_core");
	put("adl/cpu_atom/type", "10\n");
	put("adl/cpu_atom/cpus", "16-23\n");
	put("adl/cpu_atom/events/mem-loads", "event=0xd0,umask=0x5,ldlat=3\n");
	put("adl/cpu_atom/events/mem-stores", "event=0xd0,umask=0x6\n");
	formats("adl/cpu_atom");
	assert_int_equal(pmu_detect(at("adl"), &p, &e), 0);
	assert_int_equal(p.n, 5);
	assert_true(p.v[0].leads && p.v[1].follows && !p.v[2].follows && !p.v[3].follows);
	assert_int_equal(p.v[0].config[0], 0x8203);
	assert_int_equal(p.v[1].config[0], 0x1cd);
	assert_int_equal(p.v[3].type, 10);
	assert_true(pmu_has_cpu(p.v[1].cpus, 15) && !pmu_has_cpu(p.v[1].cpus, 16) && pmu_has_cpu(p.v[4].cpus, 16));
	/* the one in front counts, and begins with an exec; the other goes with it */
	pmu_events_attr(&p.v[0], 1000, true, &a);
	assert_true(!a.freq && !a.sample_freq && a.disabled && a.enable_on_exec);
	pmu_events_attr(&p.v[1], 1000, true, &a);
	assert_true(a.freq && !a.disabled && !a.enable_on_exec);
}

static void test_ibs(void **state)
{
	struct perf_event_attr a;
	struct pmu_plan p;
	struct err e;

	(void)state;
	put("zen/cpu/type", "4\n");
	put("zen/ibs_op/type", "11\n");
	put("zen/ibs_op/format/cnt_ctl", "config:19\n");
	assert_int_equal(pmu_detect(at("zen"), &p, &e), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.v[0].type, 11);
	assert_int_equal(p.v[0].config[0], 1 << 19);
	assert_true(p.v[0].no_exclude);
	assert_string_equal(p.what, "AMD IBS");
	pmu_events_attr(&p.v[0], 1000, false, &a);
	assert_true(!a.exclude_kernel && !a.exclude_hv && !a.precise_ip);
	put("zen/ibs_op/format/swfilt", "config2:0\n");
	assert_int_equal(pmu_detect(at("zen"), &p, &e), 0);
	assert_int_equal(p.v[0].config[2], 1);
	assert_false(p.v[0].no_exclude);
}

static void test_none(void **state)
{
	struct pmu_plan p;
	struct err e;

	(void)state;
	assert_int_equal(pmu_detect(at("nowhere"), &p, &e), -ENODEV);
	assert_non_null(strstr(e.text, "hypervisor"));
	put("vm/cpu/type", "4\n");
	put("vm/cpu/caps/max_precise", "0\n");
	put("vm/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	formats("vm/cpu");
	assert_int_equal(pmu_detect(at("vm"), &p, &e), -ENODEV);
	assert_non_null(strstr(e.text, "max_precise is 0"));
	put("odd/cpu/type", "4\n");
	put("odd/cpu/events/mem-loads", "event=0xcd,umask=0x1ff,ldlat=3\n");
	formats("odd/cpu");
	assert_int_equal(pmu_detect(at("odd"), &p, &e), -ENODEV);
	assert_non_null(strstr(e.text, "cannot be understood"));
	put("arm/arm_spe_0/type", "8\n");
	assert_int_equal(pmu_detect(at("arm"), &p, &e), -ENODEV);
	assert_non_null(strstr(e.text, "perf mem record"));
}

static void test_cpus(void **state)
{
	(void)state;
	assert_true(pmu_has_cpu("", 7));
	assert_true(pmu_has_cpu("0,2-4,9", 3) && pmu_has_cpu("0,2-4,9", 9));
	assert_false(pmu_has_cpu("0,2-4,9", 1));
	assert_false(pmu_has_cpu("0-3", 4));
	assert_false(pmu_has_cpu("what", 0));
}

/* ---- where data was found; the words are those that perf prints of the same numbers ---- */

static void test_sources(void **state)
{
	static const struct {
		uint64_t source;
		enum pmu_level level;
		uint32_t flags;
		bool none, hitm, remote, tlb, locked;
	} cases[] = {
		{ 0x229100142, PMU_LEVEL_L1, HVAR_ACCESS_READ, false, false, false, false, false }, /* L1 hit, SNP None, TLB L1 hit */
		{ 0x651800842, PMU_LEVEL_L3, HVAR_ACCESS_READ, false, true, false, true, false },   /* L3 hit, SNP HitM, TLB L2 miss */
		{ 0x202000144, PMU_LEVEL_L1, HVAR_ACCESS_WRITE, false, false, false, false, true }, /* STORE, L1 hit, LCK Yes */
		{ 0x3a28102042, PMU_LEVEL_REMOTE_RAM, HVAR_ACCESS_READ, false, false, true, false, false },
		{ 0x1a08100042, PMU_LEVEL_RAM, HVAR_ACCESS_READ, false, false, false, false, false },
		{ 0x184, PMU_LEVEL_UNKNOWN, HVAR_ACCESS_WRITE, false, false, false, false, false }, /* STORE, L1 miss, of an older kernel */
		{ 0x142, PMU_LEVEL_L1, HVAR_ACCESS_READ, false, false, false, false, false },	    /* without a number of the level */
		{ 0x288100142, PMU_LEVEL_L1, HVAR_ACCESS_READ, false, false, false, false, false }, /* Arm's SPE: TLB Walker hit */
		{ 0x1a90101042, PMU_LEVEL_RAM, HVAR_ACCESS_READ, false, false, false, true, false }, /* TLB Walker miss, RAM */
		{ 0x1e88080024, PMU_LEVEL_UNKNOWN, HVAR_ACCESS_WRITE, false, false, false, false, false }, /* STORE, LVL N/A */
		{ 0x1, PMU_LEVEL_UNKNOWN, 0, true, false, false, false, false },		    /* OP N/A: an operation without memory */
		{ 0x8, PMU_LEVEL_UNKNOWN, 0, true, false, false, false, false },		    /* a prefetch */
		{ 0, PMU_LEVEL_UNKNOWN, 0, false, false, false, false, false },			    /* nothing is told */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t s = cases[i].source;

		if (pmu_source_level(s) != cases[i].level)
			fail_msg("case %zu: %s", i, pmu_level_name(pmu_source_level(s)));
		assert_int_equal(pmu_source_flags(s), cases[i].flags);
		assert_int_equal(pmu_source_is_none(s), cases[i].none);
		assert_int_equal(pmu_source_hitm(s), cases[i].hitm);
		assert_int_equal(pmu_source_remote(s), cases[i].remote);
		assert_int_equal(pmu_source_tlb_miss(s), cases[i].tlb);
		assert_int_equal(pmu_source_locked(s), cases[i].locked);
	}
}

/* ---- records ---- */

enum { PAGE = 4096, DATA = 65536, PID = 4194301 }; /* no process has that number */

static struct {
	_Alignas(4096) uint8_t bytes[PAGE + DATA];
	struct perf_ring ring;
} made;

static struct perf_event_mmap_page *page(void)
{
	return (struct perf_event_mmap_page *)made.bytes;
}

static void begin_ring(void)
{
	memset(&made, 0, sizeof(made));
	page()->data_offset = PAGE;
	page()->data_size = DATA;
	assert_int_equal(perf_ring_init(&made.ring, made.bytes, sizeof(made.bytes)), 0);
	made.ring.form = PERF_FORM_ACCESS;
}

static void feed(const void *rec, size_t len)
{
	uint64_t head = page()->data_head;

	assert_true(head + len <= DATA);
	memcpy(made.bytes + PAGE + head, rec, len);
	page()->data_head = head + len;
}

struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
	uint64_t id;
};

static uint64_t now;

static struct trailer trailer(void)
{
	return (struct trailer){ .pid = PID, .tid = PID, .time = ++now, .id = 1 };
}

static void feed_comm(const char *name)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		char name[16];
		struct trailer t;
	} r = { .h = { PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(r) }, .pid = PID, .tid = PID, .t = trailer() };

	snprintf(r.name, sizeof(r.name), "%s", name);
	feed(&r, sizeof(r));
}

static void feed_map(uint64_t start, uint64_t len, const char *name)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		uint64_t start, len, pgoff;
		uint32_t major, minor;
		uint64_t ino, generation;
		uint32_t prot, flags;
		char name[16];
		struct trailer t;
	} r = { .h = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_DATA, sizeof(r) }, .pid = PID, .tid = PID, .start = start, .len = len,
		.prot = PROT_READ | PROT_WRITE, .flags = MAP_PRIVATE, .t = trailer() };

	snprintf(r.name, sizeof(r.name), "%s", name);
	feed(&r, sizeof(r));
}

/* As PERF_RECORD_ACCESS_TYPE has it, @len bytes of it. */
static void feed_access(uint64_t addr, uint64_t period, uint64_t weight, uint64_t source, uint16_t misc, uint16_t len)
{
	struct {
		struct perf_event_header h;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time, addr;
		uint32_t cpu, res;
		uint64_t period, weight, source;
		uint64_t more;
	} r = { .h = { PERF_RECORD_SAMPLE, misc, len }, .id = 2, .ip = 0x401000, .pid = PID, .tid = PID, .time = ++now, .addr = addr,
		.period = period, .weight = weight, .source = source };

	feed(&r, len);
}

static void feed_count(uint32_t type, uint64_t count)
{
	struct {
		struct perf_event_header h;
		uint64_t count;
		struct trailer t;
	} r = { .h = { type, 0, sizeof(r) }, .count = count, .t = trailer() };

	feed(&r, sizeof(r));
}

static void take(void *ctx, const struct stream_record *r)
{
	analysis_record(ctx, r);
}

static const struct row *row(const struct rows *rows, const char *name)
{
	size_t i;

	for (i = 0; i < rows->n; i++)
		if (!strcmp(rows->v[i].var.name, name))
			return &rows->v[i];
	fail_msg("no row is called %s", name);
	return NULL;
}

#define L1   0x229100142ull
#define HITM 0x651800842ull
#define LOCK 0x202000144ull

static void test_replay(void **state)
{
	static _Alignas(8) uint8_t bounce[65536];
	struct analysis_options ao = { 0 };
	struct rows_options ro = { 0 };
	struct perf_ring_counts counts = { 0 };
	struct perf_news news = { .hz = 1000 };
	struct err e = { 0 };
	struct rows rows;
	double ci[2];

	(void)state;
	begin_ring();
	feed_comm("app");
	feed_map(0x7f0000000000, 0x10000, "//anon");
	feed_map(0x5555a0000000, 0x20000, "[heap]");
	/* PEBS: the weight's upper parts are other latencies; IBS: all of it is one; a store, which has none */
	feed_access(0x7f0000000010, 1000, 37 | 5ull << 32 | 9ull << 48, L1, PERF_RECORD_MISC_USER, 80);
	feed_access(0x7f0000000020, 3000, 100, L1, PERF_RECORD_MISC_USER, 80);
	feed_access(0x5555a0000100, 2000, 400, HITM, PERF_RECORD_MISC_USER, 80);
	feed_access(0x5555a0000108, 2000, 0, LOCK, PERF_RECORD_MISC_USER, 80);
	/* without an address; where nothing is mapped */
	feed_access(0, 1500, 50, L1, PERF_RECORD_MISC_USER, 80);
	feed_access(0x123456, 500, 0, L1, PERF_RECORD_MISC_USER, 80);
	/* not told: the kernel's own, an operation of IBS that accesses nothing */
	feed_access(0x5555a0000100, 2000, 400, HITM, PERF_RECORD_MISC_KERNEL, 80);
	feed_access(0, 2000, 0, 1, PERF_RECORD_MISC_USER, 80);
	/* what the kernel says was lost, when it slowed the event down; records of another size */
	feed_count(PERF_RECORD_LOST_SAMPLES, 7);
	feed_count(PERF_RECORD_THROTTLE, 0);
	feed_access(0x5555a0000100, 2000, 400, HITM, PERF_RECORD_MISC_USER, 72);
	feed_access(0x5555a0000100, 2000, 400, HITM, PERF_RECORD_MISC_USER, 88);

	struct analysis *a = analysis_new(&ao, &e);
	struct stream *out = stream_to_call(take, a, &e);

	news.out = out;
	news.t = tracker_new(out, &e);
	news.code = code_capture_new(news.t, out);
	news.look = relook_new(20);
	assert_non_null(news.t);
	tracker_late_is_usual(news.t);
	perf_ring_merge(&made.ring, 1, ~0ull, bounce, &counts, perf_news_take, &news);
	assert_int_equal(counts.samples, 8);
	assert_int_equal(counts.lost, 7);
	assert_int_equal(counts.throttled, 1);
	assert_int_equal(counts.damaged, 2);
	assert_int_equal(news.samples, 6);
	assert_int_equal(stream_close(out, &e), 0);

	assert_int_equal(rows_make(&rows, a, &ro, &e), 0);
	assert_true(rows.addressed);
	assert_int_equal(rows.samples, 6);
	assert_int_equal(rows.attributed, 4);
	assert_int_equal(rows.n, 2);
	/* of 10000: 4000, 4000, and 1500 without an address, 500 where nothing is */
	assert_float_equal(row(&rows, "[anon]")->share, 0.4, 1e-9);
	assert_float_equal(row(&rows, "[heap]")->share, 0.4, 1e-9);
	assert_float_equal(row(&rows, "[anon]")->write_share, 0, 0);
	assert_float_equal(row(&rows, "[heap]")->write_share, 0.5, 1e-9);
	/* of 1000*37 + 3000*100 + 2000*400 + 1500*50 = 1212000 cycles */
	assert_float_equal(row(&rows, "[anon]")->time_share, 337000.0 / 1212000, 1e-9);
	assert_float_equal(row(&rows, "[heap]")->time_share, 800000.0 / 1212000, 1e-9);
	assert_float_equal(row(&rows, "[anon]")->sampled.latency / row(&rows, "[anon]")->sampled.latency_weight, 84.25, 1e-9);
	assert_int_equal(row(&rows, "[heap]")->sampled.hitm, 1);
	assert_int_equal(row(&rows, "[heap]")->sampled.locked, 1);
	assert_int_equal(row(&rows, "[heap]")->sampled.tlb_misses, 1);
	assert_int_equal(row(&rows, "[heap]")->sampled.levels[PMU_LEVEL_L3], 1);
	assert_int_equal(row(&rows, "[anon]")->sampled.levels[PMU_LEVEL_L1], 2);
	assert_int_equal(rows.n_un, 2);
	assert_string_equal(rows.un[0].reason, "no-address");
	assert_float_equal(rows.un[0].share, 0.15, 1e-9);
	assert_string_equal(rows.un[1].reason, "not-mapped");
	assert_float_equal(rows.un[1].share, 0.05, 1e-9);
	/* Wilson's interval, for 10000^2 / (1000^2 + 3000^2 + 2000^2 + 2000^2 + 1500^2 + 500^2) = 4.878 equal samples, by another formula */
	memcpy(ci, row(&rows, "[anon]")->ci, sizeof(ci));
	assert_float_equal(fabs(ci[0] - 0.4) / sqrt(ci[0] * (1 - ci[0]) / (1e8 / 20.5e6)), 1.959964, 1e-5);
	assert_float_equal(fabs(ci[1] - 0.4) / sqrt(ci[1] * (1 - ci[1]) / (1e8 / 20.5e6)), 1.959964, 1e-5);
	rows_fini(&rows);
	code_capture_free(news.code);
	relook_free(news.look);
	tracker_free(news.t);
	analysis_free(a);
}

/* ---- events and rings of this kernel ---- */

enum { TOUCHED = 64 };

struct seen {
	const struct pmu_events *pmu;
	uint64_t lo, hi, periods, last_addr[PMU_EVENTS_MAX]; /* of each event */
	unsigned accesses, maps, again;
};

static void note(void *ctx, const struct perf_record *r)
{
	struct seen *s = ctx;

	s->maps += r->what == PERF_IS_MAP;
	if (r->what != PERF_IS_ACCESS || r->u.access.addr < s->lo || r->u.access.addr >= s->hi)
		return;
	assert_int_equal(r->pid, getpid());
	assert_int_equal(r->tid, gettid());
	assert_true(r->u.access.ip && !r->u.access.kernel);
	s->accesses++;
	s->periods += r->u.access.period;
	s->again += s->last_addr[pmu_events_kind(s->pmu, r->id)] == r->u.access.addr;
	s->last_addr[pmu_events_kind(s->pmu, r->id)] = r->u.access.addr;
}

/*
 * Machines of which nothing is known here but that their events have an address: page faults, which any kernel has, under the
 * names of a PMU's events.  What is opened, in which group, and what comes out of the rings is all the kernel's.
 */
static void by_page_faults(const char *devices, size_t n)
{
	struct perf_rings_options o = { .maps = true };
	struct seen seen = { 0 };
	struct err e = { 0 };
	struct perf_rings *r;
	volatile char *p;
	int i;

	o.pmu = pmu_events_new(at(devices), 0, &e);
	if (!o.pmu) {
		print_message("not here: %s\n", e.text);
		skip();
	}
	seen.pmu = o.pmu;
	assert_int_equal(pmu_events_plan(o.pmu)->n, n);
	r = perf_rings_new(&o, &e);
	assert_non_null(r);
	assert_int_equal(perf_rings_add(r, gettid(), &e), 0);
	p = mmap(NULL, TOUCHED * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	seen.lo = (uint64_t)(uintptr_t)p;
	seen.hi = seen.lo + TOUCHED * PAGE;
	for (i = 0; i < TOUCHED; i++)
		p[i * PAGE] = 1;
	perf_rings_stop(r);
	for (i = 0; i < TOUCHED; i++) /* that are told no more */
		p[i * PAGE] = 2;
	perf_rings_drain(r, ~0ull, note, &seen);
	assert_true(seen.maps);
	assert_int_equal(seen.again, 0);
	/* each event has told some, but one that leads another, which only counts */
	for (i = 0; i < (int)n; i++)
		assert_int_equal(seen.last_addr[i] == 0, pmu_events_plan(o.pmu)->v[i].leads);
	/* a page of several takes fewer faults */
	assert_true(seen.accesses && seen.accesses <= TOUCHED);
	assert_int_equal(seen.periods, seen.accesses);
	munmap((void *)p, TOUCHED * PAGE);
	perf_rings_free(r);
	pmu_events_free(o.pmu);
}

static void test_rings(void **state)
{
	(void)state;
	put("sw/cpu/type", "1\n");
	put("sw/cpu/events/mem-loads", "event=0x2\n");
	put("sw/cpu/format/event", "config:0-7\n");
	by_page_faults("sw", 1);
}

static void test_rings_of_group(void **state)
{
	(void)state;
	put("group/cpu/type", "1\n");
	put("group/cpu/events/mem-loads-aux", "event=0x2\n");
	put("group/cpu/events/mem-loads", "event=0x2\n");
	put("group/cpu/format/event", "config:0-7\n");
	by_page_faults("group", 2);
}

/* An event that opens but tells of nothing is none: the CPU clock has no address. */
static void test_rings_of_nothing(void **state)
{
	struct err e = { 0 };
	struct pmu_events *p;

	(void)state;
	put("mute/cpu/type", "1\n");
	put("mute/cpu/events/mem-loads", "event=0x0\n");
	put("mute/cpu/format/event", "config:0-7\n");
	p = pmu_events_new(at("mute"), 1000, &e);
	assert_null(p);
	assert_true(strstr(e.text, "tells of no access") || strstr(e.text, "refused"));
	/* and one that no kernel has */
	put("absent/cpu/type", "4294967295\n");
	put("absent/cpu/events/mem-loads", "event=0x2\n");
	put("absent/cpu/format/event", "config:0-7\n");
	assert_null(pmu_events_new(at("absent"), 1000, &e));
	assert_true(strstr(e.text, "cannot be opened") || strstr(e.text, "refused"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_skylake), cmocka_unit_test(test_hybrid), cmocka_unit_test(test_ibs), cmocka_unit_test(test_none),
		cmocka_unit_test(test_cpus), cmocka_unit_test(test_sources), cmocka_unit_test(test_replay),
		cmocka_unit_test(test_rings), cmocka_unit_test(test_rings_of_group), cmocka_unit_test(test_rings_of_nothing),
	};

	return cmocka_run_group_tests(tests, temp_begin, temp_end);
}
