// SPDX-License-Identifier: GPL-2.0-or-later
/* test_advise.c - the arithmetic of huge-page advice, what processors and settings tell, jumps and walks, the verdict. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/advise_jumps.h"
#include "runtime/user/advise_spans.h"
#include "runtime/user/advise_thp.h"
#include "runtime/user/advise_tlb.h"
#include "runtime/user/advise_verdict.h"
#include "runtime/user/page_map.h"

#define MIB ((uint64_t)1 << 20)

static uint64_t seed = 88172645463325252ull;

static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* ---- spans ---- */

/* Each 2 MiB of all memory in turn: does it lie in the range, and how many of its pages are there? */
static void model(uint64_t start, uint64_t end, uint64_t base, const uint64_t *e, size_t n, struct advise_spans *out)
{
	memset(out, 0, sizeof(*out));
	for (uint64_t span = base; span < base + n * 4096; span += 2 * MIB) {
		uint64_t small = 0, huge = 0;

		for (uint64_t page = span; page < span + 2 * MIB; page += 4096) {
			uint64_t entry = page >= start && page < end ? e[(page - base) / 4096] : 0;

			if (page_present(entry) && entry & PAGE_HUGE)
				huge++;
			else if (page_present(entry))
				small++;
		}
		out->huge += huge;
		if (span < start || span + 2 * MIB > end) {
			out->ends += small;
			continue;
		}
		out->small += small;
		out->spans += small + huge > 0;
		out->spans_huge += huge > 0;
	}
}

static void spans_random(void **state)
{
	enum { SPANS = 6, PAGES = SPANS * 512 };
	uint64_t *e = calloc(PAGES, sizeof(*e)), base = 64 * MIB;

	(void)state;
	for (int round = 0; round < 400; round++) {
		uint64_t a = any(PAGES + 1), b = any(PAGES + 1), density = any(4);
		struct advise_spans s, want;

		if (!any(3)) /* often an end is even */
			a = a / 512 * 512;
		if (a > b) {
			uint64_t t = a;

			a = b;
			b = t;
		}
		if (a == b)
			continue;
		for (int i = 0; i < PAGES; i++)
			e[i] = any(4) < density ? PAGE_PRESENT : 0;
		for (int i = 0; i < SPANS; i++) /* a huge page fills its span */
			for (int k = 0; !any(3) && k < 512; k++)
				e[i * 512 + k] = PAGE_PRESENT | PAGE_HUGE;
		for (int i = 0; i < SPANS; i++) {
			uint64_t huge = 0;

			for (int k = 0; k < 512; k++)
				huge += !!(e[i * 512 + k] & PAGE_HUGE);
			for (int k = 0; huge && k < 512; k++)
				e[i * 512 + k] = PAGE_PRESENT | PAGE_HUGE;
		}
		model(base + a * 4096, base + b * 4096, base, e, PAGES, &want);
		advise_spans_begin(&s, base + a * 4096, base + b * 4096);
		for (uint64_t at = a; at < b;) {
			uint64_t n = 1 + any(b - at);

			advise_spans_add(&s, base + at * 4096, e + at, n);
			at += n;
		}
		assert_int_equal(s.small, want.small);
		assert_int_equal(s.ends, want.ends);
		assert_int_equal(s.huge, want.huge);
		assert_int_equal(s.spans, want.spans);
		assert_int_equal(s.spans_huge, want.spans_huge);
		assert_int_equal(advise_spans_with(&s), want.spans + want.ends);
		assert_int_equal(advise_spans_without(&s), want.small + want.ends + want.huge);
	}
	free(e);
}

