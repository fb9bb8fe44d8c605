// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_prefetch_code.c - prefetch instructions to operands: by a table, and at random with Zydis as the judge.
 *
 * Each piece of code ends where its page does, with one that cannot be read behind it: not a byte too many is looked at.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <Zydis/Zydis.h>

#include "runtime/valgrind/hvt_prefetch_code.c"

enum { PAGE = 4096, N = HVT_PREFETCH_NONE, IP = HVT_PREFETCH_IP };

static uint8_t *page;

static bool decode(const uint8_t *code, unsigned len, struct hvt_prefetch_code *out)
{
	uint8_t *at = page + PAGE - len;

	memcpy(at, code, len);
	return hvt_prefetch_code(at, len, out);
}

/* An assembler's bytes, the Intel SDM's answers. */
static const struct {
	const char *bytes;
	bool is;
	struct hvt_prefetch_code want;
} table[] = {
	{ "0f 18 08", true, { 0, N, 0, 0, 0, false } },				 /* prefetcht0 (%rax) */
	{ "0f 18 07", true, { 7, N, 0, 0, 0, false } },				 /* prefetchnta (%rdi) */
	{ "0f 18 5e 40", true, { 6, N, 0, 64, 0, false } },			 /* prefetcht2 64(%rsi) */
	{ "0f 18 96 00 ff ff ff", true, { 6, N, 0, -256, 0, false } },		 /* prefetcht1 -256(%rsi) */
	{ "0f 0d 08", true, { 0, N, 0, 0, 0, false } },				 /* prefetchw (%rax) */
	{ "0f 0d 10", true, { 0, N, 0, 0, 0, false } },				 /* prefetchwt1 (%rax) */
	{ "43 0f 18 4c ee 80", true, { 14, 13, 3, -128, 0, false } },		 /* prefetcht0 -128(%r14,%r13,8) */
	{ "42 0f 18 0c 20", true, { 0, 12, 0, 0, 0, false } },			 /* prefetcht0 (%rax,%r12) */
	{ "0f 18 0c 24", true, { 4, N, 0, 0, 0, false } },			 /* prefetcht0 (%rsp) */
	{ "41 0f 18 0c 24", true, { 12, N, 0, 0, 0, false } },			 /* prefetcht0 (%r12) */
	{ "41 0f 18 4d 00", true, { 13, N, 0, 0, 0, false } },			 /* prefetcht0 (%r13) */
	{ "0f 18 0d 10 00 00 00", true, { IP, N, 0, 16, 0, false } },		 /* prefetcht0 16(%rip) */
	{ "0f 18 0c 25 34 12 00 00", true, { N, N, 0, 0x1234, 0, false } },	 /* prefetcht0 0x1234 */
	{ "0f 18 0c 85 00 00 00 80", true, { N, 0, 2, INT32_MIN, 0, false } },	 /* prefetcht0 -0x80000000(,%rax,4) */
	{ "64 0f 18 08", true, { 0, N, 0, 0, HVT_PREFETCH_FS, false } },	 /* prefetcht0 %fs:(%rax) */
	{ "65 0f 18 08", true, { 0, N, 0, 0, HVT_PREFETCH_GS, false } },	 /* prefetcht0 %gs:(%rax) */
	{ "67 0f 18 08", true, { 0, N, 0, 0, 0, true } },			 /* prefetcht0 (%eax) */
	{ "67 0f 18 0d 10 00 00 00", true, { IP, N, 0, 16, 0, true } },		 /* prefetcht0 16(%eip) */
	{ "41 66 0f 18 08", true, { 0, N, 0, 0, 0, false } },			 /* the REX is not right before the opcode */
	{ "0f 18 c8", false, { 0 } },						 /* of a register: a nop */
	{ "0f 18 3d 10 00 00 00", false, { 0 } },				 /* prefetchit0 16(%rip): of code */
	{ "0f 18 20", false, { 0 } },						 /* a hint that stands for nothing */
	{ "0f 1f 00", false, { 0 } },						 /* nopl (%rax) */
	{ "0f 0d 18", false, { 0 } },						 /* reserved */
	{ "0f 18 08 90", false, { 0 } },					 /* longer than it is */
	{ "0f 18 0c", false, { 0 } },						 /* shorter */
	{ "0f 18", false, { 0 } },
	{ "0f", false, { 0 } },
	{ "64 64", false, { 0 } },
	{ "f0 0f 18 08", false, { 0 } },					 /* lock: no instruction */
};

static void check_same(const struct hvt_prefetch_code *a, const struct hvt_prefetch_code *b)
{
	assert_int_equal(a->base, b->base);
	assert_int_equal(a->index, b->index);
	assert_int_equal(a->shift, b->shift);
	assert_true(a->disp == b->disp);
	assert_int_equal(a->segment, b->segment);
	assert_int_equal(a->narrow, b->narrow);
}

