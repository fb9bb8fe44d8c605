// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_estimate_bounds.c - functions found by their code: as assembled by hand, and whatever bytes there are.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/user/blocks.h"
#include "runtime/user/estimate_bounds.h"
#include "runtime/user/estimate_sites.h"

enum { WHERE = 0x10000, MOST = 16384 };

/* Code at WHERE, of which what is before @first cannot be read. */
struct world {
	uint8_t code[MOST];
	uint32_t n, first;
};

static size_t read_code(void *ctx, const struct code_site *at, void *buf,
			size_t len)
{
	const struct world *w = ctx;
	uint64_t off = at->where - WHERE;

	if (at->where < WHERE || off < w->first || off >= w->n)
		return 0;
	if (len > w->n - off)
		len = w->n - off;
	memcpy(buf, w->code + off, len);
	return len;
}

static bool find(struct world *w, uint32_t at, struct bounds *out)
{
	const struct estimate_env env = {.ctx = w, .code = read_code};
	const struct code_site site = {.module = 1, .where = WHERE + at};

	return bounds_find(&env, &site, false, WHERE, WHERE + w->n, true, out);
}

static void check(struct world *w, uint32_t from, uint32_t until,
		  uint32_t start, uint32_t end, const uint8_t *insns)
{
	struct bounds b;

	for (uint32_t at = from; at < until; at += insns[at]) {
		assert_true(find(w, at, &b));
		assert_int_equal(b.start, WHERE + start);
		assert_int_equal(b.end, WHERE + end);
		assert_true(b.begins && b.ends);
	}
}

/*
 * Three functions:
 *   0: push %rbx  1: pop %rbx  2: ret   3: nopl 0(%rax)
 *   7: test %eax,%eax  9: jne 14  b: mov (%rdi),%rax  e: ret  f: xchg %ax,%ax  11: nopl (%rax)
 *  14: add $1,%rax  18: jmp b  1a: int3
 *  1b: jmp 1e  1d: nop  1e: dec %ecx  20: jne 1d  22: ret
 */
static const uint8_t three[] = {
	0x53, 0x5b, 0xc3, 0x0f, 0x1f, 0x40, 0x00, 0x85, 0xc0, 0x75, 0x09, 0x48,
	0x8b, 0x07, 0xc3, 0x66, 0x90, 0x0f, 0x1f, 0x00, 0x48, 0x83, 0xc0, 0x01,
	0xeb, 0xf1, 0xcc, 0xeb, 0x01, 0x90, 0xff, 0xc9, 0x75, 0xfb, 0xc3,
};

static void test_functions(void **state)
{
	static const uint8_t insns[] = {
		[0] = 1,    [1] = 1,	[2] = 1,    [7] = 2,	[9] = 2,
		[0xb] = 3,  [0xe] = 1,	[0x14] = 4, [0x18] = 2, [0x1b] = 2,
		[0x1d] = 1, [0x1e] = 2, [0x20] = 2, [0x22] = 1,
	};
	static struct world w;

	(void)state;
	memcpy(w.code, three, sizeof(three));
	w.n = sizeof(three);
	check(&w, 0, 3, 0, 3, insns);
	check(&w, 7, 0xf, 7, 0x1a,
	      insns); /* its second part is jumped to over the return */
	check(&w, 0x14, 0x1a, 7, 0x1a, insns);
	check(&w, 0x1b, 0x23, 0x1b, 0x23, insns);
}

/* Amid an instruction nothing can be told; where what is before cannot be read, the place is all there is. */
static void test_unknown(void **state)
{
	static struct world w;
	struct bounds b;

	(void)state;
	memcpy(w.code, three, sizeof(three));
	w.n = sizeof(three);
	assert_false(find(&w, 0xc, &b));
	assert_false(find(&w, sizeof(three), &b));
	w.n = sizeof(three) + 0x100; /* more is mapped than can be read */
	w.first = w.n;
	assert_false(find(&w, 0xb, &b));
}

/* Far from anything that ends control, a start in the middle is not said to be one. */
static void test_long(void **state)
{
	static struct world w;
	struct bounds b;

	(void)state;
	for (w.n = 0; w.n + 3 <= MOST - 1; w.n += 3)
		memcpy(w.code + w.n, "\x48\x01\xd8", 3); /* add %rbx,%rax */
	w.code[w.n++] = 0xc3;
	assert_true(find(&w, 9999, &b));
	assert_false(b.begins || b.ends);
	assert_true(b.start <= WHERE + 9999 && b.start > WHERE &&
		    b.end > WHERE + 9999);
	assert_int_equal((b.start - WHERE) % 3, 0);
}

/* Whatever bytes there are, the place is in what is found, and that is in what there is. */
static void test_random(void **state)
{
	static struct world w;
	uint64_t x = 88172645463325252u;
	unsigned found = 0;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct bounds b;
		uint32_t at;

		w.n = 1 + (uint32_t)(x >> 40) % (round % 8 ? 300 : MOST);
		for (uint32_t i = 0; i < w.n; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			w.code[i] = (uint8_t)(x >> 32);
		}
		at = (uint32_t)(x >> 20) % w.n;
		w.first = round % 3 ? 0 : at / 2;
		if (!find(&w, at, &b))
			continue;
		found++;
		assert_true(b.start >= WHERE && b.start <= WHERE + at &&
			    b.end > WHERE + at && b.end <= WHERE + w.n);
	}
	assert_true(found > 500);
}

static bool site(void *ctx, const struct hvar_event *ev, uint64_t ip,
		 struct code_site *out, uint64_t *start, uint64_t *end)
{
	const struct world *w = ctx;

	(void)ev;
	*out = (struct code_site){.module = 1, .where = ip};
	*start = WHERE;
	*end = WHERE + w->n;
	return true;
}

static bool no_function(void *ctx, const struct code_site *at, uint64_t *start,
			uint64_t *end)
{
	(void)ctx;
	(void)at;
	(void)start;
	(void)end;
	return false;
}

/* Behind what was looked at for a sample, the same function goes on: it does not begin there. */
static void test_goes_on(void **state)
{
	const struct hvar_event none = {.type = HVAR_EVENT_SAMPLE};
	static const uint32_t at[] = {99, 2499, 4998, 2100};
	static struct world w;
	const struct estimate_env env = {.ctx = &w, .site = site, .code = read_code, .function = no_function};
	struct site_function *f;
	struct sites s;
	uint32_t insn;

	(void)state;
	assert_int_equal(sites_init(&s), 0);
	for (w.n = 0; w.n < 6000; w.n += 3)
		memcpy(w.code + w.n, "\x48\x01\xd8", 3); /* add %rbx,%rax */
	w.code[w.n++] = 0xc3;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct hvar_event ev = none;

		ev.u.sample.ip = WHERE + at[i];
		assert_int_equal(sites_find(&s, &env, &ev, &f, &insn), ESTIMATE_OK);
		assert_true(f->b->bounded == (f->start == WHERE));
		assert_true(f->b->headless == (f->start != WHERE));
	}
	assert_true(s.n > 2);
	assert_int_equal(s.v[0]->start, WHERE);
	assert_true(s.v[0]->cut && !s.v[s.n - 1]->cut);
	sites_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
