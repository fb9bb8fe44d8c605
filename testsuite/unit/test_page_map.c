// SPDX-License-Identifier: GPL-2.0-or-later
/* test_page_map.c - pages of this process by each way of reading them, sets of pages, lines of smaps. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/page_map.h"
#include "runtime/user/page_set.h"
#include "runtime/user/page_smaps.h"

#define BYTES ((uint64_t)1 << 30)
enum { PAGES = BYTES / PAGE_BYTES };

/* What a walk has handed over: each page once, in order. */
struct seen {
	uint64_t base, at;
	uint8_t *present, *zero, *exclusive; /* by page */
	size_t runs, stop_after;
};

static int take(void *ctx, uint64_t start, const uint64_t *e, size_t n)
{
	struct seen *s = ctx;

	assert_true(start >= s->at);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		size_t page = (start - s->base) / PAGE_BYTES + i;

		s->present[page] = page_present(e[i]);
		s->zero[page] = !!(e[i] & PAGE_ZERO);
		s->exclusive[page] = !!(e[i] & PAGE_EXCLUSIVE);
	}
	s->at = start + n * PAGE_BYTES;
	return ++s->runs == s->stop_after ? 7 : 0;
}

/* A terabyte would be as well, but not without PAGEMAP_SCAN in a test's time. */
static void walk_random(bool without_scan)
{
	char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *wrote = calloc(PAGES, 1), *read_only = calloc(PAGES, 1);
	struct seen s = { 0 };
	struct page_map m;

	assert_true(p != MAP_FAILED);
	madvise(p, BYTES, MADV_NOHUGEPAGE);
	s.present = calloc(PAGES, 1);
	s.zero = calloc(PAGES, 1);
	s.exclusive = calloc(PAGES, 1);
	srand(5);
	for (int i = 0; i < 300; i++) {
		size_t at = (size_t)rand() % PAGES, n = rand() % 4 ? 1 : (size_t)rand() % 2000;

		for (size_t k = at; k < at + n && k < PAGES; k++) {
			if (i & 1) {
				p[k * PAGE_BYTES] = 1;
				wrote[k] = 1;
			} else {
				read_only[k] |= !*(volatile char *)(p + k * PAGE_BYTES);
			}
		}
	}
	page_map_without_scan(without_scan);
	assert_int_equal(page_map_open(&m, getpid()), 0);
	if (without_scan)
		assert_false(m.scan);
	for (int round = 0; round < 40; round++) {
		size_t lo = round ? (size_t)rand() % PAGES : 0;
		size_t hi = round ? lo + 1 + (size_t)rand() % (PAGES - lo) : PAGES;

		s.base = (uint64_t)(uintptr_t)p;
		s.at = s.base + lo * PAGE_BYTES;
		memset(s.present, 0, PAGES);
		memset(s.zero, 0, PAGES);
		memset(s.exclusive, 0, PAGES);
		m.asked = 0;
		assert_int_equal(page_map_walk(&m, s.at, s.base + hi * PAGE_BYTES, take, &s), 0);
		for (size_t k = 0; k < PAGES; k++) {
			bool in = k >= lo && k < hi;

			assert_int_equal(s.present[k], in && (wrote[k] || read_only[k]));
			assert_int_equal(s.exclusive[k], in && wrote[k]);
			if (m.zero)
				assert_int_equal(s.zero[k], in && read_only[k] && !wrote[k]);
			else
				assert_int_equal(s.zero[k], 0);
		}
	}
	s.runs = 0;
	s.stop_after = 3;
	s.at = s.base;
	assert_int_equal(page_map_walk(&m, s.base, s.base + BYTES, take, &s), 7);
	assert_int_equal(s.runs, 3);
	page_map_close(&m);
	page_map_without_scan(false);
	munmap(p, BYTES);
	free(wrote);
	free(read_only);
	free(s.present);
	free(s.zero);
	free(s.exclusive);
}

static void test_walk(void **state)
{
	(void)state;
	walk_random(false);
}

static void test_walk_without_scan(void **state)
{
	(void)state;
	walk_random(true);
}

static int count(void *ctx, uint64_t start, const uint64_t *e, size_t n)
{
	(void)start;
	for (size_t i = 0; i < n; i++)
		*(uint64_t *)ctx += page_present(e[i]);
	return 0;
}

/* A terabyte of nothing but three pages is not read through. */
static void test_sparse(void **state)
{
	const uint64_t size = (uint64_t)1 << 40;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t present = 0;
	struct page_map m;

	(void)state;
	if (p == MAP_FAILED)
		skip(); /* overcommit is forbidden here */
	madvise(p, size, MADV_NOHUGEPAGE);
	p[12345] = p[size / 3] = p[size - 1] = 1;
	assert_int_equal(page_map_open(&m, getpid()), 0);
	if (m.scan) {
		assert_int_equal(page_map_walk(&m, (uintptr_t)p, (uintptr_t)p + size, count, &present), 0);
		assert_int_equal(present, 3);
		assert_in_range(m.asked, 3, 10000);
	}
	page_map_close(&m);
	munmap(p, size);
}