static void test_table(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct hvt_prefetch_code got;
		uint8_t code[16];
		unsigned n = 0;
		const char *s;

		for (s = table[i].bytes; *s; s += s[2] ? 3 : 2)
			code[n++] = (uint8_t)strtoul(s, NULL, 16);
		if (decode(code, n, &got) != table[i].is)
			fail_msg("%s", table[i].bytes);
		if (table[i].is)
			check_same(&got, &table[i].want);
	}
}

/* ---- Zydis ---- */

static int number_of(ZydisRegister r)
{
	if (r == ZYDIS_REGISTER_NONE)
		return N;
	if (r == ZYDIS_REGISTER_RIP || r == ZYDIS_REGISTER_EIP)
		return IP;
	return ZydisRegisterGetId(r);
}

/* Is it a prefetch of data of our kinds?  0F 0D /3 to /7 are reserved, whatever they are called. */
static bool is_prefetch(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return false;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PREFETCHNTA:
	case ZYDIS_MNEMONIC_PREFETCHT0:
	case ZYDIS_MNEMONIC_PREFETCHT1:
	case ZYDIS_MNEMONIC_PREFETCHT2:
		return true;
	case ZYDIS_MNEMONIC_PREFETCH:
	case ZYDIS_MNEMONIC_PREFETCHW:
	case ZYDIS_MNEMONIC_PREFETCHWT1:
		return in->raw.modrm.reg <= 2;
	default:
		return false;
	}
}

/* One piece of code that may be one; was it? */
static bool ask_both(ZydisDecoder *d, const uint8_t *code, unsigned n)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct hvt_prefetch_code got, want = { 0 };
	ZydisDecodedInstruction in;
	unsigned cut;
	bool is;

	memset(ops, 0, sizeof(ops));
	is = ZYAN_SUCCESS(ZydisDecoderDecodeFull(d, code, n, &in, ops)) && is_prefetch(&in, &ops[0]);
	for (cut = 0; cut < n; cut++)
		if (!(is && cut == in.length) && decode(code, cut, &got))
			fail_msg("%u bytes are taken for one that is %s", cut, is ? "longer or shorter" : "none");
	if (decode(code, is ? in.length : n, &got) != is)
		fail_msg("%02x %02x %02x %02x %02x %02x %02x %02x: %s", code[0], code[1], code[2], code[3], code[4], code[5],
			 code[6], code[7], is ? "not found" : "is none");
	if (!is)
		return false;
	want.base = number_of(ops[0].mem.base);
	want.index = number_of(ops[0].mem.index);
	want.shift = ops[0].mem.scale ? (unsigned)__builtin_ctz(ops[0].mem.scale) : 0;
	want.disp = ops[0].mem.disp.has_displacement ? ops[0].mem.disp.value : 0;
	want.segment = ops[0].mem.segment == ZYDIS_REGISTER_FS ? HVT_PREFETCH_FS :
		       ops[0].mem.segment == ZYDIS_REGISTER_GS ? HVT_PREFETCH_GS : HVT_PREFETCH_NO_SEGMENT;
	want.narrow = in.address_width == 32;
	check_same(&got, &want);
	return true;
}

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void test_random(void **state)
{
	/* At most one that names a segment: of several, which one counts is not the same for all processors. */
	static const uint8_t segments[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65 };
	static const uint8_t others[] = { 0x66, 0x67, 0x67, 0xf2, 0xf3, 0xf0 };
	uint64_t seed = 0x9e3779b97f4a7c15u;
	unsigned found = 0, i;
	ZydisDecoder d;

	(void)state;
	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (i = 0; i < 300000; i++) {
		uint8_t code[15];
		unsigned n = 0, k, more;

		if (next(&seed) % 4 == 0)
			code[n++] = segments[next(&seed) % sizeof(segments)];
		for (more = next(&seed) % 3 ? 0 : (unsigned)(next(&seed) % 3); more; more--)
			code[n++] = others[next(&seed) % sizeof(others)];
		for (more = (unsigned)(next(&seed) % 3); more; more--)
			code[n++] = (uint8_t)(0x40 | next(&seed) % 16);
		if (next(&seed) % 16) {
			code[n++] = 0x0f;
			code[n++] = next(&seed) % 2 ? 0x18 : 0x0d;
		}
		for (k = n; k < sizeof(code); k++)
			code[k] = (uint8_t)next(&seed);
		found += ask_both(&d, code, sizeof(code));
	}
	assert_true(found > 50000);
}

static int set_up(void **state)
{
	(void)state;
	page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED || mprotect(page + PAGE, PAGE, PROT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("prefetch_code", tests, set_up, NULL);
}
