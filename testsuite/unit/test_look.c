// SPDX-License-Identifier: GPL-2.0-or-later
/* test_look.c - looks at maps: of this process, both ways, and of text that was caught in motion. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/look.h"

/* Both ways see the same of a range, and an area at a time the same as all. */
static void test_both_ways(void **state)
{
	struct look_areas all = { 0 }, a = { 0 }, b = { 0 };
	struct look l;

	(void)state;
	assert_int_equal(look_open(&l, getpid()), 0);
	/* The lists' own memory must not change what they list: let it grow first. */
	for (int i = 0; i < 3; i++) {
		look_without_query(true);
		assert_int_equal(look_at(&l, 0, 1ull << 63, &b), 0);
		look_without_query(false);
		assert_int_equal(look_at(&l, 0, 1ull << 63, &a), 0);
		assert_int_equal(look_at(&l, 0, UINT64_MAX, &all), 0);
	}
	assert_true(a.n > 10);
	assert_int_equal(a.n, b.n);
	for (size_t i = 0; i < a.n; i++) {
		struct look_areas one = { 0 };

		assert_memory_equal(&a.v[i].v, &b.v[i].v, sizeof(a.v[i].v));
		assert_string_equal(a.v[i].path, b.v[i].path);
		assert_int_equal(a.v[i].ino, b.v[i].ino);
		assert_int_equal(a.v[i].pseudo, b.v[i].pseudo);
		assert_int_equal(look_at(&l, a.v[i].v.end - 1, a.v[i].v.end, &one), 0);
		if (a.v[i].v.region != HVAR_REGION_HEAP) /* where the lists themselves grow */
			assert_int_equal(one.n, 1);
		look_areas_fini(&one);
	}
	/* [vsyscall], where there is one, is seen only by a look at everything */
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].v.region == HVAR_REGION_VSYSCALL)
			assert_true(i == all.n - 1 && all.v[i].v.start >> 63);
	look_areas_fini(&all);
	look_areas_fini(&a);
	look_areas_fini(&b);
	look_close(&l);
	assert_int_equal(l.fd, -1);
	assert_int_equal(look_at(&l, 0, 1, &a), -ESRCH);
}

static void test_gone(void **state)
{
	struct look_areas a = { 0 };
	struct look l;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	assert_int_equal(look_open(&l, pid), 0);
	assert_int_equal(look_at(&l, 0, UINT64_MAX, &a), 0);
	assert_true(a.n > 10);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(look_at(&l, 0, UINT64_MAX, &a), -ESRCH);
	assert_int_equal(look_at(&l, 0, 4096, &a), -ESRCH);
	look_close(&l);
	assert_int_equal(look_open(&l, pid), -ESRCH);
	look_areas_fini(&a);
}

/* A window on a text of our own: what the kernel showed in 5 of 2,000 reads. */
static void torn(const char *text, size_t n, const uint64_t (*want)[3], uint64_t torn_lines)
{
	char path[] = "/tmp/hotvar-test.XXXXXX";
	struct look l = { .fd = mkstemp(path) };
	struct look_areas a = { 0 };
	uint64_t end = 0;

	assert_true(l.fd >= 0);
	unlink(path);
	assert_int_equal(write(l.fd, text, strlen(text)), strlen(text));
	look_without_query(true);
	assert_int_equal(look_at(&l, 0, UINT64_MAX, &a), 0);
	look_without_query(false);
	assert_int_equal(a.n, n);
	for (size_t i = 0; i < a.n; i++) {
		assert_true(a.v[i].v.start >= end && a.v[i].v.start < a.v[i].v.end);
		end = a.v[i].v.end;
		assert_int_equal(a.v[i].v.start, want[i][0]);
		assert_int_equal(a.v[i].v.end, want[i][1]);
		assert_int_equal(a.v[i].v.pgoff, want[i][2]);
	}
	assert_int_equal(a.torn, torn_lines);
	look_areas_fini(&a);
	look_close(&l);
}

static void test_torn(void **state)
{
	static const uint64_t overlap[][3] = { { 0x1000, 0x3000, 0 }, { 0x3000, 0x5000, 0x1000 }, { 0x6000, 0x7000, 0 } };
	static const uint64_t order[][3] = { { 0x1000, 0x3000, 0 }, { 0x8000, 0x9000, 0 } };
	static const uint64_t within[][3] = { { 0x1000, 0x5000, 0 }, { 0x5000, 0x6000, 0 } };

	(void)state;
	torn("1000-3000 r--p 0 8:1 5 /a\n2000-5000 r--p 0 8:1 5 /a\n6000-7000 rw-p 0 0:0 0\n", 3, overlap, 1);
	torn("1000-3000 r--p 0 0:0 0\n8000-9000 r--p 0 0:0 0\n4000-5000 rw-p 0 0:0 0\n", 2, order, 1);
	torn("1000-5000 r--p 0 0:0 0\n2000-3000 r--p 0 8:1 5 /b\n1000-5000 rw-p 0 0:0 0\n5000-6000 r--p 0 0:0 0", 2,
	     within, 2);
	torn("1000-5000 r--p 0 0:0 0\nnonsense\n\n5000-6000 r--p 0 0:0 0\n", 2, within, 2);
}

/* The kernel's build-id of a file is that of its notes, which the linker gave this program. */
static void test_build_id(void **state)
{
	uint8_t id[32], none[32];
	struct look l;
	uint64_t here = (uint64_t)(uintptr_t)&test_build_id, start = 0, end = 0;
	void *p;

	(void)state;
	assert_int_equal(look_open(&l, getpid()), 0);
	if (!look_is_cheap(&l))
		skip(); /* no PROCMAP_QUERY in this kernel */
	assert_int_equal(look_extent(&l, here, &start, &end), 0);
	assert_true(start <= here && here < end);
	assert_int_equal(look_extent(&l, 0, &start, &end), -ENOENT);
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(look_build_id(&l, (uint64_t)(uintptr_t)p, none, sizeof(none)), 0);
	assert_int_equal(look_build_id(&l, here, id, 3), 0); /* no room */
	look_without_query(true);
	assert_int_equal(look_build_id(&l, here, id, sizeof(id)), 0);
	look_without_query(false);
	look_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_build_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
