// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_estimate_rates.c - two loops whose rounds nothing tells but registers that move from sample to sample.
 *
 * Both take the same time.  The first reads a variable in each round, the second writes another, and waits: where
 * what its register counts is believed it has a hundred times fewer accesses, and else about as many, as
 * far as time tells.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "two_loops.h"

enum { RCX = 1, RBX = 3, RSP = 4, RSI = 6, RDI = 7, R8 = 8, R12 = 12 };
enum { SAMPLES = 1000, THREADS = 16 };

/* The code, where its two halves of the samples are, and what the registers are at the k-th. */
struct program {
	const char *hex;
	uint64_t starts[4], first, second;
	uint32_t threads; /* that the second half's samples are of, in no order; 0: all are of one thread */
	void (*registers)(uint64_t *regs, uint64_t k, bool is_second);
};

/* Accesses to what the first half reads for each to what the second writes; into @ci, if not NULL, the interval of the first's share. */
static double ratio_and_interval(const struct program *p, double *ci)
{
	struct world w = { .n = 0 };
	const struct estimate_env env = { &w, env_site, env_code, env_function, env_variable, env_tls, NULL };
	struct estimate *e = estimate_new(&env);
	const struct estimate_result *r;
	double accesses[4] = { 0 };
	uint64_t seen[THREADS] = { 0 };

	world_code(&w, p->hex);
	memcpy(w.starts, p->starts, sizeof(w.starts));
	for (uint64_t k = 0; k < SAMPLES; k++) {
		struct stream_sample s = { .ev = { .type = HVAR_EVENT_SAMPLE, .mm = 1, .pid = 10, .tid = 10 } };
		bool is_second = k >= SAMPLES / 2;
		uint64_t at = is_second ? p->second : p->first, nth = k;

		if (p->threads && is_second) {
			uint32_t thread = (uint32_t)(k * 2654435761u) >> 7 & (p->threads - 1);

			nth = seen[thread]++;
			s.ev.tid += 1 + thread;
		}
		s.ev.time_ns = 5000000000ull + k * 1000000;
		s.ev.u.sample.ip = CODE + at;
		s.ev.u.sample.period_ns = 1000000;
		for (int q = 0; q < 16; q++)
			s.regs[q] = 77;
		s.regs[RDI] = READ;
		s.regs[RSI] = WRITTEN;
		s.regs[RSP] = STACK;
		p->registers(s.regs, nth, is_second);
		s.regs[STREAM_RIP] = CODE + at;
		s.regs[STREAM_RFLAGS] = 0x202;
		estimate_sample(e, &s);
	}
	r = estimate_solve(e);
	for (size_t i = 0; i < r->n; i++)
		accesses[r->rows[i].variable] = r->rows[i].accesses;
	for (size_t i = 0; i < r->n && ci; i++)
		if (!r->rows[i].variable)
			memcpy(ci, r->rows[i].ci, sizeof(r->rows[i].ci));
	assert_true(accesses[3] == 0 && accesses[1] > 0);
	estimate_free(e);
	return accesses[0] / accesses[1];
}

static double ratio(const struct program *p)
{
	return ratio_and_interval(p, NULL);
}

static void near(double got, double want, double factor)
{
	if (!(got < want * factor && got > want / factor))
		fail_msg("%g is not within a factor %g of %g", got, factor, want);
}

/*
 * 0: mov (%rdi),%rax  3: add $1,%rcx  7: test %rax,%rax  a: jne 0
 * c: mov %rax,(%rsi)  f: add $1,%rbx  13: test %r8,%r8  16: jne c  18: ret
 */
#define LOOPS "48 8b 07 48 83 c1 01 48 85 c0 75 f4 48 89 06 48 83 c3 01 4d 85 c0 75 f4 c3 "

static const struct program usual = { .hex = LOOPS, .first = 3, .second = 0xf };

/* Rounds between samples, which are a millisecond apart: 3 million cycles or so. */
enum { FAST = 2000000, SLOW = 20000 };

