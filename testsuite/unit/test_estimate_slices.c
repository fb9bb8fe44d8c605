// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_estimate_slices.c - the interval of a time: as wide as chance has it, or as what is waited for changes.
 *
 * Two loops in a third of one function, each of which waits for two variables.  As many samples fall on each in all cases; the order differs.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/user/estimate.h"

enum { RCX = 1, RSP = 4, RSI = 6, RDI = 7 };
enum {
	CODE = 0x400000,
	DATA = 0x600000,
	EACH = 0x1000,
	STACK = 0x7fff0000,
	STACK_VARIABLE = 9,
	SAMPLES = 6400
};

/*
 *  0: mov (%rdi),%rax   3: mov (%rsi),%rbx   6: dec %ecx   8: jne 0
 *  a: mov (%r8),%rax    d: mov (%r9),%rbx   10: dec %ecx  12: jne a   14: jmp 0, a loop around both
 */
static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x48, 0x8b, 0x1e, 0xff, 0xc9,
			       0x75, 0xf6, 0x49, 0x8b, 0x00, 0x49, 0x8b, 0x19,
			       0xff, 0xc9, 0x75, 0xf6, 0xeb, 0xea};
/* Behind what reads each variable. */
static const uint8_t behind[] = {3, 6, 0xd, 0x10};

static bool env_site(void *ctx, const struct hvar_event *ev, uint64_t ip,
		     struct code_site *out, uint64_t *start, uint64_t *end)
{
	(void)ctx;
	(void)ev;
	if (ip < CODE || ip >= CODE + sizeof(code))
		return false;
	*out = (struct code_site){1, 0, ip - CODE};
	*start = CODE;
	*end = CODE + sizeof(code);
	return true;
}

static size_t env_code(void *ctx, const struct code_site *at, void *buf,
		       size_t len)
{
	(void)ctx;
	if (at->where >= sizeof(code))
		return 0;
	if (len > sizeof(code) - at->where)
		len = sizeof(code) - at->where;
	memcpy(buf, code + at->where, len);
	return len;
}

static bool env_function(void *ctx, const struct code_site *at, uint64_t *start,
			 uint64_t *end)
{
	(void)ctx;
	(void)at;
	*start = 0;
	*end = sizeof(code);
	return true;
}

static uint32_t env_variable(void *ctx, const struct hvar_event *ev,
			     uint64_t addr, uint64_t stack)
{
	(void)ctx;
	(void)ev;
	(void)stack;
	return addr >= DATA && addr < DATA + 4 * EACH
		       ? (uint32_t)((addr - DATA) / EACH)
		       : STACK_VARIABLE;
}

static uint32_t env_tls(void *ctx, const struct hvar_event *ev,
			const struct estimate_tls *at)
{
	(void)ctx;
	(void)ev;
	(void)at;
	return STACK_VARIABLE;
}

/* Half of the width of variable 0's interval if sample @i of @n is at behind[@where(@i, @n)]; a quarter of the time is its own. */
static double half_of(unsigned (*where)(unsigned i, unsigned n), unsigned n)
{
	const struct estimate_env env = {NULL,	       env_site,     env_code,
					 env_function, env_variable, env_tls,
					 NULL};
	struct estimate *e = estimate_new(&env);
	const struct estimate_result *r;
	double half = -1;

	assert_non_null(e);
	srand(3);
	for (unsigned i = 0; i < n; i++) {
		struct stream_sample s = {.ev = {.type = HVAR_EVENT_SAMPLE,
						 .mm = 1,
						 .pid = 10,
						 .tid = 10}};

		s.ev.u.sample.ip = CODE + behind[where(i, n)];
		s.ev.u.sample.period_ns = 1000000;
		s.regs[RCX] = 9;
		s.regs[RSP] = STACK;
		s.regs[RDI] = DATA;
		s.regs[RSI] = DATA + EACH;
		s.regs[8] = DATA + 2 * EACH;
		s.regs[9] = DATA + 3 * EACH;
		s.regs[STREAM_RIP] = s.ev.u.sample.ip;
		estimate_sample(e, &s);
	}
	r = estimate_solve(e);
	for (size_t k = 0; k < r->n; k++) {
		if (r->rows[k].variable)
			continue;
		assert_true(fabs(r->rows[k].time_share - 0.25) < 0.15);
		assert_true(r->rows[k].time_ci[0] <= r->rows[k].time_share &&
			    r->rows[k].time_share <= r->rows[k].time_ci[1]);
		half = (r->rows[k].time_ci[1] - r->rows[k].time_ci[0]) / 2;
	}
	estimate_free(e);
	return half;
}

/* Of a part of a quarter of @n samples: 95 % by chance alone, and what skids. */
static double by_chance(unsigned n)
{
	return 1.96 * sqrt(0.25 * 0.75 / n) + 0.014 * 0.25;
}

static unsigned by_dice(unsigned i, unsigned n)
{
	(void)i;
	(void)n;
	return (unsigned)rand() >> 4 & 3;
}

/* One loop, then the other. */
static unsigned by_phases(unsigned i, unsigned n)
{
	return (unsigned)(rand() >> 4 & 1) + (i < n / 2 ? 0 : 2);
}

/* In both loops one variable makes them wait at first, and the other from the middle on. */
static unsigned by_halves(unsigned i, unsigned n)
{
	return (unsigned)(rand() >> 4 & 1) * 2 + (i < n / 2 ? 0 : 1);
}

static void test_chance(void **state)
{
	(void)state;
	for (unsigned n = SAMPLES / 100; n <= SAMPLES; n *= 10) {
		double half = half_of(by_dice, n);

		assert_true(half > 0.9 * by_chance(n) &&
			    half < 1.8 * by_chance(n));
	}
}

/* A program has its phases again when it runs again. */
static void test_phases(void **state)
{
	double half = half_of(by_phases, SAMPLES);

	(void)state;
	assert_true(half > 0.9 * by_chance(SAMPLES) &&
		    half < 1.6 * by_chance(SAMPLES));
}

/* What changes in the middle of a run may be otherwise all through the next: 0, 25 or 50 % of the time. */
static void test_changes(void **state)
{
	double half = half_of(by_halves, SAMPLES);

	(void)state;
	assert_true(half > 0.1);
	assert_true(half < 0.5);
}

/* However many samples there are, as many slices: the number of samples that one takes does not tell. */
static void test_lengths(void **state)
{
	(void)state;
	for (unsigned n = 60; n < 400; n += 14)
		assert_true(half_of(by_halves, n) > 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests_name("estimate_slices", tests, NULL,
					   NULL);
}
