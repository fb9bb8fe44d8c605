// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_perf_forms - samples of page faults and of watchpoints, made byte by byte as perf_event_open(2) has them.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_event.h"
#include "runtime/user/perf_record.h"

struct fault_bytes {
	struct perf_event_header h;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time, addr;
	uint32_t cpu, res;
	uint64_t period, abi;
	uint64_t regs[18]; /* in the kernel's order: ax bx cx dx si di ... */
};

static void reads_a_fault(void **state)
{
	struct fault_bytes s = { .h = { PERF_RECORD_SAMPLE, 0, sizeof(s) }, .id = 77, .ip = 0x401000, .pid = 5, .tid = 6,
				 .time = 10, .addr = 0x602123, .cpu = 3, .period = 1, .abi = PERF_SAMPLE_REGS_ABI_64 };
	struct perf_record r;

	(void)state;
	for (unsigned i = 0; i < 18; i++)
		s.regs[i] = 0x1000 + i;
	assert_int_equal(perf_record_read_form(&s, sizeof(s), PERF_FORM_FAULT, &r), 1);
	assert_int_equal(r.what, PERF_IS_SAMPLE);
	assert_int_equal(r.id, 77);
	assert_int_equal(r.pid, 5);
	assert_int_equal(r.tid, 6);
	assert_int_equal(r.time_ns, 10);
	assert_int_equal(r.cpu, 3);
	assert_int_equal(r.u.sample.ip, 0x401000);
	assert_int_equal(r.u.sample.word, 0x602123);
	assert_int_equal(r.u.sample.regs[STREAM_RSI], 0x1004);
	assert_int_equal(r.u.sample.regs[STREAM_RDI], 0x1005);
	for (size_t len = 0; len < sizeof(s); len++)
		assert_int_equal(perf_record_read_form(&s, len, PERF_FORM_FAULT, &r), -EBADMSG);
	s.abi = PERF_SAMPLE_REGS_ABI_NONE;
	assert_int_equal(perf_record_read_form(&s, offsetof(struct fault_bytes, regs), PERF_FORM_FAULT, &r), 1);
	assert_int_equal(r.u.sample.flags, HVAR_SAMPLE_NOREGS);
	assert_int_equal(r.u.sample.word, 0x602123);
}

struct count_bytes {
	struct perf_event_header h;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
	uint64_t period, count, abi;
	uint64_t regs[18];
};

static void reads_a_count(void **state)
{
	struct count_bytes s = { .h = { PERF_RECORD_SAMPLE, 0, sizeof(s) }, .id = 77, .ip = 0x401000, .pid = 5, .tid = 6,
				 .time = 10, .cpu = 3, .period = 50000, .count = 123456, .abi = PERF_SAMPLE_REGS_ABI_64 };
	struct perf_record r;

	(void)state;
	for (unsigned i = 0; i < 18; i++)
		s.regs[i] = 0x1000 + i;
	assert_int_equal(perf_record_read_form(&s, sizeof(s), PERF_FORM_COUNT, &r), 1);
	assert_int_equal(r.what, PERF_IS_SAMPLE);
	assert_int_equal(r.tid, 6);
	assert_int_equal(r.time_ns, 10);
	assert_int_equal(r.cpu, 3);
	assert_int_equal(r.u.sample.ip, 0x401000);
	assert_int_equal(r.u.sample.period_ns, 50000);
	assert_int_equal(r.u.sample.word, 123456);
	assert_int_equal(r.u.sample.regs[STREAM_RSI], 0x1004);
	for (size_t len = 0; len < sizeof(s); len++)
		assert_int_equal(perf_record_read_form(&s, len, PERF_FORM_COUNT, &r), -EBADMSG);
	s.abi = PERF_SAMPLE_REGS_ABI_NONE;
	assert_int_equal(perf_record_read_form(&s, offsetof(struct count_bytes, regs), PERF_FORM_COUNT, &r), 1);
	assert_int_equal(r.u.sample.flags, HVAR_SAMPLE_NOREGS);
	assert_int_equal(r.u.sample.word, 123456);
}

struct watch_bytes {
	struct perf_event_header h;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
	uint64_t period, abi;
	uint64_t si, di;
	uint64_t size, data, got;
};

static void reads_a_hit(void **state)
{
	struct watch_bytes s = { .h = { PERF_RECORD_SAMPLE, 0, sizeof(s) }, .id = 78, .ip = 0x401007, .pid = 5, .tid = 6,
				 .time = 11, .cpu = 1, .period = 1, .abi = PERF_SAMPLE_REGS_ABI_64, .si = 1, .di = 2,
				 .size = 8, .data = 0x401234, .got = 8 };
	uint64_t bare[9];
	struct perf_record r;

	(void)state;
	assert_int_equal(perf_record_read_form(&s, sizeof(s), PERF_FORM_WATCH, &r), 1);
	assert_int_equal(r.what, PERF_IS_SAMPLE);
	assert_int_equal(r.id, 78);
	assert_int_equal(r.tid, 6);
	assert_int_equal(r.time_ns, 11);
	assert_int_equal(r.cpu, 1);
	assert_int_equal(r.u.sample.ip, 0x401007);
	assert_int_equal(r.u.sample.regs[STREAM_RSI], 1);
	assert_int_equal(r.u.sample.regs[STREAM_RDI], 2);
	assert_int_equal(r.u.sample.word, 0x401234);
	for (size_t len = 0; len < sizeof(s); len++)
		assert_int_equal(perf_record_read_form(&s, len, PERF_FORM_WATCH, &r), -EBADMSG);
	s.got = 0; /* the stack could not be read */
	assert_int_equal(perf_record_read_form(&s, sizeof(s), PERF_FORM_WATCH, &r), 1);
	assert_int_equal(r.u.sample.word, 0);
	s.size = 16;
	assert_int_equal(perf_record_read_form(&s, sizeof(s), PERF_FORM_WATCH, &r), -EBADMSG);

	/* Neither registers nor a stack. */
	memcpy(bare, &s, 8 * sizeof(bare[0]));
	bare[7] = PERF_SAMPLE_REGS_ABI_NONE;
	bare[8] = 0;
	assert_int_equal(perf_record_read_form(bare, sizeof(bare), PERF_FORM_WATCH, &r), 1);
	assert_int_equal(r.u.sample.flags, HVAR_SAMPLE_NOREGS);
	assert_int_equal(r.u.sample.word, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_fault),
		cmocka_unit_test(reads_a_count),
		cmocka_unit_test(reads_a_hit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
