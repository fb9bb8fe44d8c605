/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * two_loops.h - a made-up program of two loops, of which the first reads a variable and the second writes another, for the estimator.
 */
#ifndef TWO_LOOPS_H
#define TWO_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "runtime/user/estimate.h"

enum { CODE = 0x400000, READ = 0x600000, WRITTEN = 0x700000, STACK = 0x7fff0000, SIZE = 8000 };

struct world {
	uint8_t code[256];
	uint64_t n;
	uint64_t starts[4]; /* of functions, by 0 after the first; all 0: the code is one */
};

static inline bool env_site(void *ctx, const struct hvar_event *ev, uint64_t ip, struct code_site *out, uint64_t *start, uint64_t *end)
{
	const struct world *w = ctx;

	(void)ev;
	*out = (struct code_site){ 1, 0, ip - CODE };
	*start = CODE;
	*end = CODE + w->n;
	return ip >= CODE && ip < CODE + w->n;
}

static inline size_t env_code(void *ctx, const struct code_site *at, void *buf, size_t len)
{
	const struct world *w = ctx;

	if (at->where >= w->n)
		return 0;
	if (len > w->n - at->where)
		len = w->n - at->where;
	memcpy(buf, w->code + at->where, len);
	return len;
}

static inline bool env_function(void *ctx, const struct code_site *at, uint64_t *start, uint64_t *end)
{
	const struct world *w = ctx;

	*start = 0;
	*end = w->n;
	for (int k = 1; k < 4 && w->starts[k]; k++) {
		if (w->starts[k] <= at->where)
			*start = w->starts[k];
		else if (w->starts[k] < *end)
			*end = w->starts[k];
	}
	return true;
}

/* 0 what the first loop reads, 1 what the second writes, 2 the stack, 3 anything else */
static inline uint32_t env_variable(void *ctx, const struct hvar_event *ev, uint64_t addr, uint64_t stack)
{
	(void)ctx;
	(void)ev;
	(void)stack;
	return addr >= READ && addr < READ + SIZE ? 0 : addr >= WRITTEN && addr < WRITTEN + SIZE ? 1 : addr - STACK + 4096 < 8192 ? 2 : 3;
}

static inline uint32_t env_tls(void *ctx, const struct hvar_event *ev, const struct estimate_tls *at)
{
	(void)ctx;
	(void)ev;
	(void)at;
	return 3;
}

/* @hex, bytes in hexadecimal, as the code. */
static inline void world_code(struct world *w, const char *hex)
{
	unsigned v;
	int used;

	for (; sscanf(hex, "%x%n", &v, &used) == 1; hex += used)
		w->code[w->n++] = (uint8_t)v;
}

#endif /* TWO_LOOPS_H */
