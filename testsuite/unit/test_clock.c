// SPDX-License-Identifier: GPL-2.0-or-later
/* test_clock.c - clock.h against other calls that tell the same time. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "runtime/user/clock.h"

enum { SPIN_NS = 40000000 };

/* CPU time of the thread as getrusage(2) has it, which may be behind by a tick (10 ms at most). */
static uint64_t rusage_ns(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_THREAD, &u), 0);
	return ((uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
		(uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec)) * 1000;
}

static void test_now(void **state)
{
	struct timespec before, after;
	uint64_t now, again;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &before);
	now = clock_now_ns();
	again = clock_now_ns();
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(now <= again);
	assert_true(now / 1000000000 >= (uint64_t)before.tv_sec);
	assert_true(now >= (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec);
	assert_true(again <= (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec);
	/* since 1970 and since boot are not the same */
	assert_true(clock_ns(CLOCK_REALTIME) / 1000000000 >= (uint64_t)time(NULL) - 1);
}

static void *spin(void *arg)
{
	uint64_t begin = rusage_ns();

	(void)arg;
	while (rusage_ns() - begin < SPIN_NS)
		;
	return NULL;
}

static void test_own_cpu(void **state)
{
	uint64_t was = rusage_ns(), begin = clock_own_cpu_ns(), used;
	pthread_t thread;

	(void)state;
	spin(NULL);
	used = clock_own_cpu_ns() - begin;
	assert_true(used >= rusage_ns() - was - SPIN_NS * 3 / 4);
	assert_true(clock_own_cpu_ns() <= rusage_ns() + SPIN_NS); /* of itself alone, since its beginning */
	/* what another thread uses is not ours */
	begin = clock_own_cpu_ns();
	assert_int_equal(pthread_create(&thread, NULL, spin, NULL), 0);
	pthread_join(thread, NULL);
	assert_true(clock_own_cpu_ns() - begin < SPIN_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_now),
		cmocka_unit_test(test_own_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
