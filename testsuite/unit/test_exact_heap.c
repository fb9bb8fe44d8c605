// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_exact_heap.c - objects and sites out of a process's memfd: right against a model, and nonsense is left out.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/exact_heap.h"

static const uint32_t tids[HVT_SLOTS] = { [0] = 100, [1] = 101, [5] = 105 };
static const struct stream_heap as = { .time_ns = 9, .mm = 1, .pid = 100 };
static const char stack[] = "f\0a.c\0" "1\0/bin/a\0" "10\0";
#define STACK stack, sizeof(stack) - 1

static int memfd(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)HVT_SHADOW_SIZE), 0);
	return fd;
}

static void put(int fd, uint64_t at, const void *p, size_t n)
{
	assert_int_equal(pwrite(fd, p, n, (off_t)at), (ssize_t)n);
}

static void put_object(int fd, uint64_t start, uint32_t site, uint64_t size)
{
	struct hvt_object e[3] = { { site | (start % 32 ? HVT_OBJECT_ODD : 0), size < HVT_OBJECT_BIG ? (uint32_t)size : HVT_OBJECT_BIG },
				   { 0, (uint32_t)(size >> 32) }, { 0, (uint32_t)size } };

	put(fd, HVT_OBJECTS + start / 32 * sizeof(e[0]), e, e[0].size == HVT_OBJECT_BIG ? sizeof(e) : sizeof(e[0]));
}

static void put_site(int fd, uint32_t n, const struct hvt_site *s)
{
	put(fd, HVT_SITES + n * sizeof(*s), s, sizeof(*s));
}

static struct stream_reader *reader;
static struct stream *out;

static void begin(void)
{
	struct err e;

	out = stream_to_queue(&e);
	assert_non_null(out);
	reader = stream_reader_of_queue(out);
	assert_non_null(reader);
}

/* The records of @h; *@ret is what putting them has returned. */
static size_t records(struct exact_heap *h, struct stream_heap *v, size_t max, int *ret, uint64_t *accesses)
{
	struct stream_record r;
	struct err e;
	size_t n = 0;

	*accesses = 0;
	*ret = exact_heap_put(h, out, &as, accesses);
	assert_int_equal(stream_close(out, &e), 0); /* no record breaks the format */
	while (stream_next(reader, &r) > 0) {
		assert_int_equal(r.type, STREAM_HEAP);
		assert_true(n < max);
		memcpy(&v[n++], r.data, sizeof(*v));
	}
	stream_reader_free(reader);
	return n;
}

static void live_objects(void **state)
{
	struct exact_heap *h = exact_heap_new();
	struct hvt_site s = { .objects = 3, .bytes = 10000000124, .gone_objects = 1, .gone_bytes = 100, .reads = 7, .writes = 1,
			      .never_read = 50, .slots = 2, .n_offsets = 32, .size_least = 24, .size_most = 10000000000, .first_ns = 5, .last_ns = 6 };
	struct hvt_offset o[32] = { [8] = { 7, 1 } };
	struct stream_heap v[4];
	uint64_t accesses;
	int fd = memfd(), ret;
	uint8_t mark = 1;

	(void)state;
	assert_int_equal(exact_heap_site(h, 1, false, "", 0), 0);
	assert_int_equal(exact_heap_site(h, 2, false, STACK), 0);
	put_site(fd, 2, &s);
	put(fd, HVT_OFFSETS, o, sizeof(o));
	put_object(fd, 0x10000, 2, 24);
	put_object(fd, 0x20000, 2, 10000000000);
	put(fd, HVT_MARKS_READ + 0x10010 / 8, &mark, 1);
	put(fd, HVT_MARKS_WRITE + 0x10018 / 8, &mark, 1); /* behind it: nobody's */
	assert_int_equal(exact_heap_open(h, fd, tids), 0);
	assert_true(exact_heap_count(h, 105, 0x10000, 3, 0));
	assert_true(exact_heap_count(h, 105, 0x10009, 0, 2)); /* it may reach into the next 8 bytes */
	assert_false(exact_heap_count(h, 105, 0x10018, 1, 0));
	assert_false(exact_heap_count(h, 105, 0xfff8, 1, 0));
	assert_true(exact_heap_count(h, 105, 0x20000 + 9999999999, 1, 0));
	assert_false(exact_heap_count(h, 105, 0x20000 + 10000000000, 1, 0));
	begin();
	assert_int_equal(records(h, v, 4, &ret, &accesses), 1);
	assert_int_equal(ret, 0);
	assert_int_equal(accesses, 8 + 3 + 2 + 1);
	assert_int_equal(v[0].objects, 3);
	assert_int_equal(v[0].objects_live, 2);
	assert_int_equal(v[0].bytes_live, 10000000024);
	assert_int_equal(v[0].reads, 7 + 3 + 1);
	assert_int_equal(v[0].writes, 1 + 2);
	assert_int_equal(v[0].never_read, 50 + 8 + (10000000000 - 8));
	assert_int_equal(v[0].never_written, 8 + 10000000000);
	assert_int_equal(v[0].n_tids, 2);
	assert_int_equal(v[0].n_offsets, 3); /* 0, 8, 9; the one far out has no room */
	assert_int_equal(v[0].first_ns, 5);
	assert_int_equal(v[0].last_ns, 9);
	exact_heap_free(h);
	close(fd);
}

