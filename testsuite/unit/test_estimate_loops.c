// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_estimate_loops.c - two loops that make 1,000 rounds each, one after the other: what the code alone tells of that.
 *
 * The first takes nine tenths of the time, and reads a variable in each round; the second writes another.  Where the rounds are
 * known both have as many accesses.  In the first the counter is put by in memory, has a way of its own in
 * the first round, or is tested at the end only.  Last, a first loop whose stays differ.
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

enum { RCX = 1, RSP = 4, RSI = 6, RDI = 7 };

/* Each of 0 to 899 as often. */
static uint64_t evenly(void)
{
	return 2 + (uint64_t)rand() % 900;
}

/* Where stays begin anywhere and end at 1,000: the nearer the end, the more. */
static uint64_t dwindling(void)
{
	for (;;) {
		double left = rand() / (RAND_MAX + 1.0), x = rand() / (RAND_MAX + 1.0);

		if (x < 1 - 0.8 * left)
			return (uint64_t)(999 * (1 - left));
	}
}

/*
 * Accesses to what the first loop reads for each to what the second writes; @part of 1,000 samples are at @first in that, with
 * counters by @counter, and the others at @second.
 */
static double ratio_of(const char *hex, uint64_t first, uint64_t second, int part, uint64_t (*counter)(void))
{
	struct world w = { .n = 0 };
	const struct estimate_env env = { &w, env_site, env_code, env_function, env_variable, env_tls, NULL };
	struct estimate *e = estimate_new(&env);
	const struct estimate_result *r;
	double accesses[4] = { 0 };

	world_code(&w, hex);
	srand(5);
	for (int i = 0; i < 1000; i++) {
		struct stream_sample s = { .ev = { .type = HVAR_EVENT_SAMPLE, .mm = 1, .pid = 10, .tid = 10 } };
		uint64_t at = i * 7 % 1000 < part ? first : second;

		s.ev.u.sample.ip = CODE + at;
		s.ev.u.sample.period_ns = 1000000;
		s.regs[RDI] = READ;
		s.regs[RSI] = WRITTEN;
		s.regs[RSP] = STACK;
		s.regs[RCX] = at == first ? counter() : evenly();
		s.regs[STREAM_RIP] = CODE + at;
		s.regs[STREAM_RFLAGS] = 0x202;
		estimate_sample(e, &s);
	}
	r = estimate_solve(e);
	for (size_t i = 0; i < r->n; i++)
		accesses[r->rows[i].variable] = r->rows[i].accesses;
	assert_true(accesses[3] == 0 && accesses[1] > 0);
	estimate_free(e);
	return accesses[0] / accesses[1];
}

/* 900 samples are in the first, which has a whole stay's counters. */
static double ratio(const char *hex, uint64_t first, uint64_t second)
{
	return ratio_of(hex, first, second, 900, evenly);
}

static void near_one(double x)
{
	if (!(x > 0.9 && x < 1.1))
		fail_msg("%g accesses for each", x);
}

/* The second loop, at its end: xor %ecx,%ecx; 2: mov %rax,(%rsi,%rcx,8); add $1,%rcx; cmp $1000,%rcx; jne 2; ret */
#define SECOND "31 c9 48 89 04 ce 48 83 c1 01 48 81 f9 e8 03 00 00 75 ef c3 "

/*
 * 0: xor %ecx,%ecx  2: mov (%rdi,%rcx,8),%rax  6: mov %rcx,8(%rsp)  b: mov %rax,%rcx  e: mov 8(%rsp),%rcx
 * 13: add $1,%rcx  17: cmp $1000,%rcx  1e: jne 2
 */
static void test_put_by(void **state)
{
	(void)state;
	near_one(ratio("31 c9 48 8b 04 cf 48 89 4c 24 08 48 89 c1 48 8b 4c 24 08 48 83 c1 01 48 81 f9 e8 03 00 00 75 e2 " SECOND, 6, 0x26));
}

/* The same, but what is loaded lies at another address than what was stored: that tells nothing. */
static void test_put_elsewhere(void **state)
{
	(void)state;
	assert_true(ratio("31 c9 48 8b 04 cf 48 89 4c 24 10 48 89 c1 48 8b 4c 24 08 48 83 c1 01 48 81 f9 e8 03 00 00 75 e2 " SECOND,
			  6, 0x26) > 1.5);
}

/*
 * 0: xor %ecx,%ecx  2: mov (%rdi,%rcx,8),%rax  6: test %rcx,%rcx  9: je 2c  b: add $1,%rcx  f: cmp $1000,%rcx  16: jne 2
 * the second loop  2c: mov $1,%ecx  31: jmp f
 */
static void test_first_round(void **state)
{
	(void)state;
	near_one(ratio("31 c9 48 8b 04 cf 48 85 c9 74 21 48 83 c1 01 48 81 f9 e8 03 00 00 75 ea " SECOND "b9 01 00 00 00 eb dc", 6, 0x1e));
}

/*
 * 0: mov $999,%ecx  5: mov (%rdi,%rcx,8),%rax  9: cmp $1,%rcx  d: jle 15  f: sub $1,%rcx  13: jmp 5  15: sub $1,%rcx  19: jae 5
 */
static void test_seldom(void **state)
{
	(void)state;
	near_one(ratio("b9 e7 03 00 00 48 8b 04 cf 48 83 f9 01 7e 06 48 83 e9 01 eb f0 48 83 e9 01 73 ea " SECOND, 9, 0x21));
}

/*
 * The counter begins anywhere: 0: mov (%rdi),%rcx  3: mov (%rdi,%rcx,8),%rax  7: add $1,%rcx  b: cmp $1000,%rcx  12: jne 3
 * A stay has 500 rounds on average, for which the time speaks, too.
 */
static void test_differing(void **state)
{
	double x = ratio_of("48 8b 0f 48 8b 04 cf 48 83 c1 01 48 81 f9 e8 03 00 00 75 ef " SECOND, 7, 0x1a, 333, dwindling);

	(void)state;
	if (!(x > 0.35 && x < 0.9))
		fail_msg("%g accesses for each", x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_by),
		cmocka_unit_test(test_put_elsewhere),
		cmocka_unit_test(test_first_round),
		cmocka_unit_test(test_seldom),
		cmocka_unit_test(test_differing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
