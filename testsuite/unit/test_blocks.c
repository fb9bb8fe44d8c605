// SPDX-License-Identifier: GPL-2.0-or-later
/* test_blocks.c - functions cut into basic blocks: known code, jump tables, windows, then random bytes. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/user/blocks.h"

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

static void block_is(const struct blocks *b, uint64_t off, uint64_t first, uint64_t last)
{
	uint32_t i = blocks_find(b, off), f, e;

	assert_int_not_equal(i, BLOCKS_NONE);
	blocks_around(b, i, &f, &e);
	assert_int_equal(b->off[f], first);
	assert_int_equal(b->off[e - 1], last);
}

static void next_is(const struct blocks *b, uint64_t off, int64_t a, int64_t c, bool leaves_want)
{
	uint32_t out[8], n;
	bool leaves;

	n = blocks_next(b, blocks_find(b, off), out, 8, &leaves);
	assert_int_equal(n, (a >= 0) + (c >= 0));
	if (a >= 0)
		assert_int_equal(b->off[out[0]], a);
	if (c >= 0)
		assert_int_equal(b->off[out[1]], c);
	assert_int_equal(leaves, leaves_want);
}

/*
 *  0: test %edi,%edi      2: jle 0x12      4: mov (%rsi),%eax   6: call 0x100
 *  b: add $1,%edi         e: jne 4        10: jmp 0x14         12: xor %eax,%eax
 * 14: ret                15: nop (padding)
 */
static void test_function(void **state)
{
	uint8_t code[32];
	size_t n = bytes_of("85 ff 7e 0e 8b 06 e8 f5 00 00 00 83 c7 01 75 f4 eb 02 31 c0 c3 90", code);
	struct blocks *b = blocks_new(code, n, 0x1000, false, false, NULL, NULL);

	(void)state;
	assert_non_null(b);
	assert_int_equal(b->n, 10);
	assert_int_equal(b->n_bad, 0);
	assert_true(b->bounded);
	assert_false(b->has_unknown_jump);
	block_is(b, 0, 0, 2);
	block_is(b, 4, 4, 6);
	block_is(b, 6, 4, 6);	     /* a call ends it */
	block_is(b, 0xb, 0xb, 0xe);
	block_is(b, 0x10, 0x10, 0x10);
	block_is(b, 0x12, 0x12, 0x12); /* up to a jump's target */
	block_is(b, 0x14, 0x14, 0x14);
	next_is(b, 2, 0x12, 4, false);
	next_is(b, 6, 0xb, -1, false);
	next_is(b, 0xe, 4, 0x10, false);
	next_is(b, 0x10, 0x14, -1, false);
	next_is(b, 0x14, -1, -1, true);
	assert_int_equal(blocks_find(b, 3), BLOCKS_NONE); /* inside an instruction */
	assert_int_equal(blocks_find(b, 100), BLOCKS_NONE);
	blocks_free(b);
}

/* A jump out of the function, and bytes that are no instruction. */
static void test_ends(void **state)
{
	uint8_t code[32];
	size_t n = bytes_of("74 40 e9 00 10 00 00 06 31 c0 0f 0b", code);
	struct blocks *b = blocks_new(code, n, 0x1000, false, false, NULL, NULL);

	(void)state;
	assert_non_null(b);
	assert_int_equal(b->n_bad, 1);
	next_is(b, 0, 2, -1, true);
	next_is(b, 2, -1, -1, true);
	block_is(b, 8, 8, 10); /* after the bad byte a block begins */
	next_is(b, 10, -1, -1, true); /* ud2 */
	blocks_free(b);
}

struct memory {
	uint64_t from; /* offset from the function's start */
	uint8_t bytes[64];
	size_t n;
};

static size_t read_memory(void *ctx, uint64_t off, void *buf, size_t len)
{
	const struct memory *m = ctx;
	size_t at = off - m->from;

	if (off < m->from || at >= m->n)
		return 0;
	if (len > m->n - at)
		len = m->n - at;
	memcpy(buf, m->bytes + at, len);
	return len;
}

/*
 *  0: cmp $2,%edi   3: ja 0x1b   5: mov %edi,%edi   7: lea 0x2000,%rdx
 *  e: movslq (%rdx,%rdi,4),%rax   12: add %rdx,%rax   15: jmp *%rax
 * 17: ret  18: nop  19: ret  1a: nop  1b: ret
 */
