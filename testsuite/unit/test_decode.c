// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_decode.c - instruction bytes to operands and effects: by a table, at random, and against the processor.
 *
 * The table's bytes are an assembler's, its answers the Intel SDM's.  The
 * processor is asked by single steps: wherever the emulated registers are known, they must be the real ones.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/decode.h"
#include "runtime/user/decode_regs.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
enum { N = DECODE_NONE, IP = DECODE_RIP };
enum { R = DECODE_MEM_READ, W = DECODE_MEM_WRITE, REP = DECODE_MEM_REP,
       LOST = DECODE_MEM_LOST, MAYBE = DECODE_MEM_MAYBE, STACK = DECODE_MEM_STACK };

static const struct {
	const char *bytes, *text;
	bool is32;
	int n_mem;
	struct {
		uint8_t base, index, scale, flags;
		uint32_t size;
		int64_t disp;
	} mem[2];
	uint8_t segment;
} operands[] = {
	{ "8b 07", "mov (%rdi),%eax", 0, 1, { { RDI, N, 1, R, 4, 0 } }, 0 },
	{ "48 8b 44 8b 10", "mov 0x10(%rbx,%rcx,4),%rax", 0, 1, { { RBX, RCX, 4, R, 8, 16 } }, 0 },
	{ "89 05 10 00 00 00", "mov %eax,0x10(%rip)", 0, 1, { { IP, N, 1, W, 4, 0x16 } }, 0 },
	{ "83 05 f9 ff ff ff 01", "addl $1,-7(%rip)", 0, 1, { { IP, N, 1, R | W, 4, 0 } }, 0 },
	{ "66 41 89 44 24 fe", "mov %ax,-2(%r12)", 0, 1, { { R12, N, 1, W, 2, -2 } }, 0 },
	{ "80 3c 25 34 12 00 00 05", "cmpb $5,0x1234", 0, 1, { { N, N, 1, R, 1, 0x1234 } }, 0 },
	{ "a0 88 77 66 55 44 33 22 11", "movabs 0x1122334455667788,%al", 0, 1, { { N, N, 1, R, 1, 0x1122334455667788 } }, 0 },
	{ "64 48 8b 04 25 28 00 00 00", "mov %fs:0x28,%rax", 0, 1, { { N, N, 1, R, 8, 0x28 } }, DECODE_SEG_FS },
	{ "65 8b 03", "mov %gs:(%rbx),%eax", 0, 1, { { RBX, N, 1, R, 4, 0 } }, DECODE_SEG_GS },
	{ "8d 44 88 04", "lea 4(%rax,%rcx,4),%eax", 0, 0, { { 0 } }, 0 },
	{ "0f 1f 44 00 00", "nopl 0(%rax,%rax,1)", 0, 0, { { 0 } }, 0 },
	{ "0f 18 08", "prefetcht0 (%rax)", 0, 0, { { 0 } }, 0 },
	{ "0f 0d 08", "prefetchw (%rax)", 0, 0, { { 0 } }, 0 },
	{ "0f ae 38", "clflush (%rax)", 0, 0, { { 0 } }, 0 },
	{ "f3 0f 1e fa", "endbr64", 0, 0, { { 0 } }, 0 },
	{ "01 d8", "add %ebx,%eax", 0, 0, { { 0 } }, 0 },
	{ "50", "push %rax", 0, 1, { { RSP, N, 1, W | STACK, 8, -8 } }, 0 },
	{ "58", "pop %rax", 0, 1, { { RSP, N, 1, R | STACK, 8, 0 } }, 0 },
	{ "ff 33", "push (%rbx)", 0, 2, { { RBX, N, 1, R, 8, 0 }, { RSP, N, 1, W | STACK, 8, -8 } }, 0 },
	{ "8f 44 24 08", "pop 8(%rsp), of the new rsp", 0, 2, { { RSP, N, 1, W, 8, 16 }, { RSP, N, 1, R | STACK, 8, 0 } }, 0 },
	{ "e8 00 00 00 00", "call", 0, 1, { { RSP, N, 1, W | STACK, 8, -8 } }, 0 },
	{ "ff 10", "call *(%rax)", 0, 2, { { RAX, N, 1, R, 8, 0 }, { RSP, N, 1, W | STACK, 8, -8 } }, 0 },
	{ "ff e0", "jmp *%rax", 0, 0, { { 0 } }, 0 },
	{ "ff 24 c5 00 20 40 00", "jmp *0x402000(,%rax,8)", 0, 1, { { N, RAX, 8, R, 8, 0x402000 } }, 0 },
	{ "c3", "ret", 0, 1, { { RSP, N, 1, R | STACK, 8, 0 } }, 0 },
	{ "c9", "leave", 0, 1, { { RBP, N, 1, R | STACK, 8, 0 } }, 0 },
	{ "a4", "movsb", 0, 2, { { RDI, N, 1, W, 1, 0 }, { RSI, N, 1, R, 1, 0 } }, 0 },
	{ "f3 48 a5", "rep movsq", 0, 2, { { RDI, N, 1, W | REP, 8, 0 }, { RSI, N, 1, R | REP, 8, 0 } }, 0 },
	{ "f3 aa", "rep stosb", 0, 1, { { RDI, N, 1, W | REP, 1, 0 } }, 0 },
	{ "f2 ae", "repne scasb", 0, 1, { { RDI, N, 1, R | REP, 1, 0 } }, 0 },
	{ "d7", "xlat", 0, 1, { { RBX, RAX, 1, R, 1, 0 } }, 0 },
	{ "0f a3 03", "bt %eax,(%rbx): the bit may be far off", 0, 1, { { RBX, N, 1, R | LOST, 4, 0 } }, 0 },
	{ "0f ba 23 05", "bt $5,(%rbx)", 0, 1, { { RBX, N, 1, R, 4, 0 } }, 0 },
	{ "f0 0f b1 0b", "lock cmpxchg %ecx,(%rbx)", 0, 1, { { RBX, N, 1, R | W | MAYBE, 4, 0 } }, 0 },
	{ "0f 44 03", "cmove (%rbx),%eax: reads in any case", 0, 1, { { RBX, N, 1, R, 4, 0 } }, 0 },
	{ "f3 0f 10 04 88", "movss (%rax,%rcx,4),%xmm0", 0, 1, { { RAX, RCX, 4, R, 4, 0 } }, 0 },
	{ "c5 fc 29 00", "vmovaps %ymm0,(%rax)", 0, 1, { { RAX, N, 1, W, 32, 0 } }, 0 },
	{ "c4 e2 69 92 04 88", "vgatherdps %xmm2,(%rax,%xmm1,4),%xmm0", 0, 1, { { RAX, N, 4, R | LOST | MAYBE, 4, 0 } }, 0 },
	{ "d9 03", "flds (%rbx)", 0, 1, { { RBX, N, 1, R, 4, 0 } }, 0 },
	{ "8b 43 08", "mov 8(%ebx),%eax", 1, 1, { { RBX, N, 1, R, 4, 8 } }, 0 },
	{ "a1 44 33 22 11", "mov 0x11223344,%eax", 1, 1, { { N, N, 1, R, 4, 0x11223344 } }, 0 },
	{ "8b 05 44 33 22 11", "mov 0x11223344,%eax: no rip in 32-bit code", 1, 1, { { N, N, 1, R, 4, 0x11223344 } }, 0 },
	{ "50", "push %eax", 1, 1, { { RSP, N, 1, W | STACK, 4, -4 } }, 0 },
	{ "65 a1 14 00 00 00", "mov %gs:0x14,%eax", 1, 1, { { N, N, 1, R, 4, 0x14 } }, DECODE_SEG_GS },
};

