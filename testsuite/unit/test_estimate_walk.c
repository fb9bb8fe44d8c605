// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_estimate_walk.c - walks over a few functions given as bytes: what each branch, jump and call on the way is counted for.
 *
 * The ways are written by hand, or by a walker of the test's own that knows the code by heart.
 */
#include "config.h"

#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/user/estimate_rows.h"
#include "runtime/user/stream_frame.h"

enum { CODE = 0x400000, LIB = 0x500000, DATA = 0x600000, STACK = 0x7fff0000, SIZE = 0x80, LARGE = 0xa000, UNFAIR = 100 };

/*
 * loop:  0: call leaf      5: dec %ecx     7: jne 0       9: call *%rax   b: jmp *%rbx
 *        d: ud2            f: ret
 * leaf: 20: test %edi,%edi 22: je 26      24: dec %edx   26: ret
 * fill: 30: rep stosb      32: jrcxz 35   34: nop        35: ret
 * stub: 40: jmp *far(%rip)
 * uses: 48: call stub      4d: jmp 48
 * turn: 50: call *%rax     52: dec %ecx   54: jne 50     56: ret
 * one:  58: mov (%rdi),%edx 5a: ret
 * two:  60: mov (%rsi),%edx 62: ret
 * In another module: far, 0: ret
 */
static const struct {
	uint32_t at, end;
	const char *code;
} functions[] = {
	{ 0x00, 0x10, "e8 1b 00 00 00 ff c9 75 f7 ff d0 ff e3 0f 0b c3" },
	{ 0x20, 0x27, "85 ff 74 02 ff ca c3" },
	{ 0x30, 0x36, "f3 aa e3 01 90 c3" },
	{ 0x40, 0x46, "ff 25 00 10 00 00" },
	{ 0x48, 0x4f, "e8 f3 ff ff ff eb f9" },
	{ 0x50, 0x57, "ff d0 ff c9 75 fa c3" },
	{ 0x58, 0x5b, "8b 17 c3" },
	{ 0x60, 0x63, "8b 16 c3" },
};

enum { N_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static uint8_t code[LARGE];
static uint32_t size; /* SIZE: of those functions; LARGE: all are one */

static bool env_site(void *ctx, const struct hvar_event *ev, uint64_t ip, struct code_site *out, uint64_t *start, uint64_t *end)
{
	bool lib = ip >= LIB;

	(void)ctx;
	(void)ev;
	*start = lib ? LIB : CODE;
	*end = *start + (lib ? 1 : size);
	*out = (struct code_site){ lib ? 2 : 1, 0, ip - *start };
	return ip >= *start && ip < *end;
}

static size_t env_code(void *ctx, const struct code_site *at, void *buf, size_t len)
{
	(void)ctx;
	if (at->module == 2) {
		memcpy(buf, "\xc3", 1);
		return 1;
	}
	if (at->where >= size)
		return 0;
	if (len > size - at->where)
		len = size - at->where;
	memcpy(buf, code + at->where, len);
	return len;
}

static bool env_function(void *ctx, const struct code_site *at, uint64_t *start, uint64_t *end)
{
	(void)ctx;
	*start = 0;
	*end = at->module == 2 ? 1 : size;
	if (at->module == 2 || size == LARGE)
		return true;
	for (int i = 0; i < N_FUNCTIONS; i++) {
		*start = functions[i].at;
		*end = functions[i].end;
		if (at->where >= *start && at->where < *end)
			return true;
	}
	return false;
}

static uint32_t env_variable(void *ctx, const struct hvar_event *ev, uint64_t addr, uint64_t stack)
{
	(void)ctx;
	(void)ev;
	(void)stack;
	return addr == DATA ? 1 : addr == DATA + 0x1000 ? 2 : 0;
}

static uint32_t env_tls(void *ctx, const struct hvar_event *ev, const struct estimate_tls *at)
{
	(void)ctx;
	(void)ev;
	(void)at;
	return 0;
}

static struct estimate *begin(void)
{
	const struct estimate_env env = { NULL, env_site, env_code, env_function, env_variable, env_tls, NULL };
	struct estimate *e = estimate_new(&env);

	assert_non_null(e);
	size = SIZE;
	memset(code, 0xcc, sizeof(code));
	for (int i = 0; i < N_FUNCTIONS; i++) {
		const char *p = functions[i].code;
		unsigned v;
		int used;

		for (uint8_t *to = code + functions[i].at; sscanf(p, "%x%n", &v, &used) == 1; p += used)
			*to++ = (uint8_t)v;
	}
	return e;
}

/* All code is one function: @insn, of @n bytes, again and again. */
static struct estimate *begin_large(const char *insn, uint32_t n)
{
	struct estimate *e = begin();

