// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_estimate.c - the estimator in a world of its own.
 *
 * Functions given as bytes, memory as ranges with numbers, samples as registers
 * at places of the code.  What each instruction touches is known by looking at it; the estimator must find
 * those shares, and must never ask about an address that no instruction touches.
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

#include "runtime/user/estimate.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 };
enum { CODE = 0x400000, DATA = 0x600000, EACH = 0x1000, VARS = 8, TLS = VARS + 2, TWOS = TLS + 1, STACK = 0x7fff0000 };

/* What the estimator's environment knows. */
struct world {
	uint8_t code[256];
	size_t n, before;     /* bytes of code; mapped before them */
	bool bounded, readable;
	uint32_t full;	      /* this variable has no room */
	uint64_t last_ip;
	uint32_t nothing;     /* there is no memory for this one */
	bool apart;	      /* address space 2 has other variables in the same places, from TWOS on */
	bool asked[VARS + 2]; /* which were asked for */
	uint64_t stack[VARS + 2]; /* by what address on the stack, the last time */
	unsigned calls;
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

static bool env_site(void *ctx, const struct hvar_event *ev, uint64_t ip,
		     struct code_site *out, uint64_t *start, uint64_t *end)
{
	const struct world *w = ctx;

	(void)ev;
	if (ip < CODE || ip >= CODE + w->n)
		return false;
	*out = (struct code_site){ 1, 0, ip - CODE + 0x1000 };
	*start = CODE - w->before;
	*end = CODE + w->n;
	return true;
}

static size_t env_code(void *ctx, const struct code_site *at, void *buf, size_t len)
{
	const struct world *w = ctx;
	uint64_t off = at->where - 0x1000;

	if (!w->readable || at->where < 0x1000 || off >= w->n)
		return 0;
	if (len > w->n - off)
		len = w->n - off;
	memcpy(buf, w->code + off, len);
	return len;
}

static bool env_function(void *ctx, const struct code_site *at, uint64_t *start, uint64_t *end)
{
	const struct world *w = ctx;

	(void)at;
	*start = 0x1000;
	*end = 0x1000 + w->n;
	return w->bounded;
}

static uint32_t env_tls(void *ctx, const struct hvar_event *ev, const struct estimate_tls *at)
{
	(void)ctx;
	(void)ev;
	(void)at;
	return TLS;
}

static uint32_t env_variable(void *ctx, const struct hvar_event *ev, uint64_t addr,
			     uint64_t stack)
{
	struct world *w = ctx;
	uint32_t v = VARS + 1; /* [unmapped] */

	w->calls++;
	if (addr >= DATA && addr < DATA + VARS * EACH)
		v = (uint32_t)((addr - DATA) / EACH);
	else if (addr >= STACK - 0x1000 && addr < STACK + 0x1000)
		v = VARS;
	w->asked[v] = true;
	w->stack[v] = stack;
	if (v == w->nothing)
		return ESTIMATE_NOTHING_THERE;
	if (v == w->full)
		return HVAR_HOT_NONE;
	return w->apart && ev->mm == 2 ? TWOS + v : v;
}

static void world_init(struct world *w, const char *hex)
{
	memset(w, 0, sizeof(*w));
	w->n = bytes_of(hex, w->code);
	w->bounded = w->readable = true;
	w->full = w->nothing = HVAR_HOT_NONE;
}

static struct estimate *estimate_in(struct world *w)
{
	const struct estimate_env env = { w, env_site, env_code, env_function, env_variable, env_tls, NULL };
	struct estimate *e = estimate_new(&env);

	assert_non_null(e);
	return e;
}

static struct stream_sample sample_at(uint64_t off, const uint64_t *regs)
{
	struct stream_sample s = { .ev = { .type = HVAR_EVENT_SAMPLE, .mm = 1, .pid = 10, .tid = 10 } };

	s.ev.u.sample.ip = CODE + off;
	s.ev.u.sample.period_ns = 1000000;
	memcpy(s.regs, regs, 16 * sizeof(*regs));
	s.regs[STREAM_RIP] = CODE + off;
	s.regs[STREAM_RFLAGS] = 0x202;
	return s;
}

static const struct estimate_row *row_of(const struct estimate_result *r, uint32_t variable)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].variable == variable)
			return &r->rows[i];
	return NULL;
}