static size_t bytes_of(const char *hex, uint8_t *out)
{
	size_t n = 0;
	unsigned v;
	int used;

	while (sscanf(hex, "%x%n", &v, &used) == 1) {
		out[n++] = (uint8_t)v;
		hex += used;
	}
	return n;
}

static const struct decode_mem *find_mem(const struct decode_insn *in, uint8_t flags, uint8_t base)
{
	for (int i = 0; i < in->n_mem; i++)
		if (in->mem[i].flags == flags && in->mem[i].base == base)
			return &in->mem[i];
	return NULL;
}

static void test_operands(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(operands) / sizeof(*operands); k++) {
		struct decode_insn in;
		uint8_t code[16];
		size_t n = bytes_of(operands[k].bytes, code);

		if (decode(code, n, operands[k].is32, &in) || in.len != n ||
		    in.n_mem != operands[k].n_mem)
			fail_msg("%s: %d operands, %d bytes", operands[k].text, in.n_mem, in.len);
		for (int m = 0; m < in.n_mem; m++) {
			const struct decode_mem *got =
				find_mem(&in, operands[k].mem[m].flags, operands[k].mem[m].base);

			if (!got)
				fail_msg("%s: no operand with flags %#x; %#x base %d",
					 operands[k].text, operands[k].mem[m].flags,
					 in.mem[m].flags, in.mem[m].base);
			if (got->index != operands[k].mem[m].index ||
			    got->scale != operands[k].mem[m].scale ||
			    got->size != operands[k].mem[m].size ||
			    got->disp != operands[k].mem[m].disp ||
			    (!m && got->segment != operands[k].segment))
				fail_msg("%s: index %d scale %d size %u disp %#llx segment %d",
					 operands[k].text, got->index, got->scale, got->size,
					 (unsigned long long)got->disp, got->segment);
		}
		/* one byte less is no instruction yet */
		assert_int_equal(decode(code, n - 1, operands[k].is32, &in), -ENODATA);
	}
}