static void messages(void **state)
{
	struct exact_heap *h = exact_heap_new(), *child;
	char *big = calloc(1, HVT_STACK_MAX + 1);
	uint32_t sites[] = { 1, 2, 0, 7, 0xffffffff };

	(void)state;
	assert_int_equal(exact_heap_site(h, 0, false, STACK), -EINVAL);
	assert_int_equal(exact_heap_site(h, HVT_SITES_MAX, false, STACK), -EINVAL);
	assert_int_equal(exact_heap_site(h, UINT64_MAX, false, STACK), -EINVAL);
	assert_int_equal(exact_heap_site(h, 2, false, "f", 1), -EINVAL);
	assert_int_equal(exact_heap_site(h, 2, false, "f", 2), -EINVAL);
	assert_int_equal(exact_heap_site(h, 2, false, stack, sizeof(stack)), -EINVAL);
	assert_int_equal(exact_heap_site(h, 2, false, big, HVT_STACK_MAX + 1), -EINVAL);
	assert_int_equal(exact_heap_site(h, 2, false, big, 5 * (HVT_FRAMES_MAX + 1)), -EINVAL);
	assert_int_equal(exact_heap_site(h, 2, false, big, 5 * HVT_FRAMES_MAX), 0);
	assert_int_equal(exact_heap_site(h, 2, true, STACK), 0);
	assert_int_equal(exact_heap_threads(h, 100, sites, 2), 0);
	assert_int_equal(exact_heap_threads(h, 100, sites, 5), -EINVAL);
	assert_int_equal(exact_heap_threads(h, 0, sites, 2), 0);
	child = exact_heap_copy(h);
	assert_non_null(child);
	exact_heap_free(h);
	exact_heap_free(child);
	free(big);
}

/* Whatever a process has put there. */
static void nonsense(void **state)
{
	static const struct hvt_site bad[] = {
		{ .objects = 1, .gone_objects = 2 }, { .objects = 1, .bytes = 1, .gone_bytes = 2 }, { .objects = 1, .reads = UINT64_MAX },
		{ .objects = 1, .writes = (uint64_t)1 << 60 }, { .objects = UINT64_MAX }, { .objects = 1, .size_least = 2, .size_most = 1 },
		{ .objects = 1, .reads = 1, .n_offsets = 2 }, /* offsets that have more */
		{ .objects = 1, .n_offsets = UINT32_MAX }, { .objects = 1, .n_offsets = 2, .offsets = HVT_OFFSETS_MAX - 1 },
		{ .objects = 1, .slots = ~0ull },
	};
	enum { N = sizeof(bad) / sizeof(bad[0]) };
	struct hvt_offset o[2] = { { 1, 0 }, { UINT64_MAX, 0 } };
	struct exact_heap *h = exact_heap_new();
	struct stream_heap v[N];
	uint64_t accesses;
	int fd = memfd(), ret;
	uint32_t i;

	(void)state;
	for (i = 0; i < N; i++) {
		assert_int_equal(exact_heap_site(h, i + 1, false, STACK), 0);
		put_site(fd, i + 1, &bad[i]);
	}
	put(fd, HVT_OFFSETS, o, sizeof(o));
	put_object(fd, 0x10000, 99, 24);		/* no such site */
	put_object(fd, 0x10020, 1, HVT_PLANE_SIZE);	/* past the end of all */
	put_object(fd, 0x10040, 10, 1000);
	put_object(fd, 0x10060, 10, 16);		/* in another's midst */
	put_object(fd, 0x100c0, 10 | HVT_OBJECT_OLD, 16);
	put_object(fd, HVT_PLANE_SIZE - 16, 10, 32);
	assert_int_not_equal(exact_heap_open(h, fd, tids), 0);
	assert_false(exact_heap_count(h, 0, 0x10000, 1, 1));
	assert_false(exact_heap_count(h, 0, 0x10020, 1, 1));
	assert_true(exact_heap_count(h, 0, 0x10050, 1, 1));
	assert_true(exact_heap_count(h, 0, 0x10060, 1, 1));
	assert_false(exact_heap_count(h, 0, 0x10070, 1, 1)); /* the one that begins last before it has ended */
	assert_true(exact_heap_count(h, 0, 0x100c8, 1, 1));
	assert_false(exact_heap_count(h, 0, UINT64_MAX, 1, 1));
	begin();
	assert_int_equal(records(h, v, N, &ret, &accesses), 3); /* the last three: two of them lose their offsets alone */
	assert_int_equal(ret, -EINVAL);
	assert_int_equal(accesses, 6);
	assert_int_equal(v[2].n_tids, 3);
	exact_heap_free(h);
	close(fd);
}