static double share_of(const struct estimate_result *r, uint32_t variable)
{
	const struct estimate_row *row = row_of(r, variable);

	return row ? row->share : 0;
}

/* What always holds of a result. */
static void check_result(const struct estimate_result *r)
{
	double share = 0, time = 0;
	uint64_t samples = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct estimate_row *row = &r->rows[i];

		assert_true(!i || r->rows[i - 1].share >= row->share);
		assert_true(row->ci[0] <= row->share && row->share <= row->ci[1]);
		assert_true(row->ci[0] >= 0 && row->ci[1] <= 1);
		assert_true(fabs(row->reads + row->writes - row->accesses) <= 1e-9 * row->accesses);
		share += row->share;
		time += row->time_share;
	}
	for (int i = 0; i < ESTIMATE_REASONS; i++) {
		share += r->share_lost[i];
		time += r->time_lost[i];
		samples += r->by_reason[i];
	}
	assert_int_equal(samples, r->samples);
	assert_int_equal(r->attributed, r->by_reason[ESTIMATE_OK]);
	if (r->samples) {
		assert_true(fabs(share - 1) < 1e-9);
		assert_true(fabs(time - 1) < 1e-9);
	}
}

/*
 *  0: mov (%rdi,%rcx,8),%rax   4: add $1,%rcx   8: add %rax,(%rsi)
 *  b: add %rbx,%rdx            e: cmp $100,%rcx 12: jne 0   14: ret
 */
static const char loop[] = "48 8b 04 cf 48 83 c1 01 48 01 06 48 01 da 48 83 f9 64 75 ec c3";
static const uint8_t loop_at[] = { 0, 4, 8, 0xb, 0xe, 0x12 };

/* The registers before the instruction at loop_at[@k] in round @round. */
static void loop_regs(uint64_t *regs, unsigned k, uint64_t round)
{
	memset(regs, 0, 16 * sizeof(*regs));
	regs[RDI] = DATA;
	regs[RSI] = DATA + EACH + 8;
	regs[RSP] = STACK;
	regs[RCX] = round + (k > 1);
}

/*
 * Wherever in the loop the samples fall, one read of variable 0 goes with a read
 * and a write of variable 1.
 */
static void test_places(void **state)
{
	(void)state;
	for (unsigned only = 0; only < 6; only++) {
		struct world w;
		struct estimate *e;
		const struct estimate_result *r;
		uint64_t regs[16];

		world_init(&w, loop);
		e = estimate_in(&w);
		for (unsigned i = 0; i < 200; i++) {
			struct stream_sample s;

			loop_regs(regs, only, i % 100);
			s = sample_at(loop_at[only], regs);
			s.ev.tid = 10 + i % 3;
			estimate_sample(e, &s);
		}
		r = estimate_solve(e);
		check_result(r);
		assert_int_equal(r->samples, 200);
		assert_int_equal(r->attributed, 200);
		assert_true(fabs(share_of(r, 0) - 1.0 / 3) < 0.01);
		assert_true(fabs(share_of(r, 1) - 2.0 / 3) < 0.01);
		assert_int_equal(row_of(r, 0)->samples, 200);
		assert_int_equal(row_of(r, 0)->threads, 3);
		assert_true(row_of(r, 0)->writes == 0);
		assert_true(fabs(row_of(r, 0)->bytes / row_of(r, 0)->accesses - 8) < 1e-9);
		assert_true(row_of(r, 1)->reads == row_of(r, 1)->writes);
		assert_false(w.asked[VARS + 1]); /* nothing but what is really touched */
		for (uint32_t v = 2; v < VARS; v++)
			assert_false(w.asked[v]);
		/* The wait for a load shows at the instruction after it. */
		if (only == 1)
			assert_true(row_of(r, 0)->time_share == 1);
		if (only == 3)
			assert_true(row_of(r, 1)->time_share == 1);
		if (only == 4)
			assert_true(r->time_lost[ESTIMATE_NO_OPERAND] == 1);
		assert_ptr_equal(r, estimate_solve(e)); /* and again, to the same end */
		check_result(r);
		estimate_free(e);
	}
}