static const struct {
	const char *bytes;
	uint8_t flow, cond;
	int64_t target;
} flows[] = {
	{ "90", DECODE_NEXT, N, 0 },
	{ "eb fe", DECODE_JUMP, N, 0 },
	{ "e9 10 00 00 00", DECODE_JUMP, N, 0x15 },
	{ "74 05", DECODE_COND, 4, 7 },
	{ "0f 8f 00 01 00 00", DECODE_COND, 15, 0x106 },
	{ "e3 02", DECODE_COND, N, 4 },
	{ "e2 02", DECODE_COND, N, 4 },
	{ "e8 fb ff ff ff", DECODE_CALL, N, 0 },
	{ "ff d0", DECODE_INDIRECT_CALL, N, 0 },
	{ "3e ff e0", DECODE_INDIRECT, N, 0 },
	{ "c3", DECODE_RET, N, 0 },
	{ "c2 08 00", DECODE_RET, N, 0 },
	{ "0f 05", DECODE_SYSCALL, N, 0 },
	{ "cd 80", DECODE_SYSCALL, N, 0 },
	{ "0f 0b", DECODE_STOP, N, 0 },
	{ "f4", DECODE_STOP, N, 0 },
};

static void test_flow(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(flows) / sizeof(*flows); k++) {
		struct decode_insn in;
		uint8_t code[16];
		size_t n = bytes_of(flows[k].bytes, code);

		assert_int_equal(decode(code, n, false, &in), 0);
		if (in.flow != flows[k].flow || in.target != flows[k].target ||
		    in.cond != flows[k].cond)
			fail_msg("%s: flow %d cond %d target %lld", flows[k].bytes, in.flow,
				 in.cond, (long long)in.target);
	}
}