/* Each half in its turn. */
static void steady(uint64_t *regs, uint64_t k, bool is_second)
{
	regs[RCX] = (is_second ? SAMPLES / 2 : k) * FAST;
	regs[RBX] = (is_second ? k : SAMPLES / 2) * SLOW;
}

static void test_steady(void **state)
{
	struct program p = usual;

	(void)state;
	p.registers = steady;
	near(ratio(&p), 100, 1.3);
}

/* Both counters come to their end and begin again at 0. */
static void overflowing(uint64_t *regs, uint64_t k, bool is_second)
{
	steady(regs, k, is_second);
	regs[RCX] -= 250ull * FAST + 17;
	regs[RBX] -= 750ull * SLOW + 17;
}

static void test_overflow(void **state)
{
	struct program p = usual;

	(void)state;
	p.registers = overflowing;
	near(ratio(&p), 100, 1.3);
}

/* The same of 32 bits: add $1,%ecx and add $1,%ebx, which clear the upper half. */
static void overflowing32(uint64_t *regs, uint64_t k, bool is_second)
{
	overflowing(regs, k, is_second);
	regs[RCX] = (uint32_t)regs[RCX];
	regs[RBX] = (uint32_t)regs[RBX];
}

static void test_32_bits(void **state)
{
	struct program p = usual;

	(void)state;
	p.hex = "48 8b 07 83 c1 01 90 48 85 c0 75 f4 48 89 06 83 c3 01 90 4d 85 c0 75 f4 c3 ";
	p.registers = overflowing32;
	near(ratio(&p), 100, 1.3);
}

/* Down: sub $1,%rcx and sub $2,%rbx. */
static void down(uint64_t *regs, uint64_t k, bool is_second)
{
	steady(regs, k, is_second);
	regs[RCX] = 0 - regs[RCX];
	regs[RBX] = 0 - 2 * regs[RBX];
}

static void test_down(void **state)
{
	struct program p = usual;

	(void)state;
	p.hex = "48 8b 07 48 83 e9 01 48 85 c0 75 f4 48 89 06 48 83 eb 02 4d 85 c0 75 f4 c3 ";
	p.registers = down;
	near(ratio(&p), 100, 1.3);
}

/* The other way than the code steps. */
static void test_wrong_sign(void **state)
{
	struct program p = usual;

	(void)state;
	p.registers = down;
	near(ratio(&p), 1, 4);
}

/* Whoever calls the function has done so anew: what it keeps in a register has changed. */
static void anew(uint64_t *regs, uint64_t k, bool is_second)
{
	steady(regs, k, is_second);
	regs[R12] = is_second ? k : 0;
}

static void test_left(void **state)
{
	struct program p = usual;
	double ci[2] = { 1, 0 };

	(void)state;
	p.registers = anew;
	near(ratio_and_interval(&p, ci), 1, 4);
	/* Time alone speaks, and nobody was seen to leave either loop. */
	assert_true(ci[0] < 0.15 && ci[1] > 0.85);
}

/* Stays of 1.3 ms, so that the register goes back in three of ten pairs, and two periods look like less than one. */
static void begun_again(uint64_t *regs, uint64_t k, bool is_second)
{
	steady(regs, k, is_second);
	regs[RBX] = is_second ? k * 1000 % 1300 * SLOW / 1000 : 0;
}

static void test_begun_again(void **state)
{
	struct program p = usual;

	(void)state;
	p.registers = begun_again;
	near(ratio(&p), 1, 4);
}

/* More than can be in a millisecond. */
static void too_many(uint64_t *regs, uint64_t k, bool is_second)
{
	steady(regs, k, is_second);
	regs[RBX] = is_second ? k * 1000000000000ull : 0;
}

static void test_too_many(void **state)
{
	struct program p = usual;

	(void)state;
	p.registers = too_many;
	near(ratio(&p), 1, 4);
}

/* 13: add $8,%r8, too, but that has moved by another number of rounds, or by no number of them. */
static void contradicting(uint64_t *regs, uint64_t k, bool is_second)
{
	steady(regs, k, is_second);
	regs[R8] = is_second ? 8 * k * (SLOW + 1) : 0;
}