/* The same where nothing tells what function the code is of: it is found by the code. */
static void test_places_unbounded(void **state)
{
	(void)state;
	for (unsigned first = 0; first < 6; first++) {
		struct world w;
		struct estimate *e;
		const struct estimate_result *r;
		uint64_t regs[16];

		/* Another function before it, and padding: ret; nopl 0(%rax,%rax) */
		world_init(&w, "48 8b 07 c3 0f 1f 44 00 00 48 8b 04 cf 48 83 c1 01 48 01 06 48 01 da 48 83 f9 64 75 ec c3");
		w.bounded = false;
		e = estimate_in(&w);
		for (unsigned i = 0; i < 600; i++) {
			struct stream_sample s;
			unsigned k = (first + i) % 6;

			loop_regs(regs, k, i % 100);
			s = sample_at(9 + loop_at[k], regs);
			estimate_sample(e, &s);
		}
		r = estimate_solve(e);
		check_result(r);
		assert_int_equal(r->attributed, 600);
		assert_true(fabs(share_of(r, 0) - 1.0 / 3) < 0.01);
		assert_true(fabs(share_of(r, 1) - 2.0 / 3) < 0.01);
		assert_true(row_of(r, 1)->reads == row_of(r, 1)->writes);
		estimate_free(e);
	}
}

/* What is before the place cannot be read: nobody can say that its block accesses no memory. */
static void test_headless(void **state)
{
	/* amid the loop, at its add; behind it the return */
	static const char rest[] = "48 01 da 48 83 f9 64 75 ec c3";
	struct world w;
	struct estimate *e;
	const struct estimate_result *r;
	uint64_t regs[16] = { 0 };
	struct stream_sample s;

	(void)state;
	world_init(&w, rest);
	w.bounded = false;
	w.before = 0x20; /* mapped, but not there to read */
	e = estimate_in(&w);
	regs[RSP] = STACK;
	for (unsigned i = 0; i < 10; i++) {
		s = sample_at(0, regs);
		estimate_sample(e, &s);
	}
	r = estimate_solve(e);
	check_result(r);
	assert_int_equal(r->by_reason[ESTIMATE_NO_BLOCK], 10);
	assert_true(r->time_lost[ESTIMATE_NO_BLOCK] == 1);
	assert_true(r->share_lost[ESTIMATE_NO_BLOCK] == 1);
	estimate_free(e);
}

/* An address register that the code has overwritten, before and behind. */
static void test_lost(void **state)
{
	/* 0: mov (%rdi),%rdi   3: mov (%rdi),%eax   5: ret: the second is known only right before it */
	struct world w;
	struct estimate *e;
	const struct estimate_result *r;
	uint64_t regs[16] = { 0 };
	struct stream_sample s;

	(void)state;
	world_init(&w, "48 8b 3f 8b 07 c3");
	e = estimate_in(&w);
	regs[RDI] = DATA;
	regs[RSP] = STACK;
	s = sample_at(0, regs);
	estimate_sample(e, &s);
	r = estimate_solve(e);
	check_result(r);
	assert_true(w.asked[0] && w.asked[VARS]); /* the return address is on the stack */
	assert_true(fabs(share_of(r, 0) - 1.0 / 3) < 1e-6);
	assert_true(fabs(r->share_lost[ESTIMATE_REGISTER_LOST] - 1.0 / 3) < 1e-6);
	regs[RDI] = DATA + 2 * EACH; /* what was read */
	s = sample_at(3, regs);
	estimate_sample(e, &s);
	r = estimate_solve(e);
	check_result(r);
	assert_true(fabs(share_of(r, 2) - 1.0 / 3) < 1e-6);
	assert_true(r->share_lost[ESTIMATE_REGISTER_LOST] == 0);
	assert_false(w.asked[1] || w.asked[VARS + 1]);
	estimate_free(e);
}