/* Objects side by side, as many accesses as can be, against the stupidest count. */
static void random_objects(void **state)
{
	enum { SITES = 7, OBJECTS = 500, ACCESSES = 20000, SPAN = 64 };
	static struct {
		uint64_t start, size;
		uint32_t site;
		bool read[SPAN], written[SPAN];
	} model[OBJECTS];
	uint64_t reads[SITES] = { 0 }, writes[SITES] = { 0 }, never_read[SITES] = { 0 }, never_written[SITES] = { 0 }, at = 0x40000, accesses, sum = 0;
	struct exact_heap *h = exact_heap_new();
	struct stream_heap v[SITES];
	int fd = memfd(), ret;
	size_t i, k, n;

	(void)state;
	srand(3);
	for (i = 1; i < SITES; i++) {
		struct hvt_site s = { .objects = 1, .bytes = 1 };

		assert_int_equal(exact_heap_site(h, i, false, STACK), 0);
		put_site(fd, (uint32_t)i, &s);
	}
	for (i = 0; i < OBJECTS; i++) {
		at += (uint64_t)(rand() % 5) * 16;
		model[i].start = at;
		model[i].size = (uint64_t)(rand() % (SPAN * 8));
		model[i].site = 1 + (uint32_t)rand() % (SITES - 1);
		put_object(fd, at, model[i].site, model[i].size);
		at += model[i].size / 16 * 16 + 32;
	}
	assert_int_equal(exact_heap_open(h, fd, tids), 0);
	for (i = 0; i < ACCESSES; i++) {
		uint64_t addr = 0x3ffe0 + (uint64_t)rand() % (at - 0x3ffc0);
		uint32_t r = (uint32_t)rand() % 3, w = (uint32_t)rand() % 3;

		for (k = 0; k < OBJECTS && !(addr >= model[k].start && addr - model[k].start < model[k].size); k++)
			;
		assert_int_equal(exact_heap_count(h, 100, addr, r, w), k < OBJECTS);
		if (k == OBJECTS)
			continue;
		reads[model[k].site] += r;
		writes[model[k].site] += w;
		sum += r + w;
		n = (addr - model[k].start) / 8;
		model[k].read[n] |= r > 0;
		model[k].written[n] |= w > 0;
		if (addr % 8 && n + 1 < SPAN) {
			model[k].read[n + 1] |= r > 0;
			model[k].written[n + 1] |= w > 0;
		}
	}
	for (k = 0; k < OBJECTS; k++)
		for (n = 0; n < model[k].size; n++) {
			never_read[model[k].site] += !model[k].read[n / 8];
			never_written[model[k].site] += !model[k].written[n / 8];
		}
	begin();
	assert_int_equal(records(h, v, SITES, &ret, &accesses), SITES - 1);
	assert_int_equal(accesses, sum);
	for (i = 1; i < SITES; i++) {
		assert_int_equal(v[i - 1].reads, reads[i]);
		assert_int_equal(v[i - 1].writes, writes[i]);
		assert_int_equal(v[i - 1].never_read, never_read[i]);
		assert_int_equal(v[i - 1].never_written, never_written[i]);
	}
	exact_heap_free(h);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(live_objects), cmocka_unit_test(messages), cmocka_unit_test(nonsense), cmocka_unit_test(random_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