static void indivisible(uint64_t *regs, uint64_t k, bool is_second)
{
	steady(regs, k, is_second);
	regs[R8] = is_second ? 8 * k * SLOW + k : 0;
}

static void agreeing(uint64_t *regs, uint64_t k, bool is_second)
{
	steady(regs, k, is_second);
	regs[R8] = is_second ? 8 * k * SLOW : 0;
}

static void test_two_counters(void **state)
{
	struct program p = usual;

	(void)state;
	/* c: mov %rax,(%rsi)  f: add $1,%rbx  13: add $8,%r8  17: test %rax,%rax  1a: jne c  1c: ret */
	p.hex = "48 8b 07 48 83 c1 01 48 85 c0 75 f4 48 89 06 48 83 c3 01 49 83 c0 08 48 85 c0 75 f0 c3 ";
	p.registers = agreeing;
	near(ratio(&p), 100, 1.3);
	p.registers = contradicting;
	near(ratio(&p), 1, 4);
	p.registers = indivisible;
	near(ratio(&p), 1, 4);
}

/* 2^63 apart, which is no number of steps down, by one each, that can be told. */
static void far_apart(uint64_t *regs, uint64_t k, bool is_second)
{
	(void)is_second;
	regs[RCX] = regs[RBX] = k << 63;
}

static void test_far_apart(void **state)
{
	struct program p = usual;

	(void)state;
	p.hex = "48 8b 07 48 83 e9 01 48 85 c0 75 f4 48 89 06 48 83 eb 01 4d 85 c0 75 f4 c3 ";
	p.registers = far_apart;
	near(ratio(&p), 1, 4);
}

/* As fast as each other, on registers of each thread's own. */
static void of_threads(uint64_t *regs, uint64_t k, bool is_second)
{
	regs[RCX] = is_second ? 0 : k * FAST;
	regs[RBX] = is_second ? k * FAST : 0;
}

static void test_threads(void **state)
{
	struct program p = usual;

	(void)state;
	p.threads = THREADS;
	p.registers = of_threads;
	near(ratio(&p), 1, 1.2);
}

/* One loop, which reads the one variable and later, waiting for it, the other: 0: mov (%rdi),%rax  3: add $1,%rcx  7: test %rax,%rax  a: jne 0  c: ret */
static void other_memory(uint64_t *regs, uint64_t k, bool is_second)
{
	regs[RCX] = is_second ? SAMPLES / 2 * FAST + (k - SAMPLES / 2) * SLOW : k * FAST;
	regs[RDI] = is_second ? WRITTEN : READ;
}

/* The same at a steady pace: then time is as good. */
static void other_memory_alike(uint64_t *regs, uint64_t k, bool is_second)
{
	other_memory(regs, k, is_second);
	regs[RCX] = k * FAST;
}

/* Nothing counts: first the one and then the other, or in turns. */
static void not_counted_memory(uint64_t *regs, uint64_t k, bool is_second)
{
	(void)k;
	regs[RDI] = is_second ? WRITTEN : READ;
}

static void memory_in_turns(uint64_t *regs, uint64_t k, bool is_second)
{
	(void)is_second;
	regs[RDI] = k * 7 % 5 % 2 ? WRITTEN : READ;
}

static void test_phases(void **state)
{
	struct program p = { .hex = "48 8b 07 48 83 c1 01 48 85 c0 75 f4 c3 ", .first = 3, .second = 3 };
	double ci[2] = { 1, 0 };

	(void)state;
	p.registers = other_memory;
	near(ratio(&p), 100, 1.3);
	p.registers = other_memory_alike;
	near(ratio(&p), 1, 1.1);
	p.registers = not_counted_memory;
	near(ratio_and_interval(&p, ci), 1, 1.1);
	assert_true(ci[0] < 0.15 && ci[1] > 0.85);
	p.registers = memory_in_turns;
	near(ratio_and_interval(&p, ci), 1.5, 1.1);
	assert_true(ci[0] > 0.5 && ci[1] < 0.7);
}

/* A quarter of the time, last, the loop is begun anew so often that two samples are of two stays, which look like one of few rounds. */
static void short_stays(uint64_t *regs, uint64_t k, bool is_second)
{
	bool is_short = k >= SAMPLES * 3 / 4;

	(void)is_second;
	regs[RDI] = is_short ? WRITTEN : READ;
	regs[RCX] = is_short ? k * 389 % 1024 : k * FAST;
}