	size = LARGE;
	for (uint32_t i = 0; i < LARGE; i++)
		code[i] = (uint8_t)insn[i % n];
	return e;
}

/* A way, as it is gone. */
static struct way {
	uint32_t insns, n_bits, n_targets;
	uint8_t bits[STREAM_WALK_BITS_MAX];
	uint64_t targets[STREAM_WALK_TARGETS_MAX];
} way;

static void insns(uint32_t n)
{
	way.insns += n;
}

static void branch(bool taken)
{
	way.insns++;
	way.bits[way.n_bits++] = taken;
}

static void jump(uint64_t to)
{
	way.insns++;
	way.targets[way.n_targets++] = to;
}

/* The way begins at @at; afterwards there is none. */
static void walk(struct estimate *e, uint64_t at)
{
	size_t len = sizeof(struct stream_walk) + way.n_targets * sizeof(uint64_t) + (way.n_bits + 7) / 8;
	struct stream_walk *w = calloc(1, len); /* no byte more: a sanitizer sees what is read behind it */
	uint8_t *bits;

	assert_non_null(w);
	w->s.ev = (struct hvar_event){ .type = HVAR_EVENT_SAMPLE, .mm = 1, .pid = 10, .tid = 10, .time_ns = 1000000000 };
	w->s.ev.u.sample.ip = w->s.regs[STREAM_RIP] = at;
	w->insns = way.insns;
	w->n_bits = way.n_bits;
	w->n_targets = way.n_targets;
	if (way.n_targets)
		memcpy(w->targets, way.targets, way.n_targets * sizeof(uint64_t));
	bits = (uint8_t *)(w->targets + w->n_targets);
	for (uint32_t i = 0; i < way.n_bits; i++)
		bits[i / 8] |= (uint8_t)(way.bits[i] << i % 8);
	assert_true(stream_well_formed(STREAM_WALK, w, (uint32_t)len));
	estimate_walk(e, w);
	free(w);
	memset(&way, 0, sizeof(way));
}

static struct site_function *function_at(const struct estimate *e, uint32_t module, uint64_t at)
{
	struct site_function *f = sites_at(&e->sites, module, 0, at);

