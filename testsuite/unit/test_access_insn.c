// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_access_insn - the instruction that did an access, by a table of code.
 *
 * The bytes are an assembler's.  What is watched lies at 0x2000, code at 0x1000.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_event.h"
#include "runtime/user/access_insn.h"
#include "runtime/user/watchpoints.h"

enum { R = HVAR_ACCESS_READ, W = HVAR_ACCESS_WRITE, X = HVAR_ACCESS_EXEC, RW = R | W };
enum { CODE = 0x1000, VARIABLE = 0x2000, BEFORE = 256 };
enum { SI = STREAM_WATCHED_SI, DI = STREAM_WATCHED_DI };

struct text {
	uint8_t bytes[BEFORE + 512]; /* of CODE - BEFORE and on */
	size_t n;
	uint64_t function; /* where it begins, 0: not known */
};

static size_t read_code(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const struct text *t = ctx;
	uint64_t off = addr - (CODE - BEFORE);

	if (off >= BEFORE + t->n)
		return 0;
	if (len > BEFORE + t->n - off)
		len = BEFORE + t->n - off;
	memcpy(buf, t->bytes + off, len);
	return len;
}

static bool function_at(void *ctx, uint64_t addr, uint64_t *start)
{
	const struct text *t = ctx;

	if (!t->function || addr < t->function)
		return false;
	*start = t->function;
	return true;
}

static void fill(struct text *t, const char *hex, bool bounded)
{
	unsigned byte;

	memset(t, 0x90, sizeof(*t));
	t->n = 0;
	for (; *hex; hex += *hex == ' ' ? 1 : 2) {
		if (*hex == ' ')
			continue;
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		t->bytes[BEFORE + t->n++] = (uint8_t)byte;
	}
	t->function = bounded ? CODE : 0;
}

static const struct {
	const char *text, *code;
	bool bounded;
	int next, word; /* where control came to, what was on the stack: offsets, -1: nothing */
	unsigned flags;
	int ip; /* the instruction, -1: not told */
	uint32_t kind;
} before[] = {
	{ "mov a(%rip),%rax", "488b05f90f0000 c3", true, 7, -1, 0, 0, R },
	{ "mov of another variable", "488b05f91f0000 c3", true, 7, -1, 0, -1, R },
	{ "mov $7,a(%rip)", "48c705f50f000007000000 c3", true, 11, -1, 0, 0, W },
	{ "addq $1,a(%rip)", "488305f80f000001 c3", true, 8, -1, 0, 0, RW },
	{ "the same, of no known function", "488305f80f000001 c3", false, 8, -1, 0, 0, RW },
	{ "movdqu from before it", "f30f6f05f80f0000 c3", true, 8, -1, 0, 0, R },
	{ "movdqu that ends before it", "f30f6f05e80f0000 c3", true, 8, -1, 0, -1, R },
	{ "mov (%rax),%rax", "488b00 c3", true, 3, -1, 0, 0, R },
	{ "lea accesses nothing", "488d05f90f0000 c3", true, 7, -1, 0, -1, R },
	{ "push of a register", "50 c3", true, 1, -1, 0, -1, R },
	{ "the last of two", "488b05f90f0000 48890500000000 c3", true, 14, -1, 0, -1, R },
	{ "movsb, of which RSI is there", "a4 c3", true, 1, -1, SI, 0, R },
	{ "movsb, of which RDI is there", "a4 c3", true, 1, -1, DI, 0, W },
	{ "movsb, of which both are", "a4 c3", true, 1, -1, SI | DI, 0, 0 },
	{ "rep stosb, in the middle", "f3aa c3", true, 0, -1, DI, 0, W },
	{ "rep stosb, done", "f3aa c3", true, 2, -1, DI, 0, W },
	{ "rep movsq that reads it", "f348a5 c3", true, 0, -1, SI, 0, R },
	{ "a sure store, then rep stosb", "48c705f50f000007000000 f3aa", true, 11, -1, DI, 0, W },
	{ "a store by a register, then rep stosb", "488907 f3aa", true, 3, -1, DI, -1, W },
	{ "a load by a register, then rep stosb", "488b07 f3aa", true, 3, -1, DI, -1, 0 },
	{ "call *a(%rip)", "ff15fa0f0000 c3 90 c3", true, 7, 6, 0, 0, R },
	{ "call *%rax is no access", "ffd0 c3 90 c3", true, 3, 2, 0, -1, R },
	{ "jmp *a(%rip)", "ff25fa0f0000 cc 90 c3", true, 7, -1, 0, -1, R },
	{ "a conditional jump over it", "7400 c3", true, 2, -1, 0, -1, R },
	{ "cmpxchg", "f0480fb10df70f0000 c3", true, 9, -1, 0, 0, RW },
};