static void spans_ends(void **state)
{
	struct advise_spans s;

	(void)state;
	/* one page short of two spans at each side: the one in the middle is whole */
	advise_spans_begin(&s, 2 * MIB + 4096, 8 * MIB - 4096);
	advise_spans_full(&s);
	assert_int_equal(s.spans, 1);
	assert_int_equal(s.small, 512);
	assert_int_equal(s.ends, 2 * 511);
	assert_int_equal(advise_spans_now(&s), 512 + 2 * 511);
	assert_int_equal(advise_spans_with(&s), 1 + 2 * 511);
	assert_int_equal(advise_spans_more(&s), 0);
	/* less than one, and none at the end of all addresses */
	advise_spans_begin(&s, 2 * MIB + 4096, 5 * MIB);
	advise_spans_full(&s);
	assert_int_equal(s.spans, 0);
	assert_int_equal(advise_spans_with(&s), advise_spans_now(&s));
	advise_spans_begin(&s, UINT64_MAX - 3 * 4096 + 1, UINT64_MAX - 4096 + 1);
	advise_spans_full(&s);
	assert_int_equal(s.spans, 0);
	assert_int_equal(s.ends, 2);
	/* one page of a span: the rest of it would be memory more */
	advise_spans_begin(&s, 0, 4 * MIB);
	advise_spans_add(&s, 4096, (uint64_t[]){ PAGE_PRESENT }, 1);
	assert_int_equal(advise_spans_more(&s), 2 * MIB - 4096);
}

/* ---- cpuid ---- */

struct leaf {
	uint32_t leaf, sub;
	struct advise_cpuid r;
};

static bool leaves(void *ctx, uint32_t leaf, uint32_t sub, struct advise_cpuid *out)
{
	for (const struct leaf *l = ctx; l->leaf; l++)
		if (l->leaf == leaf && l->sub == sub) {
			*out = l->r;
			return true;
		}
	return false;
}

static void tlb_told(void **state)
{
	/* Intel's Skylake, as cpuid -r shows it: no leaf 0x18; c3 is the shared second level of 1536 */
	struct leaf descriptors[] = { { 2, 0, { 0x76036301, 0x00f0b5ff, 0, 0x00c30000 } }, { 0 } };
	/* leaf 0x18: a data TLB of 16 x 4 for 4 KiB, one of 4 x 8 for 2 MiB, and 8 ways x 256 sets for both; one for instructions */
	struct leaf subleaves[] = { { 0x18, 0, { 3, 0x00040001, 16, 0x21 } },
				    { 0x18, 1, { 0, 0x00040002, 8, 0x21 } },
				    { 0x18, 2, { 0, 0x00080003, 256, 0x43 } },
				    { 0x18, 3, { 0, 0x00080001, 4096, 0x22 } },
				    { 0 } };
	/* Zen 2: 64 and 64 entries, then 2048 of 4 KiB and of 2 MiB */
	struct leaf zen2[] = { { 0x80000005, 0, { 0xff40ff40, 0xff40ff40, 0, 0 } },
			       { 0x80000006, 0, { 0x48006400, 0x68006400, 0, 0 } },
			       { 0x80000021, 0, { 0, 0, 0, 0 } },
			       { 0 } };
	/* a Zen 5 whose bit a hypervisor hides: 128 x 32 */
	struct leaf zen5[] = { { 1, 0, { 0x00b00f21, 0, 0, 0 } },
			       { 0x80000005, 0, { 0xff60ff40, 0xff60ff40, 0, 0 } },
			       { 0x80000006, 0, { 0x40802040, 0x60804040, 0, 0 } },
			       { 0 } };
	struct leaf bit[] = { { 0x80000006, 0, { 0x40802040, 0x60804040, 0, 0 } }, { 0x80000021, 0, { 1 << 14, 0, 0, 0 } }, { 0 } };
	/* hidden: leaves of nothing; and one that never ends */
	struct leaf hidden[] = { { 0x18, 0, { 0, 0, 0, 0 } }, { 2, 0, { 0x00feff01, 0x80c3c3c3, 0, 0 } }, { 0x80000006, 0, { 0, 0, 0, 0 } }, { 0 } };
	struct leaf endless[] = { { 0x18, 0, { 0xffffffff, 0xffff0001, 0xffffffff, 1 } }, { 0 } };
	struct advise_tlb t;

	(void)state;
	advise_tlb_of(&t, leaves, descriptors);
	assert_int_equal(t.small, 1536);
	assert_int_equal(t.huge, 1536);
	assert_string_equal(t.source, "cpuid leaf 2");
	advise_tlb_of(&t, leaves, subleaves);
	assert_int_equal(t.small, 2048);
	assert_int_equal(t.huge, 2048);
	assert_string_equal(t.source, "cpuid leaf 0x18");
	advise_tlb_of(&t, leaves, zen2);
	assert_int_equal(t.small, 2048);
	assert_int_equal(t.huge, 2048);
	advise_tlb_of(&t, leaves, zen5);
	assert_int_equal(t.small, 4096);
	assert_int_equal(t.huge, 4096);
	advise_tlb_of(&t, leaves, bit);
	assert_int_equal(t.small, 4096);
	advise_tlb_of(&t, leaves, hidden);
	assert_int_equal(t.small, 0);
	assert_int_equal(advise_tlb_pages(&t), ADVISE_TLB_ASSUMED);
	advise_tlb_of(&t, leaves, endless);
	assert_int_equal(t.small, 0);
}

