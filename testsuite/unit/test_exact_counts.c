// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_exact_counts.c - counters come out of the memfd as they were put in: at every place in 8 bytes, also where
 * one lies across two pages, and with no memory taken by reading.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/exact_counts.h"

enum { N = 3000 };

static struct known {
	uint32_t slot;
	uint64_t addr;
	struct hvt_pair v;
	bool seen;
} known[N];
static size_t found, strangers;

static void take(void *ctx, uint32_t slot, uint64_t start, struct hvt_count *v, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		size_t k;

		for (k = 0; k < N; k++)
			if (known[k].slot == slot && known[k].addr == start + v[i].offset)
				break;
		if (k == N || known[k].seen || known[k].v.reads != v[i].reads || known[k].v.writes != v[i].writes) {
			strangers++;
			continue;
		}
		known[k].seen = true;
		found++;
	}
}

static void all_come_out(void **state)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct stat before, after;
	uint32_t slot;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(HVT_TAKING + 4096)), 0);
	srand(7);
	for (size_t i = 0; i < N; i++) {
		/* few pages far apart, so that neighbours, page ends and holes all occur; each address once */
		uint64_t page = (uint64_t)(rand() % 5) * 0x3ffff000u + (uint64_t)(rand() % 3) * 4096;
		size_t k;
		off_t at;

		known[i].slot = (uint32_t)(rand() % 3) * (HVT_SLOTS - 1) / 2;
		known[i].addr = page + (uint64_t)(rand() % 4 ? rand() % 4096 : 4095 - rand() % 8);
		if (i < 20) /* alone in its page, with one half in the next: only that has memory */
			known[i].addr = page + 7 * 4096 + 4092;
		for (k = 0; k < i; k++)
			if (known[k].slot == known[i].slot && known[k].addr == known[i].addr)
				break;
		if (k < i) {
			i--;
			continue;
		}
		known[i].v = (struct hvt_pair){ i < 20 ? 0 : 1 + (uint32_t)rand(), 1 + (uint32_t)rand() };
		at = (off_t)(known[i].slot * HVT_SLOT_SIZE + known[i].addr + known[i].addr % 8 * HVT_PLANE_SIZE);
		if (known[i].v.reads)
			assert_int_equal(pwrite(fd, &known[i].v.reads, 4, at), 4);
		assert_int_equal(pwrite(fd, &known[i].v.writes, 4, at + 4), 4);
	}
	assert_int_equal(fstat(fd, &before), 0);
	for (slot = 0; slot < HVT_SLOTS; slot++)
		assert_int_equal(exact_counts_read(fd, slot, take, NULL), 0);
	assert_int_equal(fstat(fd, &after), 0);
	assert_int_equal(strangers, 0);
	assert_int_equal(found, N);
	assert_int_equal(before.st_blocks, after.st_blocks);
	close(fd);
}

static void no_file_is_an_error(void **state)
{
	(void)state;
	assert_true(exact_counts_read(-1, 0, take, NULL) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_come_out),
		cmocka_unit_test(no_file_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