static void test_relative_table(void **state)
{
	static const int32_t entries[] = { 0x17 - 0x2000, 0x19 - 0x2000, 0x17 - 0x2000, 0x18 - 0x2000 };
	uint8_t code[32];
	size_t n = bytes_of("83 ff 02 77 16 89 ff 48 8d 15 f2 1f 00 00 48 63 04 ba 48 01 d0 "
			    "ff e0 c3 90 c3 90 c3", code);
	struct memory m = { .from = 0x2000, .n = sizeof(entries) };
	struct blocks *b;
	const struct blocks_switch *sw;

	(void)state;
	memcpy(m.bytes, entries, sizeof(entries));
	b = blocks_new(code, n, 0x5000, false, false, read_memory, &m);
	assert_non_null(b);
	sw = blocks_switch_of(b, blocks_find(b, 0x15));
	assert_non_null(sw);
	assert_ptr_equal(sw, blocks_switch_of(b, blocks_find(b, 0xe)));
	assert_true(sw->closed && sw->relative);
	assert_int_equal(sw->n, 3); /* the comparison says how many */
	assert_int_equal(b->off[sw->targets[1]], 0x19);
	assert_false(b->has_unknown_jump);
	next_is(b, 0x15, 0x17, 0x19, false);
	block_is(b, 0x19, 0x19, 0x19);
	blocks_free(b);

	/* The same without the table: where it goes is learned by looking. */
	m.n = 0;
	b = blocks_new(code, n, 0x5000, false, false, read_memory, &m);
	assert_true(b->has_unknown_jump);
	next_is(b, 0x15, -1, -1, true);
	blocks_saw_jump(b, blocks_find(b, 0x15), blocks_find(b, 0x19));
	blocks_saw_jump(b, blocks_find(b, 0x15), blocks_find(b, 0x19));
	next_is(b, 0x15, 0x19, -1, true);
	blocks_free(b);
}

/* 0: jmp *0x405000(,%rax,8)   7: ret   8: ret, loaded at 0x401000 */
static void test_absolute_table(void **state)
{
	static const uint64_t entries[] = { 0x401007, 0x401008, 0x401001, 0x401007 };
	uint8_t code[16];
	size_t n = bytes_of("ff 24 c5 00 50 40 00 c3 c3", code);
	struct memory m = { .from = 0x4000, .n = sizeof(entries) };
	struct blocks *b;
	const struct blocks_switch *sw;

	(void)state;
	memcpy(m.bytes, entries, sizeof(entries));
	b = blocks_new(code, n, 0x401000, false, false, read_memory, &m);
	sw = blocks_switch_of(b, 0);
	assert_non_null(sw);
	assert_int_equal(sw->n, 2); /* the third is inside an instruction: no longer the table */
	assert_false(sw->closed);   /* nothing said how long it is */
	next_is(b, 0, 7, 8, true);
	blocks_free(b);
}

/* A window goes on past a return that something jumps over, and no further. */
static void test_window(void **state)
{
	uint8_t code[16];
	size_t n = bytes_of("74 01 c3 31 c0 c3 8b 07 90", code);
	struct blocks *b = blocks_new(code, n, 0, false, true, NULL, NULL);

	(void)state;
	assert_false(b->bounded);
	assert_int_equal(b->size, 6);
	assert_int_equal(b->n, 4);
	block_is(b, 3, 3, 5);
	blocks_free(b);
}

/* A jump that is seen to land in the middle of a block cuts it in two. */
static void lands_anywhere(struct blocks *b)
{
	uint32_t first, end, to, leader = 0;

	if (!b->n_sw)
		return;
	to = (uint32_t)rand() % b->n;
	blocks_saw_jump(b, b->sw[0].jump, to);
	assert_true(b->leader[to]);
	for (uint32_t i = 0; i < b->n; i++) {
		leader = b->leader[i] ? i : leader;
		blocks_around(b, i, &first, &end);
		assert_int_equal(first, leader);
		assert_true(end == b->n || b->leader[end]);
		for (uint32_t j = i + 1; j < end; j++)
			assert_false(b->leader[j]);
	}
}

static void test_random(void **state)
{
	(void)state;
	srand(2);
	for (int k = 0; k < 3000; k++) {
		size_t n = 1 + (size_t)rand() % 300;
		uint8_t *code = malloc(n);
		struct memory m = { .from = 0, .n = 64 };
		struct blocks *b;
		uint32_t i, first, end, covered = 0;

		for (size_t j = 0; j < n; j++)
			code[j] = (uint8_t)(rand() >> 5);
		b = blocks_new(code, n, (uint64_t)rand(), rand() & 1, rand() & 1, read_memory, &m);
		assert_non_null(b);
		free(code);
		for (i = 0; i < b->n; i = end) {
			blocks_around(b, i, &first, &end);
			assert_int_equal(first, i); /* blocks lie end to end */
			assert_true(end > first);
			covered += end - first;
			for (uint32_t j = first; j < end; j++) {
				uint32_t out[16], f, e, t;
				bool leaves;

				blocks_around(b, j, &f, &e);
				assert_true(f == first && e == end);
				assert_int_equal(blocks_find(b, b->off[j]), j);
				t = blocks_next(b, j, out, 16, &leaves);
				for (uint32_t q = 0; q < t; q++)
					assert_true(out[q] < b->n &&
						    (j + 1 < end || b->leader[out[q]] ||
						     out[q] == end));
			}
		}
		assert_int_equal(covered, b->n);
		lands_anywhere(b);
		blocks_free(b);
	}
	blocks_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function),       cmocka_unit_test(test_ends),
		cmocka_unit_test(test_relative_table), cmocka_unit_test(test_absolute_table),
		cmocka_unit_test(test_window),	       cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