/* ---- settings ---- */

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *s = strchr(path + strlen(dir) + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		mkdir(path, 0700);
		*s = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void thp_told(void **state)
{
	char dir[] = "/tmp/test_advise.XXXXXX", command[64];
	struct advise_thp t;

	(void)state;
	assert_non_null(mkdtemp(dir));
	advise_thp_read(&t, dir, dir);
	assert_int_equal(t.enabled, ADVISE_MODE_UNKNOWN);
	assert_int_equal(t.pool_pages, 0);
	put(dir, "kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	put(dir, "kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never\n");
	put(dir, "kernel/mm/transparent_hugepage/shmem_enabled", "always within_size [advise] never deny force\n");
	put(dir, "meminfo", "HugePages_Total:       7\nHugePages_Free:        3\nHugepagesize:       2048 kB\n");
	advise_thp_read(&t, dir, dir);
	assert_int_equal(t.enabled, ADVISE_MADVISE);
	assert_int_equal(t.shmem, ADVISE_MADVISE);
	assert_string_equal(t.defrag, "madvise");
	assert_int_equal(t.pool_pages, 7);
	assert_int_equal(t.pool_free, 3);
	/* the size's own setting goes first, if it does not inherit */
	put(dir, "kernel/mm/transparent_hugepage/hugepages-2048kB/enabled", "always [inherit] madvise never\n");
	advise_thp_read(&t, dir, dir);
	assert_int_equal(t.enabled, ADVISE_MADVISE);
	put(dir, "kernel/mm/transparent_hugepage/hugepages-2048kB/enabled", "always inherit madvise [never]\n");
	advise_thp_read(&t, dir, dir);
	assert_int_equal(t.enabled, ADVISE_NEVER);
	put(dir, "kernel/mm/transparent_hugepage/shmem_enabled", "always [within_size] advise never deny force\n");
	put(dir, "kernel/mm/transparent_hugepage/enabled", "no brackets ]here[\n");
	put(dir, "kernel/mm/transparent_hugepage/hugepages-2048kB/enabled", "[]\n");
	put(dir, "meminfo", "HugePages_Total:       7\nHugepagesize:    1048576 kB\n");
	advise_thp_read(&t, dir, dir);
	assert_int_equal(t.enabled, ADVISE_MODE_UNKNOWN);
	assert_int_equal(t.shmem, ADVISE_ALWAYS);
	assert_int_equal(t.pool_pages, 0);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* ---- jumps ---- */

enum { GAP = 100000 };

struct shape {
	uint64_t mib;
	uint64_t (*at)(uint64_t i, uint64_t size); /* the @i-th access, GAP ns after the last */
	bool jumps;
};

static uint64_t at_random(uint64_t i, uint64_t size)
{
	(void)i;
	return any(size);
}

/* 10 GB a second, and it begins again at the end */
static uint64_t in_order(uint64_t i, uint64_t size)
{
	return i * GAP * 10 % size;
}

static uint64_t backwards(uint64_t i, uint64_t size)
{
	return size - 1 - i * GAP * 10 % size;
}

/* a column of a matrix of rows of 64 KiB, element by element, each 5 ns */
static uint64_t by_column(uint64_t i, uint64_t size)
{
	return i * (GAP / 5) * 65536 % size;
}

static void jumps_and_walks(void **state)
{
	static const struct shape shapes[] = {
		{ 1024, at_random, true }, { 64, at_random, true },	{ 20, at_random, true },     { 1024, in_order, false },
		{ 64, in_order, false },   { 17, in_order, false }, { 64, backwards, false }, { 1009, by_column, true },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		struct hvar_vma v = { .start = 4096 * MIB + 4096, .end = 4096 * MIB + 4096 + shapes[k].mib * MIB };
		struct advise_jumps *j = advise_jumps_new();
		struct advise_jumps_sum sum, other;

		assert_non_null(j);
		for (uint64_t i = 1; i <= 2000; i++)
			advise_jumps_access(j, 7, 0x400000, &v, v.start + shapes[k].at(i, v.end - v.start), i * GAP, 0x400000);
		advise_jumps_sum(j, v.start, v.end, &sum);
		assert_in_range(sum.pairs, 1990, 1999); /* a block at an end may be the neighbour's */
		if (shapes[k].jumps)
			assert_true(sum.far * 2 > sum.pairs);
		else
			assert_true(sum.far * 20 < sum.pairs);
		assert_true(sum.pages <= sum.landed);
		if (shapes[k].jumps)
			assert_int_equal(sum.top_ip, 0x400000);
		advise_jumps_sum(j, v.end + 2 * MIB, v.end + 64 * MIB, &other);
		assert_int_equal(other.accesses, 0);
		advise_jumps_free(j);
	}
}

/* ---- from access to access ---- */

enum { BURST = 56, HIT_NS = 9000 };

struct stride {
	const char *name;
	uint64_t (*at)(uint64_t i, uint64_t size); /* the @i-th access in turn */
	bool jumps;
};

static uint64_t each_kib(uint64_t i, uint64_t size)
{
	return i * 1024 % size;
}

static uint64_t down(uint64_t i, uint64_t size)
{
	return size - 8 - i * 8 % size;
}

static uint64_t six_by_turns(uint64_t i, uint64_t size)
{
	return i % 6 * (size / 6) + i / 6 * 64 % (size / 6);
}

static uint64_t in_rows(uint64_t i, uint64_t size)
{
	return (i / 512 * 65536 + i % 512 * 8) % size;
}

static uint64_t one_place_then_any(uint64_t i, uint64_t size)
{
	return i % 4 ? 0 : any(size);
}

static uint64_t records(uint64_t i, uint64_t size)
{
	uint64_t x = (i / 16 + 1) * 0x9e3779b97f4a7c15ull;

	return (x ^ x >> 31) % size + i % 16 * 8;
}

/* Samples that are all far from each other, of a program that goes on as each of these does. */
static void walks_of_any_speed(void **state)
{
	static const struct stride strides[] = {
		{ "1 KiB", each_kib, false }, { "down", down, false },	     { "by turns", six_by_turns, false }, { "rows", in_rows, false },
		{ "any", at_random, true },   { "records", records, true }, { "one place", one_place_then_any, true }, { "columns", by_column, true },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(strides) / sizeof(strides[0]); k++) {
		struct hvar_vma v = { .start = 4096 * MIB, .end = 5120 * MIB };
		struct advise_jumps *j = advise_jumps_new();
		uint64_t ip, at = 0, time_ns = 0, bursts = 0;
		struct advise_jumps_sum sum;
		uint32_t tid;

		assert_non_null(j);
		for (int sample = 0; sample < 3000; sample++) {
			at += 10000000 + any(1000);
			time_ns += GAP;
			advise_jumps_access(j, 7, 0x400004, &v, v.start + strides[k].at(at, v.end - v.start), time_ns, 0x100001);
			if (!advise_jumps_wanted(j, &tid, &ip))
				continue;
			assert_int_equal(tid, 7);
			assert_int_equal(ip, 0x100001);
			bursts++;
			time_ns += 10 * GAP;
			for (int i = 0; i < BURST; i++)
				advise_jumps_next(j, 7, 0x400004, v.start + strides[k].at(at++, v.end - v.start), 8, time_ns += HIT_NS);
			time_ns += 10 * GAP;
		}
		advise_jumps_sum(j, v.start, v.end, &sum);
		assert_in_range(bursts, 5, 60);
		assert_true(sum.pages <= sum.landed);
		if (strides[k].jumps ? sum.far * ADVISE_JUMPS_SHARE < sum.pairs : sum.far * 20 > sum.pairs)
			fail_msg("%s: %llu of %llu pairs", strides[k].name, (unsigned long long)sum.far, (unsigned long long)sum.pairs);
		advise_jumps_free(j);
	}
}

/* Hits of several threads at once, and of more instructions than there is room for. */
static void bursts_apart(void **state)
{
	struct hvar_vma v = { .start = 4096 * MIB, .end = 5120 * MIB };
	struct advise_jumps *j = advise_jumps_new();
	struct advise_jumps_sum sum;

	(void)state;
	for (uint64_t i = 0; i < BURST; i++)
		for (uint32_t tid = 1; tid <= 4; tid++)
			advise_jumps_next(j, tid, 0x400004, v.start + tid * 100 * MIB + i * 1024, 8, i * HIT_NS + tid);
	for (uint64_t i = 1; i <= 1000; i++)
		advise_jumps_access(j, 1, 0x400004, &v, v.start + any(1024 * MIB), i * GAP, 0x100001);
	advise_jumps_sum(j, v.start, v.end, &sum);
	assert_int_equal(sum.far, 0);
	for (uint64_t op = 1; op < 20000; op++)
		for (int i = 0; i < 3; i++)
			advise_jumps_next(j, 1, op * 4, any(1 << 30), 8, op * GAP + (uint64_t)i);
	advise_jumps_next(j, 1, 4, UINT64_MAX - 3, 1 << 30, 0);
	advise_jumps_next(j, 1, 4, 0, 0, 1);
	advise_jumps_free(j);
}

/* No pairs: another thread's, another instruction's, another area's, long after. */
static void jumps_apart(void **state)
{
	struct hvar_vma v = { .start = 0, .end = 1024 * MIB }, w = { .start = 1024 * MIB, .end = 2048 * MIB };
	struct advise_jumps *j = advise_jumps_new();
	struct advise_jumps_sum sum;

	(void)state;
	advise_jumps_access(j, 1, 1, &v, 0, GAP, 1);
	advise_jumps_access(j, 2, 1, &v, 512 * MIB, 2 * GAP, 1);
	advise_jumps_access(j, 1, 2, &v, 256 * MIB, 2 * GAP, 2);
	advise_jumps_access(j, 1, 1, &w, 1500 * MIB, 3 * GAP, 1);
	advise_jumps_access(j, 1, 1, &v, 128 * MIB, 4 * GAP, 1);
	advise_jumps_access(j, 1, 1, &v, 512 * MIB, 5 * GAP + ADVISE_PAIR_NS, 1);
	advise_jumps_sum(j, 0, 2048 * MIB, &sum);
	assert_int_equal(sum.accesses, 6);
	assert_int_equal(sum.pairs, 0);
	/* and this is one */
	advise_jumps_access(j, 1, 1, &v, 128 * MIB, 6 * GAP + ADVISE_PAIR_NS, 1);
	advise_jumps_sum(j, 0, 2048 * MIB, &sum);
	assert_int_equal(sum.pairs, 1);
	assert_int_equal(sum.far, 1);
	assert_int_equal(sum.pages, 1);
	advise_jumps_free(j);
}

/* More 2 MiB than there is room for are counted. */
static void jumps_bounded(void **state)
{
	struct hvar_vma v = { .start = 0, .end = (uint64_t)1 << 46 };
	struct advise_jumps *j = advise_jumps_new();

	(void)state;
	for (uint64_t i = 0; i < 300000; i++)
		advise_jumps_access(j, 1, 1, &v, i * 2 * MIB, i * GAP, 1);
	assert_int_equal(advise_jumps_lost(j), 300000 - (1 << 18));
	advise_jumps_free(j);
}

/* Balls thrown at urns, by throwing them. */
static void exceed(void **state)
{
	static const struct {
		uint64_t urns, balls, reach;
		int want;
	} cases[] = {
		{ 262144, 300, 4096, 1 }, { 262144, 5000, 4096, 1 }, { 1024, 400, 4096, 0 }, { 4096, 5000, 65536, 0 }, { 16384, 2000, 4096, 1 },
	};
	char *full = malloc(262144);

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		int yes = 0;

		for (int round = 0; round < 20; round++) {
			uint64_t hit = 0;

			memset(full, 0, 262144);
			for (uint64_t i = 0; i < cases[k].balls; i++) {
				uint64_t u = any(cases[k].urns);

				hit += !full[u];
				full[u] = 1;
			}
			yes += advise_jumps_exceed(hit, cases[k].balls, cases[k].reach);
		}
		if (cases[k].want)
			assert_in_range(yes, 19, 20);
		else
			assert_in_range(yes, 0, 1);
	}
	assert_false(advise_jumps_exceed(0, 0, 1));
	assert_true(advise_jumps_exceed(2, 2, 1));
	free(full);
}

/* ---- the verdict ---- */

static void verdicts(void **state)
{
	const uint64_t reach = 4096;
	struct advise_region good = {
		.smaps = true, .touched = 262144, .rss = 262144,
		.jumps = { .accesses = 5000, .pairs = 5000, .far = 4900, .landed = 4900, .pages = 4850 },
	}, r;

	(void)state;
	advise_spans_begin(&good.spans, 0, 1024 * MIB);
	advise_spans_full(&good.spans);
#define VERDICT(why, change)                                                       \
	do {                                                                       \
		r = good;                                                          \
		change;                                                            \
		assert_string_equal(advise_why_name(advise_verdict(&r, true, reach)), why); \
	} while (0)
	VERDICT("given", );
	VERDICT("small", r.touched = reach);
	VERDICT("given", r.touched = reach + 1);
	VERDICT("huge-already", r.hugetlb = true);
	VERDICT("huge-already", (r.spans.huge = r.spans.small, r.spans.small = 0, r.touched = 0));
	VERDICT("in-order", r.jumps.far = 900);
	VERDICT("given", (r.jumps.far = r.jumps.landed = 1000, r.jumps.pages = 990));
	VERDICT("few-samples", r.jumps.pairs = 199);
	VERDICT("few-samples", (r.jumps.pairs = 200, r.jumps.far = r.jumps.landed = 199, r.jumps.pages = 199));
	VERDICT("few-pages", r.jumps.pages = 1024);
	/* the pages are of some of the jumps only, or of more than are counted for some */
	VERDICT("given", (r.jumps.far = 3000, r.jumps.landed = 600, r.jumps.pages = 590));
	VERDICT("few-pages", (r.jumps.far = 2000, r.jumps.landed = 4000, r.jumps.pages = 1900));
	VERDICT("no-span", advise_spans_begin(&r.spans, 4096, 4096 + 2 * MIB));
	/* of a recording nobody knows how many were touched */
	VERDICT("given", (r.smaps = false, r.touched = 4000));
	r = good;
	assert_int_equal(advise_verdict(&r, false, reach), ADVISE_NO_SAMPLES);
	r.touched = 1;
	assert_int_equal(advise_verdict(&r, false, reach), ADVISE_SMALL);
	for (int w = 0; w < ADVISE_WHYS; w++)
		assert_non_null(advise_why_text((enum advise_why)w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_random),	   cmocka_unit_test(spans_ends),  cmocka_unit_test(tlb_told), cmocka_unit_test(thp_told),
		cmocka_unit_test(jumps_and_walks), cmocka_unit_test(jumps_apart), cmocka_unit_test(jumps_bounded),
		cmocka_unit_test(walks_of_any_speed), cmocka_unit_test(bursts_apart),
		cmocka_unit_test(exceed),	   cmocka_unit_test(verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
