// SPDX-License-Identifier: GPL-2.0-or-later
/* test_perf_ring_pages.c - rings have the size that what they are for needs, and no more than the machine has to give. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/user/perf_ring_pages.h"

enum { PAGE = 4096 };

static const struct perf_rings_options of_calls = { .maps = true, .calls_id = 1 }, of_faults = { .faults = true };

/* 200,000 changes a second of 360 bytes each, nobody reading for 100 ms: on each of a few CPUs. */
static void test_calls(void **state)
{
	(void)state;
	for (size_t cpus = 1; cpus <= 8; cpus++)
		assert_true(perf_ring_pages(&of_calls, cpus) * PAGE >= (size_t)200000 * 360 / 10);
	assert_int_equal(perf_ring_pages(&(struct perf_rings_options){ .watch = true }, 2), perf_ring_pages(&of_calls, 2));
}

/* 64 MB of all CPUs, each a power of 2. */
static void test_all_cpus(void **state)
{
	(void)state;
	for (size_t cpus = 1; cpus <= 1024; cpus++) {
		size_t pages = perf_ring_pages(&of_calls, cpus);

		assert_true(pages >= 64 && !(pages & (pages - 1)));
		assert_true(pages == 64 || pages * cpus * PAGE <= (size_t)64 << 20);
		assert_int_equal(perf_ring_pages(&of_faults, cpus), cpus > 32 ? 64 : 2048);
	}
	assert_true(perf_ring_pages(&of_calls, 32) >= 512);
}

/* Half a second of samples of some 208 bytes. */
static void test_samples(void **state)
{
	(void)state;
	assert_int_equal(perf_ring_pages(&(struct perf_rings_options){ .hz = 1000 }, 4), 64);
	assert_int_equal(perf_ring_pages(&(struct perf_rings_options){ .hz = 1000 }, 1024), 64);
	assert_true(perf_ring_pages(&(struct perf_rings_options){ .hz = 10000 }, 4) * PAGE >= (size_t)10000 * 208 / 2);
	assert_int_equal(perf_ring_pages(&(struct perf_rings_options){ .hz = UINT32_MAX }, 4), 2048);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_all_cpus),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