static void test_gone(void **state)
{
	struct page_map m;

	(void)state;
	assert_int_equal(page_map_open(&m, 0x3fffffff), -ESRCH);
}

/* ---- sets ---- */

static void test_set(void **state)
{
	enum { SPAN = 20000 };
	uint8_t *model = calloc(SPAN, 1);
	struct page_set s = { 0 };

	(void)state;
	assert_false(page_set_has(&s, 0));
	assert_false(page_set_near(&s, 0));
	srand(9);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 3000; i++) {
			uint64_t k = (uint64_t)rand() % SPAN;

			model[k] = 1;
			assert_int_equal(page_set_add(&s, 0x7f0000000000 + k * 0x3000 + (uint64_t)rand() % 0x1000), 0);
		}
		for (uint64_t k = 0; k < SPAN; k++) {
			assert_int_equal(page_set_has(&s, 0x7f0000000000 + k * 0x3000), model[k]);
			assert_false(page_set_has(&s, 0x7f0000000000 + k * 0x3000 + 0x1000));
			if (model[k])
				assert_true(page_set_near(&s, (0x7f0000000000 + k * 0x3000) & ~0x1fffffull));
		}
		page_set_empty(&s);
		memset(model, 0, SPAN);
		assert_false(page_set_has(&s, 0x7f0000000000));
	}
	page_set_fini(&s);
	free(model);
}

/* Beyond its bound nothing is taken, nothing lost that was taken, and all is counted. */
static void test_set_full(void **state)
{
	struct page_set s = { 0 };

	(void)state;
	for (uint64_t i = 0; i < PAGE_SET_BLOCKS; i++)
		assert_int_equal(page_set_add(&s, i << 21), 0);
	assert_int_equal(page_set_add(&s, (uint64_t)PAGE_SET_BLOCKS << 21), -ENOMEM);
	assert_int_equal(page_set_add(&s, (uint64_t)(PAGE_SET_BLOCKS + 5) << 21), -ENOMEM);
	assert_int_equal(s.lost, 2);
	assert_int_equal(page_set_add(&s, 0x3000), 0);
	assert_true(page_set_has(&s, 0x3000));
	assert_true(page_set_has(&s, 0));
	assert_false(page_set_has(&s, (uint64_t)PAGE_SET_BLOCKS << 21));
	page_set_fini(&s);
}

/* ---- smaps ---- */

static int line(struct page_smaps *s, const char *text)
{
	return page_smaps_line(s, text, strlen(text));
}

static void test_smaps(void **state)
{
	struct page_smaps s = { 0 };

	(void)state;
	assert_int_equal(line(&s, "7f2a4000-7f2a6000 rw-p 00003000 fe:00 1234      /usr/lib/Rss: 5 kB"), 1);
	assert_int_equal(s.start, 0x7f2a4000);
	assert_int_equal(s.end, 0x7f2a6000);
	assert_int_equal(line(&s, "Rss:                   8 kB"), 0);
	assert_int_equal(line(&s, "Referenced:            4 kB"), 0);
	assert_int_equal(line(&s, "Shared_Dirty:         12 kB"), 0);
	assert_int_equal(line(&s, "Private_Dirty:        16 kB"), 0);
	assert_int_equal(line(&s, "AnonHugePages:      2048 kB"), 0);
	assert_int_equal(line(&s, "VmFlags: rd wr mr mw me pf ac sd"), 0);
	assert_int_equal(line(&s, "NotKnown:              8 kB"), 0);
	assert_int_equal(line(&s, ""), 0);
	assert_int_equal(s.rss, 8192);
	assert_int_equal(s.referenced, 4096);
	assert_int_equal(s.shared_dirty, 12288);
	assert_int_equal(s.private_dirty, 16384);
	assert_int_equal(s.anon_huge, 2 << 20);
	assert_true(s.pfn_map);
	line(&s, "Rss: 99999999999999999999999999 kB");
	assert_int_equal(s.rss, UINT64_MAX / 1024 * 1024);
	/* the next one begins with nothing of this one */
	assert_int_equal(line(&s, "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]"), 1);
	assert_int_equal(s.rss, 0);
	assert_false(s.pfn_map);
	/* no areas: a path of several lines, escaped by the kernel as \012, cannot look like one; these neither */
	assert_int_equal(line(&s, "abc-def"), 0);
	assert_int_equal(line(&s, "2000-1000 rw-p 0 00:00 0"), 0);
	assert_int_equal(line(&s, "Anonymous:             8 kB"), 0);
	assert_int_equal(s.anon, 8192);
}

static void no_more(void *ctx, const struct page_smaps *s)
{
	uint64_t *last = ctx;

	assert_true(s->start >= *last && s->end > s->start);
	*last = s->end;
}

static void test_smaps_read(void **state)
{
	uint64_t last = 0;

	(void)state;
	assert_int_equal(page_smaps_read(getpid(), no_more, &last), 0);
	assert_true(last > 0);
	assert_int_equal(page_smaps_read(0x3fffffff, no_more, &last), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_walk_without_scan),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_set_full),
		cmocka_unit_test(test_smaps),
		cmocka_unit_test(test_smaps_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
