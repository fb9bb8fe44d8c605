// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_decode.c - any bytes as a function's code, with samples in it: instructions, blocks, registers and an estimate. */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/user/blocks.h"
#include "runtime/user/decode_regs.h"
#include "runtime/user/estimate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct code {
	const uint8_t *p;
	size_t n;
	bool bounded;
};

enum { AT = 0x10000 };

static bool site(void *ctx, const struct hvar_event *ev, uint64_t ip, struct code_site *out,
		 uint64_t *start, uint64_t *end)
{
	const struct code *c = ctx;

	(void)ev;
	*out = (struct code_site){ 1, 0, ip - AT };
	*start = AT;
	*end = AT + c->n;
	return ip >= AT && ip < AT + c->n;
}

static size_t code(void *ctx, const struct code_site *at, void *buf, size_t len)
{
	const struct code *c = ctx;

	if (at->where >= c->n)
		return 0;
	len = len < c->n - at->where ? len : c->n - at->where;
	memcpy(buf, c->p + at->where, len);
	return len;
}

static bool function(void *ctx, const struct code_site *at, uint64_t *start, uint64_t *end)
{
	const struct code *c = ctx;

	(void)at;
	*start = 0;
	*end = c->n;
	return c->bounded;
}

static uint32_t variable(void *ctx, const struct hvar_event *ev, uint64_t addr,
			 uint64_t stack)
{
	(void)ctx;
	(void)ev;
	(void)stack;
	if (addr >> 20 & 1)
		return ESTIMATE_NOTHING_THERE;
	return (addr >> 8) % 5 ? (uint32_t)(addr >> 8) % 5 : HVAR_HOT_NONE;
}

static uint32_t tls(void *ctx, const struct hvar_event *ev, const struct estimate_tls *at)
{
	(void)ctx;
	(void)at;
	(void)ev;
	return 5;
}

/* What is surely accessed is read or written, and of some size. */
static void accessed(void *ctx, const struct hvar_event *ev, const struct code_site *at, uint64_t addr, uint32_t size,
		     uint32_t flags)
{
	(void)ctx;
	(void)ev;
	(void)at;
	(void)addr;
	if (!size || !(flags & (DECODE_MEM_READ | DECODE_MEM_WRITE)))
		abort();
}

static void instructions(const uint8_t *p, size_t n, bool is32)
{
	struct decode_regs s;
	const uint64_t regs[DECODE_REGS] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	decode_regs_init(&s, regs, 0x246);
	for (size_t at = 0; at < n;) {
		struct decode_insn in;
		uint64_t addr;

		if (decode(p + at, n - at, is32, &in)) {
			at++;
			continue;
		}
		if (!in.len || in.len > n - at)
			abort();
		for (int m = 0; m < in.n_mem; m++)
			decode_regs_address(&s, &in.mem[m], at, 0, 1, &addr);
		decode_regs_forward(&s, &in, at);
		if (at & 1)
			decode_regs_backward(&s, &in, at);
		at += in.len;
	}
}

/* The first bytes say how: mode, and where samples fall; the rest is the code. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct estimate_result *r;
	struct code c;
	const struct estimate_env env = { &c, site, code, function, variable, tls, accessed };
	struct estimate *e;
	uint8_t *copy;
	double sum = 0;

	if (size < 9 || size > 600)
		return 0;
	c = (struct code){ data + 8, size - 8, data[0] & 1 };
	copy = malloc(c.n); /* exactly as large as promised */
	memcpy(copy, c.p, c.n);
	c.p = copy;
	instructions(copy, c.n, data[0] & 2);
	e = estimate_new(&env);
	for (int i = 1; i < 24; i++) {
		struct stream_sample s = { .ev = { .mm = 1, .tid = data[i % 8] } };

		s.ev.u.sample.ip = AT + (data[1 + i % 7] * 7u + (unsigned)i * data[7]) % (c.n + 1);
		s.ev.u.sample.period_ns = 1000;
		s.ev.u.sample.flags = data[0] & 2 ? HVAR_SAMPLE_ABI32 : 0;
		for (int q = 0; q < DECODE_REGS; q++)
			s.regs[q] = (uint64_t)data[(i + q) % 8] << (q * 3);
		s.regs[STREAM_RFLAGS] = data[i % 8];
		estimate_sample(e, &s);
	}
	r = estimate_solve(e);
	for (size_t i = 0; i < r->n; i++)
		sum += r->rows[i].share;
	for (int i = 0; i < ESTIMATE_REASONS; i++)
		sum += r->share_lost[i];
	if (!(fabs(sum - 1) < 1e-6))
		abort();
	estimate_free(e);
	free(copy);
	return 0;
}