static void finds_the_instruction_before(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		struct text t;
		struct access_code code = { &t, read_code, function_at, false };
		struct stream_watched_at at = { .ip = CODE + (uint64_t)before[i].next, .count = 1, .flags = before[i].flags };
		struct access_insn in;
		uint64_t want = before[i].ip < 0 ? 0 : CODE + (uint64_t)before[i].ip;

		fill(&t, before[i].code, before[i].bounded);
		at.word = before[i].word < 0 ? 0 : CODE + (uint64_t)before[i].word;
		access_insn_before(&code, &at, VARIABLE, 8, &in);
		if (in.ip != want || in.flags != before[i].kind)
			fail_msg("%s: at 0x%lx kind %u, not at 0x%lx kind %u", before[i].text, (unsigned long)in.ip, in.flags,
				 (unsigned long)want, before[i].kind);
	}
}

static void knows_nothing_without_code(void **state)
{
	struct text t;
	struct access_code code = { &t, read_code, function_at, false };
	struct stream_watched_at at = { .ip = 0x900000, .word = 0x900010 };
	struct access_insn in;

	(void)state;
	fill(&t, "c3", false);
	access_insn_before(&code, &at, VARIABLE, 8, &in);
	assert_int_equal(in.ip, 0);
	assert_int_equal(in.flags, 0);
	at.ip = 3; /* near the end of memory */
	access_insn_before(&code, &at, ~7ull, 8, &in);
	assert_int_equal(in.ip, 0);
}

static const struct {
	const char *text, *code;
	uint64_t rax, rsi, rdi, addr;
	bool regs;
	uint32_t kind;
} faults[] = {
	{ "mov (%rax),%rdx", "488b10", VARIABLE, 0, 0, VARIABLE, true, R },
	{ "mov %rdx,(%rax)", "488910", VARIABLE, 0, 0, VARIABLE, true, W },
	{ "what reads and writes is a write", "48ff00", VARIABLE, 0, 0, VARIABLE, true, W },
	{ "across a page, at its second part", "488b10", 0x1ffc, 0, 0, VARIABLE, true, R },
	{ "movsq that reads it", "48a5", 0, VARIABLE, 0x9000, VARIABLE, true, R },
	{ "movsq that writes it", "48a5", 0, 0x9000, VARIABLE, VARIABLE, true, W },
	{ "movsq of which it is not known", "48a5", 0, 0, 0, VARIABLE, false, 0 },
	{ "mov without registers", "488b10", 0, 0, 0, VARIABLE, false, R },
	{ "its own code", "488b10", 0x9000, 0, 0, CODE, true, X },
	{ "the page its code ends on", "488b0500000000", 0, 0, 0, CODE + 3, true, X },
	{ "no instruction", "06", 0, 0, 0, VARIABLE, true, 0 },
	{ "push (%rax)", "ff30", VARIABLE, 0, 0, VARIABLE, true, R },
};

static void tells_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct text t;
		struct access_code code = { &t, read_code, function_at, false };
		uint64_t regs[STREAM_REGS] = { 0 };
		uint32_t got;

		fill(&t, faults[i].code, true);
		regs[STREAM_RAX] = faults[i].rax;
		regs[STREAM_RSI] = faults[i].rsi;
		regs[STREAM_RDI] = faults[i].rdi;
		regs[STREAM_RSP] = 0x8000;
		got = access_insn_fault(&code, CODE, faults[i].regs ? regs : NULL, 0, 0, faults[i].addr);
		if (got != faults[i].kind)
			fail_msg("%s: kind %u, not %u", faults[i].text, got, faults[i].kind);
	}
}

/* ---- what is asked ---- */

static void takes_four_names(void **state)
{
	struct watchpoints_ask a = { .n = 0 };

	(void)state;
	assert_int_equal(watchpoints_ask_add(&a, "counter"), 0);
	assert_int_equal(watchpoints_ask_add(&a, "counter"), -EEXIST);
	assert_int_equal(watchpoints_ask_add(&a, "libfoo.so.1:ns::table<int, 3>[3].hits"), 0);
	assert_int_equal(watchpoints_ask_add(&a, "two\nlines"), -EINVAL);
	assert_int_equal(watchpoints_ask_add(&a, "text+0x10,4"), 0);
	assert_string_equal(a.name[2], "text");
	assert_string_equal(a.v[2], "text+0x10,4");
	assert_int_equal(a.offset[2], 16);
	assert_int_equal(a.size[2], 4);
	assert_int_equal(watchpoints_ask_add(&a, "text+0,3"), -ERANGE);
	assert_int_equal(watchpoints_ask_add(&a, "text+0,16"), -ERANGE);
	assert_int_equal(watchpoints_ask_add(&a, "0x1000-0x1010"), -ERANGE);
	assert_int_equal(watchpoints_ask_add(&a, "0x1001-0x1003"), -ERANGE);
	assert_int_equal(watchpoints_ask_add(&a, "0x1000-0x1008+0,4"), -EINVAL);
	assert_int_equal(watchpoints_ask_add(&a, "zz-yy"), -EINVAL);
	assert_int_equal(watchpoints_ask_add(&a, ""), -EINVAL);
	assert_int_equal(watchpoints_ask_add(&a, "0x1000-0x1004"), 0);
	assert_int_equal(watchpoints_ask_add(&a, "fifth"), -ENOSPC);
	assert_int_equal(a.n, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_instruction_before),
		cmocka_unit_test(knows_nothing_without_code),
		cmocka_unit_test(tells_faults),
		cmocka_unit_test(takes_four_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