static void test_short_stays(void **state)
{
	struct program p = { .hex = "48 8b 07 48 83 c1 01 48 85 c0 75 f4 c3 ", .first = 3, .second = 3, .registers = short_stays };

	(void)state;
	near(ratio(&p), 3, 1.2);
}

/* 10: rep stos %al,(%rdi), of so many bytes; samples are in the middle of it, as far as one knows. */
static void fills(uint64_t *regs, uint64_t bytes, bool is_second)
{
	regs[RDI] = is_second ? WRITTEN : READ;
	regs[RCX] = is_second ? bytes / 2 : 77;
}

static void fills_cache(uint64_t *regs, uint64_t k, bool is_second)
{
	(void)k;
	fills(regs, 400000, is_second);
}

static void fills_memory(uint64_t *regs, uint64_t k, bool is_second)
{
	(void)k;
	fills(regs, 40000000, is_second);
}

/* What no cache holds is not filled as fast: there are fewer writes in the same time. */
static void test_fills(void **state)
{
	struct program p = {
		.hex = "48 8b 07 48 83 c1 01 48 85 c0 75 f4 c3 90 90 90 f3 aa c3 ",
		.starts = { 0, 0x10 },
		.first = 3,
		.second = 0x10,
		.registers = fills_cache,
	};
	double cached;

	(void)state;
	cached = ratio(&p);
	p.registers = fills_memory;
	near(ratio(&p) / cached, 4, 1.5);
}

/*
 * A function counts in r12 how often it calls another, which leaves that alone.  No sample is in it, so that time alone
 * says that it hardly runs.
 *
 *  0: call 30  5: add $1,%r12  9: test %r13,%r13  c: jne 0  e: ret
 * 20: mov (%rdi),%rax  23: add $1,%rcx  27: test %rax,%rax  2a: jne 20  2c: ret
 * 30: mov %rax,(%rsi)  33: ret
 */
static void called(uint64_t *regs, uint64_t k, bool is_second)
{
	steady(regs, k, is_second);
	regs[R12] = regs[RBX];
	regs[RBX] = 77;
}

static void not_counted(uint64_t *regs, uint64_t k, bool is_second)
{
	called(regs, k, is_second);
	regs[R12] = 77;
}

/* 30: xor %r12d,%r12d  33: mov %rax,(%rsi)  36: ret */
static void test_caller(void **state)
{
	struct program p = {
		.hex = "e8 2b 00 00 00 49 83 c4 01 4d 85 ed 75 f2 c3 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 "
		       "48 8b 07 48 83 c1 01 48 85 c0 75 f4 c3 90 90 90 48 89 06 c3 ",
		.starts = { 0, 0x20, 0x30 },
		.first = 0x23,
		.second = 0x33,
		.registers = called,
	};

	(void)state;
	near(ratio(&p), 100, 1.3);
	p.registers = not_counted;
	assert_true(ratio(&p) > 1000);
	/* It uses the register itself. */
	p.hex = "e8 2b 00 00 00 49 83 c4 01 4d 85 ed 75 f2 c3 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 "
		"48 8b 07 48 83 c1 01 48 85 c0 75 f4 c3 90 90 90 45 31 e4 48 89 06 c3 ";
	p.second = 0x36;
	p.registers = called;
	assert_true(ratio(&p) > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),	   cmocka_unit_test(test_overflow),	cmocka_unit_test(test_32_bits),
		cmocka_unit_test(test_down),	   cmocka_unit_test(test_wrong_sign),	cmocka_unit_test(test_left),
		cmocka_unit_test(test_begun_again), cmocka_unit_test(test_too_many),	cmocka_unit_test(test_two_counters),
		cmocka_unit_test(test_far_apart),  cmocka_unit_test(test_threads),	cmocka_unit_test(test_short_stays),
		cmocka_unit_test(test_fills),	   cmocka_unit_test(test_phases),	   cmocka_unit_test(test_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