	assert_non_null(f);
	return f;
}

/* What is counted at the instruction at @at of the function that starts at @function, NULL: nothing. */
static const struct site_counted *counted(const struct estimate *e, uint64_t function, uint64_t at)
{
	const struct site_function *f = function_at(e, 1, function);

	return site_counted_at(f, blocks_find(f->b, at - function));
}

static void assert_counted(const struct estimate *e, uint64_t function, uint64_t at, uint32_t n, uint32_t taken)
{
	const struct site_counted *c = counted(e, function, at);

	assert_int_equal(c ? c->n : 0, n);
	assert_int_equal(c ? c->taken : 0, taken);
}

/* How often the jump or call at @at led to instruction @to, or to function @callee. */
static uint32_t led_to(const struct estimate *e, uint64_t function, uint64_t at, uint32_t to, const struct site_function *callee)
{
	const struct site_function *f = function_at(e, 1, function);

	for (uint32_t k = 0; k < f->n_jumps; k++)
		if (f->jumps[k].from == blocks_find(f->b, at - function) && f->jumps[k].to == to && f->jumps[k].callee == callee)
			return f->jumps[k].hits;
	return 0;
}

/* A round of loop from its start: leaf returns there, @left rounds to go. */
static void go_round(bool je, bool more)
{
	insns(2);
	branch(je);
	insns(!je);
	jump(CODE + 5);
	insns(1);
	branch(more);
}

/* A loop with a call in it: every branch behind the start is counted, and none of the start. */
static void test_loop(void **state)
{
	struct estimate *e = begin();
	uint32_t all = 0, taken = 0, rounds = 0;

	(void)state;
	/* Out of leaf, to a caller that the start tells nothing of. */
	branch(true);
	jump(CODE + 5);
	insns(1);
	branch(true);
	for (int i = 0; i < 300; i++) {
		/* A branch counts that comes after so many instructions, itself among them. */
		bool fair = way.insns + 3 > UNFAIR;

		go_round(i % 3 == 0, true);
		all += fair;
		taken += fair && i % 3 == 0;
		rounds += way.insns > UNFAIR;
	}
	walk(e, CODE + 0x22);
	assert_int_equal(e->walks.n, 1);
	assert_true(all < 300 - 10);
	assert_counted(e, 0x20, 0x22, all, taken);
	assert_counted(e, 0, 7, rounds, rounds);
	assert_int_equal(counted(e, 0, 7)->bursts, 1);
	/* Nobody was sampled: there is nothing to tell. */
	assert_int_equal(estimate_solve(e)->n, 0);
	estimate_free(e);
}

/* Jumps and calls through registers lead to functions and within one. */
static void test_pointers(void **state)
{
	struct estimate *e = begin();

	(void)state;
	for (uint64_t k = 1; k <= 2; k++) {
		for (int i = 0; i < 40; i++)
			go_round(true, true);
		for (int i = 0; i < 30; i++) {
			go_round(true, false);
			jump(CODE + 0x30); /* call *%rax */
			insns(1);	   /* rep stosb, however often */
			branch(i & 1);	   /* jrcxz */
			insns(!(i & 1));
			jump(CODE + 0xb);
			jump(CODE + (i % 5 == 4 ? 0x20 : 0)); /* jmp *%rbx */
			if (i % 5 < 4)
				continue;
			insns(1);
			branch(true);
			jump(CODE);
		}
		walk(e, CODE);
	}
	/* Of rounds of 6 instructions 16 end before the first that count. */
	assert_counted(e, 0, 7, 2 * (40 + 30 - 16), 2 * (40 - 16));
	assert_counted(e, 0x30, 0x32, 60, 30);
	assert_int_equal(led_to(e, 0, 9, BLOCKS_NONE, function_at(e, 1, 0x30)), 60);
	assert_int_equal(led_to(e, 0, 0xb, 0, NULL), 48);
	assert_int_equal(led_to(e, 0, 0xb, BLOCKS_NONE, function_at(e, 1, 0x20)), 12);
	assert_int_equal(counted(e, 0, 0xb)->n, 60);
	assert_int_equal(counted(e, 0, 0xb)->bursts, 2);
	estimate_free(e);
}

/* A stub of the linker's stands for what it leads to, in another module. */
static void test_stub(void **state)
{
	struct estimate *e = begin();

	(void)state;
	for (int i = 0; i < 60; i++) {
		insns(1);
		jump(LIB);
		jump(CODE + 0x4d);
		insns(1);
	}
	walk(e, CODE + 0x48);
	assert_int_equal(e->walks.insns, 240);
	assert_int_equal(led_to(e, 0x48, 0x48, BLOCKS_NONE, function_at(e, 2, 0)), 60 - UNFAIR / 4);
	assert_null(counted(e, 0x48, 0x4d));
	estimate_free(e);
}

/* What cannot be: the way ends there, and what was before is kept. */
static void test_damage(void **state)
{
	static const uint64_t ends[] = { 0, UINT64_MAX, CODE + SIZE - 1, CODE + 0xd, LIB + 1 };

	(void)state;
	for (unsigned k = 0; k < sizeof(ends) / sizeof(*ends); k++) {
		struct estimate *e = begin();

		for (int i = 0; i < 30; i++)
			go_round(true, true);
		insns(2);
		branch(true);
		jump(ends[k]);
		for (int i = 0; i < 30; i++)
			go_round(true, true);
		walk(e, CODE);
		assert_counted(e, 0, 7, 30 - 16, 30 - 16);
		assert_true(e->walks.insns <= 30 * 6 + 6);
		estimate_free(e);
	}
	/* Bits, targets that are missing; a start where nothing is. */
	for (int k = 0; k < 3; k++) {
		struct estimate *e = begin();

		for (int i = 0; i < 30; i++)
			go_round(true, true);
		way.n_bits -= k == 0 ? 20 : 0;
		way.n_targets -= k == 1 ? 10 : 0;
		walk(e, k == 2 ? 16 : CODE);
		if (k == 2)
			assert_int_equal(e->walks.insns, 0);
		else
			assert_counted(e, 0, 7, 20 - 16, 20 - 16);
		estimate_free(e);
	}
}

/* Any way at all ends in time. */
static void test_random(void **state)
{
	struct estimate *e = begin();

	(void)state;
	srand(7);
	for (int k = 0; k < 3000; k++) {
		way.insns = (uint32_t)rand() % STREAM_WALK_INSNS_MAX + 1;
		way.n_bits = (uint32_t)rand() % 2000;
		way.n_targets = (uint32_t)rand() % 500;
		if (way.insns < way.n_bits + way.n_targets)
			way.insns = way.n_bits + way.n_targets;
		for (uint32_t i = 0; i < way.n_bits; i++)
			way.bits[i] = rand() & 1;
		for (uint32_t i = 0; i < way.n_targets; i++)
			way.targets[i] = rand() & 7 ? CODE + (uint32_t)rand() % SIZE : rand() & 1 ? LIB : (uint64_t)rand();
		walk(e, CODE + (uint32_t)rand() % SIZE);
	}
	assert_int_equal(e->walks.n, 3000);
	assert_non_null(estimate_solve(e));
	estimate_free(e);
}

static size_t memory_in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Returns lead to the middle of instructions, each time of another: what is known of such a place takes next to no memory. */
static void test_middles(void **state)
{
	struct estimate *e = begin_large("\xb8\xc3\xc3\xc3\xc3", 5); /* mov $0xc3c3c3c3,%eax */
	uint32_t all = LARGE / 5, n = 0;
	size_t before;

	(void)state;
	jump(CODE + 1);
	insns(1);
	walk(e, CODE + 1);
	before = memory_in_use();
	while (n < all) {
		uint64_t first = CODE + 1 + 5 * n++;

		for (; n < all && way.n_targets < 500; n++)
			jump(CODE + 1 + 5 * n);
		insns(1);
		walk(e, first);
	}
	assert_int_equal(e->walks.insns, all + 2);
	assert_true(memory_in_use() < before + (size_t)all * 32768);
	estimate_free(e);
}

/* A jump that leads anywhere, and all that lead back: no more ways are kept than can be looked through, and those go on counting. */
static void test_many_ways(void **state)
{
	struct estimate *e = begin_large("\xff\xe0", 2); /* jmp *%rax */
	const uint32_t first = UNFAIR + 2;
	uint32_t times = 0, n = 2;

	(void)state;
	while (n < 2 * 6000) {
		for (uint32_t i = 0; i < 200; i++, n += 2) {
			jump(CODE + n);
			jump(CODE);
		}
		jump(CODE + first);
		times++;
		walk(e, CODE);
	}
	assert_true(function_at(e, 1, 0)->n_jumps > 1000);
	assert_true(function_at(e, 1, 0)->n_jumps <= 4096);
	assert_int_equal(led_to(e, 0, 0, blocks_find(function_at(e, 1, 0)->b, first), NULL), times + 1);
	assert_non_null(estimate_solve(e));
	estimate_free(e);
}

static void sample(struct estimate *e, uint64_t at)
{
	struct stream_sample s = { .ev = { .type = HVAR_EVENT_SAMPLE, .mm = 1, .pid = 10, .tid = 10 } };

	s.ev.u.sample.ip = s.regs[STREAM_RIP] = at;
	s.ev.u.sample.period_ns = 1000000;
	s.regs[4] = STACK;
	s.regs[7] = DATA;
	s.regs[6] = DATA + 0x1000;
	estimate_sample(e, &s);
}

/* Of two functions called through a pointer the one that waits is called less often: walks tell. */
static void test_shares(void **state)
{
	struct estimate *e = begin();
	const struct estimate_result *r;
	double share[3] = { 0 };

	(void)state;
	for (int i = 0; i < 400; i++) {
		sample(e, CODE + 0x52);
		sample(e, CODE + 0x5a);
		if (!(i % 4))
			sample(e, CODE + 0x62);
	}
	for (int k = 0; k < 20; k++) {
		for (int i = 0; i < 240; i++) {
			bool two = i % 4;

			jump(CODE + (two ? 0x60 : 0x58));
			insns(1);
			jump(CODE + 0x52);
			insns(1);
			branch(true);
		}
		walk(e, CODE + 0x50);
	}
	r = estimate_solve(e);
	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].variable < 3)
			share[r->rows[i].variable] = r->rows[i].share;
	assert_true(share[1] > 0);
	assert_true(share[2] / share[1] > 2.5);
	assert_true(share[2] / share[1] < 3.5);
	estimate_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop),   cmocka_unit_test(test_pointers), cmocka_unit_test(test_stub),
		cmocka_unit_test(test_damage), cmocka_unit_test(test_random),	cmocka_unit_test(test_shares),
		cmocka_unit_test(test_middles), cmocka_unit_test(test_many_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