/* What the code alone says of memory: thread-local, the stack, and that none is there. */
static void test_memory(void **state)
{
	/*
	 * 0: push %rbp  1: mov %rsp,%rbp  4: mov %fs:0,%rax  d: mov DATA+EACH-STACK(%rbp),%ecx
	 * 13: mov (%rsi),%edx  15: mov (%rdi),%edx  17: pop %rbp  18: ret
	 */
	struct world w;
	struct estimate *e;
	const struct estimate_result *r;
	uint64_t regs[16] = { 0 };
	struct stream_sample s;

	(void)state;
	world_init(&w, "55 48 89 e5 64 48 8b 04 25 00 00 00 00 8b 8d 00 10 61 80 8b 16 8b 17 5d c3");
	w.nothing = VARS + 1;
	e = estimate_in(&w);
	regs[RSP] = STACK;
	regs[RBP] = STACK;
	regs[RDI] = DATA;
	regs[RSI] = 16; /* nothing there */
	s = sample_at(0x15, regs);
	estimate_sample(e, &s);
	r = estimate_solve(e);
	check_result(r);
	assert_int_equal(w.stack[VARS], STACK + 8); /* of ret */
	assert_int_equal(w.stack[1], STACK);
	assert_int_equal(w.stack[0], 0); /* through RDI: who knows */
	assert_true(fabs(share_of(r, TLS) - 1.0 / 7) < 1e-6);
	assert_true(fabs(share_of(r, 0) - 1.0 / 7) < 1e-6);
	assert_true(fabs(share_of(r, 1) - 1.0 / 7) < 1e-6);
	assert_true(fabs(share_of(r, VARS) - 3.0 / 7) < 1e-6);
	assert_true(fabs(r->share_lost[ESTIMATE_NOT_MAPPED] - 1.0 / 7) < 1e-6);
	assert_int_equal(row_of(r, TLS)->samples, 1);
	estimate_free(e);

	/* RBP that is set to something else besides is no frame pointer.  c: xor %ebp,%ebp */
	world_init(&w, "55 48 89 e5 8b 8d 00 10 61 80 8b 17 31 ed 5d c3");
	e = estimate_in(&w);
	s = sample_at(0xa, regs);
	estimate_sample(e, &s);
	assert_true(w.asked[1]);
	assert_int_equal(w.stack[1], 0);
	estimate_free(e);

	/* In 32-bit code it is GS.  0: mov %gs:0,%eax  6: mov %fs:0,%eax  c: ret */
	world_init(&w, "65 a1 00 00 00 00 64 a1 00 00 00 00 c3");
	e = estimate_in(&w);
	s = sample_at(0, regs);
	s.ev.u.sample.flags |= HVAR_SAMPLE_ABI32;
	estimate_sample(e, &s);
	r = estimate_solve(e);
	check_result(r);
	assert_true(fabs(share_of(r, TLS) - 1.0 / 3) < 1e-6);
	assert_true(fabs(r->share_lost[ESTIMATE_REGISTER_LOST] - 1.0 / 3) < 1e-6);
	estimate_free(e);
}

static void test_reasons(void **state)
{
	struct world w;
	struct estimate *e;
	const struct estimate_result *r;
	uint64_t regs[16] = { 0 };
	struct stream_sample s;

	(void)state;
	/* 0: mov (%rdi),%eax  2: jmp 4  4: xor %ecx,%ecx  6: jmp 4  8: (bad) */
	world_init(&w, "8b 07 eb 00 31 c9 eb fc 06");
	w.full = 3;
	e = estimate_in(&w);
	r = estimate_solve(e);
	check_result(r);
	assert_int_equal(r->n, 0);

	regs[RDI] = DATA + 3 * EACH;
	s = sample_at(0, regs);
	estimate_sample(e, &s); /* no room for it */
	s = sample_at(4, regs);
	estimate_sample(e, &s); /* nothing to access */
	s = sample_at(8, regs);
	estimate_sample(e, &s); /* no instruction */
	s = sample_at(0x5000, regs);
	estimate_sample(e, &s); /* not mapped */
	s = sample_at(0, regs);
	s.ev.u.sample.flags = HVAR_SAMPLE_NOREGS;
	estimate_sample(e, &s);
	r = estimate_solve(e);
	check_result(r);
	assert_int_equal(r->samples, 5);
	assert_int_equal(r->attributed, 0);
	assert_int_equal(r->by_reason[ESTIMATE_TABLE_FULL], 1);
	assert_int_equal(r->by_reason[ESTIMATE_NO_OPERAND], 1);
	assert_int_equal(r->by_reason[ESTIMATE_BAD_CODE], 1);
	assert_int_equal(r->by_reason[ESTIMATE_NO_CODE], 1);
	assert_int_equal(r->by_reason[ESTIMATE_NO_REGS], 1);
	assert_int_equal(r->n, 0);
	assert_true(r->share_lost[ESTIMATE_TABLE_FULL] > 0);
	assert_true(r->share_lost[ESTIMATE_NO_CODE] > 0);
	estimate_free(e);

	world_init(&w, "8b 07");
	w.readable = false;
	e = estimate_in(&w);
	s = sample_at(0, regs);
	estimate_sample(e, &s);
	r = estimate_solve(e);
	check_result(r);
	assert_int_equal(r->by_reason[ESTIMATE_NO_CODE], 1);
	estimate_free(e);
	estimate_free(NULL);
	for (int i = 0; i < ESTIMATE_REASONS; i++)
		assert_true(*estimate_reason_name((enum estimate_reason)i));
}

