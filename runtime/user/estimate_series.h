/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_series.h - a choice of samples, spread evenly over all.
 *
 * Private to the estimator.  What a program counts in a register while it calls others is seen in these, too, where
 * they leave it alone: how often its outer loops went round between samples far apart.
 */
#ifndef ESTIMATE_SERIES_H
#define ESTIMATE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode.h"
#include "stream.h"

enum { SERIES_KEPT = 512 };

struct site_function;

struct series_sample {
	struct site_function *f;
	uint32_t insn, tid;
	uint64_t time_ns;
	uint64_t regs[DECODE_REGS];
};

struct series {
	struct series_sample *v; /* in the order they came */
	size_t cap;
	uint32_t n;
	uint32_t every,
		skipped; /* one of so many is kept; since the last that was */
};

void series_fini(struct series *s);
void series_sample(struct series *s, const struct stream_sample *sample,
		   struct site_function *f, uint32_t insn);

#endif /* ESTIMATE_SERIES_H */