/* @bytes run with all registers known leave @reg as @value; and undone, what they needed is back if @back. */
static const struct {
	const char *bytes;
	uint8_t reg;
	uint64_t value;
	bool back;
} effects[] = {
	/* before: RAX 0x1122334455667788, RCX 7, RDX 3, RBX 0xffffffff80000000, RSP 0x7000, RSI 0x5000, RDI 0x6000 */
	{ "b8 05 00 00 00", RAX, 5, false },
	{ "48 c7 c0 ff ff ff ff", RAX, ~0ull, false },
	{ "48 89 c8", RAX, 7, false },
	{ "89 d8", RAX, 0x80000000, false },
	{ "48 01 c8", RAX, 0x112233445566778f, true },
	{ "48 29 c8", RAX, 0x1122334455667781, true },
	{ "48 83 e8 08", RAX, 0x1122334455667780, true },
	{ "48 31 c8", RAX, 0x112233445566778f, true },
	{ "31 c0", RAX, 0, false },
	{ "48 ff c0", RAX, 0x1122334455667789, true },
	{ "ff c8", RAX, 0x55667787, false },
	{ "48 8d 44 88 04", RAX, 0x11223344556677a8, true },
	{ "48 8d 14 c8", RDX, 0x11223344556677c0, false },
	{ "48 c1 e0 04", RAX, 0x1223344556677880, false },
	{ "48 c1 e8 04", RAX, 0x0112233445566778, false },
	{ "48 c1 fb 1f", RBX, ~0ull, false },
	{ "48 c1 c0 08", RAX, 0x2233445566778811, true },
	{ "48 c1 c8 08", RAX, 0x8811223344556677, true },
	{ "48 f7 d8", RAX, 0xeeddccbbaa998878, true },
	{ "48 f7 d0", RAX, 0xeeddccbbaa998877, true },
	{ "48 0f c8", RAX, 0x8877665544332211, true },
	{ "48 6b c1 0a", RAX, 70, false },
	{ "48 0f af c1", RAX, 0x77ef66de55cd44b8, true },
	{ "0f b6 c0", RAX, 0x88, false },
	{ "48 0f be c0", RAX, 0xffffffffffffff88, false },
	{ "48 98", RAX, 0x55667788, false },
	{ "48 63 c3", RAX, 0xffffffff80000000, false },
	{ "48 91", RCX, 0x1122334455667788, true },
	{ "48 83 e0 0f", RAX, 8, false },
	{ "50", RSP, 0x6ff8, true },
	{ "58", RSP, 0x7008, true },
	{ "c3", RSP, 0x7008, true },
	{ "c2 10 00", RSP, 0x7018, true },
	{ "48 a5", RSI, 0x5008, true },
	{ "f3 48 ab", RDI, 0x6038, false },
	{ "f3 48 ab", RCX, 0, false },
	{ "48 0f 44 c1", RAX, 7, false }, /* ZF is set */
};

static void start(struct decode_regs *s)
{
	const uint64_t regs[16] = { [RAX] = 0x1122334455667788, [RCX] = 7, [RDX] = 3,
				    [RBX] = 0xffffffff80000000, [RSP] = 0x7000,
				    [RBP] = 0x7100, [RSI] = 0x5000, [RDI] = 0x6000 };

	decode_regs_init(s, regs, 0x246);
}

static void test_effects(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(effects) / sizeof(*effects); k++) {
		struct decode_regs s, was;
		struct decode_insn in;
		uint8_t code[16], r = effects[k].reg;
		size_t n = bytes_of(effects[k].bytes, code);

		assert_int_equal(decode(code, n, false, &in), 0);
		start(&s);
		was = s;
		decode_regs_forward(&s, &in, 0x1000);
		if (s.known[r] != 64 || s.v[r] != effects[k].value)
			fail_msg("%s: register %d is %#llx, %d bits known", effects[k].bytes, r,
				 (unsigned long long)s.v[r], s.known[r]);
		decode_regs_backward(&s, &in, 0x1000);
		for (int q = 0; q < 16; q++)
			if (s.known[q] && ((s.v[q] ^ was.v[q]) << (64 - s.known[q])))
				fail_msg("%s: undone, register %d is wrong", effects[k].bytes, q);
		if ((s.known[r] == 64) != effects[k].back)
			fail_msg("%s: undone, %d bits known", effects[k].bytes, s.known[r]);
	}
}

static void test_lost(void **state)
{
	static const struct {
		const char *bytes;
		uint8_t reg;
	} lost[] = {
		{ "48 8b 03", RAX }, { "0f 31", RDX }, { "0f a2", RBX },   { "f7 f1", RAX },
		{ "0f 94 c0", RAX }, { "88 c8", RAX }, { "e8 00 00 00 00", RBX }, { "0f 05", RCX },
		{ "f3 a6", RSI },    { "48 0f b1 0b", RAX }, { "d3 e0", RAX },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(lost) / sizeof(*lost); k++) {
		struct decode_regs s;
		struct decode_insn in;
		uint8_t code[16];
		size_t n = bytes_of(lost[k].bytes, code);

		assert_int_equal(decode(code, n, false, &in), 0);
		start(&s);
		decode_regs_forward(&s, &in, 0x1000);
		if (s.known[lost[k].reg])
			fail_msg("%s: register %d is kept", lost[k].bytes, lost[k].reg);
		start(&s);
		decode_regs_backward(&s, &in, 0x1000);
		assert_int_equal(s.known[lost[k].reg], 0);
	}
}