/* RIP-relative operands need no registers, and are asked for once. */
static void test_fixed(void **state)
{
	struct world w;
	struct estimate *e;
	const struct estimate_result *r;
	uint64_t regs[16] = { 0 };
	struct stream_sample s;
	uint8_t code[6] = { 0x8b, 0x05 };
	int32_t disp = DATA + 4 * EACH - (CODE + 6);

	(void)state;
	world_init(&w, "8b 05 00 00 00 00 c3"); /* mov disp(%rip),%eax; ret */
	memcpy(code + 2, &disp, 4);
	memcpy(w.code, code, 6);
	e = estimate_in(&w);
	regs[RSP] = STACK;
	s = sample_at(6, regs);
	for (int i = 0; i < 50; i++)
		estimate_sample(e, &s);
	r = estimate_solve(e);
	check_result(r);
	assert_true(fabs(share_of(r, 4) - 0.5) < 1e-6);
	assert_true(fabs(share_of(r, VARS) - 0.5) < 1e-6);
	assert_true(w.calls <= 51);
	estimate_free(e);
}

/*
 *  0: mov 4(%rip),%eax   6: dec %ecx   8: jne 0    a: jmp 16
 *  c: mov 5(%rip),%eax   12: dec %ecx  14: jne c   16: ret
 * Two processes run this code, and one has the samples of one loop, the other those of the other: none touches what
 * the other does, though all that the code has is looked up when the first comes.
 */
static void test_fixed_apart(void **state)
{
	static const unsigned loops[] = { 0, 0xc };
	struct world w;
	struct estimate *e;
	const struct estimate_result *r;
	uint64_t regs[16] = { [RCX] = 9, [RSP] = STACK };

	(void)state;
	world_init(&w, "8b 05 0 0 0 0 ff c9 75 f6 eb 0a 8b 05 0 0 0 0 ff c9 75 f6 c3");
	w.apart = true;
	for (int32_t k = 0; k < 2; k++) {
		int32_t disp = DATA + (4 + k) * EACH - (CODE + (int32_t)loops[k] + 6);

		memcpy(w.code + loops[k] + 2, &disp, 4);
	}
	e = estimate_in(&w);
	for (int i = 0; i < 100; i++) {
		struct stream_sample s = sample_at(loops[i % 2] + 6, regs);

		s.ev.mm = 1 + (uint32_t)i % 2;
		estimate_sample(e, &s);
	}
	r = estimate_solve(e);
	check_result(r);
	assert_true(share_of(r, 4) > 0.2);
	assert_true(share_of(r, TWOS + 5) > 0.2);
	assert_null(row_of(r, 5));
	assert_null(row_of(r, TWOS + 4));
	estimate_free(e);
}

/* rep stos: as many writes as RCX says, and the call that brings them is one. */
static void test_repeat(void **state)
{
	/* 0: mov (%rsi),%eax  2: rep stos %eax,(%rdi)  4: ret */
	struct world w;
	struct estimate *e;
	const struct estimate_result *r;
	uint64_t regs[16] = { 0 };
	struct stream_sample s;

	(void)state;
	world_init(&w, "8b 06 f3 ab c3");
	e = estimate_in(&w);
	regs[RSP] = STACK;
	regs[RSI] = DATA;
	regs[RDI] = DATA + EACH;
	regs[RCX] = 98;
	s = sample_at(0, regs);
	estimate_sample(e, &s);
	r = estimate_solve(e);
	check_result(r);
	assert_true(fabs(share_of(r, 1) - 0.98) < 1e-6);
	assert_true(fabs(share_of(r, 0) - 0.01) < 1e-6);
	assert_true(fabs(row_of(r, 1)->bytes / row_of(r, 1)->writes - 4) < 1e-9);
	estimate_free(e);
}