static void test_addresses(void **state)
{
	struct decode_regs s;
	struct decode_insn in;
	uint8_t code[16];
	uint64_t addr;
	size_t n;

	(void)state;
	start(&s);
	n = bytes_of("89 05 10 00 00 00", code); /* 0x10(%rip) */
	assert_int_equal(decode(code, n, false, &in), 0);
	memset(s.known, 0, sizeof(s.known));
	assert_true(decode_regs_address(&s, &in.mem[0], 0x400000, 0, 0, &addr));
	assert_int_equal(addr, 0x400016);
	n = bytes_of("48 8b 44 8b 10", code); /* 0x10(%rbx,%rcx,4) */
	assert_int_equal(decode(code, n, false, &in), 0);
	assert_false(decode_regs_address(&s, &in.mem[0], 0, 0, 0, &addr));
	start(&s);
	assert_true(decode_regs_address(&s, &in.mem[0], 0, 0, 0, &addr));
	assert_int_equal(addr, 0xffffffff80000000 + 7 * 4 + 16);
	s.known[RCX] = 32; /* its upper half could be anything */
	assert_false(decode_regs_address(&s, &in.mem[0], 0, 0, 0, &addr));
	n = bytes_of("67 8b 04 8b", code); /* (%ebx,%ecx,4) */
	assert_int_equal(decode(code, n, false, &in), 0);
	assert_true(decode_regs_address(&s, &in.mem[0], 0, 0, 0, &addr));
	assert_int_equal(addr, 0x8000001c);
	n = bytes_of("64 48 8b 04 25 28 00 00 00", code); /* %fs:0x28 */
	assert_int_equal(decode(code, n, false, &in), 0);
	assert_false(decode_regs_address(&s, &in.mem[0], 0, 0, 0, &addr));
	assert_true(decode_regs_address(&s, &in.mem[0], 0, 0x7f0000000700, 0, &addr));
	assert_int_equal(addr, 0x7f0000000728);
}

static void test_random_bytes(void **state)
{
	unsigned good = 0;

	(void)state;
	srand(1);
	for (int k = 0; k < 200000; k++) {
		struct decode_insn in, way;
		struct decode_regs s;
		uint8_t *code = malloc(15);
		size_t n = 1 + (size_t)rand() % 15;
		bool is32 = rand() & 1;
		int err;

		for (size_t i = 0; i < n; i++)
			code[i] = (uint8_t)(rand() >> 7);
		err = decode(code, n, is32, &in);
		assert_int_equal(decode_flow(code, n, is32, &way), err);
		if (!err) {
			good++;
			assert_true(way.len == in.len && way.flow == in.flow && way.cond == in.cond && way.target == in.target);
			assert_true(in.len && in.len <= n);
			assert_true(in.n_mem <= DECODE_MAX_MEM);
			assert_true(in.n_effects <= DECODE_MAX_EFFECTS);
			start(&s);
			decode_regs_forward(&s, &in, 0);
			decode_regs_backward(&s, &in, 0);
			for (int r = 0; r < 16; r++)
				assert_true(s.known[r] <= 64);
		}
		free(code);
	}
	assert_true(good > 10000);
	{
		struct decode_insn in;

		assert_int_equal(decode(NULL, 0, false, &in), -ENODATA);
		assert_int_equal(decode((const uint8_t *)"\x06", 1, false, &in), -EINVAL);
	}
}

/* ---- against the processor ---- */

struct step {
	uint64_t regs[16], ip;
	uint32_t flags;
	struct decode_insn in;
	bool ok;
};
enum { STEPS = 40000, SPAN = 40 };

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void work(void)
{
	static char words[60][12], line[300];
	uint32_t s = 7;
	double sum = 0;

	for (int i = 0; i < 60; i++)
		for (int k = 0; k < 11; k++)
			words[i][k] = (char)('a' + ((s = s * 1103515245 + 12345) >> 24) % 26);
	qsort(words, 60, 12, compare);
	for (int i = 0; i < 60; i++) {
		sum += strtod("3.25e2", NULL) + (double)strlen(words[i]);
		snprintf(line, sizeof(line), "%.11s %d %.3f %x", words[i], i, sum, i * 77);
		memmove(line + 3, line, 100);
	}
}

static void to_step(pid_t pid, struct step *s)
{
	struct user_regs_struct u;
	uint8_t code[16];
	struct iovec us = { code, sizeof(code) }, them;
	ssize_t n;

	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &u), 0);
	s->regs[RAX] = u.rax; s->regs[RCX] = u.rcx; s->regs[RDX] = u.rdx; s->regs[RBX] = u.rbx;
	s->regs[RSP] = u.rsp; s->regs[RBP] = u.rbp; s->regs[RSI] = u.rsi; s->regs[RDI] = u.rdi;
	s->regs[R8] = u.r8; s->regs[R9] = u.r9; s->regs[R10] = u.r10; s->regs[R11] = u.r11;
	s->regs[R12] = u.r12; s->regs[R13] = u.r13; s->regs[R14] = u.r14; s->regs[R15] = u.r15;
	s->ip = u.rip;
	s->flags = (uint32_t)u.eflags;
	them = (struct iovec){ (void *)(uintptr_t)u.rip, sizeof(code) };
	n = process_vm_readv(pid, &us, 1, &them, 1, 0);
	/* A step of a repeated instruction is one repetition: what it does in all is not seen. */
	s->ok = n > 0 && !decode(code, (size_t)n, false, &s->in) && !s->in.is_rep;
}

/* True if every known bit of @s is as the processor had it. */
static bool agrees(const struct decode_regs *s, const struct step *real, const char *way)
{
	for (int r = 0; r < 16; r++) {
		if (s->known[r] && ((s->v[r] ^ real->regs[r]) << (64 - s->known[r]))) {
			print_message("%s: register %d is %#llx, not %#llx, at %#llx\n", way, r,
				      (unsigned long long)real->regs[r],
				      (unsigned long long)s->v[r], (unsigned long long)real->ip);
			return false;
		}
	}
	for (uint8_t c = 0; c < 16; c++) {
		struct decode_regs truth = { .flags = real->flags, .flags_known = true,
					     .carry_known = true };
		int got = decode_regs_condition(s, c);

		if (got >= 0 && got != decode_regs_condition(&truth, c)) {
			print_message("%s: condition %d is %d at %#llx\n", way, c, !got,
				      (unsigned long long)real->ip);
			return false;
		}
	}
	return true;
}

static void test_processor(void **state)
{
	struct step *v = calloc(STEPS, sizeof(*v));
	uint64_t known = 0, all = 0;
	int n = 0, status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0 && v);
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(77);
		raise(SIGSTOP);
		work();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status)) {
		free(v);
		print_message("ptrace is refused here: nothing to compare with\n");
		skip();
	}
	while (n < STEPS) {
		to_step(pid, &v[n]);
		n++;
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
	}
	if (WIFSTOPPED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	assert_true(n > STEPS / 2);
	for (int k = 0; k < n; k += 7) {
		struct decode_regs s;

		decode_regs_init(&s, v[k].regs, v[k].flags);
		for (int j = k; j < k + SPAN && j + 1 < n && v[j].ok; j++) {
			decode_regs_forward(&s, &v[j].in, v[j].ip);
			assert_true(agrees(&s, &v[j + 1], "forwards"));
			for (int r = 0; r < 16; r++, all++)
				known += s.known[r] == 64;
		}
		decode_regs_init(&s, v[k].regs, v[k].flags);
		for (int j = k; j > k - SPAN && j > 0 && v[j - 1].ok; j--) {
			decode_regs_backward(&s, &v[j - 1].in, v[j - 1].ip);
			assert_true(agrees(&s, &v[j - 1], "backwards"));
			for (int r = 0; r < 16; r++, all++)
				known += s.known[r] == 64;
		}
	}
	/* and it is no use to be right by knowing nothing */
	assert_true(known * 4 > all);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operands),     cmocka_unit_test(test_flow),
		cmocka_unit_test(test_effects),	     cmocka_unit_test(test_lost),
		cmocka_unit_test(test_addresses),    cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_processor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