/*
 * Two loops one after the other, alike in rounds, the first slow: 90 % of the
 * time, half of the accesses.
 *
 *  0: xor %ecx,%ecx
 *  2: mov (%rdi,%rcx,8),%rax  6: add $1,%rcx  a: cmp $1000,%rcx  11: jne 2
 * 13: xor %ecx,%ecx
 * 15: mov %rax,(%rsi,%rcx,8)  19: add $1,%rcx 1d: cmp $1000,%rcx 24: jne 15  26: ret
 */
static void test_slow_loop(void **state)
{
	struct world w;
	struct estimate *e;
	const struct estimate_result *r;
	uint64_t regs[16] = { 0 };

	(void)state;
	world_init(&w, "31 c9 48 8b 04 cf 48 83 c1 01 48 81 f9 e8 03 00 00 75 ef "
		       "31 c9 48 89 04 ce 48 83 c1 01 48 81 f9 e8 03 00 00 75 ef c3");
	e = estimate_in(&w);
	regs[RSP] = STACK;
	srand(4);
	for (int i = 0; i < 1000; i++) {
		bool first = i % 10 != 0;
		struct stream_sample s;

		regs[RDI] = DATA;
		regs[RSI] = DATA + EACH;
		regs[RCX] = (uint64_t)rand() % 500; /* within a variable's 4096 bytes */
		s = sample_at(first ? 6 : 0x19, regs);
		estimate_sample(e, &s);
	}
	r = estimate_solve(e);
	check_result(r);
	assert_true(fabs(share_of(r, 0) - 0.5) < 0.03);
	assert_true(fabs(share_of(r, 1) - 0.5) < 0.03);
	assert_true(row_of(r, 0)->ci[0] < 0.5 && row_of(r, 0)->ci[1] > 0.5);
	assert_true(fabs(row_of(r, 0)->time_share - 0.9) < 0.01);
	estimate_free(e);
}

/* Without a function's bounds, code is taken from the sample on. */
static void test_unbounded(void **state)
{
	struct world w;
	struct estimate *e;
	const struct estimate_result *r;
	uint64_t regs[16];

	(void)state;
	world_init(&w, loop);
	w.bounded = false;
	e = estimate_in(&w);
	for (unsigned i = 0; i < 300; i++) {
		struct stream_sample s;

		loop_regs(regs, i % 6, i % 100);
		s = sample_at(loop_at[i % 6], regs);
		estimate_sample(e, &s);
	}
	r = estimate_solve(e);
	check_result(r);
	assert_true(fabs(share_of(r, 1) - 2 * share_of(r, 0)) < 0.05);
	assert_false(w.asked[VARS + 1]);
	estimate_free(e);
}

/* Random registers at random places of random code: nothing breaks, and the sums hold. */
static void test_random(void **state)
{
	(void)state;
	srand(5);
	for (int k = 0; k < 150; k++) {
		struct world w;
		struct estimate *e;

		world_init(&w, "90");
		w.n = 1 + (size_t)rand() % sizeof(w.code);
		w.bounded = rand() & 1;
		w.full = (uint32_t)rand() % (VARS + 3);
		for (size_t i = 0; i < w.n; i++)
			w.code[i] = (uint8_t)(rand() % 3 ? "\x8b\x07\x48\x01\x75\xf0\xc3\xe8"[rand() & 7]
							 : rand() >> 5);
		e = estimate_in(&w);
		for (int i = 0; i < 100; i++) {
			uint64_t regs[16];
			struct stream_sample s;

			for (int q = 0; q < 16; q++)
				regs[q] = DATA + (uint64_t)rand() % (VARS * EACH);
			s = sample_at((uint64_t)rand() % w.n, regs);
			s.ev.u.sample.flags = rand() % 20 ? 0 : HVAR_SAMPLE_NOREGS;
			s.ev.mm = 1 + (uint32_t)rand() % 2;
			estimate_sample(e, &s);
			if (i == 50)
				check_result(estimate_solve(e));
		}
		check_result(estimate_solve(e));
		estimate_free(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),	  cmocka_unit_test(test_places_unbounded),
		cmocka_unit_test(test_headless),  cmocka_unit_test(test_lost),
		cmocka_unit_test(test_reasons), cmocka_unit_test(test_memory),	  cmocka_unit_test(test_fixed), cmocka_unit_test(test_fixed_apart),
		cmocka_unit_test(test_repeat),	  cmocka_unit_test(test_slow_loop),
		cmocka_unit_test(test_unbounded), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
